"""Makes the archive of Java's classes: a session looks at a sample, and Java keeps at its end what it has loaded."""

import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from netdiag.errors import NetdiagError
from netdiag.io.java import java_home
from netdiag.io.spark.analysis import Wanted, analysed
from netdiag.io.spark.class_archive import SILENT, UNFIT, found_at, named, place_of
from netdiag.io.spark.extraction import extract_here, opened
from netdiag.io.spark.reading import Reading
from netdiag.io.spark.sample_capture import sample_pcap
from netdiag.io.spark.session import spark_session
from netdiag.traffic.native import ReadOptions
from netdiag.traffic.tables import NAMES
from netdiag.values import dataclass

# To write it at the end of a session takes so many seconds on a machine that has nothing better to do.
_PATIENCE = 300.0
_KEPT = 30 * 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """What making it ahead did: where it lies, whether it was there before, how long it took."""

    path: str
    was_ready: bool
    seconds: float


def make(environment: Mapping[str, str] = os.environ) -> Archived:
    """Have a session load what an analysis needs, and keep that; NetdiagError where it cannot be kept."""
    begun = time.monotonic()
    place = place_of(environment, java_home(environment))
    if (found := found_at(place)) is not None:
        return Archived(path=str(found), was_ready=True, seconds=0.0)
    if UNFIT & set(str(place)):
        raise NetdiagError("Java's classes cannot be kept under such a name", where=str(place))
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".classes-", dir=place.parent) as folder:
            made = Path(folder, place.name)
            _analyse_a_sample(made, folder)
            if not made.is_file():
                raise NetdiagError("Java kept none of its classes", where=str(place))
            place = made.replace(named(place, made.stat().st_size))
    except OSError as error:
        raise NetdiagError((error.strerror or str(error)).lower(), where=str(place)) from error
    _drop_older(place)
    return Archived(path=str(place), was_ready=False, seconds=time.monotonic() - begun)


def _analyse_a_sample(archive: Path, folder: str) -> None:
    data = sample_pcap()
    capture = Path(folder, "sample.pcap")
    capture.write_bytes(data)
    reading = Reading(paths=(str(capture),), options=ReadOptions(tables=frozenset(NAMES)))
    tables = Path(folder, "tables")
    tables.mkdir()
    account = extract_here(reading, str(tables))
    # Without an archive of its own, or Java could not make another one of it.
    keeping = f"-XX:ArchiveClassesAtExit={archive}", SILENT
    with spark_session("local[1]", partitions=1, classes=keeping, leaving=_PATIENCE) as spark:
        analysed(opened(spark, account, reading, str(tables), size=len(data)), Wanted())
    shutil.rmtree(tables, ignore_errors=True)


def _drop_older(place: Path) -> None:
    """Leave nothing of what nobody made anew for long, nor of attempts that were killed."""
    for other in (*place.parent.glob("classes-*.jsa"), *place.parent.glob(".classes-*")):
        with suppress(OSError):
            if other == place or other.stat().st_mtime > time.time() - _KEPT:
                continue
            if other.is_dir():
                shutil.rmtree(other)
            else:
                other.unlink()
