"""The join of a whole machine: everything has its counterpart, or a line that says what has none."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdiag.deployment.sources.engine import from_engine
from netdiag.engine.container import Container, EngineNetwork, parse_container, parse_network
from netdiag.linux.rtnetlink import Link
from netdiag.topology.graph import Cable, CableKind, KafkaListener, Member, NetworkView, PlaceKind, Topology
from netdiag.topology.inventory import Inventory, LinkId
from netdiag.topology.join import interface_name, join
from netdiag.topology.path.name_lookup import look_up_name, network_names
from netdiag.topology.selection import narrow
from tests.examples import examples
from tests.topology.five_brokers import crowd, five_brokers, hostile, machine
from tests.topology.machine import Machine
from tests.topology.namespaces import ROOT, Space


def test_five_brokers_have_nothing_unmatched() -> None:
    topology = five_brokers()
    assert topology.unmatched == ()
    assert (topology.host, topology.userland_proxy) == ("host", True)
    assert [place.name for place in topology.places] == [
        "host",
        *(f"shop-broker-{number}-1" for number in range(1, 6)),
        "shop-client-1",
        "shop-ui-1",
        "lan",
    ]
    assert [listener.key for listener in topology.listeners[:3]] == [
        "broker-1/INTERNAL",
        "broker-1/EXTERNAL",
        "broker-1/CONTROLLER",
    ]


@pytest.mark.parametrize("made", [five_brokers(), machine(userland_proxy=False).topology(), hostile(), crowd(60)])
def test_what_refers_to_something_finds_it(made: Topology) -> None:
    assert made.unmatched == ()
    known = {one.netns: one for one in made.places}
    assert len({place.name for place in made.places}) == len(known) == len(made.inventory.namespaces)
    for cable in made.cables:
        assert made.inventory.link(cable.a) is not None
        assert made.inventory.link(cable.b) is not None
    for view in made.networks:
        assert view.bridge is not None
        running = [m for m in view.members if made.containers[m.container].state.has_process]
        for member in running:
            assert member.inside is not None
            assert member.port is not None
            assert known[member.inside.netns].containers == (member.container,)
    keys = {port.key for port in made.published}
    assert len(keys) == len(made.published)
    assert all(set(listener.published) <= keys for listener in made.listeners)
    assert all(port.by and port.pids for port in made.published)


def test_a_machine_without_an_engine() -> None:
    inventory = machine().inventory()
    topology = join(inventory, engine="no engine answers at unix:///var/run/docker.sock")
    assert (topology.host, topology.networks, topology.published) == ("", (), ())
    assert topology.engine.startswith("no engine")
    assert topology.places[0].kind is PlaceKind.HOST
    assert {cable.kind for cable in topology.cables} == {CableKind.VETH, CableKind.PORT}
    assert topology.unmatched == ()


def test_an_engine_elsewhere_is_not_joined_with_this_kernel() -> None:
    """The containers' pids and addresses exist here, too, and mean somebody else."""
    made = machine()
    whole = made.topology()
    topology = join(
        made.inventory(),
        containers=whole.containers.values(),
        networks=made.networks.values(),
        deployment=whole.deployment,
        docker_host=None,
    )
    assert all(not place.containers for place in topology.places)
    assert all(view.bridge is None for view in topology.networks)
    assert all(member.inside is None for view in topology.networks for member in view.members)
    assert {(port.dnat, port.proxies, port.pids) for port in topology.published} == {((), (), None)}
    assert {listener.bound for listener in topology.listeners} == {None}
    assert topology.listeners[1].published == ("0.0.0.0:9091/tcp", "[::]:9091/tcp")
    assert topology.unmatched == ()


def test_an_empty_inventory() -> None:
    topology = join(Inventory(namespaces={}, own=ROOT, complete=False), docker_host=ROOT)
    assert (topology.places, topology.host) == ((), "")


def pair(a: Space, index_a: int, b: Space, index_b: int, kind: str = "veth") -> tuple[LinkId, LinkId]:
    one = a.add(Link(ifindex=index_a, ifname=f"v{index_a}", kind=kind, link=index_b, link_netnsid=0))
    two = b.add(Link(ifindex=index_b, ifname=f"v{index_b}", kind=kind, link=index_a, link_netnsid=0))
    a.ends[index_a], b.ends[index_b] = two, one
    return one, two


def test_equal_indexes_in_many_namespaces() -> None:
    made = Machine()
    spaces = [made.space(names=(f"n{number}",)) for number in range(4)]
    expected = {pair(made.host, 10 + number, space, 2) for number, space in enumerate(spaces)}
    expected.add(pair(spaces[0], 7, spaces[1], 7, kind="netkit"))
    found = join(made.inventory()).cables
    assert {(cable.a, cable.b) for cable in found} == {tuple(sorted(ends)) for ends in expected}
    assert [cable.kind for cable in found].count(CableKind.NETKIT) == 1
    assert all(cable.a < cable.b for cable in found)


def test_both_ends_in_one_namespace() -> None:
    made = Machine()
    made.host.add(Link(ifindex=10, ifname="a", kind="veth", link=11))
    made.host.add(Link(ifindex=11, ifname="b", kind="veth", link=10))
    topology = join(made.inventory())
    ends = (LinkId(netns=ROOT, ifindex=10), LinkId(netns=ROOT, ifindex=11))
    assert topology.cables == (Cable(kind=CableKind.VETH, a=ends[0], b=ends[1]),)
    assert topology.unmatched == ()


def test_ports_and_parents() -> None:
    made = Machine()
    made.host.add(Link(ifindex=9, ifname="br0", kind="bridge"))
    made.host.add(Link(ifindex=10, ifname="eth0.5", kind="vlan", link=2, master=9))
    space = made.space(names=("m",))
    space.add(Link(ifindex=5, ifname="mv", kind="macvlan", link=2, link_netnsid=0))
    space.ends[5] = LinkId(netns=ROOT, ifindex=2)
    assert {(c.kind.value, c.a.ifindex, c.b.ifindex, c.b.netns) for c in join(made.inventory()).cables} == {
        ("port", 10, 9, ROOT),
        ("parent", 10, 2, ROOT),
        ("parent", 5, 2, ROOT),
    }


def test_an_end_that_nobody_can_see() -> None:
    made = Machine()
    made.host.add(Link(ifindex=10, ifname="a", kind="veth", link=4, link_netnsid=3))
    topology = join(made.inventory())
    assert topology.cables == ()
    (one,) = topology.unmatched
    assert (one.subject, one.link) == ("a of host", LinkId(netns=ROOT, ifindex=10))
    assert one.because == "its peer is in a namespace that is not visible from here"


def test_a_pair_that_changed_while_it_was_read() -> None:
    made = Machine()
    first, second = made.space(names=("one",)), made.space(names=("two",))
    pair(made.host, 10, first, 2)
    pair(made.host, 11, second, 2)
    first.ends[2] = LinkId(netns=ROOT, ifindex=11)
    topology = join(made.inventory())
    assert [(c.a.ifindex, c.b.netns) for c in topology.cables] == [(11, second.inode)]
    assert [one.subject for one in topology.unmatched] == ["v10 of host", "v2 of one"]
    assert "does not point back" in topology.unmatched[0].because


def test_what_stands_on_a_device_that_nobody_can_see() -> None:
    """Also a port whose bridge went away while both were read."""
    made = Machine()
    made.host.add(Link(ifindex=10, ifname="mv", kind="macvlan", link=4, link_netnsid=3))
    made.host.add(Link(ifindex=11, ifname="v7", kind="vlan", link=77))
    made.host.add(Link(ifindex=12, ifname="gre0", kind="gre"))
    made.host.add(Link(ifindex=13, ifname="p", kind="dummy", master=78))
    topology = join(made.inventory())
    assert topology.cables == ()
    assert [(one.subject, one.because) for one in topology.unmatched] == [
        ("mv of host", "the device below it is not visible from here"),
        ("v7 of host", "the device below it is not visible from here"),
    ]


def one_container() -> tuple[Machine, Container]:
    made = Machine()
    made.network("net", "172.18.0.0/16")
    return made, made.container("web", networks=("net",))


def only(topology: Topology) -> tuple[NetworkView, Member]:
    (view,) = topology.networks
    (member,) = view.members
    return view, member


def told(topology: Topology) -> list[tuple[str, str]]:
    return [(one.subject, one.because) for one in topology.unmatched]


def test_an_endpoint_with_its_pair() -> None:
    made, web = one_container()
    view, member = only(made.topology())
    inside = LinkId(netns=made.processes[web.state.pid].netns or 0, ifindex=2)
    assert view.bridge == LinkId(netns=ROOT, ifindex=3)
    assert member == Member(container=web.id, address="172.18.0.2", inside=inside, port=LinkId(netns=ROOT, ifindex=4))


def test_each_endpoint_of_a_container_on_two_networks_by_its_address() -> None:
    topology = machine().topology()
    ports = {
        view.network.name: member.port
        for view in topology.networks
        for member in view.members
        if topology.containers[member.container].name == "shop-client-1"
    }
    masters = {name: topology.inventory.link(port) for name, port in ports.items() if port is not None}
    bridges = {view.network.name: view.bridge for view in topology.networks}
    for name, link in masters.items():
        bridge = bridges[name]
        assert link is not None
        assert bridge is not None
        assert link.master == bridge.ifindex
    assert set(masters) == {"shop_kafka", "shop_front"}


def test_the_name_of_a_bridge() -> None:
    network = EngineNetwork(
        id="ab" * 32,
        name="n",
        driver="bridge",
        internal=False,
        subnets=(),
        gateways=(),
        default_bridge=False,
        bridge_name="br0",
    )
    assert interface_name(network) == "br0"
    assert interface_name(replace(network, bridge_name="", default_bridge=True)) == "docker0"
    assert interface_name(replace(network, driver="macvlan", bridge_name="", parent="eth0")) == "eth0"
    assert interface_name(replace(network, driver="host", bridge_name="")) == ""


def test_a_network_whose_bridge_is_gone() -> None:
    made, _ = one_container()
    bridge = made.host.links.pop(3)
    made.host.links[4] = replace(made.host.links[4], master=None)
    view, member = only(made.topology())
    assert (view.bridge, member.port) == (None, None)
    assert member.inside is not None
    assert told(made.topology()) == [("network net", f"its bridge {bridge.ifname} is not on host")]


def test_a_bridge_under_another_name() -> None:
    made, _ = one_container()
    made.host.links[3] = replace(made.host.links[3], ifname="shop0", altnames=("br-010101010101",))
    view, _ = only(made.topology())
    assert view.bridge == LinkId(netns=ROOT, ifindex=3)


def test_a_port_that_was_taken_off_its_bridge() -> None:
    made, _ = one_container()
    made.host.links[4] = replace(made.host.links[4], master=None)
    (unmatched,) = made.topology().unmatched
    assert unmatched.subject == "container web on network net"
    assert unmatched.because == "veth00041b8 of host, the peer of eth0 of web, is not a port of br-010101010101 of host"
    assert unmatched.link is not None


def test_a_port_that_hangs_from_another_bridge() -> None:
    made, _ = one_container()
    made.host.add(Link(ifindex=8, ifname="br8", kind="bridge"))
    made.host.links[4] = replace(made.host.links[4], master=8)
    (unmatched,) = made.topology().unmatched
    assert unmatched.because.endswith("is a port of br8 of host instead of br-010101010101 of host")


def test_an_address_that_no_device_has() -> None:
    made, web = one_container()
    space = made.spaces[made.processes[web.state.pid].netns or 0]
    space.addresses.clear()
    _, member = only(made.topology())
    assert (member.inside, member.port) == (None, None)
    assert told(made.topology()) == [
        ("container web on network net", "no device of web has its address 172.18.0.2"),
        (
            "veth00041b8 of host",
            "a port of br-010101010101 of host that belongs to no container on network net: its peer is eth0 of web",
        ),
    ]


def test_a_port_without_container() -> None:
    made, web = one_container()
    stray = made.space(names=("left",))
    made.host.add(Link(ifindex=9, ifname="veth9", kind="veth", master=3, link=2, link_netnsid=5))
    stray.add(Link(ifindex=2, ifname="eth0", kind="veth", link=9, link_netnsid=0))
    made.host.ends[9], stray.ends[2] = LinkId(netns=stray.inode, ifindex=2), LinkId(netns=ROOT, ifindex=9)
    (unmatched,) = made.topology().unmatched
    assert (unmatched.subject, unmatched.link) == ("veth9 of host", LinkId(netns=ROOT, ifindex=9))
    assert unmatched.because.endswith("no container on network net: its peer is eth0 of left")
    assert web.name == "web"


def test_any_other_port_of_the_engines_bridge_is_told_too() -> None:
    made, _ = one_container()
    made.host.links[2] = replace(made.host.links[2], master=3)
    assert [subject for subject, _ in told(made.topology())] == ["eth0 of host"]


def test_macvlan_stands_on_its_parent() -> None:
    made = Machine()
    made.network("lan", "192.168.9.0/24")
    bridge = made.host.links.pop(3)
    web = made.container("web")
    made.networks["lan"] = replace(made.networks["lan"], driver="macvlan", bridge_name="", parent="eth0")
    endpoint = replace(one_container()[1].networks[0], network="lan", network_id="01" * 32, ipv4_address="192.168.9.2")
    made.containers[web.id] = replace(web, networks=(endpoint,))
    space = made.spaces[made.processes[web.state.pid].netns or 0]
    space.add(Link(ifindex=2, ifname="eth0", kind="macvlan", link=2, link_netnsid=0))
    space.ends[2] = LinkId(netns=ROOT, ifindex=2)
    space.address(2, "192.168.9.2", 24)
    view, member = only(made.topology())
    assert view.bridge == LinkId(netns=ROOT, ifindex=2)
    assert (member.inside, member.port) == (LinkId(netns=space.inode, ifindex=2), None)
    assert made.topology().unmatched == ()
    del made.host.links[2]
    assert told(made.topology()) == [
        ("eth0 of web", "the device below it is not visible from here"),
        ("network lan", "its parent eth0 is not on host"),
    ]
    assert bridge.kind == "bridge"


def test_ipv6_however_it_is_written() -> None:
    made, web = one_container()
    endpoint = replace(web.networks[0], ipv4_address="", ipv6_address="FD00:0::2")
    made.containers[web.id] = replace(web, networks=(endpoint,))
    space = made.spaces[made.processes[web.state.pid].netns or 0]
    space.addresses = [replace(space.addresses[-1], address="fd00::2", prefix_length=64)]
    _, member = only(made.topology())
    assert member.inside == LinkId(netns=space.inode, ifindex=2)


def test_host_and_none_have_no_device() -> None:
    made, web = one_container()
    none = replace(
        made.networks["net"], name="none", id="cc" * 32, driver="null", bridge_name="", subnets=(), gateways=()
    )
    made.networks["none"] = none
    alone = made.container("alone")
    endpoint = replace(web.networks[0], network="none", network_id=none.id, ipv4_address="", gateway="", aliases=())
    made.containers[alone.id] = replace(alone, networks=(endpoint,))
    topology = made.topology()
    assert topology.networks[1].bridge is None
    assert [m.container for m in topology.networks[1].members] == [alone.id]
    assert topology.unmatched == ()


def test_a_stopped_container_keeps_its_place_on_the_network() -> None:
    topology = machine().topology()
    (member,) = (m for m in topology.networks[1].members if topology.containers[m.container].name == "shop-init-1")
    assert member == Member(container=member.container, address="", inside=None, port=None)


def test_an_endpoint_of_a_network_that_was_made_anew() -> None:
    made, web = one_container()
    made.containers[web.id] = replace(web, networks=(replace(web.networks[0], network_id="ee" * 32),))
    topology = made.topology()
    assert topology.networks[0].members == ()
    assert ("container web on network net", "the engine no longer has this network") in told(topology)


def listeners(topology: Topology) -> dict[str, KafkaListener]:
    return {listener.key: listener for listener in topology.listeners}


def test_from_the_configuration_to_the_port_of_the_host() -> None:
    found = listeners(machine().topology())
    assert len(found) == 15
    listener = found["broker-3/EXTERNAL"]
    assert (listener.broker, listener.node_id, listener.security_protocol) == ("broker-3", 3, "PLAINTEXT")
    assert (listener.bind, listener.advertised) == (("0.0.0.0", 9093), ("localhost", 9093))
    assert (listener.bound, listener.pids) == (("::",), (5030,))
    assert listener.published == ("0.0.0.0:9093/tcp", "[::]:9093/tcp")
    assert found["broker-3/INTERNAL"].advertised == ("broker-3", 29092)
    assert found["broker-3/INTERNAL"].published == ()
    controller = found["broker-3/CONTROLLER"]
    assert (controller.controller, controller.advertised, controller.bind) == (True, None, ("", 19093))


def first_broker(made: Machine) -> str:
    return next(iter(made.containers))


def test_a_listener_without_socket() -> None:
    made = machine()
    space = made.spaces[made.processes[5010].netns or 0]
    space.listeners = [one for one in space.listeners if one.port != 9091]
    topology = made.topology()
    assert listeners(topology)["broker-1/EXTERNAL"].bound == ()
    assert [(one.subject, one.because) for one in topology.unmatched] == [
        ("listener broker-1/EXTERNAL", "no socket of container shop-broker-1-1 listens on port 9091")
    ]


def test_a_broker_that_does_not_run_is_not_expected_to_listen() -> None:
    made = machine()
    broker = made.containers[first_broker(made)]
    inode = made.processes.pop(broker.state.pid).netns
    assert inode is not None
    del made.spaces[inode]
    for index in [index for index, end in made.host.ends.items() if end.netns == inode]:
        del made.host.ends[index]
        del made.host.links[index]
    stopped = replace(broker.state, pid=0, status=type(broker.state.status).EXITED)
    made.containers[broker.id] = replace(
        broker, state=stopped, ports=(), networks=(replace(broker.networks[0], ipv4_address=""),)
    )
    made.nat = [line for line in made.nat if "172.18.0.2:" not in line]
    for pid in [pid for pid, one in made.processes.items() if "172.18.0.2" in one.argv]:
        del made.processes[pid]
    topology = made.topology()
    assert topology.unmatched == ()
    external = listeners(topology)["broker-1/EXTERNAL"]
    assert (external.bound, external.published) == (None, ("0.0.0.0:9091/tcp",))


def test_ports_of_the_container_whose_network_a_broker_shares() -> None:
    made = Machine()
    made.network("net", "172.18.0.0/16")
    made.container("front", networks=("net",), ports=(("", 9092, 9092),), command=("pause",))
    guest = made.container(
        "broker",
        image="apache/kafka:3.9.1",
        environment={
            "KAFKA_NODE_ID": "1",
            "KAFKA_PROCESS_ROLES": "broker",
            "KAFKA_LISTENERS": "PLAINTEXT://:9092",
            "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://localhost:9092",
        },
    )
    made.containers[guest.id] = replace(guest, network_mode="container:front")
    (listener,) = made.topology().listeners
    assert listener.published == ("0.0.0.0:9092/tcp", "[::]:9092/tcp")


def test_a_second_listener_of_one_name_is_passed_over() -> None:
    made = machine()
    identifier = first_broker(made)
    broker = made.containers[identifier]
    twice = {**broker.environment, "KAFKA_LISTENERS": "INTERNAL://:29092,INTERNAL://:9091"}
    made.containers[identifier] = replace(broker, environment=twice)
    found = [one for one in made.topology().listeners if one.broker == "broker-1"]
    assert [(one.key, one.bind) for one in found] == [("broker-1/INTERNAL", ("", 29092))]


def test_nobody_runs_kafka() -> None:
    made = machine()
    topology = join(made.inventory(), containers=made.containers.values(), docker_host=ROOT)
    assert topology.listeners == ()


INVENTORY = machine().inventory()
IDS = st.sampled_from(["", "a" * 64, "b" * 64, "c" * 64, "0001" * 16, "x y"])
NAMES = st.sampled_from(["", "/web", "/host", "/lan", "/netns:lan", "/shop-broker-1-1", "/\x1b[31m</svg>"])
NETWORKS = st.sampled_from(["", "shop_kafka", "bridge", "host", "none", "<b>"])
ADDRESSES = st.sampled_from(
    ["", "172.18.0.2", "172.18.0.3", "172.18.0.256", "fd00::1", "FD00:0::1", "nonsense", "0.0.0.0"]
)
PORTS = st.sampled_from(["9091/tcp", "9091/udp", "1/sctp", "x/tcp", "99999999999/tcp", "9091", ""])
HOST_PORTS = st.sampled_from(["9091", "9092", "", "0", "-1", "8000-8010", "99999999999", "x"])


def mapped(keys: st.SearchStrategy[str], values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(keys, values, max_size=3)


BINDINGS = mapped(
    PORTS, st.none() | st.lists(st.fixed_dictionaries({"HostIp": ADDRESSES, "HostPort": HOST_PORTS}), max_size=2)
)
CONTAINERS = st.fixed_dictionaries(
    {
        "Id": IDS,
        "Name": NAMES,
        "State": st.fixed_dictionaries(
            {
                "Status": st.sampled_from(["running", "paused", "exited", "new"]),
                "Pid": st.sampled_from([0, -1, 1, 5010, 5020, 2**70]),
            }
        ),
        "Config": st.fixed_dictionaries(
            {
                "Image": st.sampled_from(["apache/kafka:3.9.1", "x", ""]),
                "Cmd": st.just(["/etc/kafka/docker/run"]),
                "Env": st.lists(
                    st.sampled_from(
                        ["KAFKA_NODE_ID=1", "KAFKA_PROCESS_ROLES=broker", "KAFKA_LISTENERS=A://:9091,A://:1,:::9"]
                    ),
                    max_size=3,
                ),
                "Labels": mapped(st.just("com.docker.compose.service"), st.sampled_from(["web", ""])),
            }
        ),
        "HostConfig": st.fixed_dictionaries(
            {
                "NetworkMode": st.sampled_from(
                    ["host", "none", "", "bridge", "container:", "container:" + "a" * 64, "container:web"]
                ),
                "PortBindings": BINDINGS,
                "PublishAllPorts": st.booleans(),
            }
        ),
        "NetworkSettings": st.fixed_dictionaries(
            {
                "Ports": BINDINGS,
                "Networks": mapped(
                    NETWORKS,
                    st.fixed_dictionaries(
                        {
                            "NetworkID": st.sampled_from(["", "02" * 32, "gone"]),
                            "IPAddress": ADDRESSES,
                            "GlobalIPv6Address": ADDRESSES,
                            "Aliases": st.none() | st.lists(st.sampled_from(["", "web", "WEB"]), max_size=2),
                        }
                    ),
                ),
            }
        ),
    }
)
NETWORK_DOCUMENTS = st.fixed_dictionaries(
    {
        "Id": st.sampled_from(["", "02" * 32, "03" * 32]),
        "Name": NETWORKS,
        "Driver": st.sampled_from(["bridge", "macvlan", "host", "null", "overlay", ""]),
        "IPAM": st.fixed_dictionaries(
            {"Config": st.none() | st.lists(st.fixed_dictionaries({"Subnet": ADDRESSES}), max_size=2)}
        ),
        "Options": mapped(
            st.sampled_from(["com.docker.network.bridge.name", "com.docker.network.bridge.default_bridge", "parent"]),
            st.sampled_from(["docker0", "true", "eth0", ""]),
        ),
    }
)


@examples(100)
@given(
    documents=st.lists(CONTAINERS, max_size=4),
    others=st.lists(NETWORK_DOCUMENTS, max_size=3),
    host=st.sampled_from([None, ROOT, 1]),
)
def test_whatever_an_engine_says(documents: list[Any], others: list[Any], host: int | None) -> None:
    containers = [parse_container(document) for document in documents]
    networks = [parse_network(document) for document in others]
    topology = join(
        INVENTORY,
        containers=containers,
        networks=networks,
        deployment=from_engine(containers, networks),
        docker_host=host,
    )
    assert len({place.name for place in topology.places}) == len(INVENTORY.namespaces)
    assert len({port.key for port in topology.published}) == len(topology.published)
    known = {identifier for place in topology.places for identifier in place.containers}
    assert known <= set(topology.containers)
    for view in topology.networks:
        said = {address for addresses in network_names(topology, view).values() for address in addresses}
        endpoints = (e for m in view.members for e in topology.containers[m.container].networks)
        assert said <= {address for endpoint in endpoints for address in endpoint.addresses}
        for at in (view.bridge, *(end for member in view.members for end in (member.inside, member.port))):
            assert at is None or INVENTORY.link(at) is not None
    for place in topology.places:
        look_up_name(topology, place.netns, "web", "")
    for container in topology.containers.values():
        if container.name:
            narrowed = narrow(topology, containers=[container.name])
            assert container.id in narrowed.containers
