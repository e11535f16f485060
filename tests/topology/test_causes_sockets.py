"""Who refuses, and why; who accepts and says nothing."""

import pytest

from netdiag.deployment.mechanism import Mechanism
from netdiag.topology.causes_sockets import hung, suspect_of_backlog, suspect_of_refusal, suspect_of_silence
from netdiag.topology.hops import End
from tests.topology.failing_cases import failing, shop


@pytest.mark.parametrize(
    ("source", "address", "port", "mechanism"),
    [
        ("client", "172.20.0.2", 9999, Mechanism.NOBODY_LISTENS),
        ("client", "172.20.0.2", 9191, Mechanism.BOUND_TO_LOOPBACK),
        ("client", "127.0.0.1", 9092, Mechanism.OWN_LOOPBACK),
        ("host", "127.0.0.1", 9093, Mechanism.NOT_PUBLISHED),
        ("host", "192.168.8.133", 9094, Mechanism.NOT_RUNNING),
    ],
)
def test_refusals(source: str, address: str, port: int, mechanism: Mechanism) -> None:
    machine = shop()
    machine.spaces[machine.topology().named("kafka-1").netns].listen(9191, pids=[], address="127.0.0.1")  # type: ignore[union-attr]
    found = failing(machine, source, address, port)
    assert found.path.end is End.REFUSED
    suspect = suspect_of_refusal(found)
    assert suspect is not None
    assert suspect.mechanism is mechanism
    assert suspect.evidence


def test_nothing_silent_here() -> None:
    fine = failing(shop(), "client", "172.20.0.2", 9092)
    assert suspect_of_silence(fine) is None
    assert suspect_of_backlog(fine) is None
    assert hung(fine).mechanism is Mechanism.HUNG
