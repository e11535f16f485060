"""Running the rules about topologies."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from netdiag.findings import Finding
from netdiag.rules.order import by_place
from netdiag.rules.topology_rules import TOPOLOGY
from netdiag.topology.graph import Topology

if TYPE_CHECKING:
    from netdiag.rules.rule import TopologyRule


def check_topology(topology: Topology, rules: "Iterable[TopologyRule]" = TOPOLOGY) -> tuple[Finding, ...]:
    """What is wrong with how things hang together on a machine, worst first, then by place."""
    found = (finding for rule in rules for finding in rule.check(topology))
    return tuple(sorted(found, key=lambda finding: (-finding.severity.rank, *by_place(finding))))
