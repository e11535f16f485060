"""Injected faults: the cause is named right at rank 1, with a repair that the walk confirms."""

from pathlib import Path

import pytest

from netdiag.deployment.model.causes import Cause, Certainty
from netdiag.deployment.model.verdict import Answered, Mechanism
from netdiag.io.network.failed_connections import find_deciding_rule
from netdiag.topology.causes.failed_connection import FailedConnection
from netdiag.topology.causes.find_causes import find_causes
from netdiag.topology.path.prediction import PathPredictor
from tests.figures import Report
from tests.netlab.fault_kinds import Fault
from tests.netlab.faults import FAULTS
from tests.netlab.faults_world import faulty
from tests.netlab.lab import needs_netlab

# Nothing that is known of a process tells what would wake it.
UNCONFIRMED = frozenset({Mechanism.HUNG})


def diagnosed(fault: Fault, folder: Path) -> tuple[Cause, ...]:
    """Inject it, try what the client would, and look; the causes in order."""
    folder.mkdir(exist_ok=True)
    with faulty(folder) as world:
        if fault.inject is not None:
            fault.inject(world)
        source = world.made.inodes[fault.source]
        seen = world.seen(fault.source, fault.address, fault.port)
        assert not isinstance(seen, Answered), "the fault does no harm"
        topology = world.topology()
        path = PathPredictor(topology).predict(source, fault.address, fault.port)
        watched = tuple(world.made.inodes.values())
        deciding = None
        if path.address:
            deciding = find_deciding_rule(topology.inventory, source, path.address, fault.port, watched=watched)
        return find_causes(FailedConnection(topology=topology, path=path, seen=seen, deciding=deciding))


@pytest.fixture(autouse=True)
def root() -> None:
    needs_netlab()


@pytest.mark.bar("causes")
@pytest.mark.parametrize("fault", [one for one in FAULTS if one.quick], ids=lambda one: one.name)
def test_a_fault_is_explained(fault: Fault, tmp_path: Path) -> None:
    first, *_ = diagnosed(fault, tmp_path)
    assert first.mechanism is fault.mechanism
    assert first.because
    assert first.repairs[0].confirmed, first.repairs


@pytest.mark.bar("causes")
def test_a_drop_is_proven_by_counters(tmp_path: Path) -> None:
    (fault,) = (one for one in FAULTS if one.name == "isolation 20.10")
    first, *_ = diagnosed(fault, tmp_path)
    assert (first.mechanism, first.certainty) == (Mechanism.NETWORK_ISOLATION, Certainty.PROVEN)
    assert any("DOCKER-ISOLATION-STAGE-2" in line and "its counter rose by 1, 1, 1" in line for line in first.evidence)
    assert first.repairs[0].text == "attach other to network a, which kafka is on"
    assert first.repairs[0].confirmed


@pytest.mark.bar("causes", long=True)
def test_every_fault(tmp_path: Path, figure: Report) -> None:
    named: list[str] = []
    repaired: list[str] = []
    for fault in FAULTS:
        found = diagnosed(fault, tmp_path)
        if found and found[0].mechanism is fault.mechanism:
            named.append(fault.name)
        if found and found[0].mechanism is fault.mechanism and any(one.confirmed for one in found[0].repairs):
            repaired.append(fault.name)
    kinds = {fault.mechanism for fault in FAULTS}
    figure("faults", len(FAULTS))
    figure("mechanisms", len(kinds))
    figure("named at rank 1", f"{len(named)} of {len(FAULTS)}")
    figure("with a confirmed repair", f"{len(repaired)} of {len(FAULTS)}")
    figure("not named", ", ".join(one.name for one in FAULTS if one.name not in named) or "none")
    figure("not repaired", ", ".join(one.name for one in FAULTS if one.name not in repaired) or "none")
    assert len(FAULTS) >= 40
    assert len(named) >= 0.95 * len(FAULTS)
    expected = [one.name for one in FAULTS if one.mechanism not in UNCONFIRMED]
    assert len([name for name in repaired if name in expected]) >= 0.95 * len(expected)


def test_kinds_of_faults() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert len({fault.mechanism for fault in FAULTS}) >= 35
