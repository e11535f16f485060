"""The capture files that paths, folders and patterns lead to."""

import glob
import os
import stat
from collections.abc import Sequence

from netdiag.errors import InputError
from netdiag.io.files import is_readable_here
from netdiag.traffic.native import is_capture

STDIN = "-"


def capture_files(paths: Sequence[str]) -> list[str]:
    """The files that paths, folders and patterns lead to, each once; InputError where there is none."""
    found: dict[tuple[int, int] | str, str] = {}
    for path in paths:
        for name in _named_by(path):
            if name != STDIN and not is_readable_here(name):
                raise InputError("lies outside of the folders that may be read", where=name)
            found.setdefault(_identity(name), name)
    if not found:
        raise InputError("there are no captures to read")
    return list(found.values())


def size_of(file: str) -> int | None:
    """The bytes of a file; None where nobody knows, as of standard input."""
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _named_by(path: str) -> list[str]:
    if path == STDIN:
        return [path]
    try:
        if os.path.isdir(path):
            return _in_folder(path)
        if os.path.lexists(path) or not glob.has_magic(path):
            return [path]
        matches = sorted(glob.glob(path, recursive=True))
    except (OSError, ValueError) as error:
        raise InputError(_reason(error), where=path) from error
    files = [match for match in matches if not os.path.isdir(match)]
    if not files:
        raise InputError("no file matches this pattern", where=path, hint="check the pattern")
    return files


def _in_folder(folder: str) -> list[str]:
    """The captures in a folder, told by what they begin with; other files may lie beside them."""
    names = sorted(entry.path for entry in os.scandir(folder) if entry.is_file() and not entry.name.startswith("."))
    captures = [name for name in names if not is_readable_here(name) or is_capture(name)]
    if not captures:
        raise InputError(
            "this folder contains no captures", where=folder, hint="name the files, or the folder they are in"
        )
    return captures


def _identity(path: str) -> tuple[int, int] | str:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return path
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else path


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return str(error)
