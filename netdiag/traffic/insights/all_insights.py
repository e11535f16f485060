"""The written-out list of the insights: which field of a WireView each fills, and with which fact."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from netdiag.traffic import facts
from netdiag.traffic.insights import contacts, movements, producing, requests
from netdiag.traffic.insights.shape import Tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """A question to the tables; its answer has the fields of `fact` as columns, and at most `facts.MOST` rows.

    Where all tables `of` are without rows the answer has none; without `of` it always has some.
    """

    fact: type
    ask: Callable[[Tables], DataFrame]
    of: tuple[str, ...] = ()


ALL: Mapping[str, Insight] = {
    "coverage": Insight(fact=facts.Coverage, ask=contacts.coverage),
    "told": Insight(fact=facts.Told, ask=contacts.told, of=("endpoints",)),
    "attempts": Insight(fact=facts.Attempts, ask=contacts.attempts, of=("connections",)),
    "asked": Insight(fact=facts.Asked, ask=contacts.asked, of=("names",)),
    "calls": Insight(fact=facts.Calls, ask=requests.calls, of=("exchanges",)),
    "errors": Insight(fact=facts.Errors, ask=requests.errors, of=("exchanges", "partitions", "leaders")),
    "group_steps": Insight(fact=facts.GroupStep, ask=movements.group_steps, of=("group_events",)),
    "moves": Insight(fact=facts.Moves, ask=movements.moves, of=("endpoints", "leaders")),
    "producing": Insight(fact=facts.Producing, ask=producing.producing, of=("batches",)),
    "acks": Insight(fact=facts.Acks, ask=producing.acks, of=("exchanges",)),
    "skews": Insight(fact=facts.Skew, ask=producing.skews, of=("partitions",)),
    "oversized": Insight(fact=facts.Oversized, ask=requests.oversized, of=("exchanges", "partitions")),
    "idle": Insight(fact=facts.Idle, ask=requests.idle, of=("exchanges",)),
    "clusters": Insight(fact=facts.Cluster, ask=contacts.clusters, of=("endpoints",)),
}


def insights(tables: Tables) -> Mapping[str, DataFrame]:
    """Every insight of these tables, by the field of a WireView that it fills; nothing is computed yet."""
    return {name: insight.ask(tables) for name, insight in ALL.items()}
