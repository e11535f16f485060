"""Keys and values: shown to whoever asks for them, as they are and bounded; nowhere else."""

import base64
from typing import Any

import pytest

from netdiag.kafka import protocol as wire
from netdiag.render.exchanges import csv_lines, json_lines
from netdiag.traffic.arrow import record_batch
from netdiag.traffic.engine import payloads
from netdiag.traffic.engine.payloads import MOST_SHOWN, shown
from netdiag.traffic.rows import RecordRow
from netdiag.traffic.tables import NAMES, table
from tests.traffic.engine.bodies.compressed import KEYS, TIME, batch
from tests.traffic.engine.packets import Talker
from tests.traffic.engine.test_run import run

PRODUCE, FETCH = 0, 1
MARK = b"4f1c-Secret-9e"
SECRET: list[Any] = [(b"k" + MARK, b"v" + MARK, [("h" + MARK.decode(), b"w" + MARK)])] * 3
ON: dict[str, Any] = {"tables": frozenset({"records", "losses"}), "payloads": True}


def produce(data: bytes, topic: str = "orders", correlation_id: int = 3) -> bytes:
    partitions = [{"index": 4, "records": data}]
    body = {"acks": 1, "timeout_ms": 1000, "topic_data": [{"name": topic, "partition_data": partitions}]}
    return wire.encode_request(PRODUCE, 9, correlation_id, "app", body)


def fetched(data: bytes, correlation_id: int = 5) -> bytes:
    partitions = [{"partition_index": 4, "high_watermark": 900, "records": data}]
    return wire.encode_response(
        FETCH, 12, correlation_id, {"responses": [{"topic": "orders", "partitions": partitions}]}
    )


def ask(correlation_id: int = 5) -> bytes:
    partitions = [{"partition": 4, "fetch_offset": 100, "partition_max_bytes": 1 << 20}]
    body = {"max_wait_ms": 500, "topics": [{"topic": "orders", "partitions": partitions}]}
    return wire.encode_request(FETCH, 12, correlation_id, "app", body)


def talk(data: bytes, size: int = 60_000) -> Talker:
    """Produces the records and fetches them."""
    talker = Talker().open()
    sent = produce(data)
    for at in range(0, len(sent), size):
        talker.ask(sent[at : at + size])
    talker.answer(wire.encode_response(PRODUCE, 9, 3, {})).ask(ask())
    answer = fetched(data)
    for at in range(0, len(answer), size):
        talker.answer(answer[at : at + size])
    return talker.close()


def test_records_of_requests_and_responses() -> None:
    rows = run(talk(batch(base=100)).packets, **ON)
    records: list[RecordRow] = rows["records"]
    assert [(row.api_key, row.correlation_id) for row in records] == [(PRODUCE, 3)] * 4 + [(FETCH, 5)] * 4
    assert [row.offset for row in records] == [None] * 4 + [100, 101, 102, 103]
    assert [row.offset_delta for row in records] == [0, 1, 2, 3] * 2
    assert {(row.client_id, row.topic, row.topic_id, row.partition, row.codec) for row in records} == {
        ("app", "orders", None, 4, "none")
    }
    assert records[0][10:] == (TIME, "key", "text", 3, "value" * 20, "text", 100, ("trace=7",), "none", -1)
    assert records[1][11:18] == (None, None, None, base64.b64encode(b"\xff\x00").decode(), "base64", 2, None)
    assert records[2][11:18] == ("", "text", 0, None, None, None, ("a=", "b=base64:/g=="))
    assert [row.value_bytes for row in records[3::4]] == [15_000] * 2
    assert [len(row.value or "") for row in records[3::4]] == [MOST_SHOWN] * 2
    assert rows["losses"] == []


def test_nobody_who_has_not_asked_sees_a_key_or_a_value() -> None:
    packets = talk(batch(SECRET) + batch(SECRET, codec=1, base=50)).packets
    assert len(run(packets, **ON)["records"]) == 12
    alone = [run(packets, tables=frozenset({name})) for name in NAMES]
    for rows in (run(packets), run(packets, payloads=True), *alone):
        assert "records" not in rows
        for name, found in rows.items():
            columns = table(name).columns
            batch_of = record_batch(table(name), found)
            told = (
                repr(found),
                "".join(json_lines(columns, found)),
                "".join(csv_lines(columns, found)),
                repr(batch_of.to_pylist()),
            )
            for text in told:
                assert MARK.decode() not in text
                assert base64.b64encode(b"v" + MARK).decode()[:12] not in text
    rows = run(packets)
    assert len(rows["batches"]) == 4
    assert len(rows["exchanges"]) == 2


def test_messages_that_are_read_as_they_pass_by_otherwise_are_kept() -> None:
    data = batch([(b"k", b"x" * 1000, [])] * 400) + batch(KEYS, base=400)
    assert len(data) > 400_000
    assert len(run(talk(data).packets, **ON)["records"]) == 808


def test_a_message_that_is_too_large_to_keep_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netdiag.traffic.engine.run.KEEP_WHOLE", 1000)
    data = batch([(b"k", b"x" * 1000, [])] * 100)
    rows = run(talk(data).packets, **ON)
    assert rows["records"] == []
    assert sorted((row.kind, row.direction, row.bytes, row.times, row.detail) for row in rows["losses"]) == [
        ("limit", "request", len(data), 1, "records of a message that is too large to keep"),
        ("limit", "response", len(data), 1, "records of a message that is too large to keep"),
    ]


def test_what_is_held_is_bounded_until_it_is_drained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payloads, "MOST_RECORDS", 6)
    rows = run(talk(batch()).packets, **ON)
    assert len(rows["records"]) == 6
    assert [row.detail for row in rows["losses"]] == ["records of a partition from its record 3 on"]
    monkeypatch.setattr(payloads, "MOST_RECORDS", 100)
    monkeypatch.setattr(payloads, "MOST_BYTES", 3 + 100 + 6)
    assert len(run(talk(batch()).packets, **ON)["records"]) == 1


def test_only_the_topics_asked_for() -> None:
    assert run(talk(batch()).packets, **ON, topics=frozenset({"other"}))["records"] == []
    assert len(run(talk(batch()).packets, **ON, topics=frozenset({"orders"}))["records"]) == 8
    assert run(talk(batch()).packets, **ON, clients=frozenset({"nobody"}))["records"] == []


def test_what_the_snap_length_cut_gives_no_record() -> None:
    packets = [packet._replace(data=packet.data[:256]) for packet in talk(batch()).packets]
    assert run(packets, **ON)["records"] == []


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (None, (None, None)),
        (b"", ("", "text")),
        (b"line\tone\r\ntwo", ("line\tone\r\ntwo", "text")),
        (b"\x00\x00\x00\x07", ("AAAABw==", "base64")),
        (b"\x1b[31m", ("G1szMW0=", "base64")),
        ("\x9b31m".encode(), ("wpszMW0=", "base64")),
        (b"\xed\xa0\x80", ("7aCA", "base64")),
        ("ü".encode() * 3000, ("ü" * 2048, "text")),
        (b"a" + "ü".encode() * 3000, ("a" + "ü" * 2047, "text")),
        ("ü".encode()[:1], ("ww==", "base64")),
    ],
)
def test_how_bytes_are_shown(data: bytes | None, expected: tuple[str | None, str | None]) -> None:
    assert shown(data) == expected
