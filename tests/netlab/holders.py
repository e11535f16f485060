"""Starting and ending the program that holds namespaces and listeners (tests/netlab/hold.py)."""

import ctypes
import fcntl
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

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
