"""Small worlds of network namespaces, made with `ip` and `nft` by their own names and removed by them."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from netdiag.io.kernel.netns import Namespace, open_namespace
from netdiag.linux.netns import NamedNamespace
from tests.tools import tool

_V6ONLY = 26


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """A socket that a world has: where it is bound, and whether to one family or one device only."""

    space: str
    address: str
    port: int
    v6only: bool = False
    device: str = ""
    backlog: int = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Who tries to reach what: from each of these spaces each of these addresses (address, port)."""

    sources: tuple[str, ...]
    targets: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """`script` are lines of shell, each run in a space ("a: ip link set lo up") or outside ("ip -n {a} link ...").

    `{a}` is the real name of the space a.
    """

    name: str
    spaces: tuple[str, ...]
    script: tuple[str, ...]
    listening: tuple[Listening, ...]
    asked: tuple[Asked, ...]
    tools: tuple[str, ...] = ("ip",)


@dataclass(slots=True)
class Built:
    """A world that stands; `inodes` and `open` are by space."""

    world: World
    names: dict[str, str]
    inodes: dict[str, int] = field(default_factory=dict)
    open: dict[str, Namespace] = field(default_factory=dict)
    sockets: list[socket.socket] = field(default_factory=list)


@contextmanager
def built(world: World) -> Iterator[Built]:
    """The world, until the block ends."""
    for name in world.tools:
        tool(name)
    names = {space: f"nd{os.getpid()}-{world.name}-{space}" for space in world.spaces}
    made = Built(world=world, names=names)
    with ExitStack() as stack:
        for name in names.values():
            _run(["ip", "netns", "add", name])
            stack.callback(_remove, name)
        _script(world, names)
        for space, name in names.items():
            made.inodes[space] = Path("/run/netns", name).stat().st_ino
            made.open[space] = stack.enter_context(open_namespace(NamedNamespace(name=name)))
        for listening in world.listening:
            made.sockets.append(stack.enter_context(_listen(made.open[listening.space], listening)))
        yield made


def pair(a: str, b: str) -> tuple[str, ...]:
    """A veth pair from "space device address..." to another; all up."""
    (one, one_name, *one_addresses), (other, other_name, *other_addresses) = a.split(), b.split()
    return (
        f"ip link add {one_name} netns {{{one}}} type veth peer name {other_name} netns {{{other}}}",
        *_up(one, one_name, one_addresses),
        *_up(other, other_name, other_addresses),
    )


def bridge(space: str, name: str, *addresses: str, options: str = "") -> tuple[str, ...]:
    """A bridge, up."""
    return (f"ip -n {{{space}}} link add {name} type bridge {options}", *_up(space, name, addresses))


def on_bridge(member: str, host: str, master: str, *addresses: str) -> tuple[str, ...]:
    """A space on a bridge of another; the port is called to and the space."""
    return (
        *pair(f"{member} eth0 {' '.join(addresses)}", f"{host} to{member}"),
        f"ip -n {{{host}}} link set to{member} master {master}",
    )


def _up(space: str, name: str, addresses: Sequence[str]) -> Iterator[str]:
    for address in addresses:
        yield f"ip -n {{{space}}} addr add {address} dev {name}{' nodad' if ':' in address else ''}"
    yield f"ip -n {{{space}}} link set {name} up"


def _script(world: World, names: dict[str, str]) -> None:
    lines = ["set -e"]
    for space in world.spaces:
        lines.append(f"ip -n {names[space]} link set lo up")
        # Else the kernel tells a client of one refusal in a second only.
        lines.append(_inside(names[space], "echo 0 > /proc/sys/net/ipv4/icmp_ratelimit"))
        lines.append(_inside(names[space], "echo 0 > /proc/sys/net/ipv6/icmp/ratelimit"))
    for line in world.script:
        space, colon, command = line.partition(": ")
        if colon and space in names:
            lines.append(_inside(names[space], _named(command, names)))
        else:
            lines.append(_named(line, names))
    _run(["sh", "-c", "\n".join(lines)])


def _named(line: str, names: dict[str, str]) -> str:
    """Braces that name no space stay: rules of nft are full of them."""
    for space, name in names.items():
        line = line.replace(f"{{{space}}}", name)
    return line


def _inside(name: str, command: str) -> str:
    quoted = command.replace("'", "'\\''")
    return f"ip netns exec {name} sh -ec '{quoted}'"


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def _remove(name: str) -> None:
    subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False, timeout=60)


def _listen(namespace: Namespace, listening: Listening) -> socket.socket:
    family = socket.AF_INET6 if ":" in listening.address else socket.AF_INET
    made = namespace.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        made.setsockopt(socket.IPPROTO_IPV6, _V6ONLY, int(listening.v6only))
    if listening.device:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, listening.device.encode())
    with suppress(OSError):
        made.setsockopt(socket.SOL_IP, 15, 1)  # IP_FREEBIND
    made.bind((listening.address, listening.port))
    made.listen(listening.backlog)
    return made
