"""A docker-proxy serves a container that is gone.

Why: A proxy that outlives its container (the engine was killed, or lost track of it) keeps the port of the docker host,
accepts every connection, and cannot forward it. No other container can publish the port.

Bad:
    places:
      host:
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka eth0}
      kafka: {links: {eth0: {addresses: [172.20.0.2/16]}}}
    processes:
      40: {comm: docker-proxy, argv: [docker-proxy, -proto, tcp, -host-ip, 0.0.0.0, -host-port, 9092,
           -container-ip, 172.20.0.2, -container-port, 9092]}
      41: {comm: docker-proxy, argv: [docker-proxy, -proto, tcp, -host-ip, 0.0.0.0, -host-port, 9093,  # <- here
           -container-ip, 172.20.0.9, -container-port, 9092]}

Good:
    places:
      host:
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka eth0}
      kafka: {links: {eth0: {addresses: [172.20.0.2/16]}}}
    processes:
      40: {comm: docker-proxy, argv: [docker-proxy, -proto, tcp, -host-ip, 0.0.0.0, -host-port, 9092,
           -container-ip, 172.20.0.2, -container-port, 9092]}

Seen: a connection that closes after a few seconds; "address already in use" when another container publishes the port

Sources: moby, cmd/docker-proxy.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.linux.procfs import Process
from netdiag.rules.topology_findings import at_place, finding, parsed
from netdiag.topology.graph import Topology

ID = "topology-proxy-orphaned"
SEVERITY = Severity.ERROR


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every proxy whose container address is in no namespace, if all are visible."""
    inventory = topology.inventory
    if not inventory.complete or not all(facts.entered for facts in inventory.namespaces.values()):
        return
    had = {parsed(each.address) for facts in inventory.namespaces.values() for each in facts.addresses}
    for process in inventory.processes.values():
        target = parsed(_option(process, "-container-ip")) if process.comm == "docker-proxy" else None
        if target is None or target in had or process.netns is None or process.netns not in inventory.namespaces:
            continue
        port, protocol = _option(process, "-host-port"), _option(process, "-proto") or "tcp"
        yield finding(
            ID,
            SEVERITY,
            at_place(topology, process.netns, f"process {process.pid}"),
            f'docker-proxy {process.pid} serves port {port}/{protocol} for "{target}", but no container has that '
            f"address",
            why="it accepts connections that it cannot forward, and keeps the port from other containers",
            hint=f"stop it (`kill {process.pid}`), or restart the engine",
        )


def _option(process: Process, name: str) -> str:
    """The word after an option."""
    return next((word for option, word in zip(process.argv, process.argv[1:], strict=False) if option == name), "")
