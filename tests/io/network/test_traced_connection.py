"""Real connections in a world of three namespaces: what they prove of a walk, and what they disprove."""

import os
import subprocess
from collections.abc import Iterator

import pytest

from netdiag.errors import NetdiagError
from netdiag.io.kernel.inventory import read_inventory
from netdiag.io.kernel.netns import Namespace, open_namespace
from netdiag.io.network.traced_connection import Sightings, prove
from netdiag.linux.netns import NamedNamespace
from netdiag.topology.graph import PathEnd, Topology
from netdiag.topology.inventory import LinkId
from netdiag.topology.path.attempts import Agreement, LinkSighting, Proof
from netdiag.topology.path.prediction import predict_path
from tests.real_connections.attempts import Attempt, attempt_all
from tests.real_connections.building import Built, Listening, World, built, pair

WORLD = World(
    name="proving",
    spaces=("a", "r", "b"),
    script=(
        *pair("a eth0 10.0.0.1/24 fd00::1/64", "r a0 10.0.0.254/24 fd00::254/64"),
        *pair("r b0 10.1.0.254/24", "b eth0 10.1.0.1/24"),
        "a: ip route add default via 10.0.0.254",
        "b: ip route add default via 10.1.0.254",
        "r: echo 1 > /proc/sys/net/ipv4/ip_forward",
        "r: iptables-nft -A FORWARD -p tcp --dport 1001 -j DROP",
        "r: iptables-nft -A FORWARD -p tcp --dport 1002 -j REJECT --reject-with tcp-reset",
        "r: iptables-nft -t nat -A PREROUTING -p tcp --dport 2000 -j DNAT --to-destination 10.1.0.1:1000",
    ),
    listening=(
        *(Listening(space="b", address="0.0.0.0", port=port) for port in (1000, 1001, 1002)),
        Listening(space="r", address="::", port=1003),
    ),
    asked=(),
    tools=("ip", "iptables-nft"),
)


@pytest.fixture(scope="module")
def world() -> Iterator[Built]:
    if os.geteuid() != 0:
        pytest.skip("needs root: it makes network namespaces")
    with built(WORLD) as made:
        yield made


def looked(world: Built) -> Topology:
    return Topology(inventory=read_inventory(only=list(world.inodes.values())), places=())


def proof(world: Built, address: str, port: int) -> Proof:
    topology = looked(world)
    return prove(topology, predict_path(topology, world.inodes["a"], address, port))


def names(found: Proof, topology: Topology) -> list[tuple[str, bool, bool]]:
    return [(getattr(topology.inventory.link(one.link), "ifname", ""), one.first, one.answer) for one in found.seen]


def test_a_connection_is_seen_on_every_device_there_and_back(world: Built) -> None:
    found = proof(world, "10.1.0.1", 1000)
    assert (found.end, found.agreement, found.because) == (
        PathEnd.CONNECTED,
        Agreement.AGREES,
        "connected as predicted, seen on all 4 devices of the path",
    )
    everywhere = [(name, True, True) for name in ("eth0", "a0", "b0", "eth0")]
    assert names(found, looked(world)) == everywhere


def test_translated_and_over_ipv6(world: Built) -> None:
    translated = proof(world, "10.0.0.254", 2000)
    assert (translated.end, translated.agreement) == (PathEnd.CONNECTED, Agreement.AGREES)
    assert any("DNAT" in one.rule.text for one in translated.moved)
    assert all(one.first for one in translated.seen)
    six = proof(world, "fd00::254", 1003)
    assert (six.end, six.agreement) == (PathEnd.CONNECTED, Agreement.AGREES)
    assert all(one.first and one.answer for one in six.seen)


def test_the_rule_that_drops_is_named_by_its_counter(world: Built) -> None:
    found = proof(world, "10.1.0.1", 1001)
    assert (found.end, found.agreement, found.attempts) == (PathEnd.DROPPED, Agreement.AGREES, 3)
    assert "counted by iptables-nft ip filter FORWARD #1" in found.because
    (moved,) = found.moved
    assert (moved.netns, moved.others) == (world.inodes["r"], False)
    assert moved.packets >= 3
    assert names(found, looked(world)) == [("eth0", True, False), ("a0", True, False)]


def test_a_refusal_by_a_rule(world: Built) -> None:
    found = proof(world, "10.1.0.1", 1002)
    assert (found.end, found.errno, found.agreement) == (PathEnd.REFUSED, "ECONNREFUSED", Agreement.AGREES)
    assert "FORWARD #2" in found.because
    nobody = proof(world, "10.1.0.1", 1005)
    assert (nobody.end, nobody.agreement) == (PathEnd.REFUSED, Agreement.AGREES)


def test_what_has_changed_meanwhile_is_told_plainly(world: Built) -> None:
    topology = looked(world)
    path = predict_path(topology, world.inodes["a"], "10.1.0.1", 1000)
    rule = ["PREROUTING", "-p", "tcp", "--dport", "1000", "-j", "DROP"]
    command = ["ip", "netns", "exec", world.names["r"], "iptables-nft", "-t", "raw"]
    subprocess.run([*command, "-A", *rule], check=True)
    try:
        found = prove(topology, path)
    finally:
        subprocess.run([*command, "-D", *rule], check=True)
    assert (path.end, found.end, found.agreement) == (PathEnd.CONNECTED, PathEnd.DROPPED, Agreement.DISAGREES)
    assert found.because == "predicted connected, observed ETIMEDOUT"
    assert [one.first for one in found.seen] == [True, True, False, False]


def test_nothing_is_sent_without_an_address(world: Built) -> None:
    topology = looked(world)
    with pytest.raises(NetdiagError, match="nothing was sent"):
        prove(topology, predict_path(topology, world.inodes["a"], "no-such-name", 1000))


def test_nobody_is_there(world: Built) -> None:
    found = proof(world, "10.0.0.77", 1000)
    assert (found.end, found.errno, found.agreement) == (PathEnd.NO_NEIGHBOUR, "EHOSTUNREACH", Agreement.AGREES)


LOOPBACK = World(
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
    with built(LOOPBACK) as made, open_namespace(NamedNamespace(name=made.names["a"])) as opened:
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
