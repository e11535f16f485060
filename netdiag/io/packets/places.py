"""Where packets are taken: namespaces and containers, each once, with names that tell them apart."""

import fcntl
import os
import select
import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from netdiag.deployment.prediction.listener_access import listener_ports
from netdiag.deployment.scope import projects_of, scope_of, sharing_a_network
from netdiag.deployment.sources.engine import from_engine, member_names, runs_kafka
from netdiag.engine.container import Container, EngineNetwork
from netdiag.errors import InputError, MissingRight, NetdiagError
from netdiag.io.engine.address import find_engine
from netdiag.io.engine.docker_sdk import connect
from netdiag.io.engine.same_kernel import OtherKernel, SameKernel, locate
from netdiag.io.kernel.netns import NAMED, Namespace, Vanished, open_namespace
from netdiag.linux.netns import NamedNamespace, NamespaceId, OwnNamespace, ProcessNamespace
from netdiag.values import dataclass

_SIOCGIFFLAGS = 0x8913


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A place that is asked for: its name in the file, what it is for people, and its entrance."""

    label: str
    what: str
    entrance: NamespaceId


HOST = Spot(label="host", what="this machine", entrance=OwnNamespace())


def named(name: str) -> Spot:
    """A namespace that `ip netns` lists."""
    return Spot(label=name, what=f"network namespace {name!r}", entrance=NamedNamespace(name=name))


def of_process(pid: int) -> Spot:
    """The namespace of a process."""
    return Spot(label=f"pid-{pid}", what=f"process {pid}", entrance=ProcessNamespace(pid=pid))


class Place:
    """An open one. `links` are those it had at the beginning, by index."""

    def __init__(self, spot: Spot) -> None:
        self.label = spot.label
        self.what = spot.what
        self._process = _watched(spot.entrance)
        self._name = spot.entrance.name if isinstance(spot.entrance, NamedNamespace) else None
        self.namespace: Namespace = open_namespace(spot.entrance)
        self.identity = self.namespace.run(_identity)
        self.links: dict[int, str] = dict(self.namespace.run(socket.if_nameindex))

    def close(self) -> None:
        """Let go of it."""
        self.namespace.close()
        if self._process is not None:
            os.close(self._process)
            self._process = None

    @property
    def is_gone(self) -> bool:
        """Whether the process has ended, or the name was taken away; what it sent meanwhile can still be read."""
        if self._process is not None:
            poll = select.poll()
            poll.register(self._process, select.POLLIN)
            return bool(poll.poll(0))
        return self._name is not None and not os.path.exists(f"/{NAMED}/{self._name}")

    def packets_so_far(self) -> dict[str, int]:
        """How many packets each link has carried; empty where the kernel does not tell."""
        return self.namespace.run(_packets_of_links)

    def name_of(self, index: int) -> str:
        """What a link is called, also one that came later."""
        if index not in self.links:
            self.links |= dict(self.namespace.run(socket.if_nameindex))
        return self.links.get(index) or f"link-{index}"

    def links_up(self) -> tuple[str, ...]:
        """The names of the links that are up."""
        return self.namespace.run(lambda: tuple(name for name in self.links.values() if _is_up(name)))

    def indexes_of(self, names: Sequence[str]) -> dict[int, str]:
        """The links of these names; InputError where none of them is there."""
        found = {index: name for index, name in self.links.items() if name in names}
        if not found:
            has = ", ".join(self.links.values())
            wanted = " or ".join(repr(name) for name in names)
            raise InputError(f"has no interface {wanted}", where=self.label, hint=f"it has {has}")
        return found


def open_places(spots: Sequence[Spot]) -> tuple[Place, ...]:
    """All of them, or the first error; of two that are one namespace, the first, which then has both names."""
    opened: list[Place] = []
    try:
        for spot in spots:
            place = Place(spot)
            same = next((one for one in opened if one.identity == place.identity), None)
            if same is None:
                place.label = _free(place.label, [one.label for one in opened])
                opened.append(place)
            else:
                place.close()
                if spot.label not in same.label.split("+"):
                    same.label = f"{same.label}+{spot.label}"
    except NetdiagError:
        for place in opened:
            place.close()
        raise
    return tuple(opened)


def _free(label: str, taken: Sequence[str]) -> str:
    number = 2
    name = label
    while name in taken:
        name, number = f"{label}-{number}", number + 1
    return name


def _watched(entrance: NamespaceId) -> int | None:
    """A descriptor that becomes readable when the process ends."""
    if not isinstance(entrance, ProcessNamespace):
        return None
    try:
        return os.pidfd_open(entrance.pid)
    except PermissionError as error:
        raise MissingRight("may not be watched", where=f"process {entrance.pid}") from error
    except (ProcessLookupError, OverflowError) as error:
        raise Vanished("it is gone", where=f"process {entrance.pid}") from error
    except OSError:
        # Not a process but one of its threads, or an old kernel: its end goes unnoticed.
        return None


def _identity() -> tuple[int, int]:
    with suppress(OSError):
        found = os.stat("/proc/thread-self/ns/net")
        return found.st_dev, found.st_ino
    return 0, 0


def _packets_of_links() -> dict[str, int]:
    try:
        with open("/proc/thread-self/net/dev", "rb") as file:
            lines = file.read(1 << 20).decode("utf-8", errors="surrogateescape").splitlines()[2:]
    except OSError:
        return {}
    found: dict[str, int] = {}
    for line in lines:
        name, _, counters = line.rpartition(":")
        numbers = counters.split()
        if len(numbers) > 9 and numbers[1].isdecimal() and numbers[9].isdecimal():
            found[name.strip()] = int(numbers[1]) + int(numbers[9])
    return found


def _is_up(name: str) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        try:
            answer = fcntl.ioctl(channel, _SIOCGIFFLAGS, struct.pack("=40s", os.fsencode(name)))
        except OSError:
            return False
    return bool(struct.unpack_from("=H", answer, 16)[0] & 1)


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
