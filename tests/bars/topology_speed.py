"""Bar: what a topology of 200 namespaces costs, against the tools that show one fact of them each, in one run.

The lab, and everything that is timed, is in mount and PID namespaces of its own: there `ip -all` and netdiag see the
lab and nothing of what else runs on the machine.
"""

import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from socket import AF_INET, AF_INET6, SOCK_DGRAM, SOCK_STREAM

from netdiag.io.kernel.inventory import read_inventory
from netdiag.io.kernel.netns import open_namespace
from netdiag.linux.netns import NamedNamespace
from netdiag.topology.inventory import measure_coverage
from tests.bars.measuring import report
from tests.netlab.lab import netlab

ROUNDS = 7
COUNT = 200
LINKS, FULL, MEMORY, READINGS = 1.0, 1 / 15, 100, 100
_INSIDE = "--inside"
_ALL = ("ip", "-all", "netns", "exec")
_LINK = (*_ALL, "ip", "-j", "-d", "link")
_TOPOLOGY = (sys.executable, "-m", "netdiag", "topology", "--format", "json", "--no-engine")
_FACTS = (
    _LINK,
    (*_ALL, "ip", "-j", "-d", "addr"),
    (*_ALL, "ip", "-j", "-d", "route", "show", "table", "all"),
    (*_ALL, "ip", "-j", "-d", "-6", "route", "show", "table", "all"),
    (*_ALL, "ip", "-j", "rule"),
    (*_ALL, "ip", "-j", "-6", "rule"),
    (*_ALL, "ip", "-j", "neigh"),
    (*_ALL, "bridge", "-j", "fdb"),
    (*_ALL, "ss", "-Hntulp"),
    (*_ALL, "nft", "-j", "list", "ruleset"),
)


def main(arguments: Sequence[str]) -> int:
    """0 when both ratios are kept, the reading leaves nothing behind and keeps to its memory."""
    if _INSIDE not in arguments:
        apart = ("unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child")
        return subprocess.run([*apart, sys.executable, "-m", "tests.bars.topology_speed", _INSIDE]).returncode
    Path("/run/netns").mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", "/run/netns"], check=True)
    with _containers(COUNT):
        in_time = _timed("as an engine makes them")
    with netlab(COUNT, unnamed=False):
        in_time &= _timed("with devices of every kind")
        clean = _left_nothing()
    return 0 if in_time and clean else 1


@contextmanager
def _containers(count: int) -> Iterator[None]:
    """Namespaces as containers have them: lo and eth0, a default route, four sockets; their cables in one bridge."""
    names = [f"plain-{number}" for number in range(count)]
    hub = "plain-hub"
    for name in (hub, *names):
        subprocess.run(["ip", "netns", "add", name], check=True)
    lines = ["link set lo up", "link add br0 type bridge", "address add 10.99.0.1/16 dev br0", "link set br0 up"]
    for number, name in enumerate(names):
        lines += [
            f"link add veth{number} type veth peer name eth0 netns {name}",
            f"link set veth{number} master br0 up",
        ]
    _batch(hub, lines)
    with ExitStack() as held:
        for number, name in enumerate(names):
            address = f"10.99.{1 + number // 250}.{1 + number % 250}"
            _batch(
                name,
                [
                    *("link set lo up", "link set eth0 up", f"address add {address}/16 dev eth0"),
                    "route add default via 10.99.0.1",
                ],
            )
            with open_namespace(NamedNamespace(name=name)) as namespace:
                for family, kind in product((AF_INET, AF_INET6), (SOCK_STREAM, SOCK_DGRAM)):
                    one = held.enter_context(namespace.socket(family, kind))
                    one.bind(("127.0.0.1" if family is AF_INET else "::1", 0))
                    if kind is SOCK_STREAM:
                        one.listen()
        yield
    for name in (hub, *names):
        subprocess.run(["ip", "netns", "delete", name], check=True)


def _batch(name: str, lines: Sequence[str]) -> None:
    subprocess.run(["ip", "-n", name, "-batch", "-"], input="\n".join(lines), text=True, check=True)


def _timed(lab: str) -> bool:
    """Whether both ratios are kept."""
    commands: dict[str, tuple[tuple[str, ...], ...]] = {
        "links": (_LINK,),
        "topology": (_TOPOLOGY,),
        "plotnetcfg": (("plotnetcfg", "-f", "json"),),
        "full": _FACTS,
    }
    if shutil.which("plotnetcfg") is None:
        del commands["plotnetcfg"]
    walls: dict[str, list[float]] = {name: [] for name in commands}
    # The first round fills caches of files and of bytecode.
    for number in range(ROUNDS + 1):
        for name, lines in commands.items():
            wall, status = _wall(lines)
            if status != 0 and name == "plotnetcfg":
                report("plotnetcfg refuses to run here", f"exit {status}")
                walls[name].append(float("nan"))
            elif number:
                walls[name].append(wall)
    return _told(lab, {name: statistics.median(found) for name, found in walls.items() if found})


def _told(lab: str, walls: Mapping[str, float]) -> bool:
    topology = walls["topology"]
    for name, wall in walls.items():
        report(f"{COUNT} namespaces {lab}: wall of {name}", round(wall, 3), "s")
    report(f"{lab}: topology / ip -all netns exec ip -j -d link (goal 1.0)", round(topology / walls["links"], 2))
    report(f"{lab}: full set / topology (goal 15)", round(walls["full"] / topology, 1))
    if walls.get("plotnetcfg", float("nan")) > 0:
        report(f"{lab}: topology / plotnetcfg", round(topology / walls["plotnetcfg"], 1))
    return topology <= LINKS * walls["links"] and topology <= FULL * walls["full"]


def _wall(commands: Sequence[Sequence[str]]) -> tuple[float, int]:
    """Of all of them one after another; bytecode is kept, as it is for users."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.monotonic()
    for command in commands:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    return time.monotonic() - began, done.returncode


def _left_nothing() -> bool:
    """Whether 100 readings in one process leave no descriptor, thread or process, and how much memory they take."""

    def mine() -> tuple[int, int, int]:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        return len(os.listdir("/proc/self/fd")), threading.active_count(), len(children)

    coverage = measure_coverage(read_inventory())
    report("namespaces, links, listeners", f"{coverage.namespaces}, {coverage.links}, {coverage.listeners}")
    before = mine()
    for _ in range(READINGS):
        read_inventory()
    left = tuple(after - present for after, present in zip(mine(), before, strict=True))
    report(f"descriptors, threads, processes left after {READINGS} readings", str(left))
    peak = _peak_of(_TOPOLOGY)
    report("peak memory of the command (goal 100)", peak, "MiB")
    return left == (0, 0, 0) and peak < MEMORY


def _peak_of(command: Sequence[str]) -> int:
    """In MiB; by a process that starts nothing else, for the kernel tells the largest of all children."""
    program = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=False)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", program, *command], capture_output=True, text=True, check=True)
    return int(done.stdout) // 1024


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
