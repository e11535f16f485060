"""Hooks with the memory of connections: translations are made once, kept, and undone for answers."""

from dataclasses import replace

import pytest

from netdiag.linux.filtering.packet import Packet
from netdiag.linux.filtering.traversal import Traversal, Verdict
from netdiag.linux.ruleset import Chain, Origin, Ruleset, Table
from netdiag.topology.graph import PathEnd
from netdiag.topology.inventory import IndexedNamespace
from netdiag.topology.path.netfilter import (
    ConnectionTuple,
    Interfaces,
    Netfilter,
    TrackedPacket,
    address_with_port,
    hook_context,
    matched_rules,
    undelivered_at_hook,
    unmodelled_frame_rule,
)
from tests.topology.namespaces import Wires, rule, rules

TO_B = rule(1, "dnat to 10.0.0.2:9092", ("nat", {"type": "dnat", "addresses": ["10.0.0.2"]}))
DROP = rule(1, "drop", ("verdict", {"verdict": "drop", "chain": ""}))
FIRST = Packet(family=4, protocol="tcp", source="10.0.0.1", source_port=4, destination="9.9.9.9", destination_port=9092)


def namespace(ruleset: Ruleset) -> IndexedNamespace:
    made = Wires()
    made.space("a")
    made.device("a", "eth0", "", "10.0.0.254/24")
    return IndexedNamespace(replace(made.spaces["a"].facts(), ruleset=ruleset))


def test_without_rules_a_packet_passes_and_is_remembered() -> None:
    here, netfilter, tracked = namespace(Ruleset()), Netfilter(), TrackedPacket(packet=FIRST)
    assert netfilter.hook(here, "prerouting", tracked, Interfaces(in_link="eth0")).verdict is Verdict.ACCEPT
    assert tracked.entry is not None
    assert tracked.entry.original == TrackedPacket(packet=FIRST).tuple
    assert tracked.entry.reply == ConnectionTuple(
        source="9.9.9.9", source_port=9092, destination="10.0.0.1", destination_port=4
    )


def test_a_drop_names_its_rule() -> None:
    here = namespace(rules("input", DROP))
    found = Netfilter().hook(here, "input", TrackedPacket(packet=FIRST), Interfaces(in_link="eth0"))
    assert found.verdict is Verdict.DROP
    assert [one.text for one in matched_rules(found)] == ["drop"]


def test_answers_to_what_was_never_seen_are_invalid() -> None:
    tracked = TrackedPacket(packet=FIRST, answer=True)
    Netfilter().hook(namespace(rules("prerouting")), "prerouting", tracked, Interfaces(in_link="eth0"))
    assert tracked.entry is None
    assert tracked.packet.state.value == "invalid"


@pytest.mark.parametrize("hook", ["prerouting", "output"])
def test_masquerading_is_undone_for_the_answer(hook: str) -> None:
    masquerade = rules("postrouting", rule(1, "masquerade", ("masq", {})), type="nat", priority=100)
    here, netfilter, tracked = namespace(masquerade), Netfilter(), TrackedPacket(packet=FIRST)
    netfilter.hook(here, "prerouting", tracked, Interfaces(in_link="eth1"))
    netfilter.hook(here, "postrouting", tracked, Interfaces(out_link="eth0"), "10.0.0.2")
    assert tracked.packet.source == "10.0.0.254"
    back = Packet(
        family=4, protocol="tcp", source="9.9.9.9", source_port=9092, destination="10.0.0.254", destination_port=4
    )
    answer = TrackedPacket(packet=back, answer=True)
    netfilter.hook(here, hook, answer, Interfaces())
    assert (answer.packet.destination, answer.packet.state.value) == ("10.0.0.1", "established")
    error = TrackedPacket(packet=back, answer=True, error="10.0.0.9")
    netfilter.hook(here, hook, error, Interfaces())
    assert error.packet.destination == "10.0.0.1"


def test_what_rules_ask_of_the_namespace() -> None:
    context = hook_context(namespace(Ruleset()), 4, "10.0.0.2")
    assert context.is_local is not None
    assert context.is_local("10.0.0.254")
    assert context.address_of is not None
    assert (context.address_of("eth0"), context.address_of("nope")) == ("10.0.0.254", "")
    assert context.ifindexes["eth0"] == 2


PACKET = Packet(family=4, protocol="tcp", source="10.0.0.1", destination="10.0.0.2")


@pytest.mark.parametrize(
    ("verdict", "kind", "end", "errno"),
    [
        (Verdict.DROP, "", PathEnd.DROPPED, ""),
        (Verdict.UNKNOWN, "", PathEnd.UNKNOWN, ""),
        (Verdict.REJECT, "tcp reset", PathEnd.REFUSED, "ECONNREFUSED"),
        (Verdict.REJECT, "icmp port-unreachable", PathEnd.REFUSED, "ECONNREFUSED"),
        (Verdict.REJECT, "icmp host-unreachable", PathEnd.REFUSED, "EHOSTUNREACH"),
        (Verdict.REJECT, "icmp net-unreachable", PathEnd.REFUSED, "ENETUNREACH"),
        (Verdict.REJECT, "icmp-proto-unreachable", PathEnd.REFUSED, "ENOPROTOOPT"),
        (Verdict.REJECT, "icmpx-host-unreachable", PathEnd.REFUSED, "EHOSTUNREACH"),
        (Verdict.REJECT, "icmp admin-prohibited", PathEnd.REFUSED, "EHOSTUNREACH"),
    ],
)
def test_ends_at_a_hook(verdict: Verdict, kind: str, end: PathEnd, errno: str) -> None:
    namespace = IndexedNamespace(Wires().space("a").facts())
    found = undelivered_at_hook(namespace, "forward", Traversal(verdict=verdict, packet=PACKET, kind=kind), 4)
    assert (found.end, found.errno) == (end, errno)
    assert found.answered is (verdict is Verdict.REJECT)


@pytest.mark.parametrize(
    ("family", "hook", "devices", "bridged", "said"),
    [
        ("bridge", "forward", (), True, "bridge family"),
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
    assert unmodelled_frame_rule(IndexedNamespace(made.facts()), "eth0", bridged=True) == ""
    chain = Chain(name="f", hook=hook, type="filter", policy="drop", devices=devices)
    made.ruleset = Ruleset(tables=(Table(family=family, name="t", origin=Origin.NFTABLES, chains=(chain,)),))
    found = unmodelled_frame_rule(IndexedNamespace(made.facts()), "eth0", bridged=bridged)
    assert said in found
    assert bool(found) == bool(said)


@pytest.mark.parametrize(("kind", "direct"), [("tcp reset", True), ("icmp port-unreachable", False)])
def test_a_reset_for_a_bridged_frame_goes_back_past_all_hooks(kind: str, direct: bool) -> None:
    namespace = IndexedNamespace(Wires().space("a").facts())
    traversal = Traversal(verdict=Verdict.REJECT, packet=PACKET, kind=kind)
    assert undelivered_at_hook(namespace, "forward", traversal, 4, bridged=True).direct is direct
    assert not undelivered_at_hook(namespace, "forward", traversal, 4).direct


def test_addresses_with_ports() -> None:
    assert [address_with_port("::1", 9092), address_with_port("::1", None), address_with_port("10.0.0.1", 1)] == [
        "[::1]:9092",
        "[::1]",
        "10.0.0.1:1",
    ]
