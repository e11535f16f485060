"""Whether the engine runs on this kernel, and which process stands for its docker host.

Only then do pids in the engine's answers mean anything here. Proof is a container's process that says so itself;
without containers, the process behind the engine's socket.
"""

import os
import socket
import struct
from collections.abc import Iterable

from netdiag.engine.container import Container
from netdiag.io.engine.address import EngineAddress
from netdiag.io.kernel.netns import is_process_of, read_proc
from netdiag.values import dataclass

_ENGINES = frozenset({"dockerd", "docker", "podman"})
# systemd holds the socket of a socket-activated engine, and lives in the docker host's namespaces as well.
_HOLDERS = frozenset({"systemd", "init"})
_SHIMS = ("containerd-shim", "docker-containe", "conmon")


@dataclass(frozen=True, slots=True, kw_only=True)
class SameKernel:
    """It does. `docker_host` is a process in the docker host's namespaces, None where none could be told."""

    docker_host: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherKernel:
    """It does not, or nothing proves that it does; local /proc must not be used."""

    because: str


def locate(address: EngineAddress, containers: Iterable[Container]) -> SameKernel | OtherKernel:
    """Where the engine runs, as seen from here."""
    alive = [container for container in containers if container.state.has_process]
    proven = [container for container in alive if is_process_of(container.state.pid, container.id)]
    peer = _peer(address.unix_socket) if address.unix_socket else None
    if alive and not proven:
        sample = alive[0]
        because = f"process {sample.state.pid} here is not that of container {sample.name}"
        return OtherKernel(because=f"the engine runs on another machine: {because}")
    if proven:
        return SameKernel(docker_host=_docker_host(peer, proven))
    if peer is not None and _comm(peer) in _ENGINES | _HOLDERS:
        return SameKernel(docker_host=peer)
    return OtherKernel(because="nothing proves that the engine runs on this machine")


def has_userland_proxy(kernel: SameKernel, containers: Iterable[Container]) -> bool | None:
    """Whether docker-proxy serves published ports; None while nothing is published and the engine was not told."""
    told = _told_about_proxy(read_proc(kernel.docker_host, "cmdline")) if kernel.docker_host is not None else None
    if told is not None:
        return told
    if not any(c.state.has_process and any(p.protocol == "tcp" and p.published for p in c.ports) for c in containers):
        return None
    proxies = [pid for name in os.listdir("/proc") if name.isdecimal() and _comm(pid := int(name)) == "docker-proxy"]
    if kernel.docker_host is not None and _comm(kernel.docker_host) == "dockerd":
        # Other engines of this machine have proxies of their own.
        return any(_parent(pid) == kernel.docker_host for pid in proxies)
    return bool(proxies)


def _told_about_proxy(command_line: str) -> bool | None:
    """What --userland-proxy of an engine's command line says; None where it is not there."""
    words = [word for word in command_line.split("\0") if word.startswith("--userland-proxy")]
    name, _, value = words[-1].partition("=") if words else ("", "", "")
    if name != "--userland-proxy":
        return None
    return value.lower() not in ("false", "f", "0")


def _docker_host(peer: int | None, proven: list[Container]) -> int | None:
    if peer is not None and _comm(peer) in _ENGINES | _HOLDERS:
        return peer
    for container in proven:
        parent = _parent(container.state.pid)
        if parent is not None and _comm(parent).startswith(_SHIMS):
            return parent
    return None


def _peer(path: str) -> int | None:
    """The process that listens on a unix socket; None for one that is not visible from here."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(5)
        try:
            probe.connect(path)
            pid, _, _ = struct.unpack("iII", probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        except OSError:
            return None
    return pid if pid > 0 else None


def _comm(pid: int) -> str:
    return read_proc(pid, "comm").rstrip("\n")


def _parent(pid: int) -> int | None:
    for line in read_proc(pid, "status").splitlines():
        if line.startswith("PPid:"):
            return int(line.split()[1]) or None
    return None
