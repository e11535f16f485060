"""Explains what a client really got: walks the way again, reads counters where rules may be to blame, names the cause.

Everything that decides is in `netdiag.topology.causes.find_causes`; here is what has to look: hosts files, counters,
one first packet after another. Bounded in how many connections are explained, and in how long counters are read.

The rule that decides about a connection is found by its counter: read, send one SYN, read again, and once more without.
Done for three source ports, from inside the client's namespace; `netdiag.topology.path.attempts` says what they have in
common. Nothing is made in any namespace but sockets, which are closed again before a first packet would be repeated.
"""

import errno
import os
import select
import socket
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial

from netdiag.deployment.model.causes import Cause, Explanation
from netdiag.deployment.model.verdict import Address, Cell, Contact, Failed, Reason, Verdict
from netdiag.errors import NetdiagError
from netdiag.io.kernel.namespaces import enter
from netdiag.io.kernel.netlink import NETFILTER, Channel
from netdiag.io.kernel.netns import Namespace
from netdiag.io.kernel.packet_filter import read_counters, read_policies
from netdiag.io.network.name_service import read_hosts_file
from netdiag.linux.netns import NamedNamespace, NamespaceId, OwnNamespace, ProcessNamespace
from netdiag.linux.ruleset import RuleAddress, Ruleset
from netdiag.topology.causes.failed_connection import FailedConnection
from netdiag.topology.causes.find_causes import find_causes
from netdiag.topology.graph import HopKind, Path, PathEnd, Topology
from netdiag.topology.inventory import Inventory
from netdiag.topology.path.attempts import (
    CounterEvidence,
    CounterWindow,
    Proof,
    rules_counted_every_time,
    rules_without_counter,
)
from netdiag.topology.path.name_lookup import Resolver, topology_resolver
from netdiag.topology.path.prediction import PathPredictor
from netdiag.values import dataclass

MOST = 60
# Seconds for which counters are read; what is left then is explained without.
_BUDGET = 20.0
_REASONS = {
    PathEnd.REFUSED: Reason.REFUSED,
    PathEnd.DROPPED: Reason.TIMEOUT,
    PathEnd.NO_ROUTE: Reason.UNREACHABLE,
    PathEnd.NO_NEIGHBOUR: Reason.UNREACHABLE,
    PathEnd.CLOSED: Reason.CLOSED,
}
ATTEMPTS = 3
MOST_NAMESPACES = 16
# A first packet is repeated after 1 s; neighbours are found long before.
_LONGEST = 0.9
_SHORTEST = 0.12
_STEP = 0.04
_Counts = dict[tuple[int, RuleAddress], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unexplained:
    """A contact that failed: where from, how to get there, and what was predicted of it."""

    vantage: str
    entrance: NamespaceId
    address: Address
    seen: Failed
    predicted: Failed | None = None


def explain_proof(topology: Topology, path: Path, proof: Proof | None) -> tuple[Cause, ...]:
    """Why the way of a trace does not lead to a connection; without a proof nothing is sent for it."""
    names = _names(topology, path.source)
    if proof is None:
        return find_causes(FailedConnection(topology=topology, path=path), names)
    reason = _REASONS.get(proof.end)
    if reason is None:
        return ()
    seen = Failed(reason=reason, because=proof.because, ip=path.address)
    deciding = _counted(topology, path) if _at_rules(path, seen) else None
    return find_causes(FailedConnection(topology=topology, path=path, seen=seen, deciding=deciding), names)


def unexplained(cells: Sequence[Cell], entrances: Mapping[str, NamespaceId]) -> tuple[Unexplained, ...]:
    """Every contact that failed, once; those of bootstrap addresses first."""
    found: dict[tuple[str, Address], Unexplained] = {}
    for first in (True, False):
        for cell in cells:
            entrance = entrances.get(cell.vantage)
            if cell.observed is None or entrance is None:
                continue
            for address, contact in _contacts(cell.bootstrap, cell.observed, first=first):
                if isinstance(contact, Failed) and (cell.vantage, address) not in found:
                    found[cell.vantage, address] = Unexplained(
                        vantage=cell.vantage,
                        entrance=entrance,
                        address=address,
                        seen=contact,
                        predicted=_predicted(cell, address),
                    )
    return tuple(found.values())


def explain(topology: Topology, asked: Sequence[Unexplained]) -> tuple[Explanation, ...]:
    """The causes of each, as many as are explained at all; what has no cause is left out."""
    until = time.monotonic() + _BUDGET
    found: list[Explanation] = []
    for one in asked[:MOST]:
        netns = namespace_of(topology, one.entrance)
        if netns is None:
            continue
        names = _names(topology, netns)
        path = PathPredictor(topology, names).predict(netns, one.seen.ip or one.address.host, one.address.port)
        counting = time.monotonic() < until and _at_rules(path, one.seen)
        deciding = _counted(topology, path) if counting else None
        failing = FailedConnection(
            topology=topology, path=path, seen=one.seen, deciding=deciding, predicted=one.predicted
        )
        because = find_causes(failing, names)
        if because:
            found.append(Explanation(vantage=one.vantage, address=one.address, causes=because))
    return tuple(found)


def namespace_of(topology: Topology, entrance: NamespaceId) -> int | None:
    """The namespace that a way in leads to."""
    match entrance:
        case OwnNamespace():
            return topology.inventory.own
        case ProcessNamespace():
            try:
                return os.stat(f"/proc/{entrance.pid}/ns/net").st_ino
            except OSError:
                return None
        case NamedNamespace():
            namespaces = topology.inventory.namespaces.items()
            return next((inode for inode, facts in namespaces if entrance.name in facts.netns.names), None)


def watched(topology: Topology, path: Path) -> Collection[int]:
    """The namespaces whose rules may decide: the docker host's, those of the way, and whose address it is."""
    host = topology.named(topology.host) if topology.host else None
    found = [path.source, *([host.netns] if host is not None else []), *(hop.netns for hop in path.hops)]
    owner = FailedConnection(topology=topology, path=path).owner(path.address) if path.address else None
    if owner is not None:
        found.append(owner[0].inode)
    return tuple(dict.fromkeys(found))


def _at_rules(path: Path, seen: Failed) -> bool:
    """Whether a rule may be to blame: silence, and what no closed socket explains."""
    if not path.address or seen.reason in (Reason.UNRESOLVED, Reason.NOT_KAFKA, Reason.TLS, Reason.SASL):
        return False
    last = path.hops[-1].kind if path.hops else None
    at_socket = last is HopKind.SOCKET and path.end is PathEnd.REFUSED and seen.reason is Reason.REFUSED
    at_once = path.end is PathEnd.NO_ROUTE and path.target == path.source
    return not (at_socket or at_once)


def _counted(topology: Topology, path: Path) -> CounterEvidence | None:
    try:
        return find_deciding_rule(
            topology.inventory, path.source, path.address, path.port, watched=watched(topology, path)
        )
    except NetdiagError:
        # Without the rights for it the walk alone explains.
        return None


def _names(topology: Topology, netns: int) -> Resolver:
    facts = topology.inventory.namespaces.get(netns)
    text = read_hosts_file(facts.netns, own=netns == topology.inventory.own) if facts is not None else None
    return topology_resolver(topology, {} if text is None else {netns: text})


def _contacts(bootstrap: Address, verdict: Verdict, *, first: bool) -> list[tuple[Address, Contact]]:
    if first:
        return [(bootstrap, verdict.bootstrap)]
    return [(one.endpoint.address, one.contact) for one in verdict.endpoints]


def _predicted(cell: Cell, address: Address) -> Failed | None:
    if cell.predicted is None:
        return None
    known = [pair for first in (True, False) for pair in _contacts(cell.bootstrap, cell.predicted, first=first)]
    return next((contact for at, contact in known if at == address and isinstance(contact, Failed)), None)


def find_deciding_rule(
    inventory: Inventory, source: int, address: str, port: int, *, watched: Collection[int]
) -> CounterEvidence:
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
