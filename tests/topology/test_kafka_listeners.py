"""Listeners of brokers and the sockets that serve them."""

from dataclasses import replace

from netdiag.topology.graph import KafkaListener, Topology
from netdiag.topology.join import join
from tests.topology.five_brokers import machine
from tests.topology.machine import Machine
from tests.topology.spaces import ROOT


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
