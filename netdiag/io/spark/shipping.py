"""netdiag for executors that have not installed it: archives that Spark gives to every executor.

The package is imported as it is, without its examples. The capture engine is a compiled module, which Python cannot
import out of an archive: Spark unpacks it, and `engine_here` finds it where none is installed. Names and dates in the
archives are those of the files and of no day, so that the same package makes the same bytes.
"""

import sys
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from pyspark import SparkFiles

from netdiag.errors import NetdiagError
from netdiag.traffic import native

ENGINE = "netdiag_native.zip"

_DATES = (1980, 1, 1, 0, 0, 0)
_LEFT_BEHIND = frozenset({"data", "__pycache__"})


def package_archive(folder: Path) -> Path:
    """The package as a zip file in this folder."""
    return _archive(folder / "netdiag.zip", Path(str(files("netdiag"))))


def engine_archive(folder: Path) -> Path:
    """The capture engine as a zip file in this folder; an error where there is none."""
    native.version()
    return _archive(folder / ENGINE, Path(str(files(native.MODULE))))


def engine_here() -> None:
    """In an executor: have the capture engine found that the driver has sent, where none is installed."""
    if find_spec(native.MODULE) is None:
        with suppress(Exception):
            sys.path.append(SparkFiles.get(ENGINE))


def misses_engine() -> Iterator[tuple[str, str]]:
    """What an executor lacks to read captures, and what to do about it."""
    engine_here()
    try:
        native.version()
    except NetdiagError as error:
        here = f"{sys.platform}, Python {sys.version.split()[0]}"
        yield f"{error.message} (this is {here})", f"on every worker, {error.hint}"


def _archive(archive: Path, root: Path) -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
        for path in sorted(root.rglob("*")):
            inside = path.relative_to(root)
            if path.is_file() and _LEFT_BEHIND.isdisjoint(inside.parts):
                entry = zipfile.ZipInfo(f"{root.name}/{inside.as_posix()}", _DATES)
                entry.compress_type = zipfile.ZIP_DEFLATED
                written.writestr(entry, path.read_bytes())
    return archive
