"""Bar: every field of kafka-dump-log, with all its decoders, against the rows of `netdiag storage`, in one run.

The directories are those of real brokers, and a log of the old message formats.
"""

import base64
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from netdiag.app.storage import StorageQuery, read_storage_table
from netdiag.kafka import protocol as wire
from netdiag.traffic.tables import table
from tests.bars.data_directories import VERSIONS, data_directory, dumped, old_formats
from tests.bars.measuring import report

_DEEP = ("--deep-iteration", "--print-data-log")
_DECODERS = {
    "__consumer_offsets": "--offsets-decoder",
    "__transaction_state": "--transaction-log-decoder",
    "__cluster_metadata": "--cluster-metadata-decoder",
}
_LINE = re.compile(r"^(?:baseOffset: |\| offset: | ?offset: )", re.MULTILINE)
_WORDS = re.compile(r"(\w+): (\[[^]]*\]|OptionalLong\[\d+\]|\S+)")
_FILE = re.compile(r"^Dumping (/.*)\n", re.MULTILINE)
# Of a message in an older format the tool has the checksum, which netdiag looks at and does not tell.
_UNTOLD = frozenset({"isValid", "crc"})
# As the tool calls control records whose fields it prints, which netdiag does not.
_CONTROLS = {
    "LeaderChange": "LEADER_CHANGE",
    "SnapshotHeader": "SNAPSHOT_HEADER",
    "SnapshotFooter": "SNAPSHOT_FOOTER",
    "KRaftVersion": "KRAFT_VERSION",
    "KRaftVoters": "KRAFT_VOTERS",
}
_MOST_TOLD = 20

Row = Mapping[str, Any]


class Comparison:
    """Counts what was compared, and tells what differs."""

    def __init__(self) -> None:
        self.fields = 0
        self.different = 0

    def field(self, place: str, theirs: object, ours: object) -> None:
        """One field; the tool prints what it is."""
        self.fields += 1
        if theirs != ours:
            self.different += 1
            if self.different <= _MOST_TOLD:
                print(f"{place}: the tool has {theirs!r}, netdiag {ours!r}")


def main() -> int:
    """0 when no field differs in any directory, and enough was compared."""
    found = Comparison()
    for version in VERSIONS:
        folder = data_directory(version)
        _directory(version, folder, found)
        with TemporaryDirectory() as made:
            log = old_formats(Path(made))
            _logs(version, log.parent.parent, [log], found)
    report("fields compared", found.fields)
    report("different", found.different)
    return 0 if found.different == 0 and found.fields > 100_000 else 1


def _directory(version: str, folder: Path, found: Comparison) -> None:
    logs = sorted((*folder.glob("*/*.log"), *folder.glob("*/*.checkpoint")))
    _logs(version, folder, logs, found)
    indexes = sorted((*folder.glob("*/*.index"), *folder.glob("*/*.timeindex")))
    told = _dumped(version, indexes, "--index-sanity-check")
    found.field(f"{version} indexes", len(indexes), len(told))
    for index, text in told.items():
        found.field(f"{index} is sane", True, "passed sanity check" in text or "is empty" in text)
    found.field(f"{version} problems", [], rows(folder, "log_problems"))
    stored = rows(folder, "stored_records")
    for topic, decoder in _DECODERS.items():
        own = [log for log in logs if log.parent.name.startswith(f"{topic}-")]
        for log, text in _dumped(version, own, decoder).items():
            name = f"{log.parent.name}/{log.name}"
            ours = {row["offset"]: row for row in stored if row["file"] == name}
            _decoded(version, text, topic, ours, found)


def _dumped(version: str, files: Sequence[Path], *arguments: str) -> Mapping[Path, str]:
    """What the tool says of each file; a Java for all of them."""
    parts = _FILE.split(dumped(version, *arguments, "--files", ",".join(map(str, files))))
    return {Path(name): text for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def rows(folder: Path, name: str, **options: Any) -> list[Row]:
    """Every row of a table."""
    names = table(name).names
    batches = read_storage_table(StorageQuery(names=(str(folder),)), name, names, **options)
    return [dict(zip(names, row, strict=True)) for batch in batches for row in batch.rows()]


def _logs(version: str, folder: Path, logs: Sequence[Path], found: Comparison) -> None:
    batches, records = rows(folder, "log_batches"), rows(folder, "log_records", payloads=True)
    texts = _dumped(version, logs, *_DEEP)
    found.field(f"{version} logs", len(logs), len(texts))
    for log, text in texts.items():
        name = f"{log.parent.name}/{log.name}"
        own_batches = iter([row for row in batches if row["file"] == name])
        own_records = iter([row for row in records if row["file"] == name])
        for kind, line in _lines(text):
            place = f"{version} {name}: {line[:60]!r}"
            if kind == "record":
                _record(line, next(own_records, {}), place, found)
            else:
                _batch(line, next(own_batches, {}), place, found)
        found.field(f"{version} {name}: batches and records more", [], [*own_batches, *own_records])


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """What the tool says of each batch and of each record; values may have line breaks in them."""
    starts = [match.start() for match in _LINE.finditer(text)]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=False):
        line = text[start:end].removesuffix("\n")
        yield "record" if line.startswith("| ") else "batch", line


_BATCH: Mapping[str, Callable[[Row], object]] = {
    # Of a message in an older format.
    "offset": lambda row: row["last_offset"],
    "baseOffset": lambda row: row["base_offset"],
    "lastOffset": lambda row: row["last_offset"],
    "count": lambda row: row["records"] if row["magic"] == 2 else None,
    "baseSequence": lambda row: _or(-1, row["base_sequence"]),
    "lastSequence": lambda row: _or(-1, row["last_sequence"]),
    "producerId": lambda row: _or(-1, row["producer_id"]),
    "producerEpoch": lambda row: _or(-1, row["producer_epoch"]),
    "partitionLeaderEpoch": lambda row: _or(-1, row["leader_epoch"]),
    "isTransactional": lambda row: bool(row["transactional"]),
    "isControl": lambda row: bool(row["control"]),
    "deleteHorizonMs": lambda row: row["delete_horizon"],
    "position": lambda row: row["position"],
    "size": lambda row: row["bytes"],
    "magic": lambda row: row["magic"],
    "compresscodec": lambda row: row["codec"],
    "crc": lambda row: row["checksum"],
    "isvalid": lambda row: row["checksum_valid"],
    "CreateTime": lambda row: _time(row, row["max_timestamp"], False),
    "LogAppendTime": lambda row: _time(row, row["max_timestamp"], True),
    "NoTimestampType": lambda row: _or(-1, row["max_timestamp"]),
}
_RECORD: Mapping[str, Callable[[Row], object]] = {
    "offset": lambda row: row["offset"],
    "keySize": lambda row: _or(-1, row["key_bytes"]),
    "valueSize": lambda row: _or(-1, row["value_bytes"]),
    "sequence": lambda row: row["sequence"],
    "CreateTime": lambda row: _time(row, row["timestamp"], False),
    "LogAppendTime": lambda row: _time(row, row["timestamp"], True),
    "NoTimestampType": lambda row: _or(-1, row["timestamp"]),
    "endTxnMarker": lambda row: row["control"],
    "coordinatorEpoch": lambda row: row["coordinator_epoch"],
    "controlType": lambda row: row["control"],
}


def _batch(line: str, row: Row, place: str, found: Comparison) -> None:
    for word, text in _WORDS.findall(line):
        found.field(f"{place} {word}", _value(text), _BATCH[word](row) if row else "no such batch")


def _record(line: str, row: Row, place: str, found: Comparison) -> None:
    # Keys and values are at the end, and may hold what looks like fields.
    head, has_payload, payload = line.partition(" payload: ")
    head, has_key, key = head.partition(" key: ")
    for word, text in _WORDS.findall(head):
        if word in _CONTROLS:
            found.field(f"{place} control", _CONTROLS[word], row.get("control"))
            break
        if word in _UNTOLD:
            continue
        if word == "headerKeys":
            ours = ",".join(name.partition("=")[0] for name in row.get("headers") or ())
            found.field(f"{place} headers", text.strip("[]"), ours)
        else:
            theirs = text.partition("(")[0] if word == "controlType" else _value(text)
            found.field(f"{place} {word}", theirs, _RECORD[word](row) if row else "no such record")
    if has_key:
        found.field(f"{place} key", key, _text(row, "key"))
    if has_payload:
        found.field(f"{place} value", payload, _text(row, "value"))


def _text(row: Row, name: str) -> str | None:
    """As Java prints bytes that are no text."""
    value = row.get(name)
    if value is None:
        return "null" if name == "value" else None
    raw = base64.b64decode(value) if row[f"{name}_encoding"] == "base64" else value.encode()
    return str(raw.decode("utf-8", "replace"))


def _time(row: Row, value: int | None, is_appended: bool) -> object:
    return _or(-1, value) if bool(row["log_append_time"]) == is_appended else "another type of timestamp"


def _or(default: int, value: int | None) -> int:
    return default if value is None else value


def _value(text: str) -> object:
    if text in ("null", "OptionalLong.empty"):
        return None
    if text in ("true", "false"):
        return text == "true"
    number = text.removeprefix("OptionalLong[").removesuffix("]")
    return int(number) if re.fullmatch(r"-?\d+", number) else text


def _decoded(version: str, text: str, topic: str, ours: Mapping[int, Row], found: Comparison) -> None:
    for kind, line in _lines(text):
        if kind != "record" or "payload: " not in line or "keySize: " not in line:
            continue
        offset = int(re.findall(r"offset: (\d+)", line)[0])
        row, place = ours.get(offset, {}), f"{version} {topic} {offset}"
        head, _, payload = line.partition(" payload: ")
        key = head.partition(" key: ")[2]
        if not payload.startswith("{") and payload != "<DELETE>":
            continue
        told = json.loads(payload) if payload.startswith("{") else {}
        if topic == "__cluster_metadata":
            found.field(f"{place} type", _folded(told["type"]), _folded(row.get("type", "")))
        elif key.startswith("{"):
            named = json.loads(key)
            found.field(f"{place} type", wire.stored_name(topic, int(named["type"])), row.get("type"))
            _same(f"{place} key", named["data"], json.loads(row.get("key") or "{}"), found)
        found.field(f"{place} version", int(told["version"]) if told else None, row.get("version"))
        _same(f"{place} value", told.get("data", {}), json.loads(row.get("value") or "{}"), found)


def _same(place: str, theirs: Any, ours: Any, found: Comparison) -> None:
    """Every field that the tool has; it leaves out tagged fields that have their default."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        named = {_folded(name): value for name, value in ours.items()}
        for name, value in theirs.items():
            _same(f"{place}.{name}", value, named.get(_folded(name), "no such field"), found)
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for number, (one, other) in enumerate(zip(theirs, ours, strict=True)):
            _same(f"{place}[{number}]", one, other, found)
    else:
        found.field(place, theirs, ours)


def _folded(name: str) -> str:
    return name.replace("_", "").lower()


if __name__ == "__main__":
    sys.exit(main())
