"""Captures on what Spark reads and this machine may not: hdfs://, s3a://, viewfs:// and other Hadoop file systems.

The driver asks the file system through Java what there is. The bytes come to each executor as a file of the job
(SparkContext.addFile), which the executor fetches itself with Hadoop's client and the settings of the session. Why so:
Python workers have no way into Java; `binaryFile` hands over a whole file as one value of at most 2 GB, through Java;
other clients (fsspec, those of pyarrow) have settings and libraries of their own beside Spark's. The price is room for
the captures on the disk of every executor and of the driver.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkFiles
from pyspark.sql import SparkSession

from netdiag.errors import InputError
from netdiag.io.spark.reading import Reading
from netdiag.io.spark.session import engine_here, reason_of, translated_errors
from netdiag.traffic.native import begins_as_capture
from netdiag.values import dataclass

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_HERE = "file://"


@dataclass(frozen=True, slots=True, kw_only=True)
class HadoopFile:
    """One capture: its address and how many bytes it has."""

    address: str
    size: int


def is_on_hadoop(path: str) -> bool:
    """Whether this is an address of another file system than that of this machine."""
    return _SCHEME.match(path) is not None and not path.startswith(_HERE)


def plain(path: str) -> str:
    """A path of this machine without the scheme that it may have."""
    return path.removeprefix(_HERE) if path.startswith(f"{_HERE}/") else path


def found_on_hadoop(spark: SparkSession, addresses: Sequence[str]) -> tuple[HadoopFile, ...]:
    """The captures that addresses lead to: files, folders, patterns. InputError where one leads to none."""
    found: dict[str, HadoopFile] = {}
    for address in addresses:
        try:
            captures = list(_captures(spark, address))
        except Py4JError as error:
            raise InputError(f"cannot be read: {reason_of(error)}", where=address) from error
        if not captures:
            raise InputError("no capture is there", where=address, hint="check the address")
        found.update((each.address, each) for each in captures)
    names = [_name(address) for address in found]
    if twice := sorted(name for name in names if names.count(name) > 1):
        raise InputError(f"two captures are called '{twice[0]}'", hint="analyze them one after the other")
    return tuple(found.values())


def bring(spark: SparkSession, captures: Sequence[HadoopFile]) -> None:
    """Have every executor fetch them, each for itself, before it begins."""
    with translated_errors():
        for each in captures:
            spark.sparkContext.addFile(each.address)


def located(reading: Reading) -> Reading:
    """For a task: the captures where they lie on this executor, which has the capture engine then."""
    engine_here()
    if not any(map(is_on_hadoop, reading.paths)):
        return reading
    return replace(
        reading,
        names=reading.names or reading.paths,
        paths=tuple(SparkFiles.get(_name(path)) if is_on_hadoop(path) else path for path in reading.paths),
    )


def _captures(spark: SparkSession, address: str) -> Iterator[HadoopFile]:
    context: Any = spark.sparkContext
    path = context._jvm.org.apache.hadoop.fs.Path(address)
    system = path.getFileSystem(context._jsc.hadoopConfiguration())
    for status in system.globStatus(path) or ():
        if not status.isDirectory():
            yield HadoopFile(address=status.getPath().toString(), size=int(status.getLen()))
            continue
        for inside in system.listStatus(status.getPath()):
            if inside.isFile() and _is_capture(system, inside.getPath()):
                yield HadoopFile(address=inside.getPath().toString(), size=int(inside.getLen()))


def _is_capture(system: Any, path: Any) -> bool:
    if path.getName().startswith((".", "_")):
        return False
    stream = system.open(path)
    try:
        begun = bytes(stream.readNBytes(4))
    finally:
        stream.close()
    return begins_as_capture(begun)


def _name(address: str) -> str:
    return PurePosixPath(address).name
