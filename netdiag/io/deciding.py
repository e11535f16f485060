"""The rule that decides about a connection, by its counter: read, send one SYN, read again, and once more without.

Done for three source ports, from inside the client's namespace; `netdiag.topology.path.attempts` says what they have in
common. Nothing is made in any namespace but sockets, which are closed again before a first packet would be repeated.
"""

import errno
import select
import socket
import time
from collections.abc import Collection, Iterable
from contextlib import ExitStack
from functools import partial

from netdiag.errors import NetdiagError
from netdiag.io.kernel.namespaces import enter
from netdiag.io.kernel.netlink import NETFILTER, Channel
from netdiag.io.kernel.netns import Namespace
from netdiag.io.kernel.packet_filter import read_counters, read_policies
from netdiag.linux.ruleset import RuleAddress, Ruleset
from netdiag.topology.inventory import Inventory
from netdiag.topology.path.attempts import (
    CounterEvidence,
    CounterWindow,
    rules_counted_every_time,
    rules_without_counter,
)

ATTEMPTS = 3
MOST_NAMESPACES = 16
# A first packet is repeated after 1 s; neighbours are found long before.
_LONGEST = 0.9
_SHORTEST = 0.12
_STEP = 0.04

_Counts = dict[tuple[int, RuleAddress], int]


def decide(inventory: Inventory, source: int, address: str, port: int, *, watched: Collection[int]) -> CounterEvidence:
    """Which rules of the `watched` namespaces every attempt from `source` moves; NetdiagError if none can be made.

    Takes at most 6 s, and about 1 s where rules move. What nobody counts is not attempted a second time.
    """
    with ExitStack() as opened:
        client = opened.enter_context(enter(inventory, source))
        counters = RuleCounters(inventory, opened, {source: client}, watched)
        windows: list[CounterWindow] = []
        errnos: list[str] = []
        used: set[int] = set()
        for _ in range(ATTEMPTS):
            said, window = _window(counters, client, address, port, used)
            windows.append(window)
            errnos.append(said)
            if not window.during:
                break
        return CounterEvidence(
            errno=errnos[0],
            attempts=len(windows),
            counted=rules_counted_every_time(windows, inventory),
            uncounted=rules_without_counter(counters.rulesets),
            notes=tuple(counters.notes),
        )


class RuleCounters:
    """The counters of all rules of some namespaces, which stay open as long as `opened`."""

    def __init__(
        self, inventory: Inventory, opened: ExitStack, spaces: dict[int, Namespace], watched: Iterable[int]
    ) -> None:
        self._rules: list[tuple[int, Namespace, Ruleset]] = []
        self.notes: list[str] = []
        for netns in dict.fromkeys((*spaces, *watched)):
            facts = inventory.namespaces.get(netns)
            if facts is None or not facts.ruleset.tables:
                continue
            if len(self._rules) >= MOST_NAMESPACES:
                self.notes.append(f"rules of more than {MOST_NAMESPACES} namespaces: the rest is not watched")
                break
            try:
                space = spaces[netns] if netns in spaces else opened.enter_context(enter(inventory, netns))
            except NetdiagError as error:
                self.notes.append(f"not watched: {error}")
                continue
            self._rules.append((netns, space, facts.ruleset))

    @property
    def rulesets(self) -> list[Ruleset]:
        """Those that are watched."""
        return [ruleset for _, _, ruleset in self._rules]

    def read(self) -> _Counts:
        """All of them now; what cannot be read is noted."""
        found: _Counts = {}
        for netns, space, ruleset in self._rules:
            try:
                found |= {(netns, rule): count for rule, count in space.run(partial(_read, ruleset)).items()}
            except NetdiagError as error:
                note = f"counters of rules: {error}"
                if note not in self.notes:
                    self.notes.append(note)
        return found


def risen(before: _Counts, after: _Counts) -> _Counts:
    """What has been counted between two readings."""
    return {key: count - before.get(key, 0) for key, count in after.items() if count > before.get(key, 0)}


def _read(ruleset: Ruleset) -> dict[RuleAddress, int]:
    with Channel(NETFILTER) as channel:
        return {**read_counters(channel, ruleset), **read_policies(channel, ruleset)}


def _window(
    counters: RuleCounters, client: Namespace, address: str, port: int, used: set[int]
) -> tuple[str, CounterWindow]:
    """One attempt, and the same time without one."""
    with _bound(client, address, used) as channel:
        before = counters.read()
        began = time.monotonic()
        number = channel.connect_ex((address.partition("%")[0], port))
        now, said = _settled(counters, channel, before, number, began)
    took = time.monotonic() - began
    between = counters.read()
    time.sleep(max(0.0, min(took, _LONGEST)))
    return said, CounterWindow(during=risen(before, now), after=risen(between, counters.read()))


def _settled(
    counters: RuleCounters, channel: socket.socket, before: _Counts, number: int, began: float
) -> tuple[_Counts, str]:
    """The counters once they stand still, and what connect(2) has said by then."""
    poll = select.poll()
    poll.register(channel, select.POLLOUT)
    last: _Counts = {}
    while True:
        time.sleep(_STEP)
        now = counters.read()
        if number == errno.EINPROGRESS and poll.poll(0):
            number = channel.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        waited = time.monotonic() - began
        still = now == last and (now != before or number != errno.EINPROGRESS)
        if waited >= _LONGEST or (still and waited >= _SHORTEST):
            return now, errno.errorcode.get(number, str(number)) if number else ""
        last = now


def _bound(client: Namespace, address: str, used: set[int]) -> socket.socket:
    """A socket on a port that none of the attempts before had."""
    six = ":" in address
    while True:
        channel = client.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_STREAM)
        channel.bind(("::" if six else "0.0.0.0", 0))
        own: int = channel.getsockname()[1]
        if own not in used or len(used) > ATTEMPTS:
            used.add(own)
            return channel
        channel.close()
