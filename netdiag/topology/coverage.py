"""How much of a machine an inventory holds, in numbers: every topology says so in a line."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from netdiag.topology.inventory import Inventory, Unread


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What was read, and what was not.

    `closed` are namespaces that are known but could not be looked into. `unread_processes` and `unread_facts` count
    with their reasons, the most frequent first; facts are everything but processes.
    """

    namespaces: int
    links: int
    addresses: int
    routes: int
    listeners: int
    filter_rules: int
    closed: int = 0
    unread_processes: tuple[tuple[str, int], ...] = ()
    unread_facts: tuple[tuple[str, int], ...] = ()
    complete: bool = True

    @property
    def processes(self) -> int:
        """How many processes could not be read."""
        return sum(count for _, count in self.unread_processes)

    @property
    def facts(self) -> int:
        """How many other things could not be read."""
        return sum(count for _, count in self.unread_facts)


def measure(inventory: Inventory) -> Coverage:
    """The numbers of an inventory."""
    everything = tuple(inventory.namespaces.values())
    unread = (*inventory.unread, *(one for facts in everything for one in facts.unread))
    processes = tuple(one for one in unread if is_process(one))
    return Coverage(
        namespaces=len(everything),
        links=sum(len(facts.links) for facts in everything),
        addresses=sum(len(facts.addresses) for facts in everything),
        routes=sum(len(facts.routes) for facts in everything),
        listeners=sum(len(facts.listeners) for facts in everything),
        filter_rules=sum(
            len(chain.rules) for facts in everything for table in facts.ruleset.tables for chain in table.chains
        ),
        closed=sum(not facts.entered for facts in everything),
        unread_processes=_by_reason({one.what: one for one in processes}.values()),
        unread_facts=_by_reason(one for one in unread if not is_process(one)),
        complete=inventory.complete,
    )


def is_process(unread: Unread) -> bool:
    """Whether it is a process as a whole that could not be read."""
    return re.fullmatch(r"process \d+", unread.what) is not None


def _by_reason(unread: Iterable[Unread]) -> tuple[tuple[str, int], ...]:
    counted = Counter(one.because for one in unread)
    return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0])))
