"""A swarm of two of the lab's engines: their docker hosts are on one link, and nothing leads out of it.

The two LAN machines bridge that link, so each of them is a client outside of both nodes. Overlay networks run over it
(vxlan), with names that the engines tell each other (gossip). The kernel has no IP_VS: virtual addresses and ports in
ingress mode do not work, and a stack here uses `endpoint_mode: dnsrr` and ports in host mode.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.lab.cache import cache_root
from tests.lab.containers import Container, inspect
from tests.lab.engine import Engine, engine
from tests.lab.errors import LabError
from tests.lab.image_set import client_root
from tests.lab.oracles import Oracles
from tests.lab.processes import run
from tests.lab.releases import OWN
from tests.lab.stack import Watch
from tests.lab.vantages import Vantage

ADDRESSES = ("192.168.8.133", "192.168.8.134")
_LAN_ADDRESSES = ("192.168.8.50", "192.168.8.51")
HOSTNAMES = ("node-one", "node-two")
_BRIDGE = "lan0"
_PATIENCE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Swarm:
    """A manager and a worker, called `HOSTNAMES`."""

    manager: Engine
    worker: Engine
    oracles: Oracles

    @property
    def engines(self) -> tuple[Engine, Engine]:
        """The engines of both nodes, in the order of `HOSTNAMES` and `ADDRESSES`."""
        return (self.manager, self.worker)

    @contextmanager
    def deployed(self, file: Path, *others: Path) -> Iterator[SwarmStack]:
        """Stacks of these files for the block, each with a name of its own; that of the first is yielded."""
        mark = secrets.token_hex(3)
        names = tuple(f"nd{mark}{letter}" for letter in "abcd"[: 1 + len(others)])
        stack = SwarmStack(swarm=self, names=names)
        try:
            for name, one in zip(names, (file, *others), strict=True):
                self.manager.docker("stack", "deploy", "--resolve-image=never", f"--compose-file={one}", name)
            stack.wait_started()
            yield stack
        finally:
            # A network of the first may be the others' as well.
            self.manager.docker("stack", "rm", *reversed(names))
            stack.wait_gone()


@dataclass(frozen=True, slots=True, kw_only=True)
class SwarmStack:
    """Running stacks, whose tasks are on both nodes."""

    swarm: Swarm
    names: tuple[str, ...]

    @property
    def project(self) -> str:
        """The name of the first."""
        return self.names[0]

    def containers(self) -> list[Container]:
        """Their containers now, stopped ones included."""
        return [one for each in self.swarm.engines for one in self._of(each)]

    def brokers(self) -> list[Container]:
        """The containers that are Kafka brokers."""
        return [one for one in self.containers() if one.is_broker]

    def inside(self, service: str, node: int) -> Vantage:
        """In the first task of a service on a node; `stack/service` for one that is not of the first stack."""
        letter, _, name = service.rpartition("/")
        stack = self.names[ord(letter) - ord("a")] if letter else self.project
        found = [one for one in self._of(self.swarm.engines[node]) if one.service.startswith(f"{stack}_{name}.")]
        if not found:
            raise LabError(f"no task of {service} runs on node {node}")
        return Vantage(name=f"{service} on {HOSTNAMES[node]}", place=found[0].place, container_id=found[0].id)

    def wait_started(self) -> None:
        """Until every service has as many tasks as it asks for."""
        wanted, deadline = "", time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            wanted = "\n".join(self._services(name) for name in self.names)
            counts = [line.split()[1].split("/") for line in wanted.splitlines() if line]
            if counts and all(there == asked for there, asked in counts):
                return
            time.sleep(0.25)
        raise LabError(f"services did not start: {wanted}")

    def _services(self, name: str) -> str:
        chosen = f"label=com.docker.stack.namespace={name}"
        shown = "{{.Name}} {{.Replicas}}"
        return self.swarm.manager.docker("service", "ls", "--filter", chosen, "--format", shown)

    def wait_ready(self, limit: float = 120, *, settled: bool = False) -> None:
        """Until every broker knows all the others, or where they never will, nothing changes any more."""
        watch = Watch(self.containers, self._log)
        if settled:
            watch.until_settled(limit, 4)
        else:
            watch.until_ready(limit)

    def wait_gone(self) -> None:
        """Until no container and no network of theirs is left."""
        deadline = time.monotonic() + _PATIENCE
        while left := [*(one.service for one in self.containers()), *self._networks()]:
            if time.monotonic() > deadline:
                raise LabError(f"left by docker stack rm: {', '.join(left)}")
            # A network stays if a container was still on it.
            self.swarm.manager.docker("stack", "rm", *reversed(self.names), check=False)
            time.sleep(0.25)

    def _networks(self) -> list[str]:
        found: list[str] = []
        for name in self.names:
            words = ("network", "ls", "--filter", f"label=com.docker.stack.namespace={name}", "--format", "{{.Name}}")
            found += [one for each in self.swarm.engines for one in each.docker(*words).split()]
        return found

    def _of(self, node: Engine) -> list[Container]:
        found: list[str] = []
        for name in self.names:
            words = ("ps", "-aq", "--no-trunc", "--filter", f"label=com.docker.stack.namespace={name}")
            found += node.docker(*words).split()
        try:
            return inspect(node, *found)
        except LabError:
            # One of them went away meanwhile.
            return []

    def _log(self, service: str) -> str:
        for each in self.swarm.engines:
            if one := next((one for one in self._of(each) if one.service == service), None):
                return run(["docker", "logs", one.id], env=each.environment).stdout
        return ""


def node_vantage(swarm: Swarm, node: int) -> Vantage:
    """The docker host of a node."""
    return Vantage(name=HOSTNAMES[node], place=swarm.engines[node].host)


def lan_vantage(swarm: Swarm) -> Vantage:
    """A machine on the link of both nodes."""
    return Vantage(name="L", place=swarm.manager.lan)


@contextmanager
def start_swarm(cache: Path | None = None, *, releases: tuple[str, str] = (OWN, OWN)) -> Iterator[Swarm]:
    """A swarm of two engines for the block; the manager's release comes first."""
    root = cache or cache_root()
    clients = client_root(root)
    with ExitStack() as everything:
        manager, worker = (
            everything.enter_context(
                engine(root, release=release, address=address, lan_address=lan_address, hostname=hostname)
            )
            for release, address, lan_address, hostname in zip(
                releases, ADDRESSES, _LAN_ADDRESSES, HOSTNAMES, strict=True
            )
        )
        _link(manager, worker)
        oracles = Oracles(clients, manager.record.run_id)
        everything.callback(oracles.close)
        manager.docker("swarm", "init", f"--advertise-addr={manager.address}")
        token = manager.docker("swarm", "join-token", "-q", "worker").strip()
        worker.docker("swarm", "join", f"--token={token}", f"--advertise-addr={worker.address}", manager.address)
        yield Swarm(manager=manager, worker=worker, oracles=oracles)


def _link(first: Engine, second: Engine) -> None:
    """Make one link of both LANs: their machines become bridges, joined by a pair of devices."""
    spaces = (first.record.lan_netns, second.record.lan_netns)
    for each in (first, second):
        space = each.record.lan_netns
        run(["ip", "-n", space, "link", "add", _BRIDGE, "type", "bridge"])
        run(["ip", "-n", space, "address", "del", f"{each.lan_address}/24", "dev", "eth0"])
        run(["ip", "-n", space, "address", "add", f"{each.lan_address}/24", "dev", _BRIDGE])
        run(["ip", "-n", space, "link", "set", "eth0", "master", _BRIDGE])
        run(["ip", "-n", space, "link", "set", _BRIDGE, "up"])
    peer = ["type", "veth", "peer", "name", "eth1", "netns", spaces[1]]
    run(["ip", "link", "add", "name", "eth1", "netns", spaces[0], *peer])
    for space in spaces:
        run(["ip", "-n", space, "link", "set", "eth1", "master", _BRIDGE, "up"])
