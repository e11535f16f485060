"""Trace a connection through namespaces, bridges, NAT and packet filters, and on demand prove it with a real one."""

from netdiag.app.progress import SILENT, Listener
from netdiag.deployment.model.causes import Cause
from netdiag.deployment.model.verdict import Address
from netdiag.io.network.failed_connections import explain_proof
from netdiag.io.network.name_service import read_hosts_file
from netdiag.io.topology import read_topology
from netdiag.topology.graph import Path, Topology
from netdiag.topology.path.attempts import Proof
from netdiag.topology.path.name_lookup import topology_resolver
from netdiag.topology.path.prediction import PathPredictor
from netdiag.topology.selection import find_namespace
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceOptions:
    """From where to where; `source` is `host`, a container's name, container:NAME, netns:NAME or pid:N.

    `prove` makes a real connection and watches it; `host` is the engine, which is not asked without `engine`.
    """

    source: str
    destination: Address
    prove: bool = False
    host: str | None = None
    engine: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceReport:
    """The path of the connection through a topology, the proof of it where one was made, and why it ends early."""

    topology: Topology
    path: Path
    proof: Proof | None = None
    causes: tuple[Cause, ...] = ()


def trace(options: TraceOptions, listener: Listener = SILENT) -> TraceReport:
    """Follow a connection; nothing is sent unless a proof is wanted."""
    topology = read_topology(host=options.host, engine=options.engine)
    path = _path(topology, options.source, options.destination)
    proof = None
    if options.prove and path.address:
        from netdiag.io.network.traced_connection import prove

        proof = prove(topology, path)
    elif options.prove:
        listener.notice(f"nothing was sent: {options.destination.host} is no address there")
    return TraceReport(topology=topology, path=path, proof=proof, causes=explain_proof(topology, path, proof))


def _path(topology: Topology, source: str, destination: Address) -> Path:
    netns = find_namespace(topology, source)
    facts = topology.inventory.namespaces.get(netns)
    text = read_hosts_file(facts.netns, own=netns == topology.inventory.own) if facts is not None else None
    resolver = topology_resolver(topology, {} if text is None else {netns: text})
    return PathPredictor(topology, resolver).predict(netns, destination.host, destination.port)
