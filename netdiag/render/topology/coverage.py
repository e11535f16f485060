"""How much was read and what was not, in one line that every picture carries: "3 namespaces, 9 links, ... read"."""

from netdiag.render.counts import plural
from netdiag.topology.inventory import Inventory

# More reasons than this are counted, not told.
_TOLD = 3


def coverage_of(inventory: Inventory) -> dict[str, int]:
    """How many objects of each kind were read, and how many could not be."""
    spaces = list(inventory.namespaces.values())
    return {
        "namespaces": len(spaces),
        "not_entered": sum(not facts.entered for facts in spaces),
        "links": sum(len(facts.links) for facts in spaces),
        "addresses": sum(len(facts.addresses) for facts in spaces),
        "routes": sum(len(facts.routes) for facts in spaces),
        "rules": sum(len(facts.rules) for facts in spaces),
        "neighbours": sum(len(facts.neighbours) for facts in spaces),
        "fdb": sum(len(facts.fdb) for facts in spaces),
        "vlans": sum(len(facts.vlans) for facts in spaces),
        "listeners": sum(len(facts.listeners) for facts in spaces),
        "filter_rules": sum(
            len(chain.rules) for facts in spaces for table in facts.ruleset.tables for chain in table.chains
        ),
        "unread": len(unread_reasons(inventory)),
    }


def coverage_line(inventory: Inventory) -> str:
    """The counts that people ask for, then what could not be read, with reasons where they are few."""
    counts = coverage_of(inventory)
    nouns = {"namespaces": "namespace", "links": "link", "listeners": "listener", "filter_rules": "filter rule"}
    line = ", ".join(plural(counts[key], noun) for key, noun in nouns.items())
    reasons = list(dict.fromkeys(unread_reasons(inventory)))
    if reasons:
        told = "; ".join(reasons[:_TOLD])
        more = f"; and {len(reasons) - _TOLD} more" if len(reasons) > _TOLD else ""
        line += f"; not read: {told}{more}"
    return line if inventory.complete else f"partial (not all rights): {line}"


def unread_reasons(inventory: Inventory) -> list[str]:
    """Everything that could not be read, with its reason."""
    every = [*inventory.unread, *(unread for facts in inventory.namespaces.values() for unread in facts.unread)]
    rulesets = (reason for facts in inventory.namespaces.values() for reason in facts.ruleset.unread)
    return [*(f"{unread.what} ({unread.because})" for unread in every), *rulesets]
