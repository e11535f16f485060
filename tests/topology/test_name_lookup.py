"""What names mean inside containers."""

from dataclasses import replace

import pytest

from netdiag.deployment.model.deployment import Deployment, HostKind, Platform
from netdiag.topology.graph import Topology
from netdiag.topology.path.name_lookup import (
    NameAnswer,
    Resolution,
    UnknownName,
    dns_networks,
    hosts_file,
    look_up_name,
    network_names,
    topology_resolver,
)
from tests.topology.five_brokers import five_brokers, machine
from tests.topology.machine import Machine
from tests.topology.namespaces import ROOT

HOSTS = "127.0.0.1 localhost\n172.18.0.2 000100010001\n192.168.8.133 host.docker.internal\n"


def inside(topology: Topology, name: str) -> int:
    place = topology.named(name)
    assert place is not None
    return place.netns


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("broker-2", "172.18.0.3"),
        ("BROKER-2.", "172.18.0.3"),
        ("shop-broker-2-1", "172.18.0.3"),
        ("000200020002", "172.18.0.3"),
        ("broker-2.shop_kafka", "172.18.0.3"),
        ("broker-1", "172.18.0.2"),
    ],
)
def test_who_is_on_the_same_network(name: str, address: str) -> None:
    topology = five_brokers()
    found = look_up_name(topology, inside(topology, "shop-broker-1-1"), name, HOSTS)
    assert found == NameAnswer(addresses=(address,), by="the embedded DNS, on network shop_kafka")


@pytest.mark.parametrize(
    ("name", "addresses", "by"),
    [
        ("host.docker.internal", ("192.168.8.133",), "the hosts file"),
        ("000100010001", ("172.18.0.2",), "the hosts file"),
        ("localhost", ("127.0.0.1",), "the hosts file"),
        ("172.18.0.9", ("172.18.0.9",), "an address"),
        ("[fd00::1]", ("fd00::1",), "an address"),
    ],
)
def test_what_is_asked_first(name: str, addresses: tuple[str, ...], by: str) -> None:
    topology = five_brokers()
    found = look_up_name(topology, inside(topology, "shop-broker-1-1"), name, HOSTS)
    assert found == NameAnswer(addresses=addresses, by=by)


def test_localhost_without_a_hosts_file() -> None:
    found = look_up_name(five_brokers(), ROOT, "localhost", "")
    assert isinstance(found, NameAnswer)
    assert found.addresses == ("127.0.0.1", "::1")


@pytest.mark.parametrize(
    ("place", "name", "says"),
    [
        (
            "shop-broker-1-1",
            "example.org",
            'no container on shop_kafka has the name "example.org"; the query goes upstream',
        ),
        ("shop-broker-1-1", "init", "goes upstream"),
        ("shop-broker-1-1", "client.shop_front", "goes upstream"),
        ("host", "broker-1", "its DNS servers would be asked"),
        ("lan", "broker-1", "its DNS servers would be asked"),
        ("shop-broker-1-1", "", "the name is empty"),
    ],
)
def test_what_nobody_here_knows(place: str, name: str, says: str) -> None:
    topology = five_brokers()
    found = look_up_name(topology, inside(topology, place), name, HOSTS)
    assert isinstance(found, UnknownName)
    assert says in found.because


def test_the_default_bridge_has_no_names() -> None:
    made = Machine()
    made.network("bridge", "172.17.0.0/16", bridge="docker0", default=True)
    made.container("a", networks=("bridge",))
    made.container("b", networks=("bridge",))
    topology = made.topology()
    found = look_up_name(topology, inside(topology, "a"), "b", "")
    assert isinstance(found, UnknownName)
    assert "no embedded DNS" in found.because
    assert network_names(topology, topology.networks[0]) == {}


def test_a_domain_of_the_engine_s_own() -> None:
    made = Machine()
    made.network("shop", "10.89.0.0/24")
    made.container("a", networks=("shop",))
    made.container("b", networks=("shop",))
    platform = Platform(kind=HostKind.PODMAN, podman=(4, 3))
    topology = replace(made.topology(), deployment=Deployment(name="shop", brokers=(), platform=platform))
    netns = inside(topology, "a")
    assert isinstance(look_up_name(topology, netns, "b.dns.podman", ""), NameAnswer)
    assert isinstance(look_up_name(topology, netns, "b.shop", ""), UnknownName)


def test_the_order_of_networks() -> None:
    """Internal ones last, then by name; the first that knows the name answers."""
    made = Machine()
    made.network("a", "172.18.0.0/16", internal=True)
    made.network("c", "172.19.0.0/16")
    made.network("b", "172.20.0.0/16")
    made.container("asks", networks=("a", "c", "b"))
    made.container("one", service="twice", networks=("a", "c"))
    made.container("two", service="twice", networks=("c",))
    topology = made.topology()
    netns = inside(topology, "asks")
    assert [view.network.name for view in dns_networks(topology, netns)] == ["b", "c", "a"]
    found = look_up_name(topology, netns, "twice", "")
    either = "which gives the addresses of one and two in a new order each time"
    by = f"the embedded DNS, on network c, {either}"
    assert found == NameAnswer(addresses=("172.19.0.3", "172.19.0.4"), by=by)


def test_both_families_ipv4_first() -> None:
    made = machine()
    broker = next(iter(made.containers.values()))
    endpoint = replace(broker.networks[0], ipv6_address="fd00::2")
    made.containers[broker.id] = replace(broker, networks=(endpoint,))
    topology = made.topology()
    found = look_up_name(topology, inside(topology, "shop-ui-1"), "broker-1", "")
    assert isinstance(found, NameAnswer)
    assert found.addresses == ("172.18.0.2", "fd00::2")


def test_a_container_in_host_mode_asks_as_the_host_does() -> None:
    made = machine()
    guest = made.container("guest")
    inode = made.processes[guest.state.pid].netns
    assert inode is not None
    del made.spaces[inode]
    made.process(guest.state.pid, "app", made.host, container=guest.id)
    made.containers[guest.id] = replace(guest, network_mode="host")
    assert isinstance(look_up_name(made.topology(), ROOT, "broker-1", ""), UnknownName)


def test_every_name_of_a_network() -> None:
    topology = five_brokers()
    found = network_names(topology, topology.networks[2])
    assert set(found.values()) == {("172.19.0.2",)}
    assert {"client", "shop-client-1", "000600060006", "client.shop_front"} <= set(found)


def test_containers_on_one_network_know_each_other_and_the_host_knows_none() -> None:
    topology = five_brokers()
    ask = topology_resolver(topology)
    client, host = topology.named("shop-client-1"), topology.named("host")
    assert client is not None
    assert host is not None
    assert ask(client.netns, "broker-1").addresses == ("172.18.0.2",)
    assert ask(client.netns, "localhost").addresses == ("127.0.0.1",)
    assert ask(host.netns, "broker-1") == Resolution(addresses=(), because=ask(host.netns, "broker-1").because)
    assert ask(host.netns, "broker.example.org").unknown


def test_a_hosts_file_that_was_read_counts_before_one_that_is_made_up() -> None:
    topology = five_brokers()
    client = topology.named("shop-client-1")
    assert client is not None
    assert "localhost" in hosts_file(topology, client.netns)
    ask = topology_resolver(topology, {client.netns: "10.9.9.9 broker-1\n::1 six\n"})
    assert ask(client.netns, "broker-1") == Resolution(addresses=("10.9.9.9",), because="the hosts file")
    assert "no IPv6 here" in ask(client.netns, "six").because
