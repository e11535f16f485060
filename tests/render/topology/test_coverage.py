"""The coverage line: counts, and what could not be read with its reason."""

from dataclasses import replace

from netdiag.linux.ruleset import Ruleset
from netdiag.render.topology.coverage import coverage_line, coverage_of
from netdiag.topology.inventory import Unread
from tests.render.topology.namespaces import HOST
from tests.render.topology.topologies import cluster


def test_counts() -> None:
    counts = coverage_of(cluster().inventory)
    assert (counts["namespaces"], counts["links"], counts["listeners"], counts["filter_rules"]) == (3, 9, 10, 2)
    assert counts["unread"] == 1


def test_the_line_tells_what_was_not_read() -> None:
    assert coverage_line(cluster().inventory) == (
        "3 namespaces, 9 links, 10 listeners, 2 filter rules; not read: process 17 (no right to look into it)"
    )


def test_many_reasons_are_counted() -> None:
    unread = tuple(Unread(what=f"process {pid}", because="gone") for pid in range(9))
    line = coverage_line(replace(cluster().inventory, unread=unread))
    assert line.endswith("process 2 (gone); and 6 more")


def test_rules_that_could_not_be_read_are_told() -> None:
    inventory = cluster().inventory
    host = replace(inventory.namespaces[HOST], ruleset=Ruleset(unread=("no right to read nf_tables",)))
    line = coverage_line(replace(inventory, namespaces={HOST: host}, unread=(), complete=False))
    assert line.startswith("partial (not all rights): 1 namespace, ")
    assert line.endswith("; not read: no right to read nf_tables")
