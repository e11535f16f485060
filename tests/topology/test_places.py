"""What the parts of the join look up."""

from dataclasses import replace

import pytest

from netdiag.engine.container import Container
from netdiag.linux.rtnetlink import Link
from netdiag.topology.graph import Place, PlaceKind, Topology
from netdiag.topology.inventory import LinkId
from netdiag.topology.join import join
from netdiag.topology.places import JoinIndex, container_name, owner_of
from tests.topology.five_brokers import machine
from tests.topology.machine import Machine
from tests.topology.namespaces import ROOT


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
