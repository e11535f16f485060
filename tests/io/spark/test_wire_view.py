"""Tables to the facts that rules judge."""

from typing import TYPE_CHECKING, Any

from netdiag.io.spark.wire_view import wire_view
from netdiag.rules.wire import check_wire
from netdiag.traffic.facts import Coverage, WireView
from tests.traffic.insights.literal import tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ENDS: dict[str, Any] = {"client": "10.0.0.9:40000", "broker": "10.0.0.2:9092", "client_id": "app", "connection": 1}


def test_an_empty_capture_is_an_empty_view(spark: "SparkSession") -> None:
    assert wire_view(tables(spark)) == WireView(coverage=Coverage())


def test_a_view_is_made_of_facts_that_rules_judge(spark: "SparkSession") -> None:
    view = wire_view(
        tables(
            spark,
            connections=[ENDS],
            exchanges=[
                {**ENDS, "api_key": 36, "api_version": 2, "error_code": 58, "time": at, "response_packet": 10 + at}
                for at in range(5)
            ],
        )
    )
    assert [(each.times, each.mechanism, each.topic) for each in view.errors] == [(5, None, None)]
    assert [(finding.rule, finding.service) for finding in check_wire(view)] == [("wire-authentication-failing", "app")]
