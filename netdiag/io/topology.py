"""The topology of this machine: its kernel, and what the engine says of the same machine.

`read_topology` reads both and joins them. An engine that is not there, does not answer or runs on another machine
leaves what can be known without it, and says so in `Topology.engine`.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from netdiag.engine.container import Container, EngineNetwork
from netdiag.errors import EngineError, InputError, MissingExtra
from netdiag.io.engine.address import EngineAddress, find_engine
from netdiag.io.engine.reader import engine_reader
from netdiag.io.engine.same_kernel import OtherKernel, SameKernel, locate
from netdiag.io.kernel.netns import same_namespace_as
from netdiag.linux.rtnetlink import outside_addresses
from netdiag.topology.graph import Topology
from netdiag.topology.inventory import Inventory, Unread
from netdiag.topology.join import join
from netdiag.topology.published_ports import PROXY_COMMAND
from netdiag.values import dataclass

if TYPE_CHECKING:
    from netdiag.deployment.model.deployment import Deployment

TIMEOUT = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What an engine says."""

    address: EngineAddress
    release: str
    containers: tuple[Container, ...]
    networks: tuple[EngineNetwork, ...]

    @property
    def title(self) -> str:
        return f"engine {self.release} at {self.address.url}"


def read_topology(
    *,
    host: str | None = None,
    engine: bool = True,
    project: str | None = None,
    timeout: float = TIMEOUT,
    environment: Mapping[str, str] | None = None,
    home: Path | None = None,
    inventory: Inventory | None = None,
) -> Topology:
    """The topology of this machine, or of the engine's machine as far as its API tells.

    `engine` False asks no engine. One that was named (`host`) and cannot be asked is an EngineError; any other one is
    left out with a reason. `project` limits the deployment to a compose project. `timeout` is seconds for each answer
    of the engine. `inventory` is what the kernel says, for whoever has read it before.
    """
    if not engine:
        return join(inventory or _read(), engine="no engine was asked")
    try:
        address = find_engine(host, _or_own(environment), home or Path.home())
        said = _ask(address, timeout)
    except (EngineError, MissingExtra, InputError) as error:
        if host is not None or isinstance(error, InputError):
            raise
        return join(inventory or _read(), engine=f"no engine: {error}")
    topology = _joined(said, project, inventory)
    if topology.unmatched and topology.host:
        # What started or ended between the two questions has no counterpart: then both are asked once more.
        with suppress(EngineError):
            now = _ask(address, timeout)
            if now != said:
                return _joined(now, project, inventory)
    return topology


def _joined(said: _Said, project: str | None, inventory: Inventory | None) -> Topology:
    kernel = locate(said.address, said.containers)
    if isinstance(kernel, OtherKernel):
        return _elsewhere(said, kernel.because, project)
    read = inventory or _read()
    where = _docker_host(kernel, read)
    if where is None:
        return _elsewhere(said, "netdiag cannot tell the network namespace of its docker host from here", project, read)
    proxied = _has_proxies(read, where, said.containers)
    return join(
        read,
        containers=said.containers,
        networks=said.networks,
        deployment=_deployment(said, project, addresses=_addresses(read, where, said.networks), proxied=proxied),
        docker_host=where,
        engine=said.title,
        userland_proxy=proxied,
    )


def _read() -> Inventory:
    from netdiag.io.kernel.inventory import read_inventory

    return read_inventory()


def _or_own(environment: Mapping[str, str] | None) -> Mapping[str, str]:
    return os.environ if environment is None else environment


def _ask(address: EngineAddress, timeout: float) -> _Said:
    with engine_reader(address, timeout=timeout) as engine:
        return _Said(
            address=address, release=engine.release(), containers=engine.containers(), networks=engine.networks()
        )


def _elsewhere(said: _Said, because: str, project: str | None, inventory: Inventory | None = None) -> Topology:
    """What the API tells, joined with nothing of this kernel."""
    unread = Unread(what="the kernel of the docker host", because=because)
    nothing = Inventory(namespaces={}, own=0, complete=False)
    return join(
        replace(inventory or nothing, complete=False, unread=(*(inventory or nothing).unread, unread)),
        containers=said.containers,
        networks=said.networks,
        deployment=_deployment(said, project),
        engine=f"{said.title}, only what its API tells: {because}",
    )


def _docker_host(kernel: SameKernel, inventory: Inventory) -> int | None:
    """The docker host's namespace by inode; without the right to look at the engine, ours if it is in ours."""
    if kernel.docker_host is None:
        return None
    process = inventory.processes.get(kernel.docker_host)
    if process is not None and process.netns is not None:
        return process.netns
    try:
        return os.stat(f"/proc/{kernel.docker_host}/ns/net").st_ino
    except OSError:
        return inventory.own if same_namespace_as(kernel.docker_host) else None


def _has_proxies(inventory: Inventory, host: int, containers: tuple[Container, ...]) -> bool | None:
    """Whether docker-proxy serves published ports; None while nothing is published."""
    if not any(p.published and p.protocol == "tcp" for c in containers if c.state.has_process for p in c.ports):
        return None
    return any(p.comm == PROXY_COMMAND and p.netns in (host, None) for p in inventory.processes.values())


def _addresses(inventory: Inventory, host: int, networks: tuple[EngineNetwork, ...]) -> tuple[str, ...]:
    facts = inventory.namespaces.get(host)
    if facts is None:
        return ()
    bridges = frozenset(network.bridge_name for network in networks if network.bridge_name)
    return outside_addresses(facts.links, facts.addresses, bridges=bridges)


def _deployment(
    said: _Said, project: str | None, *, addresses: tuple[str, ...] = (), proxied: bool | None = None
) -> "Deployment":
    # Loading these takes longer than reading the kernel of a machine without an engine.
    from netdiag.deployment.model.deployment import HostKind, Platform
    from netdiag.deployment.scope import scope_of
    from netdiag.deployment.sources.engine import from_engine

    is_podman = said.release.startswith("Podman ")
    scope = scope_of(said.containers, said.networks, project=project)
    if project is not None and not scope.asked:
        hint = "start it with `docker compose up -d`"
        raise InputError("the engine has no container of this compose project", where=project, hint=hint)
    return from_engine(
        said.containers,
        said.networks,
        asked=scope.asked,
        name=project,
        host_addresses=addresses,
        platform=Platform(kind=HostKind.PODMAN if is_podman else HostKind.LINUX, userland_proxy=proxied),
    )
