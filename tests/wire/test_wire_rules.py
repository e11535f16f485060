"""Every wire rule on a built capture: found with its culprit where it is true, silent in the repaired twin.

All scenes are in one capture, and all twins in another: bytes through the engine, its rows through Spark.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from netdiag.findings import Finding, WireLocation
from netdiag.io.spark.analysis import wire_view
from netdiag.rules.wire import WIRE, check_wire
from netdiag.traffic.arrow import record_batch
from netdiag.traffic.facts import host_of
from netdiag.traffic.tables import NAMES, table
from tests.native.reading import rows_of_bytes
from tests.wire.build.cases import CLIENTS, GROUPS_AND_LEADERS, SECOND_HOP
from tests.wire.build.scenes import Case, capture

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CASES: tuple[Case, ...] = (*SECOND_HOP, *GROUPS_AND_LEADERS, *CLIENTS)

pytestmark = pytest.mark.slow


def tables_of(spark: "SparkSession", data: bytes) -> "dict[str, DataFrame]":
    """What the engine makes of a capture, as Spark has it."""
    rows = rows_of_bytes(data)
    return {
        name: spark.createDataFrame(pa.Table.from_batches([record_batch(table(name), rows[name], unit="us")]))
        for name in NAMES
    }


@pytest.fixture(scope="module")
def found(spark: "SparkSession") -> tuple[Finding, ...]:
    """What is found in the capture of all scenes."""
    return check_wire(wire_view(tables_of(spark, capture(CASES, good=False))))


def culprits(findings: Iterable[Finding], rule: str) -> set[tuple[str, str]]:
    """Client and its address of every finding of a rule."""
    return {
        (finding.service or "", host_of(finding.location.client))
        for finding in findings
        if finding.rule == rule and isinstance(finding.location, WireLocation)
    }


@pytest.mark.parametrize(
    "number", range(1, len(CASES) + 1), ids=[f"{case.rule}-{case.play.__name__}" for case in CASES]
)
def test_a_scene_is_found_with_its_culprit(found: tuple[Finding, ...], number: int) -> None:
    case = CASES[number - 1]
    host = f"10.{number}.0.9"
    expected = (case.culprit.format(number) or case.name, host)
    assert expected in culprits(found, case.rule) or case.culprit == "?"
    assert {place for _, place in culprits(found, case.rule)} >= {host}


def test_nothing_else_is_found_in_any_scene(found: tuple[Finding, ...]) -> None:
    expected = {(case.rule, f"10.{number}.0.9") for number, case in enumerate(CASES, 1)}
    told = {(f.rule, host_of(f.location.client)) for f in found if isinstance(f.location, WireLocation)}
    assert told == expected


def test_the_repaired_twins_are_silent(spark: "SparkSession") -> None:
    assert check_wire(wire_view(tables_of(spark, capture(CASES, good=True)))) == ()


def test_every_rule_has_a_scene() -> None:
    assert {case.rule for case in CASES} == {rule.ID for rule in WIRE}
