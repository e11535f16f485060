"""Java's classes of Spark, looked through once: an archive that the Java of later sessions maps into its memory.

Half of a short life is Java reading thousands of classes out of jars and checking them. The archive is Java's own
(`-XX:ArchiveClassesAtExit`), made by `netdiag doctor --warm`. One that does not fit
or is damaged is passed over by Java itself, which then starts as slowly as without; one that is cut short it would die
of, so the size is part of the name. So is a digest of our own code: which classes there are depends on what it asks.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path

import pyspark
from pyspark.find_spark_home import _find_spark_home

# What Java cannot use it need not say: the session is as good without.
SILENT = "-Xlog:cds*=off"
# The packages whose code decides which classes an analysis needs.
ASKING = ("netdiag.io.spark", "netdiag.traffic", "netdiag.traffic.aggregates")
# Of what stands between blanks in Java's options.
UNFIT = frozenset(" \t\n\"'\\,")


def options(environment: Mapping[str, str], home: str) -> tuple[str, ...]:
    """The options of a Java that is to use the archive, none where there is none."""
    path = found_at(place_of(environment, home))
    if path is None or UNFIT & set(str(path)):
        return ()
    return (f"-XX:SharedArchiveFile={path}", "-XX:+VerifySharedSpaces", SILENT)


def place_of(environment: Mapping[str, str], home: str) -> Path:
    """Where the archive lies of this Java, with these jars and this code: it is good for no other.

    Its size is to be added.
    """
    digest = blake2b(digest_size=6)
    spark = _find_spark_home()
    for text in (
        os.path.realpath(home),
        pyspark.__version__,
        os.path.realpath(spark),
        environment.get("SPARK_CONF_DIR", ""),
    ):
        digest.update(text.encode(errors="surrogateescape") + b"\0")
    with suppress(OSError):
        digest.update(Path(home, "release").read_bytes())
    for package in ASKING:
        for source in sorted(Path(str(files(package))).glob("*.py")):
            digest.update(source.read_bytes())
    return Path(cache_folder(environment), f"classes-{digest.hexdigest()}.jsa")


def cache_folder(environment: Mapping[str, str]) -> str:
    """Where what can be made anew is kept for this user."""
    named = environment.get("XDG_CACHE_HOME", "")
    base = Path(named) if named.startswith("/") else Path(os.path.expanduser("~"), ".cache")
    return str(base / "netdiag")


def named(place: Path, size: int) -> Path:
    """The same with the size of the archive in its name."""
    return place.with_suffix(f".{size}{place.suffix}")


def found_at(place: Path) -> Path | None:
    """The archive that is whole."""
    with suppress(OSError):
        for each in place.parent.glob(f"{place.stem}.*{place.suffix}"):
            if each == named(place, each.stat().st_size):
                return each
    return None
