"""What a topology answers about itself."""

import pytest

from netdiag.topology.graph import By, Published
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
    [((), (), ()), (("-A DOCKER",), (), (By.DNAT,)), ((), (7,), (By.PROXY,)), (("-A",), (7,), (By.DNAT, By.PROXY))],
)
def test_what_makes_a_published_port_work(dnat: tuple[str, ...], proxies: tuple[int, ...], by: tuple[By, ...]) -> None:
    assert published(dnat, proxies).by == by


def test_places_by_namespace_and_by_name() -> None:
    place = TOPOLOGY.place(BROKER)
    assert place is not None
    assert place is TOPOLOGY.named("kafka")
    assert TOPOLOGY.place(99) is None
    assert TOPOLOGY.named("nobody") is None
