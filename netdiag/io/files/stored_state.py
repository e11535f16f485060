"""What the records of internal topics say: read by the capture engine, decoded here one by one.

What is kept of them is bounded by `MOST_STORED` records and `MOST_STORED_BYTES`; `tell` is told how far reading is, in
bytes.
"""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from netdiag.io.files.data_directory import read_data_directory
from netdiag.io.files.log_files import gone, log_files
from netdiag.kafka.protocol import stored_topics
from netdiag.kafka.storage import BOOTSTRAP, DataDirectory
from netdiag.kafka.storage import metadata_snapshot as reaches_up_to
from netdiag.kafka.stored_records import (
    METADATA_TOPIC,
    OFFSETS_TOPIC,
    StoredRecord,
    UnreadableRecord,
    stored_record,
)
from netdiag.kafka.stored_state import Commit, StateBuilder, StoredState
from netdiag.traffic import native
from netdiag.traffic.native import LogFile
from netdiag.values import dataclass

# A record of an internal topic with more cannot be decoded.
MOST_DECODED = 4 * 1024 * 1024
_MIB = 1024 * 1024
# So many records of internal topics, and bytes of them, are read for who registered and committed: all are kept.
MOST_STORED = 1_000_000
MOST_STORED_BYTES = 256 * _MIB
# Of a batch of rows made here, well below those of the engine.
_MOST_ROWS = 1000
_MUCH_TEXT = _MIB
# What a record is told by, in this order.
_COLUMNS = (
    "file", "topic", "partition", "offset", "timestamp", "control",
    "key", "key_encoding", "key_bytes", "value", "value_encoding", "value_bytes",
)  # fmt: skip
_UNREADABLE = "UNREADABLE"
# A broker that compacts or deletes while its logs are read is waited for by reading them so many times.
_MOST_LOOKS = 3
Tell = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A record of an internal topic, and where it is; None where it cannot be read."""

    file: str
    topic: str
    partition: int | None
    offset: int
    timestamp: int | None
    record: StoredRecord | None
    size: int

    @property
    def cells(self) -> tuple[object, ...]:
        """A row of `stored_records`."""
        record = self.record
        kind, version, key, value = (
            (_UNREADABLE, None, None, None)
            if record is None
            else (record.kind, record.version, record.key, record.value)
        )
        texts = (None if each is None else json.dumps(each, separators=(",", ":")) for each in (key, value))
        return (self.file, self.topic, self.partition, self.offset, self.timestamp, kind, version, *texts)


def decoded_records(files: Iterable[LogFile], tell: Tell | None = None) -> Iterator[Decoded]:
    """The records of internal topics in these files, in their order."""
    known = set(stored_topics())
    chosen = [file for file in files if file.topic in known and not file.path.endswith(".snapshot")]
    for ready in native.read_logs(chosen, {"log_records": _COLUMNS}, most_shown=MOST_DECODED, tell=tell):
        for batch in ready.get("log_records", ()):
            for file, topic, partition, offset, timestamp, control, *payload in batch.rows():
                if control is None:
                    key, key_encoding, key_bytes, value, value_encoding, value_bytes = payload
                    size = (key_bytes or 0) + (value_bytes or 0)
                    yield Decoded(
                        file=file,
                        topic=topic,
                        partition=partition,
                        offset=offset,
                        timestamp=timestamp,
                        record=_decoded(topic, _raw(key, key_encoding), _raw(value, value_encoding))
                        if size <= MOST_DECODED
                        else None,
                        size=size,
                    )


def _decoded(topic: str, key: bytes | None, value: bytes | None) -> StoredRecord | None:
    try:
        return stored_record(topic, key, value)
    except UnreadableRecord:
        return None


def _raw(text: str | None, encoding: str | None) -> bytes | None:
    if text is None:
        return None
    return base64.b64decode(text) if encoding == "base64" else text.encode()


def commit_cells(commit: Commit) -> tuple[object, ...]:
    """A row of `committed_offsets`."""
    return (
        commit.group, commit.topic, commit.partition, commit.offset, commit.leader_epoch,
        commit.metadata, commit.timestamp, commit.topic_id, commit.file,
    )  # fmt: skip


def stored_state(
    one: DataDirectory, topics: frozenset[str], tell: Tell | None = None, most: int = MOST_STORED
) -> StoredState:
    """What the metadata of the cluster and the offsets of groups amount to, in as many records as are to be read.

    Of the metadata, the latest snapshot counts and what the log has behind it. Where a file has gone meanwhile, what it
    held may be in another one: all is read again.
    """
    for _ in range(_MOST_LOOKS):
        files, begins = _files_of_state(one, topics)
        state = state_of(files, begins, tell, most)
        if not gone(files):
            return state
        one = read_data_directory(one.path, only={partition.folder for partition in one.partitions})
    return replace(state, is_cut=True)


def _files_of_state(one: DataDirectory, topics: frozenset[str]) -> tuple[list[LogFile], int]:
    """The files to read, and the offset of the metadata's log that they are to be read from."""
    files = [file for file in log_files(one, topics, "") if file.topic in (METADATA_TOPIC, OFFSETS_TOPIC)]
    snapshots = [file for file in files if reaches_up_to(file.path.rpartition("/")[2]) is not None]
    latest = snapshots[-1] if snapshots else None
    begins = reaches_up_to(latest.path.rpartition("/")[2]) or 0 if latest is not None else 0
    read = [
        file
        for file in files
        if not file.path.endswith(".checkpoint") or file is latest or (latest is None and file.path.endswith(BOOTSTRAP))
    ]
    return read, begins


def state_of(
    files: Iterable[LogFile], begins: int = 0, tell: Tell | None = None, most: int = MOST_STORED
) -> StoredState:
    """What the records in these files amount to; of logs of the cluster's metadata, those from an offset on."""
    builder = StateBuilder()
    left = MOST_STORED_BYTES
    is_cut = False
    for number, stored in enumerate(decoded_records(files, tell)):
        left -= stored.size
        if number >= most or left < 0:
            is_cut = True
            break
        is_log = stored.file.endswith(".log")
        if stored.record is None:
            builder.add_unread()
        elif stored.topic == OFFSETS_TOPIC:
            builder.add_group(stored.record, stored.file)
        elif not is_log or stored.offset >= begins:
            builder.add_metadata(stored.record, stored.offset if is_log else None)
    return replace(builder.state(), is_cut=is_cut)


def made_batches(name: str, rows: Iterable[tuple[object, ...]], columns: Sequence[str]) -> Iterator[native.Batch]:
    """Rows of a table made here as those of the engine; much text makes a batch of its own."""
    waiting: list[tuple[object, ...]] = []
    text = 0
    for row in rows:
        waiting.append(row)
        text += sum(len(cell) for cell in row if isinstance(cell, str))
        if len(waiting) >= _MOST_ROWS or text >= _MUCH_TEXT:
            yield native.make_batch(name, waiting, columns)
            waiting, text = [], 0
    if waiting:
        yield native.make_batch(name, waiting, columns)
