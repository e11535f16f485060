"""The words of a cell from what clients printed."""

from __future__ import annotations

import pytest

from tests.lab.answers import Answer, read_java, read_kcat, read_python
from tests.lab.java_tools import Printed
from tests.lab.lead_topics import Topic

_TWO = Topic(name="nd-x", leaders=(1, 2))
_METADATA = """=== metadata 0
{"originating_broker":{"id":1,"name":"a:1/1"},"brokers":[{"id":2,"name":"b:1"},{"id":1,"name":"a:1"}]}
%7|1|METADATA|rdkafka#producer-1| [thrd:main]: a:1/1: 2 brokers, 0 topics
"""


@pytest.mark.parametrize(
    ("advertised", "reached", "wrong", "word"),
    [
        ((1, 2), {1, 2}, set(), "ok"),
        ((1, 2), {2}, {1}, "partial 1/2"),
        ((1, 2), set(), set(), "advertised"),
        ((1, 2), set(), {2}, "wrong-broker"),
        ((), set(), set(), "no-brokers"),
    ],
)
def test_verdict_is_a_matter_of_sets(
    advertised: tuple[int, ...], reached: set[int], wrong: set[int], word: str
) -> None:
    answer = Answer(
        oracle="kcat",
        bootstrap_ok=True,
        advertised=advertised,
        reached=frozenset(reached),
        wrong=frozenset(wrong),
        error="",
        raw="",
    )
    assert answer.verdict() == word


def test_kcat_one_leader_answered_the_other_is_somebody_else() -> None:
    printed = (
        "=== 0 0\nnd-x [0] offset 0\n=== 1 1\n% ERROR: offsets_for_times failed: Broker: Not leader for partition\n"
    )
    answer = read_kcat(printed + _METADATA, _TWO)
    assert answer.verdict() == "partial 1/2"
    assert set(answer.wrong) == {2}
    assert answer.error.endswith("Not leader for partition")


def test_kcat_unknown_partition_is_no_answer_where_nobody_answers() -> None:
    printed = (
        "=== 0 1\n% ERROR: offsets_for_times failed: Local: Unknown partition\n"
        "=== 1 1\n% ERROR: offsets_for_times failed: Local: Timed out\n"
    )
    assert read_kcat(printed + _METADATA, _TWO).verdict() == "advertised"


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("a:1/bootstrap: 0 brokers, 0 topics\n% ERROR: Failed: Local: Timed out", "no-brokers"),
        ("% ERROR: Failed to acquire metadata: Local: Broker transport failure", "bootstrap"),
    ],
)
def test_kcat_without_metadata(said: str, word: str) -> None:
    assert read_kcat(f"=== metadata 1\n{said}\n", None).verdict() == word


@pytest.mark.parametrize(
    ("found", "word"),
    [
        ('"nodes": [1, 2], "partitions": [null, null], "misled": []', "ok"),
        ('"nodes": [1, 2], "partitions": [null, "KafkaTimeoutError"], "misled": [1]', "partial 1/2"),
        ('"nodes": [], "partitions": ["x", "x"], "misled": []', "no-brokers"),
        ('"nodes": null, "partitions": ["x", "x"], "misled": []', "bootstrap"),
    ],
)
def test_kafka_python(found: str, word: str) -> None:
    assert read_python(f'{{{found}, "error": "why", "log": []}}', _TWO).verdict() == word


def test_kafka_python_that_meets_another_cluster() -> None:
    """The topic is in the cluster of the bootstrap address, and unknown to whom the client is sent."""
    log = f'["Topic {_TWO.name} not found in cluster metadata"]'
    printed = f'{{"nodes": [1, 2], "partitions": ["x", "x"], "misled": [], "error": null, "log": {log}}}'
    assert read_python(printed, _TWO).verdict() == "wrong-broker"
    assert read_python(printed.replace(_TWO.name, "other"), _TWO).verdict() == "advertised"


_ANSWERS = "a:1 (id: 1 rack: null isFenced: false) -> (\n\tProduce(0): 0 to 11\n)\n"


def test_java_who_answers_as_another_is_wrong() -> None:
    versions = _ANSWERS + _ANSWERS.replace("id: 1", "id: 2")
    answer = read_java(Printed(status=0, text=versions), Printed(status=1, text="nd-x:0:0\n"), _TWO)
    assert answer.verdict() == "partial 1/2"
    assert set(answer.wrong) == {2}


def test_java_errors_stand_in_the_brokers_line() -> None:
    versions = _ANSWERS + "b:1 (id: 2 rack: null) -> ERROR: x.DisconnectException\n"
    answer = read_java(Printed(status=0, text=versions), None, None)
    assert (answer.verdict(), answer.error) == ("partial 1/2", "ERROR: x.DisconnectException")


def test_java_that_never_ends_knows_no_broker_and_one_that_failed_had_no_bootstrap() -> None:
    assert read_java(Printed(status=None, text=""), None, None).verdict() == "no-brokers"
    failed = Printed(status=1, text="java.lang.RuntimeException: Request METADATA failed\n\tat x\n")
    assert read_java(failed, None, None).verdict() == "bootstrap"
