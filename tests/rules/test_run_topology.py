"""Running the rules about topologies: worst first."""

from types import SimpleNamespace

from netdiag.findings import Finding, Severity, TopologyLocation
from netdiag.rules.run_topology import check_topology
from tests.render.topology.topologies import cluster


def finding(place: str, severity: Severity) -> Finding:
    return Finding(rule="r", severity=severity, message="m", location=TopologyLocation(place=place))


def test_worst_first_then_by_place() -> None:
    wanted = (finding("b", Severity.ERROR), finding("a", Severity.WARNING), finding("c", Severity.WARNING))
    rule = SimpleNamespace(ID="r", SEVERITY=Severity.ERROR, check=lambda topology: reversed(wanted))
    assert check_topology(cluster(), [rule]) == wanted


def test_every_rule_takes_a_whole_cluster() -> None:
    assert {found.rule.partition("-")[0] for found in check_topology(cluster())} <= {"topology"}
