"""Finding things in a topology."""

from dataclasses import replace

from netdiag.render.topology.lookup import Lookup
from netdiag.topology.graph import Cable, CableKind, Place, PlaceKind
from netdiag.topology.inventory import LinkId
from tests.render.topology.namespaces import HOST, broker_id, broker_netns, link_of
from tests.render.topology.topologies import cluster

LOOKUP = Lookup(cluster())
PORT = link_of(HOST, 11)
INSIDE = link_of(broker_netns(1), 2)
BRIDGE = link_of(HOST, 3)


def test_both_ends_of_a_pair_lead_to_each_other() -> None:
    assert (LOOKUP.peer(PORT), LOOKUP.peer(INSIDE)) == (INSIDE, PORT)


def test_ports_and_their_master() -> None:
    assert LOOKUP.ports(BRIDGE) == [PORT, link_of(HOST, 12)]
    assert LOOKUP.master(PORT) == BRIDGE
    assert LOOKUP.ports(PORT) == []


def test_a_parent() -> None:
    topology = cluster()
    cable = Cable(kind=CableKind.PARENT, a=link_of(HOST, 12), b=link_of(HOST, 2))
    assert Lookup(replace(topology, cables=(cable,))).parent(cable.a) == cable.b


def test_addresses_of_the_link_itself_only_where_there_are_no_others() -> None:
    assert LOOKUP.addresses(BRIDGE) == ["172.18.0.1/16"]
    assert LOOKUP.addresses(link_of(HOST, 99)) == []


def test_names() -> None:
    assert LOOKUP.name(broker_netns(2)) == "broker-2"
    assert LOOKUP.name(7) == "net:[7]"
    assert LOOKUP.ifname(PORT) == "veth1a2b3c4"
    assert LOOKUP.ifname(LinkId(netns=7, ifindex=9)) == "#9"
    assert LOOKUP.device_name(HOST, 2) == "eth0"
    assert LOOKUP.container_name(broker_id(1)) == "broker-1"
    assert LOOKUP.container_name("abcdef0123456789") == "abcdef012345"
    assert (LOOKUP.comm(60), LOOKUP.comm(61)) == ("sshd", "")


def test_what_belongs_to_a_container() -> None:
    assert [listener.listener for listener in LOOKUP.kafka([broker_id(1)])] == ["INTERNAL", "EXTERNAL"]
    assert [exit_.key for exit_ in LOOKUP.exits([broker_id(2)])] == ["0.0.0.0:9092/tcp"]
    view = LOOKUP.network(BRIDGE)
    assert view is not None
    assert view.network.name == "demo_kafka"


def test_the_host_comes_first_then_containers_then_the_rest() -> None:
    topology = cluster()
    others = (
        Place(netns=9, kind=PlaceKind.UNOWNED, name="net:[9]", label="net:[9]"),
        Place(netns=8, kind=PlaceKind.NAMED, name="blue", label="blue"),
    )
    lookup = Lookup(replace(topology, places=(*others, *reversed(topology.places))))
    assert [place.name for place in lookup.in_order()] == ["host", "broker-1", "broker-2", "blue", "net:[9]"]
