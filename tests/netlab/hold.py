"""A program that holds a network namespace, or listeners in several, until its standard input ends.

`hold.py MODE` makes a namespace and prints a path by which it can be entered for as long as it is being furnished. A
line on its standard input makes it let go of all but what MODE says, and it prints the path again, empty for a
namespace that has none. `hold.py listeners` reads lines of JSON: path, "tcp" or "udp", 4 or 6, address, port, v6only.

The standard library only: it runs as a program of its own.
"""

import ctypes
import json
import os
import socket
import sys
import threading

_NEW_NETWORK, _NEW_MOUNT = 0x40000000, 0x00020000
_PRIVATE, _RECURSIVE, _BIND = 1 << 18, 1 << 14, 1 << 12
_LIBC = ctypes.CDLL(None, use_errno=True)


def main(mode: str) -> None:
    if mode == "listeners":
        held = _listeners()
        _say(str(len(held)))
        sys.stdin.read()
    elif mode == "thread":
        _thread()
    else:
        _furnished(mode)


def _furnished(mode: str) -> None:
    before = os.open("/proc/self/ns/net", os.O_RDONLY)
    if mode == "mount":
        _must(_LIBC.unshare(_NEW_MOUNT))
        _must(_LIBC.mount(None, b"/", None, _PRIVATE | _RECURSIVE, None))
        _must(_LIBC.mount(b"none", b"/mnt", b"tmpfs", 0, None))
    _must(_LIBC.unshare(_NEW_NETWORK))
    _say(f"/proc/{os.getpid()}/ns/net")
    sys.stdin.readline()
    kept: object = None
    path = ""
    if mode == "process":
        path = f"/proc/{os.getpid()}/ns/net"
    elif mode == "descriptor":
        kept = os.open("/proc/self/ns/net", os.O_RDONLY)
        path = f"/proc/{os.getpid()}/fd/{kept}"
    elif mode == "socket":
        kept = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    elif mode == "mount":
        os.close(os.open("/mnt/held", os.O_CREAT | os.O_WRONLY))
        _must(_LIBC.mount(b"/proc/self/ns/net", b"/mnt/held", None, _BIND, None))
        path = f"/proc/{os.getpid()}/root/mnt/held"
    if mode != "process":
        _must(_LIBC.setns(before, _NEW_NETWORK))
    os.close(before)
    _say(path)
    sys.stdin.read()
    del kept


def _thread() -> None:
    ended = threading.Event()

    def hold() -> None:
        _must(_LIBC.unshare(_NEW_NETWORK))
        _say(f"/proc/{os.getpid()}/task/{threading.get_native_id()}/ns/net")
        ended.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    sys.stdin.readline()
    _say(f"/proc/{os.getpid()}/task/{thread.native_id}/ns/net")
    sys.stdin.read()
    ended.set()


def _listeners() -> list[socket.socket]:
    made = []
    for line in sys.stdin:
        if not line.strip():
            break
        path, protocol, family, address, port, v6only = json.loads(line)
        descriptor = os.open(path, os.O_RDONLY)
        _must(_LIBC.setns(descriptor, _NEW_NETWORK))
        os.close(descriptor)
        kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
        one = socket.socket(socket.AF_INET if family == 4 else socket.AF_INET6, kind)
        if family == 6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, v6only)
        one.bind((address, port))
        if protocol == "tcp":
            one.listen(7)
        made.append(one)
    return made


def _must(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
