"""Everything that iproute2 shows of a lab is in our values and nothing else; and a difference would be seen."""

import os
from dataclasses import replace

import pytest

from netdiag.linux.rtnetlink import NextHop
from netdiag.linux.ruleset import Ruleset
from netdiag.topology.inventory import NamespaceFacts
from tests.netlab.compare import Comparison, compare, settled
from tests.netlab.compare_rules import compare_rules
from tests.netlab.dumps import read_facts
from tests.netlab.filtering import inside, made_namespace, restore, ruleset_of
from tests.netlab.iproute2_output import Iproute2Output, ask
from tests.netlab.lab import Room, netlab


def read(room: Room) -> tuple[NamespaceFacts, Iproute2Output]:
    """Ours and iproute2's, one after the other."""
    descriptor = room.open()
    try:
        return read_facts(descriptor), ask(descriptor)
    finally:
        os.close(descriptor)


def test_nothing_is_missing_and_nothing_is_invented() -> None:
    total = Comparison()
    with netlab(5) as lab:
        for room in lab.rooms:
            total.add(settled(lambda room=room: read(room)))  # type: ignore[misc]
            facts, _ = read(room)
            bound = {(one.protocol.value, one.family, one.address, one.port, one.v6only) for one in facts.listeners}
            assert set(lab.listeners[room.inode]) <= bound
    assert total.equal, str(total)
    # a comparison of nothing with nothing would be equal, too
    assert total.compared["link"] > 5 * 3
    assert total.compared["route"] > 5 * 30
    assert min(total.compared[kind] for kind in ("address", "rule", "neighbour", "fdb")) > 5 * 8
    assert total.fields > 3000


def test_a_difference_is_seen() -> None:
    with netlab(1) as lab:
        facts, said = read(lab.rooms[1])
    ports = [link for link in facts.links if link.port_kind == "bridge"]
    changed = {
        "missing": replace(facts, links=facts.links[1:], routes=facts.routes[1:], fdb=facts.fdb[1:]),
        "extra": replace(
            facts, rules=(*facts.rules, replace(facts.rules[0], priority=4)), addresses=facts.addresses * 2
        ),
        "mtu": _with_link(facts, facts.links[1].ifindex, mtu=1),
        "port.state": _with_link(facts, ports[0].ifindex, port={**ports[0].port, "state": "burning"}),
        "master": _with_link(facts, ports[0].ifindex, master=None),
        "device": replace(
            facts, routes=tuple(replace(one, hops=(NextHop(gateway="", ifindex=99),)) for one in facts.routes)
        ),
        "lladdr": replace(facts, neighbours=tuple(replace(one, lladdr="x") for one in facts.neighbours)),
    }
    for word, other in changed.items():
        result = compare(other, said)
        assert not result.equal, word
        assert word in str(result)


def _with_link(facts: NamespaceFacts, ifindex: int, **fields: object) -> NamespaceFacts:
    links = tuple(replace(one, **fields) if one.ifindex == ifindex else one for one in facts.links)  # type: ignore[arg-type]
    return replace(facts, links=links)


@pytest.mark.parametrize("count", [0, 1])
def test_a_small_lab_has_no_unnamed_namespaces(count: int) -> None:
    with netlab(count) as lab:
        assert [room.held_by for room in lab.rooms] == ["name"] * (count + 1)


def test_every_kind_of_difference_is_seen() -> None:
    with made_namespace() as name:
        restore(name, "iptables-nft", "filter", ("-A INPUT -s 10.0.0.1/32 -j DROP", "-A INPUT -j ACCEPT"))
        inside(name, "nft", "-f", "-", stdin="table inet t { chain c { accept; drop; }; }")
        ruleset = ruleset_of(name)
        assert compare_rules(ruleset, name).compared == 4
        nothing = compare_rules(Ruleset(), name)
        assert (len(nothing.missing), nothing.equal) == (10, False)
        tables = []
        for table in ruleset.tables:
            chains = []
            for chain in table.chains:
                told = [replace(rule, text="something else") for rule in chain.rules]
                chains.append(replace(chain, rules=(*told,)))
            tables.append(replace(table, chains=tuple(chains)))
        assert len(compare_rules(Ruleset(tables=tuple(tables)), name).differing) == 4
        restore(name, "iptables-nft", "filter", ("-A INPUT -s 10.0.0.2/32 -j DROP",))
        assert compare_rules(ruleset, name).missing
        inside(name, "nft", "delete", "table", "inet", "t")
        assert compare_rules(ruleset, name).extra
