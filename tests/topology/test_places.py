"""What the parts of the join look up."""

from dataclasses import replace

import pytest

from netdiag.engine.container import Container
from netdiag.errors import InputError
from netdiag.linux.rtnetlink import Link
from netdiag.topology.graph import Place, PlaceKind, Topology, Unmatched
from netdiag.topology.inventory import LinkId
from netdiag.topology.join import join
from netdiag.topology.places import JoinIndex, container_name, owner_of
from netdiag.topology.selection import find_namespace, narrow
from tests.topology.five_brokers import crowd, five_brokers, machine
from tests.topology.machine import Machine
from tests.topology.namespaces import ROOT
from tests.topology.test_join import pair


def known() -> JoinIndex:
    made = machine()
    made.host.add(Link(ifindex=90, ifname="eth0.7", kind="vlan", link=2))
    made.host.add(Link(ifindex=91, ifname="gone.7", kind="vlan", link=7, link_netnsid=-1))
    made.host.add(Link(ifindex=92, ifname="self", kind="vlan", link=92))
    return JoinIndex(inventory=made.inventory(), containers=made.containers, docker_host=ROOT)


def test_ends_are_where_the_inventory_says_or_in_the_same_namespace() -> None:
    ends = known().ends
    assert ends[LinkId(netns=ROOT, ifindex=90)] == LinkId(netns=ROOT, ifindex=2)
    assert LinkId(netns=ROOT, ifindex=91) not in ends
    assert LinkId(netns=ROOT, ifindex=92) not in ends
    assert ends[LinkId(netns=ROOT, ifindex=6)].ifindex == 2
    assert ends[ends[LinkId(netns=ROOT, ifindex=6)]] == LinkId(netns=ROOT, ifindex=6)


def test_an_engine_elsewhere_has_no_container_here() -> None:
    here = known()
    assert len(here.netns_of) == 7
    assert not JoinIndex(inventory=here.inventory, containers=here.containers, docker_host=None).netns_of


def test_whose_network_a_container_uses() -> None:
    containers = known().containers
    first, second, *_ = containers.values()
    assert owner_of(first, containers) is None
    for word in (second.id, second.name):
        assert owner_of(replace(first, network_mode=f"container:{word}"), containers) == second.id
    assert owner_of(replace(first, network_mode="container:"), containers) is None
    assert owner_of(replace(first, network_mode="container:gone"), containers) is None


def test_names_in_a_sentence() -> None:
    made = machine()
    index = JoinIndex(inventory=made.inventory(), containers=made.containers, docker_host=ROOT)
    assert index.link_name(LinkId(netns=ROOT, ifindex=3)) == "docker0 of host"
    assert index.link_name(LinkId(netns=ROOT, ifindex=77)) == "device 77 of host"
    assert index.place_name(12) == "net:[12]"
    assert container_name(next(iter(made.containers.values()))) == "container shop-broker-1-1"


def place(topology: Topology, container: Container) -> Place | None:
    return next((place for place in topology.places if container.id in place.containers), None)


def shared(mode: str) -> tuple[Machine, Container, Container]:
    """A machine with a container that uses the network of another one, or the host's."""
    made = Machine()
    made.network("net", "172.18.0.0/16")
    owner = made.container("zoo", service="zoo", networks=("net",))
    guest = made.container("a-guest", service="guest")
    space = made.spaces.pop(made.processes[guest.state.pid].netns or 0)
    target = made.host if mode == "host" else made.spaces[made.processes[owner.state.pid].netns or 0]
    made.process(guest.state.pid, "java", target, container=guest.id)
    assert space.inode not in made.spaces
    made.containers[guest.id] = replace(guest, network_mode=mode.replace("OWNER", owner.id))
    return made, owner, made.containers[guest.id]


def test_containers_that_share_a_namespace_stand_together_the_owner_first() -> None:
    made, owner, guest = shared("container:OWNER")
    found = place(made.topology(), guest)
    assert found is not None
    assert (found.name, found.label, found.kind) == ("zoo", "zoo", PlaceKind.CONTAINER)
    assert found.containers == (owner.id, guest.id)
    assert found.services == ("zoo", "guest")


def test_host_mode_is_the_host() -> None:
    made, _, guest = shared("host")
    found = place(made.topology(), guest)
    assert found is not None
    assert (found.name, found.kind, found.containers) == ("host", PlaceKind.HOST, (guest.id,))


def test_a_guest_whose_process_is_hidden_is_where_its_owner_is() -> None:
    made, owner, guest = shared("container:OWNER")
    for space in made.spaces.values():
        space.pids = [pid for pid in space.pids if pid != guest.state.pid]
    del made.processes[guest.state.pid]
    found = place(made.topology(), guest)
    assert found is not None
    assert found.containers == (owner.id, guest.id)


def test_a_container_without_network() -> None:
    made = Machine()
    alone = made.container("alone")
    topology = made.topology()
    found = place(topology, alone)
    assert found is not None
    assert found.name == "alone"
    assert topology.unmatched == ()


@pytest.mark.parametrize(
    ("complete", "because"),
    [
        (False, "the network namespace of its process 5010 is not visible"),
        (True, "its process 5010 has exited in the meantime"),
    ],
)
def test_a_container_whose_namespace_cannot_be_seen(complete: bool, because: str) -> None:
    made = machine()
    broker = next(iter(made.containers.values()))
    inode = made.processes.pop(broker.state.pid).netns
    assert inode is not None
    del made.spaces[inode]
    made.host.ends.pop(6)
    whole = made.topology()
    topology = join(
        replace(made.inventory(), complete=complete),
        containers=made.containers.values(),
        networks=made.networks.values(),
        deployment=whole.deployment,
        docker_host=ROOT,
    )
    assert place(topology, broker) is None
    assert [(one.subject, one.because) for one in topology.unmatched] == [
        ("container shop-broker-1-1", because),
        ("veth00061b8 of host", "its peer is in a namespace that is not visible from here"),
    ]
    assert topology.published[1].pids is None
    assert topology.listeners[0].bound is None


def test_a_number_that_another_process_has_by_now() -> None:
    made = machine()
    broker = next(iter(made.containers.values()))
    pid = broker.state.pid
    made.processes[pid] = replace(made.processes[pid], container_id="f" * 64)
    topology = made.topology()
    assert place(topology, broker) is None


def test_a_container_found_by_what_its_processes_say() -> None:
    """The engine names a process that is gone, another one of the container is there."""
    made = machine()
    broker = next(iter(made.containers.values()))
    made.containers[broker.id] = replace(broker, state=replace(broker.state, pid=77777))
    assert place(made.topology(), broker) is not None


def test_names_without_containers() -> None:
    made = Machine()
    made.process(70, "java", made.space())
    made.process(71, "", made.space())
    unowned = made.space(mounts=("/run/docker/netns/1",))
    made.space(names=("b", "a"))
    found = {(one.kind, one.name, one.label) for one in join(made.inventory()).places}
    assert found == {
        (PlaceKind.HOST, "host", "kafka-host"),
        (PlaceKind.PROCESS, "pid 70 (java)", "java"),
        (PlaceKind.PROCESS, "pid 71", "pid 71"),
        (PlaceKind.UNOWNED, f"net:[{unowned.inode}]", "unowned"),
        (PlaceKind.NAMED, "a", "a"),
    }


@pytest.mark.parametrize(
    ("container", "named", "expected"),
    [
        ("host", "host", ["host", "container:host", "netns:host"]),
        ("same", "same", ["host", "same", "netns:same"]),
        ("same", "netns:same", ["host", "same", "netns:same"]),
    ],
)
def test_no_name_twice(container: str, named: str, expected: list[str]) -> None:
    made = Machine()
    made.container(container)
    made.space(names=(named,))
    assert [one.name for one in made.topology().places] == expected


def test_names_that_pretend_to_be_another() -> None:
    """Three of one name: what is left is the inode."""
    made = Machine()
    made.container("a")
    made.space(names=("a",))
    second = made.space(names=("netns:a",))
    assert [one.name for one in made.topology().places] == ["host", "a", "netns:a", "netns:netns:a"]
    assert second.inode != ROOT


def test_the_order_of_reading_does_not_matter() -> None:
    made = machine()
    topology = made.topology()
    made.spaces = dict(reversed(made.spaces.items()))
    made.containers = dict(reversed(made.containers.items()))
    assert made.topology().places == topology.places


def test_this_machine_where_the_docker_host_is_another_namespace() -> None:
    made = Machine()
    engine = made.space()
    topology = join(made.inventory(), docker_host=engine.inode)
    found = {(one.kind, one.name, one.label, one.netns) for one in topology.places}
    assert found == {
        (PlaceKind.HOST, "host", "docker host", engine.inode),
        (PlaceKind.MACHINE, "this machine", "kafka-host", ROOT),
    }


def names(topology: Topology) -> list[str]:
    return [place.name for place in topology.places]


def devices(topology: Topology, netns: int) -> set[str]:
    return {link.ifname for link in topology.inventory.namespaces[netns].links}


def assert_whole(topology: Topology) -> None:
    """Nothing refers to what is gone, and what is there was there before."""
    spaces = {place.netns for place in topology.places}
    assert set(topology.inventory.namespaces) == spaces
    for cable in topology.cables:
        assert topology.inventory.link(cable.a) is not None
        assert topology.inventory.link(cable.b) is not None
    for view in topology.networks:
        for member in view.members:
            assert member.container in topology.containers
            for at in (member.inside, member.port):
                assert at is None or topology.inventory.link(at) is not None
    ids = set(topology.containers)
    assert {port.container for port in topology.published} <= ids
    assert {one.container for one in topology.listeners} <= ids
    assert {pid for port in topology.published for pid in port.proxies} <= set(topology.inventory.processes)


def test_nothing_named_is_everything() -> None:
    topology = five_brokers()
    assert narrow(topology) is topology


@pytest.mark.parametrize(
    "chosen",
    [{"containers": ["shop-broker-2-1"]}, {"services": ["broker-2"]}, {"containers": ["/shop-broker-2-1", "00020002"]}],
)
def test_one_broker(chosen: dict[str, list[str]]) -> None:
    topology = narrow(five_brokers(), **chosen)
    assert_whole(topology)
    assert names(topology) == ["host", "shop-broker-2-1"]
    assert [view.network.name for view in topology.networks] == ["shop_kafka"]
    assert len(topology.networks[0].members) == 1
    assert [port.key for port in topology.published] == ["0.0.0.0:9092/tcp", "[::]:9092/tcp"]
    assert [one.key for one in topology.listeners] == [f"broker-2/{n}" for n in ("INTERNAL", "EXTERNAL", "CONTROLLER")]
    veths = {name for name in devices(topology, ROOT) if name.startswith("veth")}
    assert devices(topology, ROOT) - veths == {"lo", "eth0", "br-020202020202"}
    assert len(veths) == 1
    host = topology.inventory.namespaces[ROOT]
    assert {one.port for one in host.listeners} == {9092}
    assert {address.address for address in host.addresses} == {"127.0.0.1", "192.168.8.133", "172.18.0.1"}
    assert all("172.19" not in route.destination for route in host.routes)
    assert {p.comm for p in topology.inventory.processes.values()} == {"systemd", "dockerd", "docker-proxy", "java"}


def test_a_network_keeps_its_members() -> None:
    topology = narrow(five_brokers(), networks=["shop_front"])
    assert_whole(topology)
    assert names(topology) == ["host", "shop-client-1"]
    # The client's other network is what it hangs from, too.
    assert [(v.network.name, len(v.members)) for v in topology.networks] == [("shop_kafka", 1), ("shop_front", 1)]
    assert (topology.published, topology.listeners) == ((), ())


def test_a_network_without_members() -> None:
    topology = narrow(five_brokers(), networks=["bridge"])
    assert names(topology) == ["host"]
    assert devices(topology, ROOT) == {"lo", "eth0", "docker0"}


def test_several_choices_add_up() -> None:
    topology = narrow(five_brokers(), networks=["shop_front"], services=["broker-1"], containers=["shop-init-1"])
    assert names(topology) == ["host", "shop-broker-1-1", "shop-client-1"]
    assert {c.name for c in topology.containers.values()} == {"shop-broker-1-1", "shop-client-1", "shop-init-1"}


def test_a_service_of_many() -> None:
    topology = narrow(crowd(60), services=["broker-3"])
    assert_whole(topology)
    assert names(topology) == ["host", "team0-broker-3-1", "team1-broker-3-1", "team2-broker-3-1"]


def test_the_parent_of_a_macvlan_network_stays() -> None:
    made = machine()
    made.networks["lan"] = replace(
        made.networks["shop_front"], name="lan", id="dd" * 32, driver="macvlan", bridge_name="", parent="eth0"
    )
    topology = narrow(made.topology(), services=["broker-1"])
    assert "eth0" in devices(topology, ROOT)
    assert "lan" not in {view.network.name for view in topology.networks}


def test_the_way_out_stays_also_where_it_is_a_cable() -> None:
    """As for an engine in a namespace of its own: the LAN goes, the device that leads there stays."""
    made = machine()
    lan = next(space for space in made.spaces.values() if "lan" in space.names)
    pair(made.host, 50, lan, 2)
    made.host.address(50, "192.168.9.1", 24)
    pair(made.host, 51, lan, 3)
    topology = narrow(made.topology(), services=["broker-1"])
    assert_whole(topology)
    assert {"v50"} == devices(topology, ROOT) & {"v50", "v51"}
    assert any(route.destination == "192.168.9.0/24" for route in topology.inventory.namespaces[ROOT].routes)


def test_who_shares_a_namespace_stays_together() -> None:
    made = machine()
    broker = next(iter(made.containers.values()))
    guest = made.container("guest")
    inode = made.processes[guest.state.pid].netns
    assert inode is not None
    del made.spaces[inode]
    owner = made.spaces[made.processes[broker.state.pid].netns or 0]
    made.process(guest.state.pid, "java", owner, container=guest.id)
    made.containers[guest.id] = replace(guest, network_mode=f"container:{broker.id}")
    topology = narrow(made.topology(), containers=["guest"])
    assert {c.name for c in topology.containers.values()} == {"guest", "shop-broker-1-1"}
    assert [place.kind for place in topology.places] == [PlaceKind.HOST, PlaceKind.CONTAINER]
    assert len(topology.listeners) == 3


def test_who_uses_the_hosts_network_does_not_bring_its_neighbours() -> None:
    made = machine()
    first, second = made.container("first"), made.container("second")
    for one in (first, second):
        inode = made.processes[one.state.pid].netns
        assert inode is not None
        del made.spaces[inode]
        made.process(one.state.pid, "app", made.host, container=one.id)
        made.containers[one.id] = replace(one, network_mode="host")
    topology = narrow(made.topology(), containers=["first"])
    assert [place.containers for place in topology.places] == [(first.id,)]


def test_lines_about_what_is_gone_go_with_it() -> None:
    topology = five_brokers()
    port = topology.networks[1].members[0].port
    stays = (
        Unmatched(subject="container shop-broker-1-1 on network shop_kafka", because="x"),
        Unmatched(subject="docker-proxy 77", because="x"),
        Unmatched(subject="v of host", because="x", link=port),
    )
    goes = (
        Unmatched(subject="container shop-broker-2-1 on network shop_kafka", because="x"),
        Unmatched(subject="published port 0.0.0.0:9092/tcp of container shop-broker-2-1", because="x"),
        Unmatched(subject="container shop-ui-1", because="x"),
        Unmatched(subject="network shop_front", because="x"),
        Unmatched(subject="listener broker-2/EXTERNAL", because="x"),
        Unmatched(subject="w of host", because="x", link=topology.networks[1].members[1].port),
        Unmatched(subject="y of host", because="x", link=LinkId(netns=ROOT, ifindex=999)),
    )
    narrowed = narrow(replace(topology, unmatched=(*goes, *stays)), services=["broker-1"])
    assert narrowed.unmatched == stays


@pytest.mark.parametrize(
    ("chosen", "says", "hint"),
    [
        ({"containers": ["shop-broker-9-1"]}, "no container", "did you mean shop-broker-5-1 or "),
        ({"services": ["brokr-1"]}, "no service", "did you mean broker-1 or "),
        ({"networks": ["kafka"]}, "no network", "did you mean shop_kafka?"),
        ({"networks": ["zzz"]}, "no network", "there is bridge, shop_kafka, shop_front"),
    ],
)
def test_a_name_that_nothing_has(chosen: dict[str, list[str]], says: str, hint: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        narrow(five_brokers(), **chosen)
    assert (caught.value.hint or "").startswith(hint)
    assert caught.value.where == next(iter(chosen.values()))[0]


def test_without_an_engine_there_is_nothing_to_choose() -> None:
    alone = replace(five_brokers(), networks=(), containers={})
    with pytest.raises(InputError) as caught:
        narrow(alone, services=["web"])
    assert caught.value.hint == "there is no service"


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("host", "host"),
        ("shop-client-1", "shop-client-1"),
        ("container:shop-client-1", "shop-client-1"),
        ("container:/shop-broker-1-1", "shop-broker-1-1"),
        ("broker-3", "shop-broker-3-1"),
        ("netns:lan", "lan"),
        ("pid:5010", "shop-broker-1-1"),
    ],
)
def test_a_place_has_many_names(word: str, name: str) -> None:
    topology = five_brokers()
    place = topology.named(name)
    assert place is not None
    assert find_namespace(topology, word) == place.netns


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("shop-clent-1", "did you mean shop-client-1"),
        ("netns:nowhere", "ip netns"),
        ("pid:999999", "no process"),
        ("pid:x", "no process"),
        ("container:", "no container"),
        ("shop-init-1", "not running"),
    ],
)
def test_what_is_not_there_is_told(word: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        find_namespace(five_brokers(), word)
    assert said in f"{raised.value} {raised.value.hint}"
