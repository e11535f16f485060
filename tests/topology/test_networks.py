"""Networks and bridges, endpoints and devices."""

from dataclasses import replace

from netdiag.engine.container import Container
from netdiag.engine.network import EngineNetwork
from netdiag.linux.link import Link
from netdiag.topology.graph import Member, NetworkView, Topology
from netdiag.topology.inventory import LinkId
from netdiag.topology.networks import device_name
from tests.topology.five_brokers import machine
from tests.topology.machine import Machine
from tests.topology.spaces import ROOT


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
    assert device_name(network) == "br0"
    assert device_name(replace(network, bridge_name="", default_bridge=True)) == "docker0"
    assert device_name(replace(network, driver="macvlan", bridge_name="", parent="eth0")) == "eth0"
    assert device_name(replace(network, driver="host", bridge_name="")) == ""


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
    assert (
        unmatched.because == "veth00041b8 of host, the other end of eth0 of web, is no port of br-010101010101 of host"
    )
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
            "a port of br-010101010101 of host that is no container's on network net: its other end is eth0 of web",
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
    assert unmatched.because.endswith("no container's on network net: its other end is eth0 of left")
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
        ("eth0 of web", "the device that it stands on cannot be seen from here"),
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
    assert ("container web on network net", "the engine has no such network any more") in told(topology)
