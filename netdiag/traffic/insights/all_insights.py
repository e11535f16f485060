"""The written-out list of the insights: which field of a WireView each fills, and with which fact."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from netdiag.traffic import facts
from netdiag.traffic.insights import contacts, movements, producing, requests
from netdiag.traffic.insights.shape import Tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """A question to the tables; its answer has the fields of `fact` as columns, and at most `facts.MOST` rows."""

    fact: type
    ask: Callable[[Tables], DataFrame]


ALL: Mapping[str, Insight] = {
    "coverage": Insight(fact=facts.Coverage, ask=contacts.coverage),
    "told": Insight(fact=facts.Told, ask=contacts.told),
    "attempts": Insight(fact=facts.Attempts, ask=contacts.attempts),
    "asked": Insight(fact=facts.Asked, ask=contacts.asked),
    "calls": Insight(fact=facts.Calls, ask=requests.calls),
    "errors": Insight(fact=facts.Errors, ask=requests.errors),
    "group_steps": Insight(fact=facts.GroupStep, ask=movements.group_steps),
    "moves": Insight(fact=facts.Moves, ask=movements.moves),
    "producing": Insight(fact=facts.Producing, ask=producing.producing),
    "acks": Insight(fact=facts.Acks, ask=producing.acks),
    "skews": Insight(fact=facts.Skew, ask=producing.skews),
    "oversized": Insight(fact=facts.Oversized, ask=requests.oversized),
    "idle": Insight(fact=facts.Idle, ask=requests.idle),
    "clusters": Insight(fact=facts.Cluster, ask=contacts.clusters),
}


def insights(tables: Tables) -> Mapping[str, DataFrame]:
    """Every insight of these tables, by the field of a WireView that it fills; nothing is computed yet."""
    return {name: insight.ask(tables) for name, insight in ALL.items()}
