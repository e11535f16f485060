"""Making a lab of namespaces, and removing it."""

import ctypes
import fcntl
import json
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.netlab.recipes import Recipe, available
from tests.tools import tool

MODES = ("process", "thread", "descriptor", "socket", "mount")
_PROGRAM = Path(__file__).with_name("hold.py")
_PIDFD_GETFD = 438
_NAMESPACE_OF_SOCKET = 0x894C

Bound = tuple[str, str, int, str, int, bool]


class Holder:
    """One such program; it ends with its standard input, so also with us."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self._process = subprocess.Popen(
            [sys.executable, "-I", _PROGRAM, mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.path = "" if mode == "listeners" else self._line()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Of the program."""
        return self._process.pid

    def let_go(self) -> None:
        """Of everything but what the mode says."""
        self._tell("\n")
        self.path = self._line()

    def bind(self, listeners: Iterable[Bound]) -> None:
        """Listen on all of these."""
        lines = [json.dumps(one) for one in listeners]
        self._tell("\n".join((*lines, "\n")))
        assert int(self._line()) == len(lines)

    def open(self) -> int:
        """A descriptor of the namespace that it holds."""
        return os.open(self.path, os.O_RDONLY) if self.path else self._by_socket()

    def close(self) -> None:
        """End it."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)
        self._process.stdout.close()

    def _by_socket(self) -> int:
        """A copy of its socket leads to the namespace (SIOCGSKNS)."""
        libc = ctypes.CDLL(None, use_errno=True)
        process = os.pidfd_open(self.pid)
        try:
            for name in os.listdir(f"/proc/{self.pid}/fd"):
                if re.match(r"socket:", os.readlink(f"/proc/{self.pid}/fd/{name}")):
                    copy = libc.syscall(_PIDFD_GETFD, process, int(name), 0)
                    try:
                        return int(fcntl.ioctl(copy, _NAMESPACE_OF_SOCKET))
                    finally:
                        os.close(copy)
        finally:
            os.close(process)
        raise AssertionError("the holder has no socket")

    def _tell(self, text: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(text)
        self._process.stdin.flush()

    def _line(self) -> str:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, f"the holder of a {self.mode} has ended"
        return line.strip()


# Per namespace: protocol, family, address, port, v6only. 2 of them serve both families.
LISTENERS = (
    ("tcp", 4, "127.0.0.1", 9092, False),
    ("tcp", 6, "::", 9093, False),
    ("udp", 4, "0.0.0.0", 5300, False),
    ("udp", 6, "::1", 5301, True),
)
# What is made in the hub and moved to the first of the others.
_AWAY = {
    "macvlan": "add link br-a name away-macvlan type macvlan mode bridge",
    "vlan": "add link br-a name away-vlan type vlan id 7",
    "ipvlan": "add link br-b name away-ipvlan type ipvlan mode l2",
    "vxlan": "add away-vxlan type vxlan id 77 dev br-a group 239.7.7.7 dstport 4777",
    "netkit": "add stays type netkit peer name away-netkit",
    "wireguard": "add away-wireguard type wireguard",
    "gre": "add away-gre type gre local 10.64.0.1 remote 10.64.0.99 dev br-a",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """One namespace. `name` is that of `ip netns`, "" for one that is held in another way, which `held_by` says."""

    number: int
    inode: int
    held_by: str
    recipes: tuple[Recipe, ...] = ()
    name: str = ""
    holder: Holder | None = None

    def open(self) -> int:
        """A descriptor of it, to be closed by who asks."""
        if self.holder is not None:
            return self.holder.open()
        return os.open(f"/run/netns/{self.name}", os.O_RDONLY | os.O_CLOEXEC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    """`rooms[0]` is the hub; `listeners` are by the inode of their namespace, all held by `listener_pid`."""

    rooms: tuple[Room, ...]
    kinds: tuple[str, ...]
    lacking: tuple[str, ...]
    listener_pid: int
    listeners: dict[int, tuple[tuple[str, int, str, int, bool], ...]] = field(default_factory=dict)


def needs_netlab() -> None:
    """Skip where such a lab cannot be made."""
    if os.geteuid() != 0:
        pytest.skip("needs root: the lab makes network namespaces")
    for command in ("ip", "bridge"):
        tool(command)
    tried = subprocess.run(["unshare", "--net", "true"], capture_output=True, timeout=30)
    if tried.returncode != 0:
        pytest.skip(f"no rights or no kernel support for namespaces: {tried.stderr.decode(errors='replace').strip()}")


@contextmanager
def netlab(count: int, *, unnamed: bool = True) -> Iterator[Lab]:
    """A hub and `count` namespaces around it; with `unnamed` the last five of them have no name."""
    needs_netlab()
    able, lacking = available()
    token = f"ndl{os.getpid()}x{secrets.token_hex(2)}"
    modes = MODES if unnamed and count >= len(MODES) else ()
    names = [f"{token}-{number}" for number in range(count + 1 - len(modes))]
    with ExitStack() as stack:
        stack.callback(_remove, names)
        _batch(["ip", "-batch", "-"], [f"netns add {name}" for name in names])
        holders = [stack.enter_context(Holder(mode)) for mode in modes]
        paths = [*(f"/run/netns/{name}" for name in names), *(holder.path for holder in holders)]
        recipes = [(), *_shared_out(able, count)]
        _furnish_hub(names[0], paths[1:])
        if count:
            _move_away(names[0], paths[1], {kind for recipe in able for kind in recipe.kinds})
        for number, path in enumerate(paths[1:], 1):
            _furnish(path, number, recipes[number])
        inodes = [os.stat(path).st_ino for path in paths]
        listeners = stack.enter_context(Holder("listeners"))
        listeners.bind(_bound(paths))
        for holder in holders:
            holder.let_go()
        yield Lab(
            rooms=tuple(
                Room(
                    number=number,
                    inode=inode,
                    held_by="name" if number < len(names) else modes[number - len(names)],
                    recipes=recipes[number],
                    name=names[number] if number < len(names) else "",
                    holder=holders[number - len(names)] if number >= len(names) else None,
                )
                for number, inode in enumerate(inodes)
            ),
            kinds=tuple(dict.fromkeys(kind for recipe in able for kind in recipe.kinds)),
            lacking=tuple(dict.fromkeys(recipe.name for recipe in lacking)),
            listener_pid=listeners.pid,
            listeners=dict.fromkeys(inodes, LISTENERS),
        )


def _shared_out(recipes: Sequence[Recipe], count: int) -> Iterator[tuple[Recipe, ...]]:
    """Every recipe is in every lab: in turn where there is room enough, otherwise several in one namespace."""
    for number in range(count):
        yield tuple(recipes[number::count]) if count < len(recipes) else (recipes[number % len(recipes)],)


def _remove(names: Sequence[str]) -> None:
    for name in names:
        subprocess.run(["ip", "netns", "delete", name], capture_output=True, timeout=60)


def _bound(paths: Sequence[str]) -> Iterator[Bound]:
    for path in paths:
        for protocol, family, address, port, v6only in LISTENERS:
            yield path, protocol, family, address, port, v6only


def _furnish_hub(name: str, others: Sequence[str]) -> None:
    """Two bridges, and a port for each of the others; their ends there are called eth0 and all have the same index."""
    lines = [
        "link set lo up",
        "link add br-a type bridge forward_delay 0",
        "link add br-b type bridge forward_delay 0",
        "address add 10.64.0.1/16 dev br-a",
        "address add fd00:64::1/64 dev br-a nodad",
        "address add 10.65.0.1/16 dev br-b",
        "link set br-a up",
        "link set br-b up",
    ]
    for number in range(1, len(others) + 1):
        lines += [
            f"link add port{number} type veth peer name end{number}",
            f"link set port{number} master br-{'ab'[number % 2]} up",
        ]
    _batch(["ip", "-n", name, "-batch", "-"], lines)
    # a path as the target of a move is not known to every iproute2 in batch mode, a name in argv is to all
    for number, path in enumerate(others, 1):
        target = path.removeprefix("/run/netns/")
        subprocess.run(
            ["ip", "-n", name, "link", "set", f"end{number}", "netns", target, "name", "eth0"],
            check=True,
            capture_output=True,
            timeout=60,
        )


def _move_away(hub: str, path: str, kinds: Collection[str]) -> None:
    """Devices whose parent or peer stays in the hub, as Docker's drivers make them."""
    target = path.removeprefix("/run/netns/")
    for kind, words in _AWAY.items():
        if kind in kinds:
            for line in (words, f"set away-{kind} netns {target}"):
                subprocess.run(["ip", "-n", hub, "link", *line.split()], check=True, capture_output=True, timeout=60)


def _furnish(path: str, number: int, recipes: Sequence[Recipe]) -> None:
    enter = ["nsenter", f"--net={path}"]
    high, low = divmod(number, 250)
    mine = f"10.64.{high + 1}.{low + 2}"
    mine6 = f"fd00:64::{number + 16:x}"
    _batch([*enter, "ip", "-batch", "-"], _common(mine, mine6))
    _batch([*enter, "ip", "-6", "-batch", "-"], _COMMON6)
    for recipe in recipes:
        _batch([*enter, "ip", "-batch", "-"], recipe.lines)
        _batch([*enter, "bridge", "-batch", "-"], recipe.forwarding)
        for words in recipe.words:
            subprocess.run([*enter, "ip", *words], check=True, capture_output=True, timeout=60)


_COMMON6 = (
    "route add default via fd00:64::1",
    "route add fd00:81::/64 nexthop via fd00:64::2 nexthop via fd00:64::3 weight 5",
    "route add unreachable fd00:83::/64",
    "route add blackhole fd00:82::/64 table 100",
    "route add fd00:84::/64 from fd00:64::/64 via fd00:64::2",
    "route add fd00:85::/64 dev eth0 pref high expires 9000",
    "rule add from fd00:64::/64 lookup 100 priority 906",
    "neigh add fd00:64::200 lladdr 02:00:00:00:09:05 dev eth0 nud permanent router",
    "neigh add proxy fd00:64::201 dev eth0",
)


def _common(mine: str, mine6: str) -> list[str]:
    """Addresses, routes, rules and neighbours of every kind that needs no other device."""
    return [
        "link set lo up",
        "link set eth0 up",
        f"address add {mine}/16 dev eth0",
        "address add 10.72.0.2/24 broadcast + label eth0:1 dev eth0",
        "address add 10.72.0.3/24 dev eth0",
        "address add 10.73.0.1 peer 10.73.0.2/32 dev eth0",
        f"address add {mine6}/64 dev eth0 nodad",
        "address add fd00:73::1 peer fd00:73::2/128 dev eth0 nodad",
        "route add default via 10.64.0.1",
        f"route add 10.80.0.0/16 via 10.64.0.1 src {mine} metric 50 mtu 1400 advmss 1300 rtt 40ms",
        "route add 10.81.0.0/16 nexthop via 10.64.0.2 weight 3 nexthop via 10.64.0.3",
        "route add blackhole 10.82.0.0/16",
        "route add unreachable 10.83.0.0/16 metric 7",
        "route add prohibit 10.84.0.0/16",
        "route add throw 10.85.0.0/16 table 100",
        "route add default via 10.64.0.9 table 100 proto static",
        "route add 10.86.0.0/16 dev eth0 scope link table 5000",
        "route add 10.87.0.0/16 via inet6 fd00:64::1 dev eth0",
        "route add 10.88.0.0/16 via 10.99.99.99 dev eth0 onlink",
        "route add 10.89.0.0/16 tos 0x10 dev eth0",
        "rule add fwmark 0x5/0xff lookup 100",
        "rule add from 10.64.0.0/16 to 10.80.0.0/16 iif eth0 lookup 5000 priority 900",
        "rule add ipproto 6 dport 80-90 sport 7 lookup 100 priority 901",
        "rule add uidrange 10-20 unreachable priority 902",
        "rule add not oif eth0 prohibit priority 903",
        "rule add goto 903 priority 800",
        "rule add lookup main suppress_prefixlength 0 priority 904",
        "rule add tos 0x10 blackhole priority 905",
        "neigh add 10.64.200.1 lladdr 02:00:00:00:09:01 dev eth0 nud permanent",
        "neigh add 10.64.200.2 dev eth0 nud failed",
        "neigh add 10.64.200.3 lladdr 02:00:00:00:09:03 dev eth0 nud noarp",
        "neigh add proxy 10.64.200.4 dev eth0",
    ]


def _batch(argv: Sequence[str], lines: Sequence[str]) -> None:
    if not lines:
        return
    done = subprocess.run(list(argv), input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{argv}: {done.stderr}"
