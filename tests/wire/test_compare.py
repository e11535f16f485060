"""The comparison with tshark sees every kind of difference, and takes no excuse that the bytes do not give."""

from dataclasses import replace
from typing import Any

import pytest

from tests.wire.compare import ACKS, BEFORE, BROKEN, UNPROVEN, VERSION, compare
from tests.wire.exchanges import Exchange
from tests.wire.tshark import MALFORMED, MISSING, UNSUPPORTED, Message

CLIENT, BROKER = "10.0.0.1:5000", "10.0.0.2:9092"
REQUEST = Message(
    frame=1,
    time=1_000_000_000,
    stream=0,
    source=CLIENT,
    destination=BROKER,
    size=40,
    is_request=True,
    api_key=0,
    api_version=8,
    correlation_id=7,
    client_id="a",
    request_frame=None,
    errors=(),
    faults=frozenset(),
    behind_client=b"\xff\xff\x00\x01",
)
RESPONSE = replace(
    REQUEST,
    frame=2,
    time=1_002_500_000,
    source=BROKER,
    destination=CLIENT,
    size=60,
    is_request=False,
    client_id=None,
    request_frame=1,
    errors=(0, 6),
    behind_client=b"",
)
OURS = Exchange(
    client=CLIENT,
    broker=BROKER,
    api_key=0,
    api_version=8,
    correlation_id=7,
    client_id="a",
    request_bytes=40,
    response_bytes=60,
    latency_ms=2.5,
    error_code=6,
    outcome="answered",
    decoded="full",
    request_packet=1,
    response_packet=2,
    records=None,
    record_bytes=None,
    topics=(),
    group=None,
)
LOST = replace(RESPONSE, request_frame=None, api_key=None, api_version=None, errors=(), faults=frozenset({MISSING}))


def test_equal() -> None:
    result = compare([OURS], [REQUEST, RESPONSE])
    assert (result.compared, result.equal, result.different, result.ours_alone) == (2, 2, [], [])
    assert (result.latencies, result.error_codes) == (1, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"api_key": 1},
        {"api_version": 9},
        {"client_id": None},
        {"request_bytes": 41},
        {"response_bytes": 61},
        {"latency_ms": 2.5001},
        {"latency_ms": None},
        {"error_code": 0},
        {"error_code": None},
        {"request_packet": 3},
        {"response_packet": 3},
        {"correlation_id": 8},
    ],
    ids=str,
)
def test_each_difference_is_seen(change: dict[str, Any]) -> None:
    assert compare([replace(OURS, **change)], [REQUEST, RESPONSE]).different


def test_what_only_one_side_has() -> None:
    assert len(compare([], [REQUEST, RESPONSE]).different) == 2
    assert len(compare([OURS], []).ours_alone) == 2


def test_an_answer_that_tshark_lost() -> None:
    version_9 = replace(OURS, api_version=9)
    for behind, reason in ((b"\x00\x00\x00\x01", ACKS), (b"\x00\x00\xff\xff", ACKS)):
        request = replace(REQUEST, api_version=9, behind_client=behind)
        assert compare([version_9], [request, LOST]).explained == {reason: 1}
    for behind in (b"\x00\x05\x00\x01", b"\x00\x00\x00\x00", b""):
        request = replace(REQUEST, api_version=9, behind_client=behind.ljust(4, b"\x07"))
        assert compare([version_9], [request, LOST]).different


def test_an_answer_without_a_request_needs_a_reason() -> None:
    assert compare([OURS], [REQUEST, LOST]).different
    broken = replace(REQUEST, faults=frozenset({MALFORMED}))
    assert compare([OURS], [broken, LOST]).explained == {BROKEN: 1}
    alone = replace(OURS, request_packet=None, request_bytes=None, api_key=None, api_version=None, latency_ms=None)
    assert compare([alone], [LOST]).explained == {BEFORE: 1}


def test_the_first_answer_of_a_connection_in_mid_stream() -> None:
    later = replace(REQUEST, frame=3, correlation_id=8)
    answer = replace(RESPONSE, frame=4, correlation_id=8, request_frame=3, errors=(0, 6))
    ours = replace(OURS, correlation_id=8, request_packet=3, response_packet=4)
    result = compare([ours], [LOST, later, answer])
    assert (result.explained, result.equal, result.different) == ({UNPROVEN: 1}, 2, [])
    assert compare([ours], [later, answer, replace(LOST, frame=5)]).different
    assert compare([ours], [replace(REQUEST, frame=0), LOST, later, answer]).different


def test_error_codes_of_a_version_that_tshark_does_not_read() -> None:
    guess = replace(RESPONSE, errors=(11029,), faults=frozenset({UNSUPPORTED}))
    assert compare([OURS], [REQUEST, guess]).explained == {VERSION: 1}
    assert compare([replace(OURS, latency_ms=1.0)], [REQUEST, guess]).different
