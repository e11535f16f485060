"""Exchanges as lines, and what of a capture was not read."""

from typing import Any

import pytest

from netdiag.render.exchanges import UnreadCounter, copies_line, exchange_line, time_text
from netdiag.render.screen import Screen
from netdiag.traffic.native import Copies
from netdiag.traffic.rows import ExchangeRow, LossRow

SCREEN = Screen(width=100, colour=False, encoding="utf-8")
NOTHING: dict[str, Any] = dict.fromkeys(ExchangeRow._fields)
ROW = ExchangeRow(
    **{
        **NOTHING,
        "time": 1_767_323_045_123_456_789,
        "client": "10.0.0.1:40000",
        "broker": "10.0.0.2:9092",
        "api_key": 1,
        "api_name": "Fetch",
        "api_version": 12,
        "correlation_id": 7,
        "client_id": "app",
        "request_bytes": 50,
        "response_bytes": 60,
        "latency_ms": 1.5,
        "error_code": 0,
        "decoded": "full",
        "outcome": "answered",
    }
)
BEGIN = "03:04:05.123456  10.0.0.1:40000 > 10.0.0.2:9092  "


def text(row: ExchangeRow) -> str:
    return "".join(run.text for run in exchange_line(row, SCREEN))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "Fetch v12 #7  app  50 > 60 B  1.500 ms"),
        ({"records": 1}, "Fetch v12 #7  app  1 record  50 > 60 B  1.500 ms"),
        ({"error_code": 6}, "Fetch v12 #7  app  50 > 60 B  1.500 ms  NOT_LEADER_OR_FOLLOWER"),
        (
            {"topics": tuple("abcdef"), "records": 3},
            "Fetch v12 #7  app  a,b,c,d and 2 more  3 records  50 > 60 B  1.500 ms",
        ),
        ({"outcome": "unanswered", "response_bytes": None}, "Fetch v12 #7  app  50 > - B  no response in the capture"),
        ({"outcome": "no-response"}, "Fetch v12 #7  app  50 > 60 B  no response is sent (acks=0)"),
        (
            {"outcome": "no-request", "api_key": None, "client_id": None, "request_bytes": None, "decoded": "header"},
            "response #7  - > 60 B  no request in the capture  header",
        ),
        ({"group": "g", "decoded": "truncated"}, "Fetch v12 #7  app  group g  50 > 60 B  1.500 ms  truncated"),
    ],
)
def test_a_line(changes: dict[str, Any], expected: str) -> None:
    assert text(ROW._replace(**changes)) == BEGIN + expected


def test_what_a_client_calls_itself_is_harmless() -> None:
    hostile = ROW._replace(client_id="\x1b]0;x\x07", group="\x9b2J", topics=("‮",))
    assert text(hostile).isprintable()


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "1970-01-01T00:00:00.000000000Z"),
        (1767323045_000000006, "2026-01-02T03:04:05.000000006Z"),
        (1767323045_999999999, "2026-01-02T03:04:05.999999999Z"),
        (10**21, "1000000000000.000000000"),
    ],
)
def test_a_time(nanoseconds: int, text: str) -> None:
    assert time_text(nanoseconds) == text


def loss(kind: str, count: int) -> LossRow:
    return LossRow("a", None, None, None, kind, count, 1, None)


def coverage_line(losses: list[LossRow]) -> str | None:
    coverage = UnreadCounter()
    for each in losses:
        coverage.add([each])
    return coverage.line


def test_reasons_with_most_bytes_come_first() -> None:
    line = coverage_line([loss("gap", 10), loss("tls", 2000), loss("gap", 20)])
    assert line == "not read: 2,000 bytes of TLS, 30 bytes of packets that are missing"


def test_what_is_usual_is_not_told() -> None:
    assert coverage_line([loss("truncated", 10), loss("not-tcp", 5)]) is None
    assert coverage_line([]) is None


def test_a_kind_without_words_is_told_by_its_name() -> None:
    assert coverage_line([loss("checksum", 7)]) == "not read: 7 bytes checksum"


def test_dropped_packets_are_counted_as_such() -> None:
    line = coverage_line([loss("dropped", 0)._replace(times=1200), loss("gap", 10)])
    assert line == "not read: 1,200 packets that were dropped while capturing, 10 bytes of packets that are missing"


def test_what_was_taken_as_seen_before() -> None:
    assert copies_line(Copies(connections=0, requests=0, like_copies=0)) is None
    assert copies_line(Copies(connections=1, requests=40, like_copies=0)) == (
        "left out as copies, captured at other addresses: 1 connection with 40 requests (--all-sightings keeps them)"
    )
    assert copies_line(Copies(connections=2, requests=1, like_copies=1)) == (
        "left out as copies, captured at other addresses: 2 connections with 1 request; "
        "1 of them may instead be a copy or a replay in the file (--all-sightings keeps them)"
    )
    both = copies_line(Copies(connections=2, requests=1, like_copies=2))
    assert both is not None
    assert "; each of them may instead be a copy" in both
