"""The capture on disk: written under another name, complete whenever it is stopped, rotated, the oldest removed.

A file is a valid pcapng after every write: what a full disk cuts off is cut back to the last whole block. It gets
its name when it is finished. Only its owner may read it, who under sudo is the user that called.
"""

import errno
import os
import stat
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from operator import itemgetter

from netdiag.errors import InputError, NetdiagError
from netdiag.io.packets.pcapng_writer import (
    Counters,
    Interface,
    encode_interface,
    encode_section,
    encode_statistics,
)
from netdiag.values import dataclass

STDOUT = "-"
_number_of = itemgetter(slice(8, 12))


class DiskFull(NetdiagError):
    """There is no room for more; what was written is complete up to there."""


class ReaderGone(NetdiagError):
    """Whoever read standard output has gone away: the capture is over, and nothing is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """When a new file begins, in bytes or seconds, and how many files are kept, None for all."""

    size: int | None = None
    seconds: float | None = None
    keep: int | None = None


class Output:
    """Takes pcapng packet blocks. `interfaces` may grow meanwhile; each file lists those known so far."""

    def __init__(
        self, path: str, interfaces: Sequence[Interface], *, application: str, rotation: Rotation | None = None
    ) -> None:
        self.files: list[str] = []
        self.removed = 0
        self.written = 0
        self.bytes = 0
        self._interfaces = interfaces
        self._path = path
        self._rotation = rotation
        self._head = encode_section(application=application, system=_system())
        self._count = 0
        self._packets_in_file = 0
        self._file: _File | None = None
        self._opened = 0.0
        self._told = 0
        self._per_interface: Counter[bytes] = Counter()
        self._open()

    def write(self, blocks: Sequence[bytes]) -> None:
        """Packets, oldest first. DiskFull leaves a complete file."""
        while blocks:
            if self._is_old():
                self._next_file()
            many = self._fitting(blocks)
            if not many:
                self._next_file()
                continue
            self._tell_interfaces()
            fitting, blocks = blocks[:many], blocks[many:]
            try:
                self._put_packets(fitting)
            except DiskFull:
                # What there is room for is kept.
                for block in fitting:
                    self._put_packets([block])
                raise

    def finish(self, counters: Mapping[int, Counters] | None = None) -> None:
        """End the last file, with what is known of each interface; the file gets its name."""
        if self._file is None:
            return
        # A full disk may have room for nothing more: the packets matter.
        with suppress(DiskFull, ReaderGone):
            self._tell_interfaces()
            self._put(b"".join(encode_statistics(number, each) for number, each in sorted((counters or {}).items())))
        self._close()

    def per_interface(self, number: int) -> int:
        """How many packets of an interface were written."""
        return self._per_interface[number.to_bytes(4, sys.byteorder)]

    def _fitting(self, blocks: Sequence[bytes]) -> int:
        """How many of them the file still takes; a file has at least one."""
        size = self._rotation.size if self._rotation else None
        if size is None or self._file is None:
            return len(blocks)
        room = size - self._file.size
        for index, block in enumerate(blocks):
            room -= len(block)
            if room < 0:
                return index or (0 if self._packets_in_file else 1)
        return len(blocks)

    def _is_old(self) -> bool:
        seconds = self._rotation.seconds if self._rotation else None
        return seconds is not None and self._packets_in_file > 0 and time.monotonic() - self._opened >= seconds

    def _next_file(self) -> None:
        self._close()
        keep = self._rotation.keep if self._rotation else None
        while keep is not None and len(self.files) >= keep:
            with suppress(OSError):
                os.unlink(self.files.pop(0))
            self.removed += 1
        self._open()

    def _put(self, data: bytes) -> None:
        if self._file is not None and data:
            self._file.write(data)
            self.bytes += len(data)

    def _put_packets(self, blocks: Sequence[bytes]) -> None:
        self._put(b"".join(blocks))
        self.written += len(blocks)
        self._packets_in_file += len(blocks)
        self._per_interface.update(map(_number_of, blocks))

    def _tell_interfaces(self) -> None:
        fresh = self._interfaces[self._told :]
        self._put(b"".join(map(encode_interface, fresh)))
        self._told += len(fresh)

    def _open(self) -> None:
        self._count += 1
        path = self._path if self._rotation is None else numbered(self._path, self._count)
        self._file = _File(path)
        self._opened, self._told, self._packets_in_file = time.monotonic(), 0, 0
        self._put(self._head)

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()
            if file.path != STDOUT:
                self.files.append(file.path)


class _File:
    """One file under its temporary name; `size` is what it holds in whole blocks."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.size = 0
        self._part: str | None = None
        try:
            self._descriptor = self._opened()
        except OSError as error:
            raise _unwritable(path, error) from error

    def write(self, data: bytes) -> None:
        """All of it; DiskFull where it does not fit, then none of it."""
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except BrokenPipeError as error:
            raise ReaderGone("the reader has gone away", where="standard output") from error
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._descriptor, self.size)
                os.lseek(self._descriptor, self.size, os.SEEK_SET)
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                reason = "no room for more packets"
                raise DiskFull(reason, where=self.path, hint="--rotate with --ring bounds what is kept") from error
            raise _unwritable(self.path, error) from error
        self.size += len(data)

    def close(self) -> None:
        """The file gets its name."""
        if self.path == STDOUT:
            return
        os.close(self._descriptor)
        if self._part is not None:
            try:
                os.replace(self._part, self.path)
            except OSError as error:
                hint = f"the packets are in {self._part}"
                raise InputError(f"cannot be renamed: {_reason(error)}", where=self.path, hint=hint) from error

    def _opened(self) -> int:
        if self.path == STDOUT:
            sys.stdout.flush()
            return sys.stdout.fileno()
        try:
            mode = os.stat(self.path).st_mode
        except FileNotFoundError:
            mode = stat.S_IFREG
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            return os.open(self.path, os.O_WRONLY | os.O_CLOEXEC)
        part = f"{self.path}.{os.getpid()}.part"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(part, flags, 0o600)
        self._part = part
        with suppress(OSError):
            _give_to_caller(descriptor)
        return descriptor


def numbered(path: str, number: int) -> str:
    """The name of one of several files: capture.pcapng becomes capture-00001.pcapng."""
    stem, suffix = os.path.splitext(path)
    return f"{stem}-{number:05}{suffix}"


def _give_to_caller(descriptor: int) -> None:
    """Under sudo the file belongs to whom the capture is for."""
    user, group = os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")
    if os.geteuid() == 0 and user.isdecimal() and group.isdecimal():
        os.fchown(descriptor, int(user), int(group))


def _unwritable(path: str, error: OSError) -> InputError:
    where = "standard output" if path == STDOUT else path
    return InputError(f"cannot be written: {_reason(error)}", where=where)


def _reason(error: OSError) -> str:
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]


def _system() -> str:
    uname = os.uname()
    return f"{uname.sysname} {uname.release}"
