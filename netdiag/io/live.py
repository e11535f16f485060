"""Everything a live check knows before it contacts anybody: the deployment that runs, and where one can stand.

`look` asks the engine (and, if it runs on this kernel, /proc); `observe.observe` then takes the stances.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path

from netdiag.deployment.model.deployment import Deployment
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
from netdiag.engine.container import Container
from netdiag.engine.network import EngineNetwork
from netdiag.errors import InputError, NetdiagError
from netdiag.io.docker_engine import EngineVersion, connect
from netdiag.io.engine_address import EngineAddress, find_engine
from netdiag.io.engine_kernel import OtherKernel, SameKernel, locate
from netdiag.io.engine_platform import read_platform
from netdiag.io.host_addresses import host_addresses
from netdiag.io.kernel.netns import is_process_of, open_namespace, read_proc, same_namespace_as
from netdiag.linux.netns import OwnNamespace, ProcessNamespace
from netdiag.linux.sockets import ListeningSocket, parse_listening
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """What runs. `sockets`, `stopped` and `logs` (the ends of those of stopped brokers) are by member name.

    `skipped` are vantages that cannot be taken from here.
    """

    address: EngineAddress
    version: EngineVersion
    containers: tuple[Container, ...]
    deployment: Deployment
    stances: tuple[LiveVantage, ...]
    skipped: tuple[SkippedVantage, ...] = ()
    stopped: Mapping[str, StoppedContainer]
    sockets: Mapping[str, tuple[ListeningSocket, ...]]
    logs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    networks: tuple[EngineNetwork, ...] = ()


def look(
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
    host_stance = _docker_host(kernel)
    called = member_names(chosen)
    sockets = _sockets(chosen, called) if isinstance(kernel, SameKernel) else {}
    deployment = from_engine(
        chosen,
        networks,
        name=project,
        host_addresses=_addresses(host_stance, networks),
        platform=read_platform(version, machine, kernel, host_stance, everything),
        sockets=sockets,
    )
    inside = (*container_vantages(deployment, chosen), *unrelated_vantages(everything, chosen))
    named = tuple(netns_vantage(name) for name in netns)
    outside: tuple[SkippedVantage, ...] = ()
    if isinstance(kernel, OtherKernel):
        outside = tuple(SkippedVantage(vantage=stance.vantage, because=kernel.because) for stance in inside)
        inside = ()
    return Live(
        address=address,
        version=version,
        containers=chosen,
        deployment=deployment,
        stances=(host_stance, *inside, *named),
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
            raise InputError(
                "the engine has no container of this name", where=name, hint="list them with `docker ps -a`"
            )


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
        # The stance itself will be skipped, with this very reason.
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
