"""Facts about the wire for tests: the examples of wire rules, each fact placed at its line."""

from dataclasses import fields
from typing import Any

from ruamel.yaml import YAML

from netdiag.traffic import facts
from netdiag.traffic.facts import SECOND, WireView

FILE = "capture.pcap"
_KINDS = {
    "advertised_endpoints": facts.AdvertisedEndpoint,
    "attempts": facts.Attempts,
    "name_lookups": facts.NameLookup,
    "request_counts": facts.RequestCounts,
    "errors": facts.Errors,
    "group_steps": facts.GroupStep,
    "moves": facts.Moves,
    "produced_batches": facts.ProducedBatches,
    "acks": facts.Acks,
    "skews": facts.Skew,
    "oversized": facts.Oversized,
    "idle_connections": facts.IdleConnections,
    "clusters": facts.Cluster,
}


def wire_view_of(text: str) -> WireView:
    """The view that a YAML text tells; the number of a fact's packet is its line, times are in seconds."""
    document = YAML(typ="rt", pure=True).load(text)
    assert set(document) <= {*_KINDS, "coverage"}, document
    coverage = facts.Coverage(**_values(dict(document.pop("coverage", {}))))
    told: dict[str, Any] = {
        name: tuple(
            _KINDS[name](**{"packet": entries.lc.item(number)[0] + 1, "file": FILE, **_values(dict(entry))})
            for number, entry in enumerate(entries)
        )
        for name, entries in document.items()
    }
    return WireView(coverage=coverage, **told)


def _values(entry: dict[str, Any]) -> dict[str, Any]:
    entry.setdefault("last", entry.get("time", 0))
    return {name: _value(name, value) for name, value in entry.items()}


def _value(name: str, value: Any) -> Any:
    if name in ("time", "last"):
        return int(value * SECOND)
    return tuple(value) if isinstance(value, list) else value


assert set(_KINDS) | {"coverage"} == {each.name for each in fields(WireView)}
