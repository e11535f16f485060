"""A process that keeps network namespaces in ways that are easily overlooked, for tests that must find them all."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.io.namespaces import needs_root

_PROGRAM = """
import ctypes, json, os, socket, sys, threading
NEWNS, NEWNET, BIND, PRIVATE = 0x20000, 0x40000000, 0x1000, 0x44000
libc = ctypes.CDLL(None, use_errno=True)
kept, inodes, end = [], {}, threading.Event()

def checked(result):
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

def elsewhere(name, keep, stay=False):
    ready = threading.Event()
    def work():
        checked(libc.unshare(NEWNET))
        inodes[name] = os.stat("/proc/thread-self/ns/net").st_ino
        kept.append(keep())
        ready.set()
        if stay:
            end.wait()
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    ready.wait(20)
    if not stay:
        thread.join()

def mounted():
    place = os.fsencode(sys.argv[1])
    open(place, "w").close()
    checked(libc.mount(b"/proc/thread-self/ns/net", place, None, BIND, None))

checked(libc.unshare(NEWNS))
checked(libc.mount(b"none", b"/", None, PRIVATE, None))
elsewhere("thread", lambda: None, stay=True)
elsewhere("descriptor", lambda: os.open("/proc/thread-self/ns/net", os.O_RDONLY))
elsewhere("socket", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
elsewhere("bind mount", mounted)
print(json.dumps(inodes), flush=True)
sys.stdin.read()
"""
HOSTILE = "a b\\\n\x1b[31m"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hideouts:
    """The process, its namespaces by what keeps them, and the file that one is mounted on."""

    pid: int
    inodes: dict[str, int]
    mount: Path


@contextlib.contextmanager
def hidden_namespaces(folder: Path) -> Iterator[Hideouts]:
    """Kept for the block."""
    needs_root()
    mount = folder / HOSTILE
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(mount)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        try:
            assert process.stdout is not None
            yield Hideouts(pid=process.pid, inodes=json.loads(process.stdout.readline()), mount=mount)
        finally:
            process.kill()
