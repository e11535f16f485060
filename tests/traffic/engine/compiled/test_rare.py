"""Pairs that Python looks at teach names, and give rows of rare tables."""

from uuid import UUID

import numpy as np
import pytest

from netdiag.traffic.engine.compiled.ends import Ends
from netdiag.traffic.engine.compiled.layout import FROM_TWIN, NOTHING
from netdiag.traffic.engine.compiled.naming import Naming
from netdiag.traffic.engine.compiled.rare import Held, Rare
from netdiag.traffic.engine.compiled.side import Side
from netdiag.traffic.engine.options import EngineOptions
from tests.traffic.engine.bodies.messages import answer, asked
from tests.traffic.engine.compiled.test_read_back import metadata, store

ENDS = Ends(5, "10.0.0.1:40000", "10.0.0.2:9092", None)


def rare(**filters: frozenset[str]) -> tuple[Rare, Naming, Side]:
    options = EngineOptions(tables=frozenset({"endpoints", "leaders", "group_events"}), **filters)  # type: ignore[arg-type]
    naming = Naming(options, ["a.pcap"])
    return Rare(options, naming), naming, Side(naming.texts.number, naming.identify)


def test_a_raw_message_is_read_and_becomes_a_record() -> None:
    request, response = metadata()
    looks, naming, side = rare()
    both = store((request, len(request)), (response, len(response)))
    assert looks.look(both, side, (0, 1), {}, ENDS, 3) == (-2, -3)
    (row,) = looks.rows["endpoints"]
    assert (row.host, row.port, row.connection) == ("kafka", 9092, 5)  # type: ignore[attr-defined]
    facts = side.arenas(len(naming.texts), naming.ids).facts
    assert facts["size"].tolist() == [len(request), len(response)]


def test_a_record_stays_where_it_is() -> None:
    looks, _, side = rare()
    both = store((b"", 0), (b"", 0))
    both.facts["raw"] = NOTHING
    both.facts["api_key"] = 12
    assert looks.look(both, side, (0, 1), {}, ENDS, 3) == (0, 1)
    assert len(looks.rows["group_events"]) == 1


def test_what_the_plain_engine_holds_teaches_names() -> None:
    looks, naming, side = rare()
    number = np.arange(16, dtype=np.uint8).tobytes()
    topic = {"name": "orders", "topic_id": UUID(bytes=number), "partitions": []}
    held: Held = {4: asked(3, 12, {}), 9: answer(3, 12, {"topics": [topic]})}
    pair = FROM_TWIN - 4, FROM_TWIN - 9
    assert looks.look(store(), side, pair, held, ENDS, 3) == (-2, -3)
    assert naming.topic_ids.name(number) == "orders"
    assert looks.look(store(), side, (NOTHING, FROM_TWIN - 9), held, ENDS, 4) == (NOTHING, -4)


@pytest.mark.parametrize(
    ("filters", "rows"),
    [
        ({"clients": frozenset({"app"})}, 1),
        ({"clients": frozenset({"else"})}, 0),
        ({"brokers": frozenset({"10.0.0.2"})}, 1),
        ({"brokers": frozenset({"10.0.0.3"})}, 0),
        ({"topics": frozenset({"orders"})}, 1),
        ({"topics": frozenset({"others"})}, 0),
    ],
)
def test_only_rows_that_are_wanted_are_made(filters: dict[str, frozenset[str]], rows: int) -> None:
    request, response = metadata()
    looks, _, side = rare(**filters)
    looks.look(store((request, len(request)), (response, len(response))), side, (0, 1), {}, ENDS, 3)
    assert len(looks.rows["endpoints"]) == rows
