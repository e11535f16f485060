"""Files in and out: bounded reads whose failures say what to do, writes that are whole or not at all."""

import errno
import os
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from netdiag.errors import InputError

LIMIT = 16 * 1024 * 1024
# Compose looks for its file by these names in this order (compose-go, DefaultFileNames).
COMPOSE_FILE_NAMES = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")


def read_file(path: str, *, limit: int = LIMIT) -> bytes:
    """The bytes of a file (or pipe), at most `limit`; InputError says why there are none."""
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(limit + 1)
    except (OSError, ValueError) as error:
        raise InputError(_reason(error), where=path, hint=_hint(error)) from error
    if len(data) > limit:
        raise InputError(f"larger than {limit // 1024 // 1024} MiB", where=path)
    return data


def read_optional(path: str) -> bytes | None:
    """The bytes of a file, None when there is none."""
    return read_file(path) if Path(path).is_file() else None


def read_stdin(*, limit: int = LIMIT) -> bytes:
    """Standard input to its end, at most `limit` bytes."""
    if sys.stdin is None:
        raise InputError("standard input is closed", where="-")
    data = sys.stdin.buffer.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"larger than {limit // 1024 // 1024} MiB", where="-")
    return data


def find_compose_file(folder: str) -> str | None:
    """The file that compose would take in this folder."""
    names = (name for name in COMPOSE_FILE_NAMES if Path(folder, name).is_file())
    found = next(names, None)
    return None if found is None else str(Path(folder, found))


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
            return "check the path; without a FILE, the compose file of the current folder is taken"
        case _:
            return None
