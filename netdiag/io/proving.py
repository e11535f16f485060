"""Makes the real connection that a walk has foretold, and watches it."""

from netdiag.errors import NetdiagError
from netdiag.topology.graph import Topology
from netdiag.topology.hops import Path
from netdiag.topology.proof import Proof


def prove(topology: Topology, path: Path) -> Proof:
    """What came of it."""
    raise NetdiagError("this build makes no connections yet", where=f"{path.destination}:{path.port}")
