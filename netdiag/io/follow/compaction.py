"""Many small files of rows become few: what batches that are over have left is joined, again and again.

So many files of one level become one of the next, so a row is written anew only as often as the number of files has
digits. What is to be done stands in a note before the first file goes, and is done to its end by whoever comes next:
a kill in the middle leaves a table with rows too few until then, never for longer, and none is ever lost or doubled.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from netdiag.traffic.arrow import BATCH, schema_of
from netdiag.traffic.tables import NAMES, table
from netdiag.values import dataclass

# So many files of a level are joined.
MANY = 32
# Larger files are left as they are.
LARGEST = 128 * 1024 * 1024
_PART = re.compile(r"part-(\d{8})-\d{3}\.parquet")
_JOINED = re.compile(r"joined-(\d{2})-(\d{8})\.parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """Files of one table, by name, that one file takes the place of."""

    table: str
    files: tuple[str, ...]
    name: str

    def text(self) -> str:
        """As JSON."""
        return json.dumps({"table": self.table, "files": self.files, "name": self.name})


def joined_of(text: str) -> Joined:
    """From JSON; ValueError, KeyError or TypeError where it is none."""
    document = json.loads(text)
    found = Joined(table=document["table"], files=tuple(document["files"]), name=document["name"])
    if found.table not in NAMES or not all(map(_level, (*found.files, found.name))):
        raise ValueError("strange names")
    return found


def compact(out: Path, before: int, note: Callable[[Joined], None], *, many: int = MANY) -> int:
    """Join what batches before this one have left; how many files are gone. `note` keeps what `finish` needs."""
    gone = 0
    for name in NAMES:
        for joined in _due(out / name, name, before, many):
            _write(out / name, joined)
            note(joined)
            finish(out, joined)
            gone += len(joined.files)
    return gone


def finish(out: Path, joined: Joined) -> None:
    """Let the one file take the place of the others; all of it, some of it or nothing may have been done before."""
    folder = out / joined.table
    hidden, place = folder / f".{joined.name}", folder / joined.name
    if not (hidden.exists() or place.exists()):
        return
    for each in joined.files:
        (folder / each).unlink(missing_ok=True)
    if hidden.exists():
        os.replace(hidden, place)


def _due(folder: Path, name: str, before: int, many: int) -> Iterator[Joined]:
    """Of every level that has many files, what becomes of them; the lowest first, which may fill the next."""
    level = 0
    while True:
        found = sorted(path.name for path in folder.iterdir() if _is_of(path, level, before))
        if not found and level:
            return
        if len(found) >= many:
            last = max(_batch(each) for each in found)
            yield Joined(table=name, files=tuple(found), name=f"joined-{level + 1:02}-{last:08}.parquet")
        level += 1


def _is_of(path: Path, level: int, before: int) -> bool:
    return _level(path.name) == level + 1 and _batch(path.name) < before and path.stat().st_size < LARGEST


def _level(name: str) -> int:
    """1 for what a batch has left, one more for every time that it was joined; 0 for all else."""
    if _PART.fullmatch(name):
        return 1
    joined = _JOINED.fullmatch(name)
    return 1 + int(joined[1]) if joined else 0


def _batch(name: str) -> int:
    part, joined = _PART.fullmatch(name), _JOINED.fullmatch(name)
    return int(part[1]) if part else int(joined[2]) if joined else -1


def _write(folder: Path, joined: Joined) -> None:
    schema = schema_of(table(joined.table), unit="us")
    hidden = folder / f".{joined.name}"
    with pq.ParquetWriter(hidden, schema, compression="zstd") as writer:
        for rows in _batches(folder, joined.files, schema):
            writer.write_table(rows)
    with open(hidden, "rb") as stream:
        os.fsync(stream.fileno())


def _batches(folder: Path, files: Sequence[str], schema: pa.Schema) -> Iterator[pa.Table]:
    """The rows of all files, in pieces that are worth being written."""
    held: list[pa.RecordBatch] = []
    count = 0
    for each in files:
        with pq.ParquetFile(folder / each) as file:
            for batch in file.iter_batches(BATCH):
                held.append(batch)
                count += batch.num_rows
                if count >= BATCH:
                    yield pa.Table.from_batches(held).cast(schema)
                    held, count = [], 0
    if held:
        yield pa.Table.from_batches(held).cast(schema)
