"""The list of insights fills a WireView, and every answer has the columns of its fact."""

from dataclasses import fields
from typing import TYPE_CHECKING

from netdiag.traffic.facts import WireView
from netdiag.traffic.insights import ALL, insights, schema_of
from tests.traffic.insights.literal import tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_every_field_of_a_view_has_its_insight() -> None:
    assert set(ALL) == {each.name for each in fields(WireView)}


def test_every_answer_has_the_columns_of_its_fact(spark: "SparkSession") -> None:
    for name, frame in insights(tables(spark)).items():
        declared = {field.name: field.dataType for field in schema_of(ALL[name].fact)}
        assert {field.name: field.dataType for field in frame.schema} == declared, name
