"""What a topology answers about itself."""

import pytest

from netdiag.deployment.model.causes import Certainty
from netdiag.topology.graph import HopKind, PathEnd, Published, PublishedBy
from tests.house.tree import ROOT
from tests.topology.test_traffic import BROKER, TOPOLOGY


def published(dnat: tuple[str, ...], proxies: tuple[int, ...]) -> Published:
    return Published(
        key="0.0.0.0:9092/tcp",
        host_ip="0.0.0.0",
        published=9092,
        protocol="tcp",
        container="f00",
        target=9092,
        asked=True,
        in_force=True,
        dnat=dnat,
        proxies=proxies,
    )


@pytest.mark.parametrize(
    ("dnat", "proxies", "by"),
    [
        ((), (), ()),
        (("-A DOCKER",), (), (PublishedBy.DNAT,)),
        ((), (7,), (PublishedBy.PROXY,)),
        (("-A",), (7,), (PublishedBy.DNAT, PublishedBy.PROXY)),
    ],
)
def test_what_makes_a_published_port_work(
    dnat: tuple[str, ...], proxies: tuple[int, ...], by: tuple[PublishedBy, ...]
) -> None:
    assert published(dnat, proxies).by == by


def test_places_by_namespace_and_by_name() -> None:
    place = TOPOLOGY.place(BROKER)
    assert place is not None
    assert place is TOPOLOGY.named("kafka")
    assert TOPOLOGY.place(99) is None
    assert TOPOLOGY.named("nobody") is None


def test_every_end_is_described() -> None:
    page = (ROOT / "docs" / "output.md").read_text(encoding="utf-8")
    assert [end.value for end in PathEnd if f"`{end.value}`" not in page] == []


def test_every_kind_of_hop_is_described() -> None:
    page = (ROOT / "docs" / "output.md").read_text(encoding="utf-8")
    assert [kind.value for kind in HopKind if f"`{kind.value}`" not in page] == []


def test_certainties_stand_in_order() -> None:
    assert [one.value for one in Certainty] == ["proven", "found", "possible", "predicted"]
