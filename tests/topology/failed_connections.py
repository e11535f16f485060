"""A literal docker host on which connections fail, for tests about causes."""

from netdiag.engine.container import Status
from netdiag.topology.causes.failed_connection import FailedConnection
from netdiag.topology.path.prediction import PathPredictor
from tests.topology.machine import Machine


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
