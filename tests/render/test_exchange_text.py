"""An exchange as a line."""

from typing import Any

import pytest

from netdiag.render.exchanges import exchange_line
from netdiag.render.screen import Screen
from netdiag.traffic.rows import ExchangeRow

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
