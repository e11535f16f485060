"""Another process uses the port that a container publishes.

Why: A port of the docker host belongs to one process. If another process listens on it, the engine cannot start the
container; or NAT rules send other machines to the container while the docker host itself gets the other process.

Bad:
    places:
      host:
        links: {eth0: {addresses: [192.0.2.1/24]}}
        listeners: [{port: 9092, by: 17}, {port: 9093, by: 18}]
      kafka: {links: {eth0: {addresses: [172.20.0.2/16]}}}
      late: {status: created, error: "listen tcp4 0.0.0.0:9093: bind: address already in use"}
    processes: {17: {comm: java}, 18: {comm: nginx}}
    published:
      - {key: "0.0.0.0:9092/tcp", container: kafka, target: 9092}  # <- here
      - {key: "0.0.0.0:9093/tcp", container: late, target: 9093, in_force: false}  # <- here

Good:
    places:
      host:
        links: {eth0: {addresses: [192.0.2.1/24]}}
        listeners: [{port: 9092, by: 40}, {port: 9093, address: 127.0.0.1, by: 18}]
      kafka: {links: {eth0: {addresses: [172.20.0.2/16]}}}
    processes: {40: {comm: docker-proxy}, 18: {comm: nginx}}
    published:
      - {key: "0.0.0.0:9092/tcp", container: kafka, target: 9092, proxies: [40]}
      - {key: "192.0.2.1:9093/tcp", container: kafka, target: 9093, proxies: [40]}

Seen: "driver failed programming external connectivity ...: bind: address already in use"

Sources: bind(2), EADDRINUSE; moby, libnetwork/portmapper.
"""

from collections.abc import Iterator

from netdiag.engine.container import Status
from netdiag.findings import Finding, Related, Severity
from netdiag.linux.sockets import Listener
from netdiag.rules.topology_findings import at_place, finding, host_of, parsed
from netdiag.topology.graph import Published, Topology

ID = "topology-published-port-taken"
SEVERITY = Severity.ERROR

# Processes that listen for engines: rootless ones have their own helpers.
_ENGINES = frozenset(
    {
        "pasta",
        "pasta.avx2",
        "passt",
        "docker-proxy",
        "dockerd",
        "rootlesskit",
        "rootlessport",
        "rootlessport-ch",
        "slirp4netns",
        "conmon",
    }
)
_REFUSED = ("address already in use", "port is already allocated")


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every published port on which a process other than the engine's has a socket."""
    host = host_of(topology)
    if host is None:
        return
    for port in topology.published:
        takers = [listener for listener in host[1].listeners if _takes(topology, port, listener)]
        if takers and port.asked and (port.in_force or _was_refused(topology, port)):
            yield _finding(topology, host[0].netns, port, takers[0])


def _takes(topology: Topology, port: Published, listener: Listener) -> bool:
    if listener.port != port.published or listener.protocol.value != port.protocol or not listener.pids:
        return False
    owners = {topology.inventory.processes.get(pid) for pid in listener.pids}
    engines = any(owner is None or owner.comm in _ENGINES for owner in owners)
    return not engines and not set(listener.pids) & set(port.proxies) and _same_address(port, listener)


def _same_address(port: Published, listener: Listener) -> bool:
    asked, bound = parsed(port.host_ip or "0.0.0.0"), parsed(listener.address)
    if asked is None or bound is None:
        return False
    both = bound.is_unspecified and listener.family == 6 and not listener.v6only
    if port.in_force and bound.is_loopback and not asked.is_loopback:
        # It was first, or leaves the rest to the engine: each serves its own address.
        return False
    if asked.version != bound.version:
        return both
    return asked.is_unspecified or bound.is_unspecified or asked == bound


def _was_refused(topology: Topology, port: Published) -> bool:
    container = topology.containers.get(port.container)
    state = None if container is None else container.state
    return state is not None and state.status is not Status.RUNNING and any(word in state.error for word in _REFUSED)


def _finding(topology: Topology, host: int, port: Published, taker: Listener) -> Finding:
    container = topology.containers.get(port.container)
    name = container.name if container else port.container[:12]
    process = topology.inventory.processes.get(taker.pids[0])
    who = f"process {taker.pids[0]}" + (f" ({process.comm})" if process else "")
    kept = (
        f"the engine could not start {name}"
        if not port.in_force
        else f"{name} gets only the connections that NAT rules send to it"
    )
    return finding(
        ID,
        SEVERITY if not port.in_force else Severity.WARNING,
        at_place(topology, host, port.key),
        f"{who} listens on the port that {name} publishes as {port.key}",
        why=f"a port belongs to one process: {kept}",
        hint=f"stop {who}, or publish another port",
        related=[Related(location=at_place(topology, host, f"{taker.address}:{taker.port}"), message="its socket")],
        service=name,
    )
