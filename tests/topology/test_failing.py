"""What is asked about a failing connection, from a literal docker host."""

from netdiag.linux.link import Link
from netdiag.topology.failing import Failing
from netdiag.topology.graph import PlaceKind
from netdiag.topology.hops import End
from tests.topology.failing_cases import failing, shop
from tests.topology.spaces import Space


def test_who_is_who() -> None:
    machine = shop()
    found = failing(machine, "client", "172.20.0.2", 9092)
    assert isinstance(found, Failing)
    assert found.called(found.path.source) == "client"
    assert found.container(found.path.source) is not None
    assert found.container(found.host) is None
    assert [view.network.name for view in found.views(found.path.source)] == ["shop"]
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
    view = found.view_of("172.21.0.9")
    assert view is not None
    assert view.network.name == "other"
    assert found.view_by_bridge(view.network.bridge_name) is view
    assert found.view_of("10.9.9.9") is None
    assert found.view_of("no address") is None


def test_a_published_port_and_its_proxy() -> None:
    found = failing(shop(), "host", "127.0.0.1", 9092)
    assert found.path.end is End.CONNECTED
    assert [port.published for port in found.published] == [9092]
    assert found.proxy is not None
    assert found.entered is not None
    assert found.entered.target == 9092
    assert not found.translated
