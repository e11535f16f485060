"""What `ss` says of the sockets that wait in a namespace, and our listeners held against it."""

import re
import subprocess
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from netdiag.linux.sockets import Listener
from tests.tools import tool

# Name of an object, and its fields.
Thing = tuple[Hashable, dict[str, Any]]

_PID = re.compile(r'",pid=(\d+),fd=')


def listed(descriptor: int) -> list[Thing]:
    """Those of the namespace behind `descriptor`."""
    done = subprocess.run(
        ["nsenter", f"--net=/proc/self/fd/{descriptor}", tool("ss"), "-Hlntupe"],
        pass_fds=(descriptor,),
        capture_output=True,
        text=True,
        errors="backslashreplace",
        check=True,
        timeout=120,
    )
    return list(parse(done.stdout))


def parse(printed: str) -> Iterator[Thing]:
    """One for each line; a process may call itself as it likes, but its pid comes after its name."""
    for line in printed.splitlines():
        protocol, _, queue, backlog, local, *rest = line.split(None, 6)
        told = rest[-1] if rest else ""
        address, _, port = local.rpartition(":")
        address, _, device = address.partition("%")
        inode = re.search(r"\bino:(\d+)", told)
        fields = {
            "queue": int(queue) if protocol == "tcp" else 0,
            "backlog": int(backlog) if protocol == "tcp" else 0,
            "pids": sorted({int(pid) for pid in _PID.findall(told)}),
            "v6only": "v6only:1" in told,
            "bound": bool(device),
        }
        yield (protocol, _plain(address), int(port), int(inode.group(1)) if inode else 0), fields


def ours(listeners: Iterable[Listener]) -> Iterator[Thing]:
    """The same of what we read."""
    for one in listeners:
        fields = {
            "queue": one.queue,
            "backlog": one.backlog,
            "pids": sorted(one.pids),
            "v6only": one.v6only,
            "bound": one.ifindex is not None,
        }
        yield (one.protocol.value, one.address, one.port, one.inode), fields


def _plain(address: str) -> str:
    """`ss` puts IPv6 addresses in brackets, and prints * where IPv4 is served, too."""
    return "::" if address == "*" else address.strip("[]")
