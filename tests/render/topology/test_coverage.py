"""The coverage line: counts, and what could not be read with its reason."""

from dataclasses import replace

from netdiag.linux.ruleset import Ruleset
from netdiag.render.topology.lookup import coverage_line, coverage_value
from netdiag.topology.inventory import Unread
from tests.render.topology.namespaces import HOST, broker_netns
from tests.render.topology.topologies import cluster


def test_the_line_tells_what_was_read_and_what_was_not() -> None:
    assert coverage_line(cluster().inventory) == (
        "3 namespaces, 9 links, 10 listeners, 2 packet filter rules, 1 process unreadable (no right to look into it)"
    )


def test_reasons_are_told_once_and_many_are_counted() -> None:
    unread = tuple(Unread(what=f"process {pid}", because=f"reason {pid % 5}") for pid in range(10))
    line = coverage_line(replace(cluster().inventory, unread=unread))
    assert line.endswith("10 processes unreadable (reason 0; reason 1; reason 2; and 2 other reasons)")


def test_namespaces_and_rules_that_could_not_be_read_are_told() -> None:
    inventory = cluster().inventory
    host = replace(inventory.namespaces[HOST], ruleset=Ruleset(unread=("no right to read nf_tables",)))
    closed = replace(inventory.namespaces[broker_netns(1)], entered=False, unread=(Unread(what="x", because="y"),))
    inventory = replace(inventory, namespaces={HOST: host, 1: closed}, unread=(), complete=False)
    line = coverage_line(inventory)
    assert line.startswith("partial, because privileges are missing: 2 namespaces, ")
    assert line.endswith(
        ", 1 namespace not inspected, 1 other fact unreadable (y), "
        "1 packet filter unreadable (no right to read nf_tables)"
    )
    value = coverage_value(inventory)
    assert (value["closed"], value["complete"], value["line"]) == (1, False, line)
    assert value["unread_filters"] == [{"because": "no right to read nf_tables", "count": 1}]
