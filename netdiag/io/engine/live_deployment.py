"""Everything a live check knows before it contacts anybody: the deployment that runs, and where one can stand.

`read_live` asks the engine (and, if it runs on this kernel, /proc); `observation.observe` then takes the vantages.
"""

import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path

from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.model.platform import Firewall, HostKind, Platform, generation_of
from netdiag.deployment.observation.live_view import (
    LiveVantage,
    SkippedVantage,
    StoppedContainer,
    container_vantages,
    docker_host_vantage,
    is_down,
    log_tail,
    netns_vantage,
    stopped_container,
    unrelated_vantages,
)
from netdiag.deployment.sources.engine import from_engine, member_names, projects_of, runs_kafka, select
from netdiag.engine.container import Container, EngineNetwork
from netdiag.errors import InputError, NetdiagError
from netdiag.io.engine.address import EngineAddress, find_engine
from netdiag.io.engine.docker_sdk import EngineHost, EngineVersion, connect
from netdiag.io.engine.same_kernel import OtherKernel, SameKernel, has_userland_proxy, locate
from netdiag.io.kernel.netlink import ROUTE, Channel
from netdiag.io.kernel.netns import Namespace, is_process_of, open_namespace, read_proc, same_namespace_as
from netdiag.linux.netlink.addresses import decode_address, request_addresses
from netdiag.linux.netlink.links import decode_link, request_links
from netdiag.linux.netlink.messages import Malformed
from netdiag.linux.netns import OwnNamespace, ProcessNamespace
from netdiag.linux.rtnetlink import InterfaceAddress, Link, outside_addresses
from netdiag.linux.sockets import ListeningSocket, parse_listening
from netdiag.values import dataclass

# Of the network namespace that reads it; absent where br_netfilter is not loaded.
_BRIDGE_FILTER = "/proc/sys/net/bridge/bridge-nf-call-iptables"


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """What runs. `sockets`, `stopped` and `logs` (the ends of those of stopped brokers) are by member name.

    `skipped` are vantages that cannot be taken from here.
    """

    address: EngineAddress
    version: EngineVersion
    containers: tuple[Container, ...]
    deployment: Deployment
    vantages: tuple[LiveVantage, ...]
    skipped: tuple[SkippedVantage, ...] = ()
    stopped: Mapping[str, StoppedContainer]
    sockets: Mapping[str, tuple[ListeningSocket, ...]]
    logs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    networks: tuple[EngineNetwork, ...] = ()


def read_live(
    *,
    host: str | None = None,
    project: str | None = None,
    compose_file: str | None = None,
    names: Sequence[str] = (),
    netns: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    home: Path | None = None,
) -> Live:
    """What runs on the engine that is meant: a compose project, the containers named, or everything.

    A project is given by its name, and by its file where it was started from one on this machine.

    EngineError when the engine cannot be asked, InputError when nothing has that name.
    """
    address = find_engine(host, os.environ if environment is None else environment, home or Path.home())
    with connect(address) as engine:
        version, machine = engine.version(), engine.host()
        everything, networks = engine.containers(), engine.networks()
        project = _project(everything, project, compose_file)
        chosen = select(everything, project=project, names=names)
        _must_exist(everything, names)
        logs = {c.id: engine.log(c) for c in chosen if runs_kafka(c) and is_down(c)}
    reasons = {c.id: stopped_container(c, logs[c.id]) for c in chosen if c.id in logs}
    kernel = locate(address, everything)
    host_vantage = _docker_host(kernel)
    called = member_names(chosen)
    sockets = _sockets(chosen, called) if isinstance(kernel, SameKernel) else {}
    deployment = from_engine(
        chosen,
        networks,
        name=project,
        host_addresses=_addresses(host_vantage, networks),
        platform=read_platform(version, machine, kernel, host_vantage, everything),
        sockets=sockets,
    )
    inside = (*container_vantages(deployment, chosen), *unrelated_vantages(everything, chosen))
    named = tuple(netns_vantage(name) for name in netns)
    outside: tuple[SkippedVantage, ...] = ()
    if isinstance(kernel, OtherKernel):
        outside = tuple(SkippedVantage(vantage=each.vantage, because=kernel.because) for each in inside)
        inside = ()
    return Live(
        address=address,
        version=version,
        containers=chosen,
        deployment=deployment,
        vantages=(host_vantage, *inside, *named),
        skipped=outside,
        stopped={called[identifier]: reason for identifier, reason in reasons.items()},
        networks=tuple(networks),
        logs={called[identifier]: log_tail(lines) for identifier, lines in logs.items()},
        sockets=sockets,
    )


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
        hint = "name its containers with --container"
        raise InputError(f"several projects were started from this file: {names}", where=where, hint=hint)
    return found[0]


def _must_exist(containers: Sequence[Container], names: Sequence[str]) -> None:
    for name in names:
        if not select(containers, names=[name]):
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


def _sockets(containers: Sequence[Container], called: Mapping[str, str]) -> dict[str, tuple[ListeningSocket, ...]]:
    """The listening sockets of each running container; its view of /proc/net is readable for everybody."""
    found: dict[str, tuple[ListeningSocket, ...]] = {}
    for container in containers:
        pid = container.state.pid
        if container.state.has_process and is_process_of(pid, container.id):
            tables = (read_proc(pid, f"net/{name}") for name in ("tcp", "tcp6"))
            found[called[container.id]] = tuple(sorted(s for table in tables for s in parse_listening(table)))
    return found


def read_platform(
    version: EngineVersion,
    host: EngineHost,
    kernel: SameKernel | OtherKernel,
    docker_host: LiveVantage,
    containers: Sequence[Container],
) -> Platform:
    """The platform of an engine; of a machine that is not this one only what the engine says."""
    here = isinstance(kernel, SameKernel)
    return Platform(
        kind=_kind(host),
        generation=generation_of(version.release),
        userland_proxy=has_userland_proxy(kernel, containers) if isinstance(kernel, SameKernel) else None,
        firewall=next((firewall for firewall in Firewall if host.firewall.startswith(firewall.value)), None),
        bridge_filter=_bridge_filter(docker_host) if here else None,
    )


def _kind(host: EngineHost) -> HostKind:
    if host.system.startswith("Docker Desktop"):
        return HostKind.DESKTOP
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
