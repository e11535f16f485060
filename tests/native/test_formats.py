"""Rows as CSV, JSON and Arrow: what a plain writer of each makes of them, and nothing that a terminal obeys."""

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from netdiag.kafka import protocol as wire
from netdiag.traffic import native
from netdiag.traffic.native import Batch, ReadOptions, arrow_stream
from netdiag.traffic.tables import NAMES, Column, Kind, table
from tests.native.conversations import DNS, batch, mixed, produced_and_fetched
from tests.native.files import pcap_file
from tests.native.packets import TcpConnection, udp_packet

ODD = ["plain", 'a "quoted", word', "\x1b[31mred", "\x9b31m", "two\nlines", "‮evil", "a;b", "語😀", "", " "]
TABLES = (*NAMES, "records")
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows in every table, with words in them that a file or a terminal may choke on."""
    talk = TcpConnection("10.0.0.5:5", "10.0.0.6:1").open()
    for number, word in enumerate(ODD):
        asked = {"topics": [{"name": word}, {"name": word[::-1]}]}
        told = {
            "brokers": [{"node_id": number, "host": word, "port": 1, "rack": word}],
            "topics": [{"name": word, "error_code": 3}],
        }
        talk.ask(wire.encode_request(3, 12, number, word, asked)).answer(wire.encode_response(3, 12, number, told))
        talk.ask(wire.encode_request(12, 3, number, "app", {"group_id": word, "member_id": word}))
        talk.answer(wire.encode_response(12, 3, number, {}))
    packets = [
        *mixed(),
        *talk.packets,
        *produced_and_fetched(batch()).packets,
        udp_packet("10.0.0.9:9", "10.0.0.53:53", DNS),
    ]
    path = tmp_path_factory.mktemp("formats") / "odd.pcap"
    path.write_bytes(pcap_file(packets, 1 << 20))
    return path


def batches(path: Path, name: str, columns: Sequence[str] | None = None) -> Iterator[Batch]:
    wanted = None if columns is None else {name: columns}
    for ready in native.read([str(path)], ReadOptions(tables=frozenset({name})), columns=wanted):
        yield from ready.get(name, ())


@pytest.mark.parametrize("name", TABLES)
def test_csv_and_json_are_what_plain_writers_make_of_the_rows(capture: Path, name: str) -> None:
    columns, count = table(name).columns, 0
    for each in batches(capture, name):
        rows = each.rows()
        assert each.to_csv().decode() == "".join(_csv_line(columns, row) for row in rows)
        assert each.to_json().decode() == "".join(_json_line(columns, row) for row in rows)
        count += len(rows)
    assert count


@pytest.mark.parametrize("name", TABLES)
def test_no_line_has_a_control_character(capture: Path, name: str) -> None:
    for each in batches(capture, name):
        assert all(line.isprintable() for line in each.to_json().decode().splitlines())
        assert all(_UNSAFE.search(line) is None for line in each.to_csv().decode().split("\n"))


@pytest.mark.parametrize("name", TABLES)
def test_arrow_has_the_same_rows(capture: Path, name: str) -> None:
    stream = arrow_stream(name, table(name).names)
    every, rows = [], []
    for each in batches(capture, name):
        every.append(stream.encode(each))
        rows += each.rows()
    read = pa.ipc.open_stream(b"".join([*every, stream.end()])).read_all()
    cells = [_plain(column, read[column.name]) for column in table(name).columns]
    assert list(zip(*cells, strict=True)) == rows


def test_columns_come_in_the_order_asked_for(capture: Path) -> None:
    names = ("latency_ms", "topics", "client", "api_name", "time", "outcome")
    whole = [
        dict(zip(table("exchanges").names, row, strict=True)) for b in batches(capture, "exchanges") for row in b.rows()
    ]
    some = [row for each in batches(capture, "exchanges", names) for row in each.rows()]
    assert some == [tuple(row[name] for name in names) for row in whole]
    (first, *_) = batches(capture, "exchanges", names)
    assert first.columns == names
    assert tuple(json.loads(first.to_json().decode().split("\n")[0])) == names


def _csv_line(columns: Sequence[Column], row: Sequence[Any]) -> str:
    """RFC 4180; nothing for null, lists joined by a semicolon, control characters spelled out."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(
        _csv_text(column.kind, value) for column, value in zip(columns, row, strict=True)
    )
    return out.getvalue()


def _csv_text(kind: Kind, value: Any) -> str:
    match kind, value:
        case _, None:
            return ""
        case Kind.BOOL, _:
            return "true" if value else "false"
        case Kind.STRINGS, _:
            text = ";".join(value)
        case _:
            text = str(_value(kind, value))
    return _UNSAFE.sub(lambda found: ascii(found[0])[1:-1], text)


def _json_line(columns: Sequence[Column], row: Sequence[Any]) -> str:
    values = {column.name: _value(column.kind, value) for column, value in zip(columns, row, strict=True)}
    return json.dumps(values, ensure_ascii=True, separators=(",", ":")).replace("\x7f", "\\u007f") + "\n"


def _value(kind: Kind, value: Any) -> Any:
    """Floats with six digits, times as RFC 3339 with nine."""
    if kind is Kind.TIME and value is not None:
        seconds, rest = divmod(value, 1_000_000_000)
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"
    return round(value, 6) if isinstance(value, float) else value


def _plain(column: Column, values: pa.ChunkedArray) -> list[Any]:
    if column.kind is Kind.TIME:
        return values.cast(pa.int64()).to_pylist()  # type: ignore[no-any-return]
    if column.kind is Kind.STRINGS:
        return [None if each is None else tuple(each) for each in values.to_pylist()]
    return values.to_pylist()  # type: ignore[no-any-return]
