"""Published ports: asked for and in force, by DNAT and by docker-proxy, up to the socket."""

from dataclasses import replace

import pytest

from netdiag.engine.container import PortBinding, Status
from netdiag.linux.ruleset import Ruleset
from netdiag.topology.graph import By, Published, Topology
from netdiag.topology.join import join
from tests.topology.five_brokers import machine
from tests.topology.machine import Machine
from tests.topology.spaces import ROOT


def web(host_ip: str = "", *, listens: tuple[int, ...] = (80,), userland_proxy: bool = True) -> Machine:
    made = Machine(userland_proxy=userland_proxy)
    made.network("net", "172.18.0.0/16")
    made.container("web", networks=("net",), ports=((host_ip, 8080, 80),), listens=listens, command=("web",))
    return made


def by_key(topology: Topology) -> dict[str, Published]:
    return {port.key: port for port in topology.published}


def test_from_the_request_to_the_socket() -> None:
    ports = by_key(web().topology())
    assert list(ports) == ["0.0.0.0:8080/tcp", "[::]:8080/tcp"]
    port = ports["0.0.0.0:8080/tcp"]
    assert port.by == (By.DNAT, By.PROXY)
    assert port.dnat == (
        "-A DOCKER ! -i br-010101010101 -p tcp -m tcp --dport 8080 -j DNAT --to-destination 172.18.0.2:80",
    )
    assert (port.to_address, port.proxies, port.pids) == ("172.18.0.2", (900,), (5010,))
    assert (port.asked, port.in_force, port.target) == (True, True, 80)
    six = ports["[::]:8080/tcp"]
    assert (six.by, six.to_address, six.pids) == ((By.PROXY,), "172.18.0.2", (5010,))


def test_without_proxies() -> None:
    (port,) = web(userland_proxy=False).topology().published
    assert port.by == (By.DNAT,)


def test_one_address_of_the_host() -> None:
    (port,) = web("127.0.0.1").topology().published
    assert (port.key, port.by) == ("127.0.0.1:8080/tcp", (By.DNAT, By.PROXY))


@pytest.mark.parametrize(("address", "pids"), [("0.0.0.0", (5010,)), ("172.18.0.2", (5010,)), ("127.0.0.1", ())])
def test_only_a_socket_that_can_be_reached_from_outside_counts(address: str, pids: tuple[int, ...]) -> None:
    made = web(listens=())
    made.spaces[made.processes[5010].netns or 0].listen(80, pids=[5010], address=address)
    assert {port.pids for port in made.topology().published} == {pids}


def test_a_proxy_that_was_killed() -> None:
    made = web()
    del made.processes[900]
    port = by_key(made.topology())["0.0.0.0:8080/tcp"]
    assert (port.by, port.proxies) == ((By.DNAT,), ())
    assert made.topology().unmatched == ()


def test_a_rule_that_was_deleted() -> None:
    made = web()
    made.nat = [line for line in made.nat if "DNAT" not in line]
    assert by_key(made.topology())["0.0.0.0:8080/tcp"].by == (By.PROXY,)


def test_a_port_that_nothing_serves() -> None:
    made = web(userland_proxy=False)
    made.nat = [line for line in made.nat if "DNAT" not in line]
    topology = made.topology()
    (port,) = topology.published
    assert (port.by, port.to_address, port.in_force) == ((), "", True)
    (unmatched,) = topology.unmatched
    assert unmatched.subject == "published port 0.0.0.0:8080/tcp of container web"
    assert unmatched.because == "no DNAT rule and no docker-proxy leads to the container"


def test_rules_that_could_not_be_read_are_not_missing() -> None:
    made = web(userland_proxy=False)
    whole = made.inventory()
    host = replace(whole.namespaces[ROOT], ruleset=Ruleset(unread=("nf_tables: operation not permitted",)))
    partial = replace(whole, namespaces={**whole.namespaces, ROOT: host})
    topology = join(partial, containers=made.containers.values(), networks=made.networks.values(), docker_host=ROOT)
    assert topology.published[0].by == ()
    assert topology.unmatched == ()


def test_what_is_asked_for_and_not_in_force() -> None:
    """As the engine does for a container on an internal network only, and after a disconnect."""
    made = web()
    (container,) = made.containers.values()
    made.containers[container.id] = replace(container, ports=())
    (port,) = made.topology().published
    assert (port.key, port.asked, port.in_force, port.by) == ("0.0.0.0:8080/tcp", True, False, ())


def test_any_port_and_all_ports() -> None:
    made = web()
    (container,) = made.containers.values()
    any_port = replace(container.requested_ports[0], published=None)
    made.containers[container.id] = replace(container, requested_ports=(any_port,))
    assert {(p.asked, p.in_force) for p in made.topology().published} == {(True, True)}
    made.containers[container.id] = replace(container, requested_ports=(), publish_all=True)
    assert {(p.asked, p.in_force) for p in made.topology().published} == {(True, True)}
    made.containers[container.id] = replace(container, requested_ports=())
    assert {(p.asked, p.in_force) for p in made.topology().published} == {(False, True)}


def test_two_containers_that_ask_for_one_port() -> None:
    made = web()
    made.container("late", networks=("net",), ports=(("0.0.0.0", 8080, 80),), status=Status.CREATED)
    assert [(p.key, p.in_force) for p in made.topology().published] == [
        ("0.0.0.0:8080/tcp", True),
        ("[::]:8080/tcp", True),
        ("0.0.0.0:8080/tcp (late)", False),
    ]


def test_udp_and_sctp() -> None:
    made = web()
    (container,) = made.containers.values()
    ports = tuple(PortBinding(target=80, protocol=p, host_ip="0.0.0.0", published=8080) for p in ("tcp", "udp", "sctp"))
    made.containers[container.id] = replace(container, ports=ports, requested_ports=ports)
    found = {port.protocol: port for port in made.topology().published}
    assert (found["tcp"].pids, found["udp"].pids, found["sctp"].pids) == ((5010,), (), None)
    assert found["udp"].by == found["sctp"].by == ()


def test_a_rule_or_proxy_for_another_container_is_not_its_own() -> None:
    made = machine()
    topology = made.topology()
    for port in topology.published:
        (address,) = (e.ipv4_address for e in topology.containers[port.container].networks)
        assert port.to_address == address
        assert all(address in rule for rule in port.dnat)


def test_ports_of_a_container_that_ended_meanwhile() -> None:
    made = web(userland_proxy=False)
    made.nat = [line for line in made.nat if "DNAT" not in line]
    inode = made.processes.pop(5010).netns
    assert inode is not None
    del made.spaces[inode]
    for index in list(made.host.ends):
        del made.host.ends[index]
        del made.host.links[index]
    assert [one.because for one in made.topology().unmatched] == ["its process 5010 has ended meanwhile"]
