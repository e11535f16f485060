"""One packet through base chains, jumps, policies, translation, and what is not known."""

from dataclasses import replace

import pytest

from netdiag.linux.filtering.packet import ConnectionState, NamespaceView, Packet
from netdiag.linux.filtering.traversal import Traversal, Verdict, traverse
from netdiag.linux.ruleset import Chain, Expression, FilterRule, Origin, Ruleset, Table

PACKET = Packet(
    family=4,
    protocol="tcp",
    source="10.0.0.2",
    destination="10.0.1.2",
    destination_port=9092,
    in_link="eth0",
    out_link="br0",
)
HERE = NamespaceView(is_local=lambda address: address == "10.0.0.1", address_of=lambda link: f"10.0.9.{len(link)}")


def verdict(word: str, chain: str = "") -> Expression:
    return Expression(name="verdict", fields={"verdict": word, "chain": chain})


def port(number: int) -> Expression:
    return Expression(name="xt:tcp", fields={"destination_ports": [number, number]})


MYSTERY = Expression(name="xt:mystery", understood=False)


def chain(name: str, *rules: tuple[Expression, ...], **more: object) -> Chain:
    numbered = tuple(
        FilterRule(number=at, handle=None, expressions=one, text=f"{name} {at}") for at, one in enumerate(rules, 1)
    )
    return replace(Chain(name=name, rules=numbered), **more)  # type: ignore[arg-type]


def forward(*rules: tuple[Expression, ...], policy: str = "accept", priority: int = 0) -> Chain:
    return chain("FORWARD", *rules, hook="forward", type="filter", policy=policy, priority=priority)


def table(*chains: Chain, name: str = "filter", family: str = "ip") -> Table:
    return Table(family=family, name=name, origin=Origin.IPTABLES_LEGACY, chains=chains)


def asked(*tables: Table, hook: str = "forward", packet: Packet = PACKET, unread: tuple[str, ...] = ()) -> Traversal:
    return traverse(Ruleset(tables=tables, unread=unread), hook, packet, namespace=HERE)


def test_without_rules_everything_passes() -> None:
    found = asked()
    assert (found.verdict, found.deciding, found.packet) == (Verdict.ACCEPT, None, PACKET)


def test_the_policy_decides_at_the_end_and_after_a_return() -> None:
    for rules in ((), ((verdict("return"),), (verdict("accept"),))):
        found = asked(table(forward(*rules, policy="drop")))
        assert (found.verdict, found.deciding) == (Verdict.DROP, None)
        assert found.because == "policy drop of iptables-legacy ip filter FORWARD"


def test_the_first_rule_that_matches_decides() -> None:
    found = asked(table(forward((port(80), verdict("accept")), (port(9092), verdict("drop")), (verdict("accept"),))))
    assert found.verdict is Verdict.DROP
    assert found.deciding is not None
    assert found.deciding.number == 2
    assert str(found.deciding) in found.because


def test_an_accept_ends_its_own_base_chain_alone() -> None:
    early = table(forward((verdict("accept"),), priority=-10), name="early")
    late = table(forward((verdict("drop"),), priority=10), name="late")
    found = asked(late, early)
    assert found.verdict is Verdict.DROP
    assert [hit.table for hit in found.hits] == ["early", "late"]


@pytest.mark.parametrize(
    ("word", "expected"),
    [("jump", Verdict.DROP), ("goto", Verdict.ACCEPT)],
)
def test_jumps_come_back_and_gotos_do_not(word: str, expected: Verdict) -> None:
    inner = chain("INNER", (port(1), verdict("drop")))
    assert asked(table(forward((verdict(word, "INNER"),), (verdict("drop"),)), inner)).verdict is expected


def test_a_circle_ends() -> None:
    circle = chain("A", (verdict("jump", "A"),))
    assert asked(table(forward((verdict("jump", "A"),)), circle)).verdict is Verdict.UNKNOWN


def test_a_rejection_says_with_what() -> None:
    found = asked(table(forward((Expression(name="xt:REJECT", fields={"kind": "tcp reset"}),))))
    assert (found.verdict, found.kind) == (Verdict.REJECT, "tcp reset")


def dnat(address: str, number: int) -> Expression:
    return Expression(name="xt:DNAT", fields={"first": address, "ports": [number, number]})


def prerouting(*rules: tuple[Expression, ...], kind: str = "nat", priority: int = -100) -> Chain:
    return chain("PREROUTING", *rules, hook="prerouting", type=kind, policy="accept", priority=priority)


def test_translation_is_for_new_connections_and_the_filter_after_it_sees_the_result() -> None:
    nat = table(prerouting((port(9092), dnat("10.5.5.5", 19092))), name="nat")
    late = table(prerouting((port(19092), verdict("drop")), kind="filter", priority=0))
    early = table(prerouting((port(19092), verdict("drop")), kind="filter", priority=-300), name="raw")
    found = asked(nat, early, hook="prerouting")
    assert found.verdict is Verdict.ACCEPT
    assert (found.packet.destination, found.packet.destination_port) == ("10.5.5.5", 19092)
    assert (found.packet.original_destination, found.packet.original_destination_port) == ("10.0.1.2", 9092)
    assert found.deciding is not None
    assert found.deciding.table == "nat"
    assert asked(nat, late, hook="prerouting").verdict is Verdict.DROP
    known = replace(PACKET, state=ConnectionState.ESTABLISHED)
    assert asked(nat, hook="prerouting", packet=known).packet == known


def test_the_first_translation_is_the_only_one() -> None:
    one = table(prerouting((dnat("10.5.5.5", 1),)), name="one")
    two = table(prerouting((dnat("10.6.6.6", 2),), priority=-90), name="two")
    assert asked(two, one, hook="prerouting").packet.destination == "10.5.5.5"


def test_what_is_not_known_matters_only_if_the_outcome_depends_on_it() -> None:
    assert asked(table(forward((MYSTERY, verdict("drop"))))).verdict is Verdict.UNKNOWN
    assert asked(table(forward((MYSTERY, verdict("accept"))))).verdict is Verdict.ACCEPT
    assert asked(table(forward((MYSTERY, port(1), verdict("drop"))))).verdict is Verdict.ACCEPT
    found = asked(table(forward((MYSTERY, verdict("drop")), (verdict("drop"),))))
    assert found.verdict is Verdict.DROP
    found = asked(table(forward((MYSTERY, verdict("accept")), (verdict("drop"),))))
    assert found.verdict is Verdict.UNKNOWN
    assert "xt:mystery in iptables-legacy ip filter FORWARD #1" in found.because


def test_many_unknowns_end_in_bounded_time() -> None:
    rules = tuple((MYSTERY, Expression(name="counter")) for _ in range(400))
    assert asked(table(forward(*rules))).verdict is Verdict.UNKNOWN


def test_rules_that_could_not_be_read_leave_a_drop_certain() -> None:
    assert asked(unread=("nf_tables: not allowed",)).verdict is Verdict.UNKNOWN
    assert asked(unread=("flowtable f of inet t is not shown",)).verdict is Verdict.ACCEPT
    dropped = asked(table(forward((verdict("drop"),))), unread=("nf_tables: not allowed",))
    assert dropped.verdict is Verdict.DROP


def test_tables_of_another_family_are_not_asked() -> None:
    assert asked(table(forward((verdict("drop"),)), family="ip6")).verdict is Verdict.ACCEPT
    assert asked(table(forward((verdict("drop"),)), family="inet")).verdict is Verdict.DROP
    bridge = Ruleset(tables=(table(forward((verdict("drop"),)), family="bridge"),))
    assert traverse(bridge, "forward", PACKET, family="bridge").verdict is Verdict.DROP


def test_chains_of_other_devices_are_not_asked() -> None:
    ingress = chain("i", (verdict("drop"),), hook="ingress", type="filter", devices=("eth1",))
    rules = Ruleset(tables=(table(ingress, family="netdev"),))
    for device, expected in (("eth0", Verdict.ACCEPT), ("eth1", Verdict.DROP)):
        assert traverse(rules, "ingress", PACKET, family="netdev", device=device).verdict is expected


def test_before_connection_tracking_there_is_no_state() -> None:
    invalid = Expression(name="xt:conntrack", fields={"states": ["INVALID"]})
    mark = Expression(name="xt:connmark", fields={"mark": 0, "mask": 1})
    raw = prerouting((mark, verdict("accept")), (invalid, verdict("drop")), kind="filter", priority=-300)
    later = prerouting((mark, verdict("accept")), (invalid, verdict("drop")), kind="filter", priority=-150)
    assert asked(table(raw), hook="prerouting").verdict is Verdict.DROP
    assert asked(table(later), hook="prerouting").verdict is Verdict.ACCEPT


def test_what_is_not_tracked_is_not_translated() -> None:
    notrack = Expression(name="xt:CT", fields={"flags": 1, "target": True})
    nat = table(prerouting((dnat("10.5.5.5", 1),)), name="nat")
    raw = table(prerouting((notrack,), kind="filter", priority=-300), name="raw")
    found = asked(raw, nat, hook="prerouting")
    assert found.packet == replace(PACKET, state=ConnectionState.UNTRACKED)
    untracked = Expression(name="xt:conntrack", fields={"states": ["UNTRACKED"]})
    seen = table(prerouting((notrack,), (untracked, verdict("drop")), kind="filter", priority=-300), name="raw")
    assert asked(seen, nat, hook="prerouting").verdict is Verdict.DROP
    late = table(prerouting((notrack,), kind="filter", priority=-150), name="mangle")
    assert asked(late, nat, hook="prerouting").packet.destination == "10.5.5.5"


def nat_of(origin: Origin, name: str, address: str) -> Table:
    return replace(table(prerouting((dnat(address, 1),)), name=name), origin=origin)


def test_of_one_priority_the_last_made_is_asked_first() -> None:
    first, last = nat_of(Origin.NFTABLES, "first", "10.5.5.5"), nat_of(Origin.NFTABLES, "last", "10.6.6.6")
    assert asked(first, last, hook="prerouting").packet.destination == "10.6.6.6"


def test_whether_legacy_iptables_comes_first_is_not_known() -> None:
    legacy, other = nat_of(Origin.IPTABLES_LEGACY, "a", "10.5.5.5"), nat_of(Origin.NFTABLES, "b", "10.6.6.6")
    found = asked(other, legacy, hook="prerouting")
    assert found.verdict is Verdict.UNKNOWN
    assert "comes first at the same priority" in found.because
    same = nat_of(Origin.NFTABLES, "b", "10.5.5.5")
    assert asked(same, legacy, hook="prerouting").packet.destination == "10.5.5.5"


def test_hits_are_those_of_every_possibility() -> None:
    found = asked(table(forward((MYSTERY, verdict("accept")), (port(9092),), (verdict("accept"),))))
    assert (found.verdict, found.hits) == (Verdict.ACCEPT, ())
    found = asked(table(forward((port(9092),), (MYSTERY, verdict("accept")), (verdict("accept"),))))
    assert [hit.number for hit in found.hits] == [1]
