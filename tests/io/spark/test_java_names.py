"""Names of Java are asked for once, and what Java has handed out is told back only where a session lives long."""

import gc
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from netdiag.io.spark.java_names import keep_objects

REFLECTION, MEMORY = "r\n", "m\n"


@pytest.fixture
def words(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Python says to Java from now on."""
    client: Any = spark.sparkContext._gateway._gateway_client  # type: ignore[union-attr]
    said: list[str] = []
    send = client.send_command

    def noted(command: str, *arguments: Any, **more: Any) -> Any:
        said.append(command)
        return send(command, *arguments, **more)

    monkeypatch.setattr(client, "send_command", noted)
    return said


def test_a_name_is_asked_for_once(spark: SparkSession, words: list[str]) -> None:
    assert spark is not None

    def column() -> str:
        return str(F.coalesce(F.col("topic"), F.upper(F.lit("none"))))

    first = column()
    words.clear()
    assert column() == first
    assert words
    assert not [word for word in words if word.startswith(REFLECTION)]


def test_what_python_has_no_more_is_not_told_to_java(
    spark: SparkSession, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway: Any = spark.sparkContext._gateway
    monkeypatch.setattr(gateway._gateway_client.gateway_property, "enable_memory_management", True)
    keep_objects(gateway)
    # Objects of tests before this one may go now, and are told back.
    last = int(gateway.jvm.java.lang.Object()._target_id[1:])
    words.clear()
    assert len({str(F.max(f"column{number}") + 1) for number in range(100)}) == 100
    gc.collect()
    # Lists that were made for a call are told back by py4j itself.
    told_back = [int(word.split("\n")[2][1:]) for word in words if word.startswith(MEMORY)]
    assert len([number for number in told_back if number > last]) < 20 < len(words)
