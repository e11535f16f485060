"""Changes to a topology give another one, in which walks end otherwise."""

from collections.abc import Callable
from dataclasses import replace

from netdiag.linux.ruleset import Chain, Expression, FilterRule, Origin, Ruleset, Table, address_of, policy_of
from netdiag.topology.causes import remedies
from netdiag.topology.graph import PathEnd, Topology
from netdiag.topology.inventory import LinkId
from netdiag.topology.path.prediction import predict_path
from tests.topology.failed_connections import failing, shop
from tests.topology.namespaces import Wires, two_on_a_bridge

DROP = Expression(name="verdict", fields={"verdict": "drop"})


def topology(wires: Wires) -> Topology:
    return Topology(inventory=wires.inventory, places=())


def end(wires: Wires, change: Callable[[Topology], Topology] | None = None, port: int = 9092) -> PathEnd:
    given = topology(wires)
    return predict_path(change(given) if change else given, wires.netns("a"), "10.0.0.2", port).end


def test_a_rule_less_and_a_rule_that_accepts() -> None:
    wires = two_on_a_bridge()
    rule = FilterRule(number=1, handle=7, expressions=(DROP,), text="drop", packets=0)
    chain = Chain(name="INPUT", hook="input", type="filter", policy="accept", rules=(rule,))
    table = Table(family="ip", name="filter", origin=Origin.IPTABLES_NFT, chains=(chain,))
    wires.spaces["b"].ruleset = Ruleset(tables=(table,))
    address = address_of(table, chain, rule)
    assert end(wires) is PathEnd.DROPPED
    assert end(wires, remedies.without_rule(wires.netns("b"), address)) is PathEnd.CONNECTED
    assert end(wires, remedies.with_accepting_rule(wires.netns("b"), address)) is PathEnd.CONNECTED
    other = replace(address, chain="OUTPUT")
    assert end(wires, remedies.without_rule(wires.netns("b"), other)) is PathEnd.DROPPED


def test_a_policy_that_accepts() -> None:
    wires = two_on_a_bridge()
    chain = Chain(name="INPUT", hook="input", type="filter", policy="drop")
    table = Table(family="ip", name="filter", origin=Origin.IPTABLES_NFT, chains=(chain,))
    wires.spaces["b"].ruleset = Ruleset(tables=(table,))
    assert end(wires) is PathEnd.DROPPED
    assert end(wires, remedies.without_rule(wires.netns("b"), policy_of(table, chain))) is PathEnd.CONNECTED


def test_somebody_listens() -> None:
    wires = two_on_a_bridge()
    assert end(wires, port=9093) is PathEnd.REFUSED
    assert end(wires, remedies.with_listener(wires.netns("b"), 9093), port=9093) is PathEnd.CONNECTED


def test_a_device_comes_up() -> None:
    wires = two_on_a_bridge()
    inside = LinkId(netns=wires.netns("b"), ifindex=2)
    wires.change(inside, flags=0)
    assert end(wires) is PathEnd.NO_NEIGHBOUR
    given = topology(wires)
    assert end(wires, remedies.with_link_up(inside, given)) is PathEnd.CONNECTED


def test_what_was_given_stays_as_it_is() -> None:
    given = shop().topology()
    view = given.networks[0]
    client = given.named("client")
    assert client is not None
    changed = remedies.with_network(client.netns, view)(given)
    before, after = (one.inventory.namespaces[client.netns] for one in (given, changed))
    assert len(after.links) == len(before.links) + 1
    assert given == shop().topology()


def test_attached_means_reached() -> None:
    given = shop().topology()
    alone = given.named("alone")
    view = next(one for one in given.networks if one.network.name == "shop")
    assert alone is not None
    assert predict_path(given, alone.netns, "172.20.0.2", 9092).end is not PathEnd.CONNECTED
    changed = remedies.with_network(alone.netns, view)(given)
    assert predict_path(changed, alone.netns, "172.20.0.2", 9092).end is PathEnd.CONNECTED


def test_started_and_published() -> None:
    given = shop().topology()
    host = given.named("host")
    view = next(one for one in given.networks if one.network.name == "shop")
    gone = next(one for one in given.containers.values() if one.name == "gone")
    assert host is not None
    address = remedies.free_address(given, view)
    first = remedies.with_started(gone, view, address, (9094,))
    second = remedies.with_docker_proxy(host.netns, 9094, address, 9094)
    assert predict_path(given, host.netns, "127.0.0.1", 9094).end is PathEnd.REFUSED
    assert (
        predict_path(remedies.in_sequence(first, second)(given), host.netns, "127.0.0.1", 9094).end is PathEnd.CONNECTED
    )


def test_attach_to_a_network_of_the_target() -> None:
    (remedy,) = remedies.attach_to_network(failing(shop(), "far", "172.20.0.2", 9092))
    assert (remedy.text, remedy.destination) == ("attach far to network shop, which kafka-1 is on", "172.20.0.2")
    assert remedy.change is not None
    assert not list(remedies.attach_to_network(failing(shop(), "far", "172.20.0.2", 9092), without="shop"))
    assert not list(remedies.attach_to_network(failing(shop(), "host", "172.20.0.2", 9092)))


def test_publish_or_dial_what_is_published() -> None:
    (dial,) = remedies.publish(failing(shop(), "host", "172.20.0.2", 9092))
    assert (dial.text, dial.port) == ("connect to 192.168.8.133:9092, where kafka-1 publishes the port", 9092)
    (publish,) = remedies.publish(failing(shop(), "host", "172.20.0.3", 9093))
    assert publish.text.startswith("publish 9093:9093 of client")


def test_start() -> None:
    found = failing(shop(), "client", "gone", 9094)
    gone = next(one for one in found.topology.containers.values() if one.name == "gone")
    remedy = remedies.start(found, gone, 9094)
    assert (remedy.text, remedy.port) == ("start gone; its log says why it ended", 9094)
    assert remedy.destination.startswith("172.20.")


def test_instead_of_a_published_port() -> None:
    found = failing(shop(), "far", "192.168.8.133", 9092)
    texts = [remedy.text for remedy in remedies.bypass_published_port(found)]
    assert "attach far to network shop, and connect to kafka-1:9092" in texts


def test_who_listens() -> None:
    found = failing(shop(), "client", "127.0.0.1", 9092)
    assert {one.name for one in remedies.containers_listening(found, 9092)} == {"kafka-1", "far"}
    assert remedies.host_address(found) == "192.168.8.133"
