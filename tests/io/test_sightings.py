"""Packets of one connection on the loopback of a namespace of our own."""

import os
from collections.abc import Iterator

import pytest

from netdiag.io.kernel.netns import Namespace, open_namespace
from netdiag.io.sightings import Sightings
from netdiag.linux.netns import NamedNamespace
from netdiag.topology.inventory import LinkId
from netdiag.topology.path.attempts import LinkSighting
from tests.reality.attempts import Attempt, attempt_all
from tests.reality.building import Listening, World, built

WORLD = World(
    name="sightings",
    spaces=("a",),
    script=(),
    listening=(Listening(space="a", address="127.0.0.1", port=1000), Listening(space="a", address="::1", port=1000)),
    asked=(),
)
LO = LinkId(netns=1, ifindex=1)


@pytest.fixture(scope="module")
def space() -> Iterator[Namespace]:
    if os.geteuid() != 0:
        pytest.skip("needs root: it makes network namespaces")
    with built(WORLD) as made, open_namespace(NamedNamespace(name=made.names["a"])) as opened:
        yield opened


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
@pytest.mark.parametrize(("port", "seen"), [(1000, True), (1001, False)])
def test_only_the_port_that_is_watched_counts(space: Namespace, address: str, port: int, seen: bool) -> None:
    with Sightings({1: space}, {LO: "lo"}) as sightings:
        sightings.watch(port, six=":" in address)
        assert attempt_all([Attempt(namespace=space, address=address, port=1000)], watch=False)[0].errno == ""
        sightings.collect(port)
        assert sightings.seen((LO,)) == (LinkSighting(link=LO, first=seen, answer=seen),)
        assert sightings.notes == []


def test_devices_that_cannot_be_watched_are_told_of(space: Namespace) -> None:
    with Sightings({1: space}, {LO: "nope", LinkId(netns=2, ifindex=1): "lo"}) as sightings:
        assert sightings.notes == ["nope could not be watched: No such device"]
        assert sightings.seen((LO,)) == ()
