"""Containers as places of a capture, and the ports of the brokers among them."""

import os
from collections.abc import Sequence
from pathlib import Path

from netdiag.deployment.prediction.listener_access import listener_ports
from netdiag.deployment.scope import projects_of, scope_of, sharing_a_network
from netdiag.deployment.sources.engine import from_engine, member_names, runs_kafka
from netdiag.engine.container import Container, EngineNetwork
from netdiag.errors import InputError
from netdiag.io.engine.address import find_engine
from netdiag.io.engine.docker_sdk import connect
from netdiag.io.engine.same_kernel import OtherKernel, SameKernel, locate
from netdiag.io.packets.places import Spot
from netdiag.linux.netns import ProcessNamespace
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """What the engine says there is."""

    containers: tuple[Container, ...]
    networks: tuple[EngineNetwork, ...]
    kernel: SameKernel | OtherKernel

    def spot(self, name: str) -> Spot:
        """The container of this name, id or service; InputError where it is not one that runs here."""
        called = member_names(self.containers)
        found = [c for c in self.containers if name == c.name]
        found = found or [c for c in self.containers if name in (called[c.id], c.service)]
        found = found or [c for c in self.containers if len(name) >= 4 and c.id.startswith(name)]
        where = f"container {name!r}"
        if not found:
            raise InputError("no container has this name", where=where, hint="list them with `docker ps -a`")
        if len(found) > 1:
            names = ", ".join(c.name for c in found)
            raise InputError(f"several containers have this name: {names}", where=where, hint="name one of them")
        return self._spot(found[0], called[found[0].id])

    def brokers(self) -> tuple[Spot, ...]:
        """Every container that runs a broker."""
        called = member_names(self.containers)
        alive = [c for c in self.containers if runs_kafka(c) and c.state.has_process]
        if not alive:
            raise InputError(
                "the engine runs no broker", where="--from brokers", hint="list what runs with `docker ps`"
            )
        return tuple(self._spot(c, called[c.id]) for c in alive)

    def ports(
        self, *, names: Sequence[str] = (), project: str | None = None, file: str | None = None
    ) -> tuple[int, ...]:
        """The listener ports of a project, of the containers named with all that share a network, or of everything."""
        if project is not None or file is not None:
            project = next(iter(projects_of(self.containers, project=project, compose_file=file)), project)
        called = member_names(self.containers)
        full = [c.name for c in self.containers if {c.name, called[c.id], c.service} & set(names)]
        asked = scope_of(self.containers, self.networks, project=project, names=[*names, *full]).asked
        if names:
            asked |= {c.id for c in sharing_a_network(self.containers, asked)}
        return listener_ports(from_engine(self.containers, self.networks, asked=asked, name=project))

    def _spot(self, container: Container, called: str) -> Spot:
        where = f"container {container.name!r}"
        if not container.state.has_process:
            hint = f"start it with `docker start {container.name}`"
            raise InputError(f"it is not running: {container.state.status.value}", where=where, hint=hint)
        if isinstance(self.kernel, OtherKernel):
            raise InputError(f"its network is not on this machine: {self.kernel.because}", where=where)
        entrance = ProcessNamespace(pid=container.state.pid, container_id=container.id)
        return Spot(label=called, what=f"container {container.name}", entrance=entrance)


def read_containers(host: str | None) -> Running:
    """Ask the engine that is meant; EngineError where it does not answer."""
    address = find_engine(host, os.environ, Path.home())
    with connect(address) as engine:
        containers, networks = engine.containers(), engine.networks()
    return Running(containers=containers, networks=networks, kernel=locate(address, containers))
