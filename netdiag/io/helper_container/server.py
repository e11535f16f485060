"""The inner end of `--via container`: takes an order from standard input, has a copy of this process carry it out.

This process only passes on: what the copy prints, what its files hold in the end, its status; and Ctrl-C to it. It ends
the copy when the client is gone (the end of its input) or has not been heard of for a minute, whatever the copy does.
"""

import io
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

import netdiag
from netdiag.engine.helper_container import (
    EVERY,
    INTERRUPT,
    LARGEST_FRAME,
    PROTOCOL,
    SILENCE,
    Garbled,
    Hello,
    Kind,
    Order,
    Terminal,
    decode_order,
    encode_file,
    encode_hello,
    frame,
    length_of,
)
from netdiag.errors import EngineError, InputError, NetdiagError
from netdiag.io.engine.address import EngineAddress
from netdiag.io.engine.unix_socket import SocketEngine
from netdiag.io.files import read_file
from netdiag.io.machine import own_rights

Run = Callable[[Sequence[str]], int]
COULD_NOT_LOOK = 3
_TOLD_TO_END = 143
_CHUNK = 64 * 1024
_GRACE = 3.0
_LARGEST_RESULT = LARGEST_FRAME - _CHUNK


def serve(run: Run) -> int:
    """Greet, take one order from descriptor 0, have `run` carry it out; the status is that of the command."""
    hello = Hello(protocol=PROTOCOL, version=netdiag.__version__, rights=tuple(sorted(own_rights())))
    _write(frame(Kind.HELLO, encode_hello(hello)))
    try:
        order = decode_order(_exactly(length_of(_exactly(8))))
        _prepare(order)
    except Garbled as error:
        return _failed(NetdiagError(f"the helper got {error}"))
    except NetdiagError as error:
        return _failed(error)
    except EOFError:
        return _TOLD_TO_END
    status = _Watched(order, run).to_its_end()
    for path in order.results:
        try:
            data = read_file(path, limit=_LARGEST_RESULT) if Path(path).is_file() else None
        except InputError as error:
            return _failed(InputError(f"cannot copy back from the helper container: {error.message}", where=path))
        if data is not None and data != order.files.get(path):
            _write(frame(Kind.FILE, encode_file(path, data)))
    _write(frame(Kind.STATUS, bytes([status & 0xFF])))
    return status


def _prepare(order: Order) -> None:
    """Make sure that the engine is the one that made this container, and lay out the files."""
    address = EngineAddress(url=f"unix://{order.socket}", said_by="the helper container")
    if not SocketEngine(address).knows(order.container):
        raise EngineError("another engine than the one that runs the helper container answers", where=address.url)
    try:
        for folder in order.folders:
            Path(folder).mkdir(parents=True, exist_ok=True)
        for path, data in order.files.items():
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_bytes(data)
        for name, target in order.links.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).symlink_to(target)
        os.chdir(order.folder)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"cannot be laid out in the helper container: {reason}", where=error.filename) from error


class _Watched:
    """The copy that carries out an order, and the pipes that it prints into."""

    def __init__(self, order: Order, run: Run) -> None:
        out, out_end = os.pipe()
        errors, errors_end = os.pipe()
        # Taken by the copy before its first word is printed, so that no word of the order is ever on a disk.
        given = os.memfd_create("stdin")
        with os.fdopen(given, "wb", closefd=False) as stream:
            stream.write(order.stdin or b"")
        os.lseek(given, 0, os.SEEK_SET)
        self._kinds = {out: Kind.OUT, errors: Kind.ERRORS}
        self._killed_at = float("inf")
        self._pid = os.fork()
        if self._pid == 0:
            _carry_out(order, run, (given, out_end, errors_end))
        for descriptor in (given, out_end, errors_end):
            os.close(descriptor)
        signal.signal(signal.SIGTERM, self._told_to_end)

    def to_its_end(self) -> int:
        """Pass on until the copy has ended; its status."""
        waiting = {0, *self._kinds}
        heard = time.monotonic()
        while waiting - {0}:
            readable, _, _ = select.select(waiting, (), (), EVERY if self._killed_at == float("inf") else 0.2)
            if 0 in readable:
                said = os.read(0, _CHUNK)
                heard = time.monotonic()
                if INTERRUPT in said:
                    self._signal(signal.SIGINT)
                if not said:
                    waiting.discard(0)
                    self._end()
            elif time.monotonic() - heard > SILENCE:
                self._end()
            for descriptor in (one for one in readable if one != 0):
                data = os.read(descriptor, _CHUNK)
                if data:
                    _write(frame(self._kinds[descriptor], data))
                else:
                    waiting.discard(descriptor)
            if not readable:
                _write(frame(Kind.ALIVE))
            if time.monotonic() > self._killed_at:
                self._signal(signal.SIGKILL)
                break
        _, code = os.waitpid(self._pid, 0)
        status = os.waitstatus_to_exitcode(code)
        return status if status >= 0 else 128 - status

    def _end(self) -> None:
        """Nobody waits for it any more: first asked, then made to."""
        if self._killed_at == float("inf"):
            self._signal(signal.SIGTERM)
            self._killed_at = time.monotonic() + _GRACE

    def _told_to_end(self, number: int, frame_: FrameType | None) -> None:
        self._end()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._pid, number)


def _carry_out(order: Order, run: Run, streams: tuple[int, int, int]) -> NoReturn:
    """In the copy: become what the client would be here, and end with the status of the command."""
    status = COULD_NOT_LOOK
    try:
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
        os.closerange(3, 64)
        # Compose files are read with the client's variables; the image's would be taken for them.
        os.environ.clear()
        os.environ.update(order.environment)
        sys.stdin = io.TextIOWrapper(os.fdopen(0, "rb", closefd=False), encoding="utf-8")
        sys.stdout = _Stream(1, order.terminal, is_terminal=order.terminal.out)
        sys.stderr = _Stream(2, order.terminal, is_terminal=order.terminal.errors)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        status = run(order.words)
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


class _Stream(io.TextIOWrapper):
    """A pipe whose other end is the client's stream, which may be a terminal."""

    def __init__(self, descriptor: int, terminal: Terminal, *, is_terminal: bool) -> None:
        raw = io.FileIO(descriptor, "wb", closefd=False)
        super().__init__(io.BufferedWriter(raw), encoding=terminal.encoding, errors="backslashreplace", newline="\n")
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        """Whether it is one."""
        return self._is_terminal


def _failed(error: NetdiagError) -> int:
    lines = f"netdiag: {error}\n" + (f"  fix: {error.hint}\n" if error.hint else "")
    _write(frame(Kind.ERRORS, lines.encode()))
    _write(frame(Kind.STATUS, bytes([COULD_NOT_LOOK])))
    return COULD_NOT_LOOK


def _exactly(size: int) -> bytes:
    """So many bytes of standard input; EOFError where it ends before, or nothing comes for a minute."""
    kept = bytearray()
    while len(kept) < size:
        if not select.select((0,), (), (), SILENCE)[0]:
            raise EOFError
        piece = os.read(0, min(_CHUNK, size - len(kept)))
        if not piece:
            raise EOFError
        kept += piece
    return bytes(kept)


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]
