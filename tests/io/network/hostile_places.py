"""A place whose root directory belongs to somebody with bad intentions, as a process that stands in it."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

# A network namespace of its own with nothing but loopback, a root directory of the test's making, and no exec in it.
_STAND = """
import ctypes, os, signal, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x40000000):
    raise OSError(ctypes.get_errno(), "unshare")
os.system("ip link set lo up")
# Every address of this namespace is a name server that never answers.
pit = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
pit.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
pit.bind(("0.0.0.0", 53))
os.chroot(sys.argv[1])
os.chdir("/")
print("waiting", flush=True)
signal.pause()
"""

Etc = Callable[[Path], None]


@contextlib.contextmanager
def waiting_process(root: Path) -> Iterator[int]:
    """The pid of a process in a namespace of its own with this root directory."""
    process = subprocess.Popen([sys.executable, "-c", _STAND, str(root)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"waiting\n"
        yield process.pid
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def text(name: str, content: str) -> Etc:
    """A file with this content."""

    def make(etc: Path) -> None:
        (etc / name).write_bytes(content.encode("utf-8", "surrogateescape"))

    return make


def fifo(name: str) -> Etc:
    """A pipe that nobody writes to."""
    return lambda etc: os.mkfifo(etc / name)


def link(name: str, target: str) -> Etc:
    """A link out of the tree, or in a circle."""
    return lambda etc: os.symlink(target, etc / name)


def hundred_megabytes(name: str) -> Etc:
    """A file that is large, and a line without an end."""

    def make(etc: Path) -> None:
        with (etc / name).open("wb") as file:
            file.write(b"nameserver 127.0.0.53 ")
            file.truncate(100 * 1024 * 1024)

    return make


def endless(name: str) -> Etc:
    """/dev/zero under another name."""
    return lambda etc: os.mknod(etc / name, 0o666 | stat.S_IFCHR, os.makedev(1, 5))


def folder(name: str) -> Etc:
    """A folder."""
    return lambda etc: (etc / name).mkdir()


def nothing(etc: Path) -> None:
    """No file at all."""


SECRET = "the-secret-of-the-host"
LINES = "".join(f"nameserver 127.{n // 65536 % 256}.{n // 256 % 256}.{n % 254 + 1}\n" for n in range(10_000))
PIT = "nameserver 127.0.0.9\n"
ESCAPES = "nameserver \x1b[2J\n127.0.0.1 \x1b]0;x\x07 \u202ekafka\nsearch \x1b[31m\n"
WAYS: dict[str, Callable[[str], Etc]] = {
    "a pipe": fifo,
    "100 MB": hundred_megabytes,
    "/dev/zero": endless,
    "a folder": folder,
    "a link in a circle": lambda name: link(name, name),
    "a link to a magic link": lambda name: link(name, f"/proc/self/root/etc/{name}"),
    "a link out of the tree": lambda name: link(name, f"../../../../../../etc/{name}"),
    "escapes": lambda name: text(name, ESCAPES),
    "no text": lambda name: text(name, "\udcff\udcfe\x00" * 9000),
}
ATTACKS: dict[str, tuple[Etc, ...]] = {
    "nothing there": (nothing,),
    **{f"{title}: {name}": (attack(name),) for name in ("resolv.conf", "hosts") for title, attack in WAYS.items()},
    "10,000 name servers": (text("resolv.conf", LINES),),
    "a name server for ever": (
        text("resolv.conf", "nameserver 127.0.0.9\noptions attempts:999999999 timeout:999999999\n"),
    ),
    "thousands of search domains": (
        text("resolv.conf", f"{PIT}search " + " ".join(f"d{n}.example" for n in range(5000)) + "\n"),
    ),
    "endless dots": (text("resolv.conf", f"{PIT}options ndots:999999999\nsearch " + "a." * 30000),),
    "10,000 addresses of a name": (
        text("hosts", "".join(f"127.1.{n // 250}.{n % 250 + 1} kafka.test\n" for n in range(3000))),
    ),
    "a name of 60 kB": (text("hosts", "127.0.0.1 " + "x" * 60_000 + " kafka.test\n"),),
    "addresses that are none": (text("hosts", "999.1.1.1 kafka.test\n::::: kafka.test\n\x1b[2J kafka.test\n"),),
}
