"""Values through JSON and back."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from typing import Any

import pytest

from netdiag.deployment.model.contact import Address, Answered, Failed, NodeEndpoint, Reason
from netdiag.deployment.observation.value_json import decode, encode
from netdiag.deployment.prediction.mesh import Edge, EdgeKind, Mesh


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything:
    text: str
    colour: Colour
    when: datetime
    pair: tuple[str, int]
    some: tuple[Inner, ...] = ()
    names: frozenset[str] = frozenset()
    by_name: Mapping[str, Inner | None] = field(default_factory=dict)
    one_of: Inner | Other | None = None
    ratio: float = 0.5
    flag: bool = False


FULL = Everything(
    text="ü\u202e",
    colour=Colour.RED,
    when=datetime(2030, 1, 2, tzinfo=UTC),
    pair=("a", 1),
    some=(Inner(number=1), Inner(number=-2)),
    names=frozenset({"b", "a"}),
    by_name={"x": Inner(number=3), "y": None},
    one_of=Other(text=""),
    ratio=2.0,
    flag=True,
)


def test_there_and_back() -> None:
    document = json.loads(json.dumps(encode(FULL, Everything)))
    assert document["one_of"] == {"is": "Other", "text": ""}
    assert document["names"] == ["a", "b"]
    assert decode(document, Everything) == FULL


def test_edges_with_what_was_predicted_and_seen() -> None:
    told = (NodeEndpoint(node_id=1, host="k", port=1),)
    edge = Edge(
        kind=EdgeKind.INTER_BROKER,
        source="a",
        target="b",
        address=Address(host="b", port=9092),
        predicted=Answered(node_id=1, cluster_id=None, brokers=told),
        observed=Failed(reason=Reason.TIMEOUT, because="x"),
    )
    mesh = Mesh(edges=(edge,), skipped=(("c", "no right"),))
    assert decode(json.loads(json.dumps(encode(mesh, Mesh))), Mesh) == mesh


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"text": 1}, "it.text is not a text"),
        ({"text": "\ud800"}, "it.text contains half a character"),
        ({"colour": "blue"}, "it.colour is not one of red"),
        ({"colour": ["red"]}, "it.colour is not one of red"),
        ({"when": "soon"}, "it.when is not a time"),
        ({"pair": ["a"]}, "it.pair is not a list of 2"),
        ({"pair": ["a", True]}, r"it.pair\[1\] is not a number"),
        ({"some": {}}, "it.some is not a list"),
        ({"some": [{"number": 10**30}]}, "number is too large"),
        ({"some": [{"number": 1, "more": 2}]}, r"it.some\[0\] has no 'more'"),
        ({"some": [{}]}, "lacks 'number'"),
        ({"by_name": {"x": 1}}, "it.by_name.x is not an object"),
        ({"one_of": {"is": "Everything"}}, "it.one_of is not one of Inner, Other"),
        ({"one_of": {"text": ""}}, "it.one_of is not one of Inner, Other"),
        ({"ratio": "1"}, "it.ratio is not a number"),
        ({"flag": 1}, "it.flag is not true or false"),
    ],
)
def test_what_is_no_such_value_is_said_with_its_place(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        decode({**encode(FULL, Everything), **change}, Everything)
