"""One packet from namespace to namespace."""

from netdiag.linux.filtering import Packet
from netdiag.linux.ruleset import Ruleset
from netdiag.topology.fates import Delivered, Ended, Fate
from netdiag.topology.hops import End, Hop, HopKind
from netdiag.topology.journey import Journey
from netdiag.topology.passage import Moving, Passage
from netdiag.topology.terrain import Terrain
from tests.topology.wires import Wires, rule, rules, two_on_a_bridge

DROP = rule(1, "drop", ("verdict", {"verdict": "drop", "chain": ""}))


def carry(made: Wires, source: str, destination: str) -> tuple[Fate, list[Hop]]:
    packet = Packet(family=4, protocol="tcp", source="", destination=destination, destination_port=9092)
    journey = Journey(Terrain(made.inventory), Passage(), [])
    return journey.carry(made.netns(source), Moving(packet=packet)), journey.hops


def filtered(hook: str, *, bridged: bool | None) -> Wires:
    made = two_on_a_bridge()
    made.spaces["host"].ruleset = rules(hook, DROP)
    made.spaces["host"].settings = type(made.spaces["host"].settings)(ip_forward=True, bridge_nf_call_iptables=bridged)
    return made


def test_delivered_next_door() -> None:
    made = two_on_a_bridge()
    fate, hops = carry(made, "a", "10.0.0.2")
    assert isinstance(fate, Delivered)
    assert (fate.place.inode, fate.iif) == (made.netns("b"), 2)
    assert [hop.kind for hop in hops] == [
        HopKind.ROUTE,
        HopKind.NEIGHBOUR,
        HopKind.LINK,
        HopKind.BRIDGE,
        HopKind.LINK,
        HopKind.ROUTE,
    ]


def test_what_a_bridge_passes_on_meets_the_packet_filter_only_where_it_is_told_to() -> None:
    for bridged, dropped in ((None, False), (False, False), (True, True)):
        fate, hops = carry(filtered("forward", bridged=bridged), "a", "10.0.0.2")
        assert isinstance(fate, Ended) is dropped
        assert any(hop.rules for hop in hops) is dropped


def test_what_is_for_the_bridge_meets_prerouting_once_and_input() -> None:
    for hook in ("prerouting", "input"):
        fate, hops = carry(filtered(hook, bridged=True), "a", "10.0.0.254")
        assert isinstance(fate, Ended)
        assert (fate.end, fate.rules[0].text) == (End.DROPPED, "drop")
        assert hops[-1].kind is HopKind.FILTER
    fate, _ = carry(filtered("forward", bridged=True), "a", "10.0.0.254")
    assert isinstance(fate, Delivered)


def test_to_itself_by_loopback() -> None:
    made = two_on_a_bridge()
    fate, _ = carry(made, "a", "10.0.0.1")
    assert isinstance(fate, Delivered)
    # For sockets that are bound to a device the one that has the address counts.
    assert fate.iif == 2
    lo = made.spaces["a"].links[1]
    made.spaces["a"].links[1] = type(lo)(ifindex=1, ifname="lo", flags=0)
    fate, _ = carry(made, "a", "10.0.0.1")
    assert isinstance(fate, Ended)
    assert fate.because == "lo is down"


def test_a_namespace_that_nobody_looked_into() -> None:
    made = two_on_a_bridge()
    fate = Journey(Terrain(made.inventory), Passage(), []).carry(
        1, Moving(packet=Packet(family=4, protocol="tcp", source="", destination="10.0.0.2"))
    )
    assert isinstance(fate, Ended)
    assert fate.end is End.UNKNOWN


def test_rules_that_could_not_be_read_leave_it_open() -> None:
    made = two_on_a_bridge()
    made.spaces["b"].ruleset = Ruleset(unread=("nf_tables: no rights",))
    fate, _ = carry(made, "a", "10.0.0.2")
    assert isinstance(fate, Ended)
    assert fate.end is End.UNKNOWN
    assert "no rights" in fate.because


def test_routers_that_send_in_circles_end() -> None:
    made = Wires()
    made.space("a", forward=True)
    made.space("b", forward=True)
    made.pair(("a", "eth0", "10.0.0.1/24"), ("b", "eth0", "10.0.0.2/24"))
    made.route("a", "0.0.0.0/0", "10.0.0.2", 2)
    made.route("b", "0.0.0.0/0", "10.0.0.1", 2)
    fate, _ = carry(made, "a", "8.8.8.8")
    assert isinstance(fate, Ended)
    assert "circles" in fate.because or "an address of its own" in fate.because
