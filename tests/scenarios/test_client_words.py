"""Words from what clients printed; the texts are cut from real runs (kcat 1.7, Java 3.9, kafka-python 3.0)."""

from __future__ import annotations

import pytest

from tests.lab.answers import Answer
from tests.scenarios.client_words import word


def answer(oracle: str, raw: str, *, advertised: tuple[int, ...] = (), reached: frozenset[int] = frozenset()) -> Answer:
    return Answer(
        oracle=oracle,
        bootstrap_ok=bool(advertised),
        advertised=advertised,
        reached=reached,
        wrong=frozenset(),
        error="",
        raw=raw,
    )


@pytest.mark.parametrize(
    ("oracle", "raw", "expected"),
    [
        ("kcat", "broker-1:29092/bootstrap: Failed to resolve 'broker-1:29092': Name or service", "unresolved"),
        ("kcat", "Connect to ipv4#127.0.0.1:29092 failed: Connection refused (after 0ms in state CONNECT)", "refused"),
        ("java", "WARN Couldn't resolve server broker-1:29092 as DNS resolution failed for broker-1", "unresolved"),
        ("java", "Connection to node -1 (localhost/127.0.0.1:29092) could not be established.", ""),
        ("kafka-python", "DNS lookup failed for broker-1:29092, gaierror(-2, 'Name or service')", "unresolved"),
        ("kafka-python", "Connection failed: KafkaConnectionError: 111 ECONNREFUSED", "refused"),
        ("kafka-python", "Connection failed: KafkaConnectionError: 99 EADDRNOTAVAIL", ""),
    ],
)
def test_a_reason_is_told_where_the_client_names_it(oracle: str, raw: str, expected: str) -> None:
    suffix = f": {expected}" if expected else ""
    assert word(answer(oracle, raw)) == f"bootstrap{suffix}"
    assert word(answer(oracle, raw, advertised=(1, 2))) == f"advertised{suffix}"


def test_brokers_that_answered_decide_before_any_text() -> None:
    raw = "localhost:9094/4: Connect to ipv4#127.0.0.1:9094 failed: Connection refused"
    assert word(answer("kcat", raw, advertised=(1, 2), reached=frozenset({1}))) == "partial 1/2"
    assert word(answer("kcat", raw, advertised=(1,), reached=frozenset({1}))) == "ok"


def test_two_reasons_are_none() -> None:
    raw = "failed: Connection refused\nFailed to resolve 'kafka:9092'"
    assert word(answer("kcat", raw, advertised=(1, 2))) == "advertised"
