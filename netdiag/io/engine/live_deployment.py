"""Everything a live check knows before it contacts anybody: the deployment that runs, and where one can stand.

`read_live` asks the engine (and, if it runs on this kernel, /proc); `observation.observe` then takes the vantages.
"""

import os
import socket
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from pathlib import Path

from netdiag.deployment.model.deployment import Deployment, Firewall, HostKind, Platform, generation_of, podman_release
from netdiag.deployment.model.vantage import broker_vantage
from netdiag.deployment.model.verdict import Answered
from netdiag.deployment.observation.live_view import (
    LiveVantage,
    SkippedVantage,
    StoppedContainer,
    container_vantages,
    docker_host_vantage,
    is_down,
    log_tail,
    netns_vantage,
    starting_brokers,
    stopped_container,
)
from netdiag.deployment.scope import (
    Scope,
    named,
    one_of_each_network,
    projects_of,
    scope_of,
    scopes_of,
    sharing_a_network,
)
from netdiag.deployment.sources.engine import from_engine, member_names, runs_kafka
from netdiag.deployment.sources.relays import running_relays
from netdiag.engine.about import EngineHost
from netdiag.engine.container import Container, EngineNetwork
from netdiag.engine.events import ContainerEvent
from netdiag.errors import InputError, NetdiagError, UsageError
from netdiag.io.engine.address import EngineAddress, find_engine
from netdiag.io.engine.reader import engine_reader
from netdiag.io.engine.same_kernel import OtherKernel, SameKernel, has_userland_proxy, locate
from netdiag.io.kernel.netlink import ROUTE, SOCK_DIAG, Channel
from netdiag.io.kernel.netns import Namespace, is_process_of, open_namespace, read_proc, same_namespace_as, visit
from netdiag.linux.netlink.addresses import decode_address, request_addresses
from netdiag.linux.netlink.links import decode_link, request_links
from netdiag.linux.netlink.messages import Malformed
from netdiag.linux.netns import OwnNamespace, ProcessNamespace
from netdiag.linux.rtnetlink import InterfaceAddress, Link, outside_addresses
from netdiag.linux.sockets import (
    ListeningSocket,
    Peer,
    Protocol,
    as_listening,
    decode_listener,
    parse_listening,
    parse_peers,
    request_tcp_listeners,
)
from netdiag.values import dataclass

# Of the network namespace that reads it; absent where br_netfilter is not loaded.
_BRIDGE_FILTER = "/proc/sys/net/bridge/bridge-nf-call-iptables"

# Of the containers that share no network with what is asked about; all of them get the same.
_MOST_ELSEWHERE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherVantages:
    """Where to look from beside the docker host and the containers that are asked about.

    `netns` are namespaces that `ip netns` lists, `containers` those of the surroundings, by name. `everywhere` stands
    for all that share a network with what is asked about, and a few of those that do not.
    """

    netns: tuple[str, ...] = ()
    containers: tuple[str, ...] = ()
    everywhere: bool = False


NO_OTHERS = OtherVantages()


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """What runs: `containers` are all of the engine, of which `scope` is asked about.

    `sockets`, `stopped`, `starting` and `logs` (the ends of those of stopped brokers) are by member name; `skipped` are
    vantages that cannot be taken from here. `engine_time` is what the engine's clock showed before it was asked for
    containers.
    """

    address: EngineAddress
    release: str
    scope: Scope
    containers: tuple[Container, ...]
    deployment: Deployment
    vantages: tuple[LiveVantage, ...]
    skipped: tuple[SkippedVantage, ...] = ()
    stopped: Mapping[str, StoppedContainer]
    sockets: Mapping[str, tuple[ListeningSocket, ...]]
    logs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    starting: Mapping[str, str] = field(default_factory=dict)
    networks: tuple[EngineNetwork, ...] = ()
    engine_time: datetime | None = None

    def events_between(self, since: datetime, until: datetime, timeout: float) -> tuple[ContainerEvent, ...]:
        """What the engine says of starts and ends of containers, in seconds at most; EngineError where it does not."""
        with engine_reader(self.address, timeout=timeout) as engine:
            return engine.events(since, until)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What the engine says; `ingress_ports` as in a Platform."""

    address: EngineAddress
    release: str
    machine: EngineHost
    ingress_ports: tuple[int, ...] | None
    containers: tuple[Container, ...]
    networks: tuple[EngineNetwork, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What the engine says, and what its machine shows; `sockets` and `logs` are by container id."""

    said: _Said
    kernel: SameKernel | OtherKernel
    docker_host: LiveVantage
    platform: Platform
    host_addresses: tuple[str, ...]
    sockets: Mapping[str, tuple[ListeningSocket, ...]]
    logs: Mapping[str, tuple[str, ...]]

    def live(self, scope: Scope, vantages: OtherVantages = NO_OTHERS) -> Live:
        """What is asked about, with its surroundings, and the vantages on it; InputError for one that is not there."""
        _must_exist(self.said.containers, vantages.containers)
        return _live(self, scope, vantages)

    def scopes(self, told: Mapping[str, Answered] | None = None) -> tuple[Scope, ...]:
        """One for each cluster; `told` as for `scopes_of`."""
        return scopes_of(self.said.containers, self.said.networks, told)

    def whole(self) -> Live:
        """Everything that runs, as one."""
        return self.live(scope_of(self.said.containers, self.said.networks))


def read_live(
    *,
    host: str | None = None,
    project: str | None = None,
    compose_file: str | None = None,
    names: Sequence[str] = (),
    vantages: OtherVantages = NO_OTHERS,
    environment: Mapping[str, str] | None = None,
    home: Path | None = None,
) -> Live:
    """What runs on the engine that is meant: a compose project, the containers named, or everything.

    A project is given by its name, and by its file where it was started from one on this machine.

    EngineError when the engine cannot be asked, InputError when nothing has that name, UsageError when several
    projects were started from the file.
    """

    said_by = os.environ if environment is None else environment
    address = find_engine(host, said_by, home or Path.home())
    said = _ask(address)
    meant = _project(said.containers, project, compose_file)
    _must_exist(said.containers, (*names, *vantages.containers))
    scope = scope_of(said.containers, said.networks, project=meant, names=names)
    return _machine(said, _logs(said, scope.asked)).live(scope, vantages)


def read_machine(host: str | None = None) -> Machine:
    """Everything that runs on the engine that is meant; EngineError when it cannot be asked."""
    address = find_engine(host, os.environ, Path.home())
    said = _ask(address)
    return _machine(said, _logs(said, frozenset(c.id for c in said.containers)))


def _ask(address: EngineAddress) -> _Said:
    with engine_reader(address) as engine:
        release, machine = engine.release(), engine.host()
        swarm, containers = engine.swarm(machine), engine.containers()
        ports = () if not machine.node else None
        return _Said(
            address=address,
            release=release,
            machine=machine,
            ingress_ports=ports if swarm is None else swarm.ingress_ports,
            containers=containers if swarm is None else swarm.joined(containers),
            networks=engine.networks(),
        )


def _logs(said: _Said, asked: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """The ends of the logs of the brokers among them that do not run."""
    down = [c for c in said.containers if c.id in asked and runs_kafka(c) and is_down(c)]
    if not down:
        return {}
    # Loading this library takes longer than most of a look does.
    from netdiag.io.engine.docker_sdk import connect

    with connect(said.address) as engine:
        return {c.id: engine.log(c) for c in down}


def _machine(said: _Said, logs: Mapping[str, tuple[str, ...]]) -> Machine:
    kernel = locate(said.address, said.containers)
    docker_host = _docker_host(kernel)
    return Machine(
        said=said,
        kernel=kernel,
        docker_host=docker_host,
        platform=replace(
            read_platform(said.release, said.machine, kernel, docker_host, said.containers),
            ingress_ports=said.ingress_ports,
        ),
        host_addresses=_addresses(docker_host, said.networks),
        sockets=_sockets(said.containers) if isinstance(kernel, SameKernel) else {},
        logs=logs,
    )


def _live(machine: Machine, scope: Scope, others: OtherVantages) -> Live:
    said = machine.said
    called = member_names(said.containers, scope.asked)
    sockets = {called[identifier]: found for identifier, found in machine.sockets.items()}
    deployment = from_engine(
        said.containers,
        said.networks,
        asked=scope.asked,
        name=scope.project,
        host_addresses=machine.host_addresses,
        platform=machine.platform,
        sockets=sockets,
        relays=running_relays((c for c in said.containers if c.id in scope.asked), called),
    )
    logs = {identifier: lines for identifier, lines in machine.logs.items() if identifier in scope.asked}
    stopped = {called[c.id]: stopped_container(c, logs[c.id]) for c in said.containers if c.id in logs}
    entered = _entered(said.containers, scope, others)
    inside = container_vantages(deployment, entered, called)
    outside = tuple(_on_other_nodes(deployment, entered, called))
    if isinstance(machine.kernel, OtherKernel):
        outside += tuple(SkippedVantage(vantage=each.vantage, because=machine.kernel.because) for each in inside)
        inside = ()
    return Live(
        address=said.address,
        release=said.release,
        scope=scope,
        containers=said.containers,
        deployment=deployment,
        vantages=(machine.docker_host, *inside, *(netns_vantage(name) for name in others.netns)),
        skipped=outside,
        stopped=stopped,
        starting=starting_brokers(
            deployment,
            {called[c.id]: c for c in said.containers},
            {name: [one.port for one in found] for name, found in sockets.items()},
            now=datetime.now(UTC),
        ),
        networks=said.networks,
        engine_time=said.machine.time,
        logs={called[identifier]: log_tail(lines) for identifier, lines in logs.items()},
        sockets=sockets,
    )


def _on_other_nodes(
    deployment: Deployment, containers: Sequence[Container], called: Mapping[str, str]
) -> Iterator[SkippedVantage]:
    """Inside the brokers that run on other nodes of a swarm, from which nobody can look here."""
    there = {called[c.id]: c.task.node for c in containers if c.task is not None and c.is_elsewhere}
    for broker in deployment.brokers:
        if node := there.get(broker.name):
            because = f"it runs on node {node}, whose engine was not asked"
            yield SkippedVantage(vantage=broker_vantage(broker), because=because)


def _entered(containers: Sequence[Container], scope: Scope, others: OtherVantages) -> tuple[Container, ...]:
    """The containers to look from: those asked about, and what else is wanted of their surroundings."""
    wanted = {c.id for c in named(containers, others.containers)}
    if others.everywhere:
        near = {c.id for c in sharing_a_network(containers, scope.asked)}
        far = one_of_each_network(c for c in containers if c.id not in scope.asked | near)
        wanted |= near | {c.id for c in far[:_MOST_ELSEWHERE]}
    return tuple(c for c in containers if c.id in scope.asked | wanted)


def _project(containers: Sequence[Container], project: str | None, compose_file: str | None) -> str | None:
    """The one project that is meant, if any is."""
    if project is None and compose_file is None:
        return None
    where = project or compose_file
    found = projects_of(containers, project=project, compose_file=compose_file)
    if not found:
        hint = "start it with `docker compose up -d`, or name its containers with --container"
        raise InputError("the engine has no container of this compose project", where=where, hint=hint)
    if len(found) > 1:
        names = ", ".join(found)
        hint = "name one of them with -p"
        raise UsageError(f"several projects were started from this file: {names}", where=where, hint=hint)
    return found[0]


def _must_exist(containers: Sequence[Container], names: Sequence[str]) -> None:
    for name in names:
        if not named(containers, [name]):
            raise InputError("no container has this name", where=name, hint="list them with `docker ps -a`")


def _docker_host(kernel: SameKernel | OtherKernel) -> LiveVantage:
    """Where the engine's namespace is ours, no rights are needed to stand there; elsewhere, ours is all there is."""
    if isinstance(kernel, OtherKernel) or kernel.docker_host is None or same_namespace_as(kernel.docker_host):
        return docker_host_vantage(OwnNamespace())
    return docker_host_vantage(ProcessNamespace(pid=kernel.docker_host))


def _addresses(docker_host: LiveVantage, networks: Sequence[EngineNetwork]) -> tuple[str, ...]:
    bridges = frozenset(network.bridge_name for network in networks if network.bridge_name)
    try:
        with open_namespace(docker_host.entrance) as namespace:
            return host_addresses(namespace, bridges)
    except NetdiagError:
        # The vantage itself will be skipped, with this very reason.
        return ()


def _sockets(containers: Sequence[Container]) -> dict[str, tuple[ListeningSocket, ...]]:
    """The listening sockets of each running container, by its id."""
    running = [c for c in containers if c.state.has_process]
    entrances = [ProcessNamespace(pid=c.state.pid, container_id=c.id) for c in running]
    found: dict[str, tuple[ListeningSocket, ...]] = {}
    for container, listening in zip(running, visit(entrances, _own_listening), strict=True):
        pid = container.state.pid
        if isinstance(listening, tuple):
            found[container.id] = listening
        elif is_process_of(pid, container.id):
            # Its view of /proc/net is readable for everybody.
            tables = (read_proc(pid, f"net/{name}") for name in ("tcp", "tcp6"))
            found[container.id] = tuple(sorted(s for table in tables for s in parse_listening(table)))
    return found


def _own_listening() -> tuple[ListeningSocket, ...]:
    """The listening sockets of the calling thread's namespace; NetdiagError or OSError where they cannot be asked."""
    with Channel(SOCK_DIAG) as channel:
        listeners = (decode_listener(one, Protocol.TCP) for one in channel.payloads(request_tcp_listeners()))
        return tuple(sorted(as_listening(one) for one in listeners if one is not None))


def read_peers(seen: Live, members: Collection[str]) -> dict[str, tuple[Peer, ...]]:
    """By member name, whom those of these containers that are asked about have connected to, but for brokers.

    A connection that has ended is among them for a minute, where the container has closed it.
    """
    called = member_names(seen.containers, seen.scope.asked)
    brokers = {broker.name for broker in seen.deployment.brokers}
    found: dict[str, tuple[Peer, ...]] = {}
    for container in seen.containers if not seen.skipped else ():
        pid, name = container.state.pid, called[container.id]
        asked = container.id in seen.scope.asked and name in members and name not in brokers
        if asked and container.state.has_process and is_process_of(pid, container.id):
            peers = parse_peers(*(read_proc(pid, f"net/{table}") for table in ("tcp", "tcp6")))
            if peers:
                found[name] = peers
    return found


def read_platform(
    release: str,
    host: EngineHost,
    kernel: SameKernel | OtherKernel,
    docker_host: LiveVantage,
    containers: Sequence[Container],
) -> Platform:
    """The platform of an engine; of a machine that is not this one only what the engine says."""
    here = isinstance(kernel, SameKernel)
    return Platform(
        kind=_kind(host),
        generation=generation_of(release),
        podman=podman_release(release) if host.is_podman else None,
        userland_proxy=has_userland_proxy(kernel, containers) if isinstance(kernel, SameKernel) else None,
        firewall=next((firewall for firewall in Firewall if host.firewall.startswith(firewall.value)), None),
        bridge_filter=_bridge_filter(docker_host) if here else None,
    )


def _kind(host: EngineHost) -> HostKind:
    if host.is_podman:
        return HostKind.PODMAN_ROOTLESS if host.rootless else HostKind.PODMAN
    if host.system.startswith("Docker Desktop"):
        return HostKind.DESKTOP
    if host.system == "OrbStack":
        return HostKind.ORBSTACK
    if host.name == "lima-rancher-desktop" or host.system.startswith("Rancher Desktop"):
        return HostKind.RANCHER_DESKTOP
    # The profile behind it: "colima-work".
    if host.name == "colima" or host.name.startswith("colima-"):
        return HostKind.COLIMA
    return HostKind.WSL2 if "wsl2" in host.kernel.lower() else HostKind.LINUX


def _bridge_filter(docker_host: LiveVantage) -> bool | None:
    try:
        with open_namespace(docker_host.entrance) as namespace:
            return namespace.run(_read_bridge_filter)
    except NetdiagError:
        return None


def _read_bridge_filter() -> bool | None:
    try:
        with open(_BRIDGE_FILTER, encoding="ascii", errors="replace") as file:
            return file.read(8).strip() != "0"
    except FileNotFoundError:
        return False
    except OSError:
        return None


def host_addresses(namespace: Namespace, bridges: frozenset[str]) -> tuple[str, ...]:
    """Its addresses but loopback, link-local ones and those of `bridges`; none where the kernel does not tell."""
    try:
        return outside_addresses(read_links(namespace), read_addresses(namespace), bridges=bridges)
    except (OSError, NetdiagError, Malformed):
        return ()


def read_links(namespace: Namespace) -> tuple[Link, ...]:
    """Every device of the namespace; Refused or OSError where the kernel does not answer."""
    return tuple(decode_link(payload) for payload in _dump(namespace, request_links()))


def read_addresses(namespace: Namespace) -> tuple[InterfaceAddress, ...]:
    """Every address of the namespace; Refused or OSError where the kernel does not answer."""
    found = (decode_address(payload) for payload in _dump(namespace, request_addresses()))
    return tuple(address for address in found if address is not None)


def _dump(namespace: Namespace, request: bytes) -> list[bytes]:
    made = namespace.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    with Channel(ROUTE, made) as channel:
        return channel.payloads(request)
