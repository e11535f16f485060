"""How much of a machine is in a picture, in one line, and what of it could not be read and why."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from netdiag.render.wording import plural
from netdiag.topology.coverage import Coverage, measure
from netdiag.topology.inventory import Inventory

# More reasons than this are counted, not told.
_TOLD = 3


def coverage_line(inventory: Inventory) -> str:
    """The counts that people ask for, then what could not be read, with the reasons."""
    coverage = measure(inventory)
    parts = [
        plural(coverage.namespaces, "namespace"),
        plural(coverage.links, "link"),
        plural(coverage.listeners, "listener"),
        plural(coverage.filter_rules, "packet filter rule"),
        *_not_read(inventory, coverage),
    ]
    line = ", ".join(parts)
    return line if coverage.complete else f"partial, for want of rights: {line}"


def coverage_value(inventory: Inventory) -> dict[str, Any]:
    """The same for programs."""
    coverage = measure(inventory)
    return {
        "line": coverage_line(inventory),
        "complete": coverage.complete,
        "namespaces": coverage.namespaces,
        "closed": coverage.closed,
        "links": coverage.links,
        "addresses": coverage.addresses,
        "routes": coverage.routes,
        "listeners": coverage.listeners,
        "filter_rules": coverage.filter_rules,
        "unread_processes": _counted(coverage.unread_processes),
        "unread_facts": _counted(coverage.unread_facts),
        "unread_filters": _counted(_filters(inventory)),
    }


def _not_read(inventory: Inventory, coverage: Coverage) -> list[str]:
    parts = [f"{plural(coverage.closed, 'namespace')} not looked into"] if coverage.closed else []
    nouns = (("process", "processes"), ("other fact", "other facts"), ("packet filter", "packet filters"))
    for (one, many), reasons in zip(
        nouns, (coverage.unread_processes, coverage.unread_facts, _filters(inventory)), strict=True
    ):
        count = sum(times for _, times in reasons)
        if count:
            parts.append(f"{count} {one if count == 1 else many} unreadable ({_reasons(reasons)})")
    return parts


def _reasons(reasons: Sequence[tuple[str, int]]) -> str:
    told = "; ".join(reason for reason, _ in reasons[:_TOLD])
    return f"{told}; and {len(reasons) - _TOLD} other reasons" if len(reasons) > _TOLD else told


def _filters(inventory: Inventory) -> tuple[tuple[str, int], ...]:
    counted = Counter(reason for facts in inventory.namespaces.values() for reason in facts.ruleset.unread)
    return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def _counted(reasons: Sequence[tuple[str, int]]) -> list[dict[str, Any]]:
    return [{"because": reason, "count": count} for reason, count in reasons]
