"""Causes in order, from literals: what counters prove, what the walk finds, what the model predicts."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from netdiag.deployment.model.causes import Certainty
from netdiag.deployment.model.verdict import Answered, Failed, Mechanism, Reason
from netdiag.engine.container import Status
from netdiag.linux.rtnetlink import Link
from netdiag.linux.ruleset import (
    Chain,
    Expression,
    FilterRule,
    Origin,
    RuleAddress,
    Ruleset,
    Table,
    address_of,
    policy_of,
)
from netdiag.topology.causes import remedies
from netdiag.topology.causes.failed_connection import FailedConnection
from netdiag.topology.causes.find_causes import (
    devices,
    find_causes,
    removal,
    rule_name,
    suspect_of_name,
    suspect_of_rule,
)
from netdiag.topology.causes.links import suspect_lost_packet, suspect_without_route
from netdiag.topology.causes.sockets import suspect_hung, suspect_of_backlog, suspect_of_refusal, suspect_of_silence
from netdiag.topology.graph import PathEnd, PlaceKind, Topology
from netdiag.topology.inventory import LinkId
from netdiag.topology.path.prediction import PathPredictor, predict_path
from tests.topology.machine import Machine
from tests.topology.namespaces import Space, Wires, two_on_a_bridge


def shop() -> Machine:
    """Network shop with kafka-1 (published) and a client; far on another network, alone on none, gone has ended."""
    machine = Machine()
    machine.network("shop", "172.20.0.0/16")
    machine.network("other", "172.21.0.0/16")
    machine.container("kafka-1", networks=["shop"], ports=[("0.0.0.0", 9092, 9092)], listens=[9092])
    machine.container("client", networks=["shop"], listens=[9093])
    machine.container("far", networks=["other"], listens=[9092])
    machine.container("alone")
    machine.container("gone", networks=["shop"], ports=[("0.0.0.0", 9094, 9094)], status=Status.EXITED)
    return machine


def failing(machine: Machine, source: str, destination: str, port: int) -> FailedConnection:
    """The connection, as it is predicted."""
    topology = machine.topology()
    place = topology.named(source)
    assert place is not None
    return FailedConnection(topology=topology, path=PathPredictor(topology).predict(place.netns, destination, port))


def test_what_works_has_no_cause() -> None:
    fine = failing(shop(), "client", "172.20.0.2", 9092)
    assert fine.path.end is PathEnd.CONNECTED
    assert find_causes(fine) == ()
    assert find_causes(replace(fine, seen=Answered(node_id=1, cluster_id="x"))) == ()


def test_the_walk_is_found_and_the_model_says_what_it_says_without_it() -> None:
    predicted = Failed(reason=Reason.REFUSED, because="port 9093 has no listener", mechanism=Mechanism.NOBODY_LISTENS)
    found = failing(shop(), "client", "172.20.0.2", 9093)
    (cause,) = find_causes(replace(found, predicted=predicted))
    assert (cause.mechanism, cause.certainty) == (Mechanism.NOBODY_LISTENS, Certainty.FOUND)
    assert cause.because == "port 9093 has no listener"
    assert cause.evidence[0] == "nothing listens on port 9093 of kafka-1"
    assert cause.evidence[-1] == "the deployment's files and settings predict it"
    assert cause.repairs[0].confirmed


def test_another_opinion_of_the_model_comes_last() -> None:
    predicted = Failed(reason=Reason.TIMEOUT, because="not running", mechanism=Mechanism.NOT_RUNNING)
    found = find_causes(replace(failing(shop(), "client", "172.20.0.2", 9093), predicted=predicted))
    assert [(one.mechanism, one.certainty) for one in found] == [
        (Mechanism.NOBODY_LISTENS, Certainty.FOUND),
        (Mechanism.NOT_RUNNING, Certainty.PREDICTED),
    ]


def test_a_walk_that_ends_otherwise_than_was_seen_is_no_proof() -> None:
    seen = Failed(reason=Reason.TIMEOUT, because="silent", ip="172.20.0.2")
    (cause,) = find_causes(replace(failing(shop(), "client", "172.20.0.2", 9093), seen=seen))
    assert cause.certainty is Certainty.POSSIBLE


def test_accepted_and_then() -> None:
    fine = failing(shop(), "client", "172.20.0.2", 9092)
    silent = Failed(reason=Reason.TIMEOUT, because="accepted, then silent", ip="172.20.0.2")
    assert [one.mechanism for one in find_causes(replace(fine, seen=silent))] == [Mechanism.HUNG]
    for reason, mechanism in (
        (Reason.TLS, Mechanism.TLS_EXPECTED),
        (Reason.SASL, Mechanism.SASL_EXPECTED),
        (Reason.NOT_KAFKA, Mechanism.NOT_KAFKA),
    ):
        said = Failed(reason=reason, because="it speaks otherwise", ip="172.20.0.2")
        assert [one.mechanism for one in find_causes(replace(fine, seen=said))] == [mechanism]


def test_a_repair_that_would_not_be_enough_says_so() -> None:
    found = failing(shop(), "alone", "172.20.0.99", 9092)
    repairs = [repair for cause in find_causes(found) for repair in cause.repairs]
    assert repairs
    assert all("not sufficient" in one.because for one in repairs if not one.confirmed)


def test_nobody_has_the_address() -> None:
    found = failing(shop(), "client", "172.20.0.99", 9092)
    assert found.path.end is PathEnd.NO_NEIGHBOUR
    suspect = suspect_lost_packet(found)
    assert suspect is not None
    assert suspect.mechanism is Mechanism.NOBODY_HAS_ADDRESS
    assert "on network shop" in suspect.because


def test_a_container_without_a_network() -> None:
    found = failing(shop(), "alone", "172.20.0.2", 9092)
    assert found.path.end is PathEnd.NO_ROUTE
    suspect = suspect_without_route(found)
    assert suspect is not None
    assert suspect.mechanism is Mechanism.NO_NETWORK
    assert suspect.remedies[0].text == "attach alone to network shop"


@pytest.mark.parametrize(
    ("source", "name", "mechanism"),
    [
        ("client", "kafak-1", Mechanism.NO_SUCH_NAME),
        ("client", "far", Mechanism.NAME_ON_OTHER_NETWORK),
        ("client", "gone", Mechanism.NAME_OF_STOPPED),
        ("client", "host.docker.internal", Mechanism.HOST_ALIAS_MISSING),
        ("host", "kafka-1", Mechanism.NO_EMBEDDED_DNS),
        ("alone", "kafka-1", Mechanism.NO_EMBEDDED_DNS),
    ],
)
def test_names(source: str, name: str, mechanism: Mechanism) -> None:
    suspect = suspect_of_name(failing(shop(), source, name, 9092))
    assert suspect.mechanism is mechanism
    assert f'"{name}"' in suspect.because
    assert suspect.remedies


def test_the_closest_name_is_offered() -> None:
    suspect = suspect_of_name(failing(shop(), "client", "kafak-1", 9092))
    assert suspect.remedies[0].text == 'connect to "kafka-1", the name of kafka-1'
    assert suspect.remedies[0].destination == "172.20.0.2"


BRIDGE = "br-010101010101"
OTHER = "br-020202020202"


def rule(
    text: str, chain: str, table: str = "filter", origin: Origin = Origin.IPTABLES_NFT, number: int = 3
) -> RuleAddress:
    return RuleAddress(family="ip", table=table, chain=chain, number=number, handle=12, text=text, origin=origin)


@pytest.mark.parametrize(
    ("text", "chain", "table", "mechanism"),
    [
        (
            f"-A DOCKER-ISOLATION-STAGE-2 -o {BRIDGE} -j DROP",
            "DOCKER-ISOLATION-STAGE-2",
            "filter",
            Mechanism.NETWORK_ISOLATION,
        ),
        (f"-A PREROUTING -d 172.20.0.2/32 ! -i {BRIDGE} -j DROP", "PREROUTING", "raw", Mechanism.NETWORK_ISOLATION),
        (f"-A FORWARD -i {BRIDGE} -o {BRIDGE} -j DROP", "FORWARD", "filter", Mechanism.ICC_OFF),
        (f"-A DOCKER-FORWARD -i {BRIDGE} -o {BRIDGE} -j DROP", "DOCKER-FORWARD", "filter", Mechanism.ICC_OFF),
        ("-A DOCKER-INTERNAL ! -s 172.20.0.0/16 -j DROP", "DOCKER-INTERNAL", "filter", Mechanism.INTERNAL_EGRESS),
        ("-A DOCKER-USER -p tcp -j DROP", "DOCKER-USER", "filter", Mechanism.HOST_FIREWALL),
        ("-A FORWARD -p tcp --dport 9092 -j DROP", "FORWARD", "filter", Mechanism.HOST_FIREWALL),
        ("-A INPUT -j REJECT --reject-with tcp-reset", "INPUT", "filter", Mechanism.REJECTED),
    ],
)
def test_whose_rule_it_is(text: str, chain: str, table: str, mechanism: Mechanism) -> None:
    found = failing(shop(), "far", "172.20.0.2", 9092)
    assert found.host is not None
    suspect = suspect_of_rule(found, found.host, rule(text, chain, table))
    assert suspect.mechanism is mechanism
    assert text in suspect.evidence[0]


def test_from_outside_it_is_direct_access() -> None:
    found = failing(shop(), "host", "172.20.0.2", 9092)
    assert found.host is not None
    text = f"-A PREROUTING -d 172.20.0.2/32 ! -i {BRIDGE} -j DROP"
    suspect = suspect_of_rule(found, found.host, rule(text, "PREROUTING", "raw"))
    assert suspect.mechanism is Mechanism.DIRECT_ACCESS_DROPPED
    assert "publishes the port" in suspect.remedies[0].text


def test_rules_of_engine_29() -> None:
    found = failing(shop(), "client", "172.20.0.2", 9092)
    assert found.host is not None
    text = f'oifname "{BRIDGE}" counter drop comment "ICC"'
    native = rule(text, f"filter-forward-in__{BRIDGE}", "docker-bridges", Origin.NFTABLES)
    assert suspect_of_rule(found, found.host, native).mechanism in (Mechanism.ICC_OFF, Mechanism.NETWORK_ISOLATION)
    assert set(devices(native)) == {("o", BRIDGE, False), ("i", BRIDGE, False)}


def test_policies_and_words() -> None:
    found = failing(shop(), "client", "172.20.0.2", 9092)
    assert found.host is not None
    forward = rule("-P FORWARD DROP", "FORWARD", number=0)
    assert suspect_of_rule(found, found.host, forward).mechanism is Mechanism.FORWARD_POLICY
    incoming = rule("-P INPUT DROP", "INPUT", number=0)
    assert suspect_of_rule(found, found.host, incoming).mechanism is Mechanism.HOST_FIREWALL
    assert rule_name(rule("", "FORWARD")) == "rule 3 of FORWARD (iptables table filter, handle 12)"
    assert rule_name(forward).startswith("the policy of FORWARD")
    assert removal(rule("", "FORWARD"), "host").endswith("iptables -t filter -D FORWARD 3")
    native = rule("", "f", "own", Origin.NFTABLES)
    assert removal(native, "host").endswith("nft delete rule ip own f handle 12")


@pytest.mark.parametrize(
    ("source", "address", "port", "mechanism"),
    [
        ("client", "172.20.0.2", 9999, Mechanism.NOBODY_LISTENS),
        ("client", "172.20.0.2", 9191, Mechanism.BOUND_TO_LOOPBACK),
        ("client", "127.0.0.1", 9092, Mechanism.OWN_LOOPBACK),
        ("host", "127.0.0.1", 9093, Mechanism.NOT_PUBLISHED),
        ("host", "192.168.8.133", 9094, Mechanism.NOT_RUNNING),
    ],
)
def test_refusals(source: str, address: str, port: int, mechanism: Mechanism) -> None:
    machine = shop()
    machine.spaces[machine.topology().named("kafka-1").netns].listen(9191, pids=[], address="127.0.0.1")  # type: ignore[union-attr]
    found = failing(machine, source, address, port)
    assert found.path.end is PathEnd.REFUSED
    suspect = suspect_of_refusal(found)
    assert suspect is not None
    assert suspect.mechanism is mechanism
    assert suspect.evidence


def test_nothing_silent_here() -> None:
    fine = failing(shop(), "client", "172.20.0.2", 9092)
    assert suspect_of_silence(fine) is None
    assert suspect_of_backlog(fine) is None
    assert suspect_hung(fine).mechanism is Mechanism.HUNG


def test_who_is_who() -> None:
    machine = shop()
    found = failing(machine, "client", "172.20.0.2", 9092)
    assert isinstance(found, FailedConnection)
    assert found.place_name(found.path.source) == "client"
    assert found.container(found.path.source) is not None
    assert found.container(found.host) is None
    assert [view.network.name for view in found.networks_at(found.path.source)] == ["shop"]
    place = found.topology.named("kafka-1")
    assert place is not None
    assert place.kind is PlaceKind.CONTAINER
    owner = found.owner("172.20.0.2")
    assert owner is not None
    assert owner[0].inode == place.netns


def test_the_same_address_on_another_engines_machine_is_not_meant() -> None:
    """Engines give the same addresses; the other one's namespaces may well come first."""
    machine = shop()
    other = Space(inode=4026532100)
    other.loopback()
    other.add(Link(ifindex=2, ifname="eth0", kind="veth", link=9, link_netnsid=0))
    other.address(2, "172.20.0.2", 16)
    other.listen(9200, pids=(4100,))
    machine.spaces[other.inode] = other
    found = failing(machine, "client", "172.20.0.2", 9191)
    kafka = found.topology.named("kafka-1")
    owner = found.owner("172.20.0.2")
    assert kafka is not None
    assert owner is not None
    assert other.inode in found.topology.inventory.namespaces
    assert owner[0].inode == kafka.netns
    machine.spaces[kafka.netns].ends.clear()
    (port,) = (number for number, end in machine.host.ends.items() if end.netns == kafka.netns)
    del machine.host.ends[port]
    apart = failing(machine, "client", "172.20.0.2", 9191).owner("172.20.0.2")
    assert apart is not None
    assert apart[0].inode == kafka.netns


def test_networks_by_address_and_bridge() -> None:
    found = failing(shop(), "client", "172.20.0.2", 9092)
    view = found.network_of_address("172.21.0.9")
    assert view is not None
    assert view.network.name == "other"
    assert found.network_by_bridge(view.network.bridge_name) is view
    assert found.network_of_address("10.9.9.9") is None
    assert found.network_of_address("no address") is None


def test_a_published_port_and_its_proxy() -> None:
    found = failing(shop(), "host", "127.0.0.1", 9092)
    assert found.path.end is PathEnd.CONNECTED
    assert [port.published for port in found.published] == [9092]
    assert found.proxy is not None
    assert found.entered_by is not None
    assert found.entered_by.target == 9092
    assert not found.is_translated


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
