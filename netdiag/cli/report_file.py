"""The file that `--report` names: refused before anything runs, there only when it is whole."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from netdiag.errors import InputError, UsageError, cannot_import
from netdiag.render.analysis.page import GENERATOR

# The mark of a page of ours stands in its first lines.
_BEGINNING = 4096


def refuse_report(path: str, *, force: bool) -> None:
    """UsageError where something is that is not to be replaced, MissingExtra where nothing can be drawn."""
    if os.path.lexists(path):
        if not force:
            raise UsageError("exists already", where=path, hint="name another file, or use --force")
        if not _is_ours(path):
            raise UsageError("is no report of ours, and is not replaced", where=path, hint="name another file")
    try:
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise cannot_import("--report", error, extra="report") from error


def write_report(path: str, text: str) -> None:
    """Under another name beside it first, which it loses when all of it is on disk."""
    out = Path(os.path.abspath(path))
    temporary = None
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        number, temporary = tempfile.mkstemp(prefix=f".{out.name}.", dir=out.parent)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, out)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=path) from error
    finally:
        if temporary is not None:
            with suppress(FileNotFoundError):
                os.unlink(temporary)


def _is_ours(path: str) -> bool:
    if os.path.islink(path) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return GENERATOR.encode() in file.read(_BEGINNING)
