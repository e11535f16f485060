"""The written-out list of the insights: which field of a WireView each fills, and with which fact."""

from collections.abc import Callable, Mapping
from dataclasses import field

from pyspark.sql import DataFrame

from netdiag.traffic import facts
from netdiag.traffic.insights import contacts, movements, requests
from netdiag.traffic.insights.shape import Tables
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """A question to the tables; its answer has the fields of `fact` as columns, and at most `facts.MOST` rows.

    Where all tables `of` are without rows the answer has none; without `of` it always has some. `folds`: the fold of a
    table that is enough for it.
    """

    fact: type
    ask: Callable[[Tables], DataFrame]
    of: tuple[str, ...] = ()
    folds: Mapping[str, str] = field(default_factory=dict)

    def no_more_than(self, tables: Tables) -> Tables:
        """These tables, the folded ones in their place as far as there are such."""
        return {**tables, **{of: tables[fold] for of, fold in self.folds.items() if fold in tables}}

    def may_have_rows(self, rows: Mapping[str, int]) -> bool:
        """Whether the answer has any, with so many rows of each table and fold."""
        return not self.of or any(
            rows[self.folds.get(name, name) if self.folds.get(name) in rows else name] > 0 for name in self.of
        )


ALL: Mapping[str, Insight] = {
    "coverage": Insight(fact=facts.Coverage, ask=contacts.coverage),
    "told": Insight(fact=facts.Told, ask=contacts.told, of=("endpoints",), folds={"exchanges": "tellers"}),
    "attempts": Insight(fact=facts.Attempts, ask=contacts.attempts, of=("connections",)),
    "asked": Insight(fact=facts.Asked, ask=contacts.asked, of=("names",)),
    "calls": Insight(fact=facts.Calls, ask=requests.calls, of=("exchanges",), folds={"exchanges": "calls"}),
    "errors": Insight(
        fact=facts.Errors,
        ask=requests.errors,
        of=("exchanges", "partitions", "leaders"),
        folds={"exchanges": "answers", "partitions": "places"},
    ),
    "group_steps": Insight(fact=facts.GroupStep, ask=movements.group_steps, of=("group_events",)),
    "moves": Insight(fact=facts.Moves, ask=movements.moves, of=("endpoints", "leaders")),
    "producing": Insight(fact=facts.Producing, ask=requests.producing, of=("batches",), folds={"batches": "produced"}),
    "acks": Insight(fact=facts.Acks, ask=requests.acks, of=("exchanges",), folds={"exchanges": "acks"}),
    "skews": Insight(fact=facts.Skew, ask=requests.skews, of=("partitions",), folds={"partitions": "places"}),
    "oversized": Insight(
        fact=facts.Oversized,
        ask=requests.oversized,
        of=("exchanges", "partitions"),
        folds={"exchanges": "cut_off", "partitions": "too_large"},
    ),
    "idle": Insight(fact=facts.Idle, ask=requests.idle, of=("exchanges",), folds={"exchanges": "silences"}),
    "clusters": Insight(fact=facts.Cluster, ask=contacts.clusters, of=("endpoints",)),
}


def insights(tables: Tables) -> Mapping[str, DataFrame]:
    """Every insight of these tables, by the field of a WireView that it fills; nothing is computed yet."""
    return {name: insight.ask(insight.no_more_than(tables)) for name, insight in ALL.items()}
