"""The small answers of the insights, collected: what wire rules judge."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import fields
from typing import Any

from pyspark.sql import DataFrame

from netdiag.traffic.facts import WireView
from netdiag.traffic.insights.all_insights import ALL, Insight
from netdiag.traffic.insights.shape import Tables

# Runs a question beside others.
Submit = Callable[[Callable[[], Any]], Future[Any]]
Answers = Mapping[str, Future[Any]]


def wire_view(tables: Tables, rows: Mapping[str, int] | None = None) -> WireView:
    """Everything that rules are told of these tables; each insight is bounded, so is this.

    `rows`: how many there are of each table, where that is known: what would come out empty is not asked.
    """
    return told_by(ask_all(tables, rows, _at_once))


def ask_all(tables: Tables, rows: Mapping[str, int] | None, submit: Submit) -> Answers:
    """The insights of a `wire_view` under way, beside other questions."""
    return {
        name: submit(lambda insight=insight: _facts(insight.fact, insight.ask(insight.no_more_than(tables))))  # type: ignore[misc]
        for name, insight in ALL.items()
        if _may_be(insight, rows)
    }


def told_by(answers: Answers) -> WireView:
    """The view, once every insight has its answer."""
    told: dict[str, Any] = {name: answers[name].result() if name in answers else () for name in ALL}
    (told["coverage"],) = told["coverage"]
    return WireView(**told)


def _at_once(ask: Callable[[], Any]) -> Future[Any]:
    done: Future[Any] = Future()
    done.set_result(ask())
    return done


def _may_be(insight: Insight, rows: Mapping[str, int] | None) -> bool:
    return rows is None or insight.may_have_rows(rows)


def _facts(fact: type, frame: DataFrame) -> tuple[Any, ...]:
    """The rows as facts, in an order that does not depend on how Spark split the work."""
    rows = frame.toArrow().to_pylist()
    return tuple(sorted((_fact(fact, row) for row in rows), key=repr))


def _fact(fact: type, values: Mapping[str, Any]) -> Any:
    """A fact of its fields; what is null has the default."""
    known = {each.name for each in fields(fact)}
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return fact(**{name: value for name, value in given.items() if name in known and value is not None})
