"""Changes to a topology give another one, in which walks end otherwise."""

from collections.abc import Callable
from dataclasses import replace

from netdiag.linux.ruleset import Chain, Expression, FilterRule, Origin, Ruleset, Table, address_of, policy_of
from netdiag.topology import changes
from netdiag.topology.graph import Topology
from netdiag.topology.hops import End
from netdiag.topology.inventory import LinkId
from netdiag.topology.path import walk
from tests.topology.failing_cases import shop
from tests.topology.wires import Wires, two_on_a_bridge

DROP = Expression(name="verdict", fields={"verdict": "drop"})


def topology(wires: Wires) -> Topology:
    return Topology(inventory=wires.inventory, places=())


def end(wires: Wires, change: Callable[[Topology], Topology] | None = None, port: int = 9092) -> End:
    given = topology(wires)
    return walk(change(given) if change else given, wires.netns("a"), "10.0.0.2", port).end


def test_a_rule_less_and_a_rule_that_accepts() -> None:
    wires = two_on_a_bridge()
    rule = FilterRule(number=1, handle=7, expressions=(DROP,), text="drop", packets=0)
    chain = Chain(name="INPUT", hook="input", type="filter", policy="accept", rules=(rule,))
    table = Table(family="ip", name="filter", origin=Origin.IPTABLES_NFT, chains=(chain,))
    wires.spaces["b"].ruleset = Ruleset(tables=(table,))
    address = address_of(table, chain, rule)
    assert end(wires) is End.DROPPED
    assert end(wires, changes.without_rule(wires.netns("b"), address)) is End.CONNECTED
    assert end(wires, changes.accepting(wires.netns("b"), address)) is End.CONNECTED
    other = replace(address, chain="OUTPUT")
    assert end(wires, changes.without_rule(wires.netns("b"), other)) is End.DROPPED


def test_a_policy_that_accepts() -> None:
    wires = two_on_a_bridge()
    chain = Chain(name="INPUT", hook="input", type="filter", policy="drop")
    table = Table(family="ip", name="filter", origin=Origin.IPTABLES_NFT, chains=(chain,))
    wires.spaces["b"].ruleset = Ruleset(tables=(table,))
    assert end(wires) is End.DROPPED
    assert end(wires, changes.without_rule(wires.netns("b"), policy_of(table, chain))) is End.CONNECTED


def test_somebody_listens() -> None:
    wires = two_on_a_bridge()
    assert end(wires, port=9093) is End.REFUSED
    assert end(wires, changes.bound_everywhere(wires.netns("b"), 9093), port=9093) is End.CONNECTED


def test_a_device_comes_up() -> None:
    wires = two_on_a_bridge()
    inside = LinkId(netns=wires.netns("b"), ifindex=2)
    wires.change(inside, flags=0)
    assert end(wires) is End.NO_NEIGHBOUR
    given = topology(wires)
    assert end(wires, changes.link_up(inside, given)) is End.CONNECTED


def test_what_was_given_stays_as_it_is() -> None:
    given = shop().topology()
    view = given.networks[0]
    client = given.named("client")
    assert client is not None
    changed = changes.attached(client.netns, view)(given)
    before, after = (one.inventory.namespaces[client.netns] for one in (given, changed))
    assert len(after.links) == len(before.links) + 1
    assert given == shop().topology()


def test_attached_means_reached() -> None:
    given = shop().topology()
    alone = given.named("alone")
    view = next(one for one in given.networks if one.network.name == "shop")
    assert alone is not None
    assert walk(given, alone.netns, "172.20.0.2", 9092).end is not End.CONNECTED
    changed = changes.attached(alone.netns, view)(given)
    assert walk(changed, alone.netns, "172.20.0.2", 9092).end is End.CONNECTED


def test_started_and_published() -> None:
    given = shop().topology()
    host = given.named("host")
    view = next(one for one in given.networks if one.network.name == "shop")
    gone = next(one for one in given.containers.values() if one.name == "gone")
    assert host is not None
    address = changes.free_address(given, view)
    first = changes.started(gone, view, address, (9094,))
    second = changes.proxied(host.netns, 9094, address, 9094)
    assert walk(given, host.netns, "127.0.0.1", 9094).end is End.REFUSED
    assert walk(changes.both(first, second)(given), host.netns, "127.0.0.1", 9094).end is End.CONNECTED
