"""The small answers of the insights, collected: what wire rules judge."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from pyspark.sql import DataFrame

from netdiag.traffic.facts import WireView
from netdiag.traffic.insights.all_insights import ALL
from netdiag.traffic.insights.shape import Tables


def wire_view(tables: Tables) -> WireView:
    """Everything that rules are told of these tables; each insight is bounded, so is this."""
    told: dict[str, Any] = {name: _facts(insight.fact, insight.ask(tables)) for name, insight in ALL.items()}
    (told["coverage"],) = told["coverage"]
    return WireView(**told)


def _facts(fact: type, frame: DataFrame) -> tuple[Any, ...]:
    """The rows as facts, in an order that does not depend on how Spark split the work."""
    rows = frame.toArrow().to_pylist()
    return tuple(sorted((_fact(fact, row) for row in rows), key=repr))


def _fact(fact: type, values: Mapping[str, Any]) -> Any:
    """A fact of its fields; what is null has the default."""
    known = {each.name for each in fields(fact)}
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return fact(**{name: value for name, value in given.items() if name in known and value is not None})
