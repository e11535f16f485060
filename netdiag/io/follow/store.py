"""What following keeps on disk: the state behind every batch in the checkpoint folder, rows in the folder of tables.

Every file is written under another name and renamed when it is whole, and is named by its batch: a batch that is done
again replaces what it has left. The state holds pieces of messages that were under way, so nobody else may read it.

Compaction joins the many small files of batches that are over, again and again. So many files of one level become one
of the next, so a row is written anew only as often as the number of files has digits. What is to be done stands in a
note before the first file goes, and is done to its end by whoever comes next: a kill in the middle leaves a table with
rows too few until then, never for longer, and none is ever lost or doubled."""

import fcntl
import json
import os
import re
import shutil
import stat
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from netdiag.digits import number_of
from netdiag.errors import InputError, NetdiagError, UsageError
from netdiag.io.follow.batch import Catalogue, Work, catalogue_of
from netdiag.traffic.arrow import BATCH, schema_of
from netdiag.traffic.native import DamagedState, ReadOptions
from netdiag.traffic.tables import NAMES, table
from netdiag.values import dataclass

# So many files of a level are joined.
MANY = 32
# Larger files are left as they are.
LARGEST = 128 * 1024 * 1024
_COMPLETE = re.compile(r"part-(\d{8})-\d{3}\.parquet")
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
    if _COMPLETE.fullmatch(name):
        return 1
    joined = _JOINED.fullmatch(name)
    return 1 + int(joined[1]) if joined else 0


def _batch(name: str) -> int:
    part, joined = _COMPLETE.fullmatch(name), _JOINED.fullmatch(name)
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


VERSION = 2
SPARK = "spark"
_SETTINGS, _DONE, _LOCK, _STATE, _MARK = "settings.json", "done.json", "lock", "state", ".netdiag-follow"
_PART = re.compile(r"\.?(part|open)-(\d+)-\d+\.parquet")
_JOINING = "joining.json"
_TOLD = ("packets", "first", "last", "rows")
_HINT = "use new folders for --checkpoint and --out to start again"
_FILTERS = ("ports", "clients", "brokers")


class Parts:
    """`path` tells where the rows of a table go; with `empty` there is a file also for a table without any."""

    def __init__(self, path: Callable[[str], Path], *, empty: bool = False) -> None:
        self._parts = {name: _Part(name, path(name), empty=empty) for name in NAMES}

    def __enter__(self) -> "Parts":
        return self

    def __exit__(self, *raised: object) -> None:
        for part in self._parts.values():
            part.drop()

    def add(self, batches: Mapping[str, Sequence[Any]]) -> None:
        """More rows: what Arrow's C data interface takes for record batches."""
        for name, some in batches.items():
            for batch in some:
                self._parts[name].add(pa.record_batch(batch))

    def finish(self) -> None:
        """That was all: give the files their names."""
        for part in self._parts.values():
            part.finish()


class _Part:
    def __init__(self, name: str, path: Path, *, empty: bool) -> None:
        self._schema = schema_of(table(name), unit="us")
        self._path = path
        self._empty = empty
        # Spark leaves files alone whose names begin with a dot.
        self._temporary = path.with_name(f".{path.name.lstrip('.')}.{uuid.uuid4().hex}")
        self._held: list[pa.RecordBatch] = []
        self._writer: pq.ParquetWriter | None = None

    def add(self, batch: pa.RecordBatch) -> None:
        self._held.append(batch)
        if sum(each.num_rows for each in self._held) >= BATCH:
            self._write()

    def finish(self) -> None:
        if self._held or (self._empty and self._writer is None):
            self._write()
        if self._writer is None:
            # Should an earlier try of this batch have seen more.
            self._path.unlink(missing_ok=True)
            return
        self._writer.close()
        self._writer = None
        os.replace(self._temporary, self._path)

    def drop(self) -> None:
        """Leave nothing behind of what was not finished."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        with suppress(FileNotFoundError):
            self._temporary.unlink()

    def _write(self) -> None:
        rows = pa.Table.from_batches(self._held, self._schema)
        try:
            if self._writer is None:
                self._writer = pq.ParquetWriter(self._temporary, self._schema, compression="zstd")
            self._writer.write_table(rows, row_group_size=max(1, rows.num_rows))
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror or error}", where=str(self._path)) from error
        self._held = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """`checkpoint` and `out` are folders that one run of following at a time uses."""

    checkpoint: Path
    out: Path

    def begin(self, settings: dict[str, Any]) -> None:
        """Make both folders ready; UsageError where they belong to something else."""
        known = self.settings()
        mark = self.out / _MARK
        if known is None:
            self._make(settings)
        elif {name: known.get(name) for name in settings} != settings:
            strange = next(name for name in settings if known.get(name) != settings[name])
            raise UsageError(f"was started with another {strange}", where=str(self.checkpoint), hint=_HINT)
        elif _text(mark) != known["id"]:
            raise UsageError("holds no tables of this checkpoint", where=str(self.out), hint=_HINT)
        self._go_on_joining()
        self._drop_leftovers()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """For one process at a time."""
        with _failing(self.checkpoint):
            self.checkpoint.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = self.checkpoint.stat()
            if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise UsageError("can be written to by others", where=str(self.checkpoint), hint="chmod go-w it")
            descriptor = os.open(self.checkpoint / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise NetdiagError("another netdiag process uses it", where=str(self.checkpoint)) from error
            yield
        finally:
            os.close(descriptor)

    def settings(self) -> dict[str, Any] | None:
        """What was asked for when it was begun; None where nothing was."""
        text = _text(self.checkpoint / _SETTINGS)
        if text is None:
            return None
        try:
            found = json.loads(text)
            if found["version"] == VERSION and isinstance(found["id"], str):
                return dict(found)
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(_SETTINGS, "is damaged") from error
        raise self._damaged(_SETTINGS, "was written by another version of netdiag")

    def catalogue(self, batch: int) -> Catalogue:
        """Which files were taken when a batch was over."""
        if batch == 0:
            return Catalogue()
        path = self._batch(batch) / "catalogue.json"
        text = _text(path)
        try:
            if text is not None:
                return catalogue_of(text)
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(path.name, "is damaged") from error
        raise self._damaged(path.name, f"of batch {batch} is missing")

    def keep_catalogue(self, catalogue: Catalogue) -> None:
        """Write what `catalogue` reads."""
        self._write(self._batch(catalogue.batch) / "catalogue.json", catalogue.text().encode())

    def state(self, batch: int, number: int) -> bytes:
        """The state of one class of connections behind a batch."""
        path = self._state(batch, number)
        try:
            return path.read_bytes()
        except FileNotFoundError as error:
            raise self._damaged(path.name, f"of batch {batch} is missing") from error
        except OSError as error:
            raise NetdiagError(f"cannot be read: {error.strerror}", where=str(path)) from error

    def keep_state(self, batch: int, number: int, state: bytes) -> None:
        """Write what `state` reads."""
        self._write(self._state(batch, number), state)

    def parts(self, batch: int, number: int) -> Parts:
        """Where the rows of one class go that a batch has brought."""
        return Parts(lambda table: self.part(table, batch, number))

    def open_parts(self, batch: int, number: int) -> Parts:
        """Where the rows go that there would be if nothing more came; out of sight until the batch is over."""
        return Parts(lambda table: self.open_part(table, batch, number), empty=True)

    def part(self, table: str, batch: int, number: int) -> Path:
        """The file of `parts` that a table has."""
        return self.out / table / f"part-{batch:08}-{number:03}.parquet"

    def open_part(self, table: str, batch: int, number: int) -> Path:
        """The file of `open_parts` that a table has, until the batch is over."""
        return self.out / table / f".open-{batch:08}-{number:03}.parquet"

    def commit(self, batch: int, classes: int, accounts: Sequence[Mapping[str, Any]] = ()) -> None:
        """A batch is over: what would be if nothing more came takes the place of what would have been."""
        with _failing(self.out):
            for table in NAMES:
                for number in range(classes):
                    path = self.open_part(table, batch, number)
                    if path.exists():
                        os.replace(path, self.out / table / f"open-{number:03}.parquet")
        told = [{name: account[name] for name in _TOLD} for account in accounts]
        self._write(self.checkpoint / _DONE, json.dumps({"batch": batch, "accounts": told}).encode())
        self._drop_states(batch - 1)
        with _failing(self.out):
            # This batch may be done again; those before it are not.
            if compact(self.out, batch, self._note_joining):
                (self.checkpoint / _JOINING).unlink(missing_ok=True)

    def drop_before(self, batch: int) -> None:
        """Somebody else has the rows of all batches before this one, and its own: let go of them."""
        self._drop_states(batch)
        with _failing(self.out):
            for path in self.out.glob("*/*.parquet"):
                found = _PART.fullmatch(path.name)
                if found and int(found[2]) < batch + (found[1] == "part"):
                    path.unlink(missing_ok=True)

    def _drop_states(self, before: int) -> None:
        for path in (self.checkpoint / _STATE).iterdir():
            number = number_of(path.name)
            if number is not None and number < before:
                shutil.rmtree(path, ignore_errors=True)

    def committed(self) -> tuple[int, list[dict[str, Any]]]:
        """The last batch that is over, and what its tasks have told; 0 where there is none."""
        text = _text(self.checkpoint / _DONE)
        try:
            document = json.loads('{"batch": 0, "accounts": []}' if text is None else text)
            return int(document["batch"]), list(document["accounts"])
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(_DONE, "is damaged") from error

    def damaged(self, batch: int, number: int, error: DamagedState) -> NetdiagError:
        """What to say of a state with strange content."""
        return self._damaged(str(self._state(batch, number).relative_to(self.checkpoint)), str(error))

    def _damaged(self, name: str, why: str) -> NetdiagError:
        return NetdiagError(f"'{name}' {why}", where=str(self.checkpoint), hint=_HINT)

    def _make(self, settings: dict[str, Any]) -> None:
        others = {path.name for path in self.checkpoint.iterdir()} - {_LOCK, _STATE}
        if others:
            raise UsageError("is not a checkpoint of netdiag", where=str(self.checkpoint), hint=_HINT)
        with _failing(self.out):
            self.out.mkdir(parents=True, exist_ok=True)
            inside = {path.name for path in self.out.iterdir()} - {self.checkpoint.name, _MARK, *NAMES}
            if inside or any(path.suffix == ".parquet" for name in NAMES for path in (self.out / name).glob("*")):
                raise UsageError("is not empty", where=str(self.out), hint="name another folder for --out")
            for name in NAMES:
                (self.out / name).mkdir(exist_ok=True)
            (self.checkpoint / _STATE).mkdir(mode=0o700, exist_ok=True)
        number = uuid.uuid4().hex
        self._write(self.out / _MARK, number.encode(), mode=0o644)
        document = {"version": VERSION, "id": number, **settings}
        self._write(self.checkpoint / _SETTINGS, json.dumps(document).encode())

    def _batch(self, batch: int) -> Path:
        return self.checkpoint / _STATE / f"{batch:08}"

    def _state(self, batch: int, number: int) -> Path:
        return self._batch(batch) / f"class-{number:03}"

    def _write(self, path: Path, data: bytes, mode: int = 0o600) -> None:
        temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
        with _failing(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
                with open(descriptor, "wb") as stream:
                    stream.write(data)
                    stream.flush()
                    os.fsync(descriptor)
                os.replace(temporary, path)
            except BaseException:
                with suppress(OSError):
                    temporary.unlink()
                raise

    def _note_joining(self, joined: Joined) -> None:
        self._write(self.checkpoint / _JOINING, joined.text().encode())

    def _go_on_joining(self) -> None:
        """What a process that was killed had begun to put in the place of many files."""
        path = self.checkpoint / _JOINING
        text = _text(path)
        if text is None:
            return
        try:
            joined = joined_of(text)
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(_JOINING, "is damaged") from error
        with _failing(self.out):
            finish(self.out, joined)
            path.unlink()

    def _drop_leftovers(self) -> None:
        """What a process that was killed had begun to write."""
        for pattern in ("state/*/.class-*", "state/*/.catalogue*", ".settings*", ".done*", ".joining*"):
            for path in self.checkpoint.glob(pattern):
                path.unlink(missing_ok=True)
        for name in NAMES:
            for path in (self.out / name).glob(".*.parquet*"):
                path.unlink(missing_ok=True)
        # Spark does not begin its first batch beside what is left of the file that would have begun it.
        log = self.checkpoint / SPARK / "offsets"
        if log.exists() and not any(path.name.isdigit() for path in log.iterdir()):
            shutil.rmtree(self.checkpoint / SPARK)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise NetdiagError("cannot be read", where=str(path), hint=_HINT) from error


@contextmanager
def _failing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=str(path)) from error


def settings_of(
    folder: str, options: ReadOptions, classes: int, lateness: float, **bounds: int | None
) -> dict[str, Any]:
    """The settings of following a folder; `bounds` are `since_ns` and `until_ns`."""
    filters = {name: sorted(getattr(options, name)) for name in _FILTERS}
    return {"folder": folder, "classes": classes, "lateness": lateness, **bounds, **filters}


def work_of(store: Store) -> tuple[Work, float]:
    """The work that a checkpoint was begun for, and its lateness."""
    known = store.settings()
    try:
        if known is None:
            raise KeyError("settings")
        options = ReadOptions(
            ports=frozenset(known["ports"]), clients=frozenset(known["clients"]), brokers=frozenset(known["brokers"])
        )
        work = Work(
            folder=known["folder"],
            store=store,
            options=options,
            classes=int(known["classes"]),
            since_ns=known["since_ns"],
            until_ns=known["until_ns"],
        )
        return work, float(known["lateness"])
    except (KeyError, TypeError, ValueError) as error:
        raise NetdiagError("holds no settings", where=str(store.checkpoint)) from error
