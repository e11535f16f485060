"""What a client is told where rules end its packet."""

import pytest

from netdiag.linux.filtering import Packet, Traversal, Verdict
from netdiag.linux.ruleset import Chain, Origin, Ruleset, Table
from netdiag.topology.fates import at_port, frames_filtered, stopped_by
from netdiag.topology.hops import End
from netdiag.topology.passage import Moving
from netdiag.topology.terrain import Place
from tests.topology.wires import Wires

PACKET = Packet(family=4, protocol="tcp", source="10.0.0.1", destination="10.0.0.2")


@pytest.mark.parametrize(
    ("verdict", "kind", "end", "errno"),
    [
        (Verdict.DROP, "", End.DROPPED, ""),
        (Verdict.UNKNOWN, "", End.UNKNOWN, ""),
        (Verdict.REJECT, "tcp reset", End.REFUSED, "ECONNREFUSED"),
        (Verdict.REJECT, "icmp port-unreachable", End.REFUSED, "ECONNREFUSED"),
        (Verdict.REJECT, "icmp host-unreachable", End.REFUSED, "EHOSTUNREACH"),
        (Verdict.REJECT, "icmp net-unreachable", End.REFUSED, "ENETUNREACH"),
        (Verdict.REJECT, "icmp-proto-unreachable", End.REFUSED, "ENOPROTOOPT"),
        (Verdict.REJECT, "icmpx-host-unreachable", End.REFUSED, "EHOSTUNREACH"),
        (Verdict.REJECT, "icmp admin-prohibited", End.REFUSED, "EHOSTUNREACH"),
    ],
)
def test_ends_at_a_hook(verdict: Verdict, kind: str, end: End, errno: str) -> None:
    place = Place(Wires().space("a").facts())
    found = stopped_by(
        place, "forward", Traversal(verdict=verdict, packet=PACKET, kind=kind), (), Moving(packet=PACKET)
    )
    assert (found.end, found.errno) == (end, errno)
    assert (found.by is not None) == (verdict is Verdict.REJECT)


@pytest.mark.parametrize(
    ("family", "hook", "devices", "bridged", "said"),
    [
        ("bridge", "forward", (), True, "family bridge"),
        ("bridge", "forward", (), False, ""),
        ("netdev", "ingress", ("eth0",), False, "ingress of eth0"),
        ("netdev", "ingress", ("eth1",), False, ""),
        ("inet", "ingress", ("eth0",), True, "ingress of eth0"),
        ("inet", "forward", (), True, ""),
    ],
)
def test_rules_about_frames_are_not_passed_over(
    family: str, hook: str, devices: tuple[str, ...], bridged: bool, said: str
) -> None:
    made = Wires().space("a")
    assert frames_filtered(Place(made.facts()), "eth0", bridged=True) == ""
    chain = Chain(name="f", hook=hook, type="filter", policy="drop", devices=devices)
    made.ruleset = Ruleset(tables=(Table(family=family, name="t", origin=Origin.NFTABLES, chains=(chain,)),))
    found = frames_filtered(Place(made.facts()), "eth0", bridged=bridged)
    assert said in found
    assert bool(found) == bool(said)


@pytest.mark.parametrize(("kind", "direct"), [("tcp reset", True), ("icmp port-unreachable", False)])
def test_a_reset_for_a_bridged_frame_goes_back_past_all_hooks(kind: str, direct: bool) -> None:
    place = Place(Wires().space("a").facts())
    traversal = Traversal(verdict=Verdict.REJECT, packet=PACKET, kind=kind)
    assert stopped_by(place, "forward", traversal, (), Moving(packet=PACKET), bridged=True).direct is direct
    assert not stopped_by(place, "forward", traversal, (), Moving(packet=PACKET)).direct


def test_addresses_with_ports() -> None:
    assert [at_port("::1", 9092), at_port("::1", None), at_port("10.0.0.1", 1)] == ["[::1]:9092", "[::1]", "10.0.0.1:1"]
