"""Files in and out: bounded reads whose failures say what to do, writes that are whole or not at all.

`wait_for_change` looks at files again and again: notifications of the kernel differ on every system and do not arrive
from network shares and the mounts of virtual machines, where editors of compose files often sit; a few calls of stat,
twice a second, cost nothing.
"""

import errno
import os
import select
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import TextIO

from netdiag.errors import InputError

LIMIT = 16 * 1024 * 1024
# Compose looks for its files by these names in this order (compose-go, DefaultFileNames, DefaultOverrideFileNames).
BASE_NAMES = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
OVERRIDE_NAMES = (
    "compose.override.yml",
    "compose.override.yaml",
    "docker-compose.override.yml",
    "docker-compose.override.yaml",
)
# So long somebody may take to write into a pipe.
PATIENCE = 10.0
_PEEKED = 8192
_OWN_DATA = tuple(str(folder) for folder in (Path(__file__).parents[2] / "data").glob("*"))


# The folders outside of which this process reads no file for its user; None: it reads all.
_confined_to: tuple[str, ...] | None = None


def confine(folders: Iterable[str] | None) -> None:
    """From now on read files below these folders only, whatever links say, and netdiag's own; None ends that.

    For a process that reads on behalf of somebody who must not see more, such as an agent.
    """
    global _confined_to
    _confined_to = None if folders is None else tuple(os.path.realpath(folder) for folder in (*folders, *_OWN_DATA))


def is_readable_here(path: str) -> bool:
    """Whether a path lies, links followed, where this process may read."""
    if _confined_to is None:
        return True
    try:
        real = os.path.realpath(path)
    except (OSError, ValueError):
        return False
    return any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in _confined_to)


def read_file(path: str, *, limit: int = LIMIT, patience: float = PATIENCE) -> bytes:
    """The bytes of a file (or pipe), at most `limit`; InputError says why there are none.

    Nobody may ever write into a pipe: after `patience` seconds without a byte it counts as unreadable.
    """
    try:
        data = _read(path, limit + 1, patience)
    except (OSError, ValueError) as error:
        raise InputError(_reason(error), where=path, hint=_hint(error)) from error
    if len(data) > limit:
        raise InputError(f"larger than {limit // 1024 // 1024} MiB", where=path)
    return data


def _read(path: str, size: int, patience: float) -> bytes:
    if not is_readable_here(path):
        raise ValueError("lies outside of the folders that may be read")

    # Without O_NONBLOCK opening a pipe would wait for somebody who writes.
    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))

    with open(path, "rb", buffering=0, opener=opener) as stream:
        mode = os.fstat(stream.fileno()).st_mode
        if stat.S_ISBLK(mode):
            raise ValueError("is a device")
        kept: list[bytes] = []
        while size > 0:
            data = stream.read(min(size, 1024 * 1024)) if not stat.S_ISFIFO(mode) else _piped(stream, size, patience)
            if not data:
                break
            kept.append(data)
            size -= len(data)
        return b"".join(kept)


def _piped(stream: FileIO, size: int, patience: float) -> bytes:
    """The next bytes of a pipe; empty at its end."""
    poll = select.poll()
    poll.register(stream, select.POLLIN)
    if not poll.poll(patience * 1000):
        raise ValueError(f"standard input sent nothing within {patience:g} s")
    return stream.read(min(size, 1024 * 1024)) or b""


def read_optional(path: str) -> bytes | None:
    """The bytes of a regular file, None when there is none."""
    try:
        is_file = stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return None
    return read_file(path) if is_file else None


def read_inside(folder: str, path: str, *, limit: int = LIMIT) -> bytes | None:
    """The bytes of a regular file below a folder; None where there is none, or where links lead out of the folder."""
    try:
        root, real = os.path.realpath(folder or "."), os.path.realpath(path)
        if os.path.commonpath((root, real)) != root or not Path(real).is_file():
            return None
        return read_file(real, limit=limit)
    except (InputError, OSError, ValueError):
        return None


def read_stdin(*, limit: int = LIMIT) -> bytes:
    """Standard input to its end, at most `limit` bytes."""
    if sys.stdin is None:
        raise InputError("standard input is closed", where="-")
    data = sys.stdin.buffer.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"larger than {limit // 1024 // 1024} MiB", where="-")
    return data


def peek_stdin() -> bytes:
    """The first bytes of standard input, which stay there to be read; empty where nobody can tell."""
    stream = None if sys.stdin is None else sys.stdin.buffer
    try:
        if stream is not None and hasattr(stream, "peek"):
            return bytes(stream.peek(1))
        if stream is not None and stream.seekable():
            start = stream.tell()
            data = stream.read(_PEEKED)
            stream.seek(start)
            return data
    except (OSError, ValueError):
        pass
    return b""


def files_of_folder(folder: str) -> tuple[str, ...]:
    """The files that compose would take in this folder: the first of its names, and the override beside it."""

    def first(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(path for name in names if os.path.exists(path := os.path.join(folder, name)))[:1]

    base = first(BASE_NAMES)
    return base + first(OVERRIDE_NAMES) if base else ()


def write_file(path: str, data: bytes, *, expected: bytes | None = None) -> None:
    """Put `data` in the place of a file in one step: readers see the old bytes or the new ones, never half.

    A link keeps pointing where it did, permissions stay, and what is no regular file (a terminal, a pipe) is
    simply written to. With `expected`, a file that no longer holds those bytes is left alone.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            target.write_bytes(data)
            return
        if mode is not None and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        if expected is not None and target.read_bytes() != expected:
            raise InputError("has changed since it was read: nothing was written", where=path, hint="run again")
        _replace(target, data, mode)
    except OSError as error:
        raise InputError(f"cannot be written: {_reason(error)}", where=path, hint=_hint(error)) from error


def write_changes(changes: Mapping[str, tuple[bytes, bytes]]) -> None:
    """Write files that were read before, path to (old bytes, new bytes); nothing where one of them has changed."""
    for path, (old, _) in changes.items():
        if read_file(path) != old:
            raise InputError("has changed since it was read: nothing was written", where=path, hint="run again")
    for path, (old, new) in changes.items():
        write_file(path, new, expected=old)


def is_within(path: str, folder: str) -> bool:
    """Whether a file really lies below a folder, links followed."""
    real, root = os.path.realpath(path), os.path.realpath(folder or ".")
    return os.path.commonpath([real, root]) == root if _drive(real) == _drive(root) else False


def _drive(path: str) -> str:
    return os.path.splitdrive(path)[0]


def _replace(target: Path, data: bytes, mode: int | None) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _umask() -> int:
    # There is no way to read it without setting it.
    current = os.umask(0o077)
    os.umask(current)
    return current


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return str(error)


def _hint(error: OSError | ValueError) -> str | None:
    match error:
        case IsADirectoryError():
            return "name the compose file in it"
        case FileNotFoundError():
            return "check the path"
        case _:
            return None


OWN = "netdiag.toml"
SHARED = "pyproject.toml"
# Its parser, and the search for a line in it, are no match for larger ones.
CONFIGURATION_LIMIT = 256 * 1024
_LIMIT_SHARED = 1024 * 1024


def config_candidates(folder: str) -> Iterator[tuple[str, bytes]]:
    """The files that may configure what is in a folder, the nearest first; the caller takes one and stops.

    The search ends at the folder that holds `.git`, or at the root. A `pyproject.toml` without our name is none.
    """
    try:
        here = Path(folder).absolute()
    except OSError:
        # The current folder is gone.
        return
    for place in (here, *here.parents):
        own, shared = place / OWN, place / SHARED
        if own.is_file() and is_readable_here(str(own)):
            yield str(own), read_config(str(own))
        if shared.is_file() and is_readable_here(str(shared)):
            data = read_config(str(shared))
            if b"netdiag" in data:
                yield str(shared), data
        if (place / ".git").exists():
            return


def read_config(path: str) -> bytes:
    """The bytes of a configuration file."""
    return read_file(path, limit=_LIMIT_SHARED if Path(path).name == SHARED else CONFIGURATION_LIMIT)


EVERY = 0.5

Stamp = tuple[int, int, int] | None


def stamps(paths: Iterable[str]) -> dict[str, Stamp]:
    """What tells a change of each file: when it was written, its size, which file it is; None where there is none."""
    return {path: _stamp(path) for path in paths}


def wait_for_change(before: Mapping[str, Stamp], *, every: float = EVERY) -> None:
    """Return once a file is no longer what it was."""
    while stamps(before) == before:
        time.sleep(every)


def _stamp(path: str) -> Stamp:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def wait_for_reader(stream: TextIO | None, seconds: float) -> bool:
    """Wait; False, and at once, when nobody can read any more what is written to the stream."""
    try:
        descriptor = -1 if stream is None else stream.fileno()
    except (OSError, ValueError):
        descriptor = -1
    if descriptor < 0 or not hasattr(select, "poll"):
        time.sleep(max(0.0, seconds))
        return True
    waiting = select.poll()
    # No event is asked for: a closed pipe tells itself.
    waiting.register(descriptor, 0)
    return not waiting.poll(max(0.0, seconds) * 1000)
