"""A packet at the hooks of the packet filter, with connection tracking and address translation.

Each namespace tracks its own connections: what was translated for the first packet of a connection is done to all that
follow, and undone for the answers.

Sources: net/netfilter/nf_conntrack_core.c, nf_nat_core.c (nf_nat_inet_fn), nf_nat_proto.c.
"""

import dataclasses
import re
from dataclasses import field, replace

from netdiag.linux.filtering.packet import ConnectionState, NamespaceView, Packet
from netdiag.linux.filtering.traversal import Traversal, Verdict, traverse
from netdiag.linux.ruleset import RuleAddress, Ruleset, Table
from netdiag.topology.graph import PathEnd
from netdiag.topology.inventory import IndexedNamespace
from netdiag.topology.path.routing import device_address, is_local
from netdiag.values import dataclass

# Where the kernel translates: NF_IP_PRI_NAT_DST, NF_IP_PRI_NAT_SRC.
_TRANSLATION = {"prerouting": -100, "output": -100, "input": 100, "postrouting": 100}
_SOURCE_SIDE = frozenset({"input", "postrouting"})
# The errno that a program gets for a reject, where it is not ECONNREFUSED (icmp_err_convert of net/ipv4/icmp.c,
# tab_unreach of net/ipv6/icmp.c).
_REJECT_ERRNOS = {
    4: {
        "net-unreachable": "ENETUNREACH",
        "no-route": "ENETUNREACH",
        "net-prohibited": "ENETUNREACH",
        "host-unreachable": "EHOSTUNREACH",
        "host-prohibited": "EHOSTUNREACH",
        "admin-prohibited": "EHOSTUNREACH",
        "prot-unreachable": "ENOPROTOOPT",
        "proto-unreachable": "ENOPROTOOPT",
    },
    6: {
        "no-route": "ENETUNREACH",
        "addr-unreachable": "EHOSTUNREACH",
        "host-unreachable": "EHOSTUNREACH",
        "admin-prohibited": "EACCES",
        "adm-prohibited": "EACCES",
        "policy-fail": "EACCES",
        "reject-route": "EACCES",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionTuple:
    """The addresses and ports by which connection tracking recognises a packet."""

    source: str
    source_port: int | None
    destination: str
    destination_port: int | None

    @property
    def inverted(self) -> "ConnectionTuple":
        """The tuple of an answer."""
        return ConnectionTuple(
            source=self.destination,
            source_port=self.destination_port,
            destination=self.source,
            destination_port=self.source_port,
        )


@dataclasses.dataclass(slots=True, kw_only=True)
class ConntrackEntry:
    """An entry of connection tracking; `settled` are the sides on which translation has been decided."""

    original: ConnectionTuple
    reply: ConnectionTuple
    settled: set[str] = field(default_factory=set)


@dataclasses.dataclass(slots=True, kw_only=True)
class TrackedPacket:
    """A packet on its path. `answer` is one that goes back to the client.

    `error` is for an answer by ICMP: the address of the machine that sends it. The addresses of the packet are then
    those of an answer by the server, which the error quotes.
    """

    packet: Packet
    answer: bool = False
    error: str = ""
    entry: ConntrackEntry | None = None
    untracked: bool = False

    @property
    def tuple(self) -> ConnectionTuple:
        """Its addresses and ports now."""
        return ConnectionTuple(
            source=self.packet.source,
            source_port=self.packet.source_port,
            destination=self.packet.destination,
            destination_port=self.packet.destination_port,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Interfaces:
    """The names of the links by which a packet comes and leaves at a hook; the ports where a bridge calls the hook."""

    in_link: str = ""
    out_link: str = ""
    in_port: str = ""
    out_port: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """The packet has reached the sockets of a namespace; `iif` is the link it came by, 1 for loopback."""

    namespace: IndexedNamespace
    iif: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Undelivered:
    """The packet was lost or refused. `errno` is what the client's program gets, "" for silence.

    `answered` is whether the namespace `netns` tells the client by a packet, which may be lost in turn.
    `direct` is a reset for a frame that a bridge forwards: it is sent back by the port that the frame came by, past all
    hooks, so no translation is undone.
    """

    end: PathEnd
    because: str
    netns: int
    errno: str = ""
    answered: bool = False
    direct: bool = False


PacketOutcome = Delivered | Undelivered


class Netfilter:
    """The tracked connections of all namespaces, for one simulated connection."""

    def __init__(self) -> None:
        self._connections: dict[int, list[ConntrackEntry]] = {}

    def enter(self, tracked: TrackedPacket) -> None:
        """The packet has come into a namespace, or through a pair: its connection is looked up anew."""
        tracked.entry = None
        tracked.untracked = False

    def hook(
        self,
        namespace: IndexedNamespace,
        hook: str,
        tracked: TrackedPacket,
        interfaces: Interfaces,
        towards: str = "",
    ) -> Traversal:
        """What the rules at a hook decide; the packet is then as they leave it.

        `towards` is the next hop, by which the address for masquerading is chosen; "" for the destination.
        """
        if hook in ("prerouting", "output") and tracked.entry is None and not tracked.untracked:
            self._track(namespace, tracked)
        if self._has_nothing_to_do(namespace, hook, tracked):
            return Traversal(verdict=Verdict.ACCEPT, packet=tracked.packet, because="no rule against it")
        packet = self._at_hook(tracked, interfaces)
        context = hook_context(namespace, packet.family, towards or packet.destination)
        side = "source" if hook in _SOURCE_SIDE else "destination"
        entry = tracked.entry
        if entry is not None and not tracked.answer and hook in _TRANSLATION and side not in entry.settled:
            found = traverse(namespace.facts.ruleset, hook, packet, namespace=context)
            if found.verdict is Verdict.ACCEPT:
                entry.settled.add(side)
                _remember(entry, side, found.packet)
        else:
            found = self._settled(namespace, hook, tracked, packet, context)
        self._leave(namespace, hook, tracked, found.packet)
        return found

    def _has_nothing_to_do(self, namespace: IndexedNamespace, hook: str, tracked: TrackedPacket) -> bool:
        """Whether the hook is empty, and nothing is to be translated at it."""
        entry = tracked.entry
        if hook in namespace.hooked or namespace.facts.ruleset.unread:
            return False
        if entry is not None and entry.reply != entry.original.inverted:
            return False
        if entry is not None and not tracked.answer:
            entry.settled.add("source" if hook in _SOURCE_SIDE else "destination")
        return True

    def _track(self, namespace: IndexedNamespace, tracked: TrackedPacket) -> None:
        known = self._connections.setdefault(namespace.inode, [])
        tracked.entry = next((c for c in known if tracked.tuple == (c.reply if tracked.answer else c.original)), None)
        if tracked.entry is None and not tracked.answer:
            tracked.entry = ConntrackEntry(original=tracked.tuple, reply=tracked.tuple.inverted)
            known.append(tracked.entry)

    def _at_hook(self, tracked: TrackedPacket, interfaces: Interfaces) -> Packet:
        """The packet as rules see it."""
        entry = tracked.entry
        first, last = (entry.original, entry.reply.inverted) if entry else (tracked.tuple, tracked.tuple)
        to_elsewhere = (first.destination, first.destination_port) != (last.destination, last.destination_port)
        from_elsewhere = (first.source, first.source_port) != (last.source, last.source_port)
        packet = replace(
            tracked.packet,
            in_link=interfaces.in_link,
            out_link=interfaces.out_link,
            in_port=interfaces.in_port,
            out_port=interfaces.out_port,
            state=_state(tracked),
            reply=tracked.answer,
            original_destination=first.destination if to_elsewhere else "",
            original_destination_port=first.destination_port if to_elsewhere else None,
            original_source=first.source if from_elsewhere else "",
            original_source_port=first.source_port if from_elsewhere else None,
        )
        if not tracked.error:
            return packet
        protocol = "icmp" if packet.family == 4 else "icmpv6"
        return replace(packet, protocol=protocol, source=tracked.error, source_port=None, destination_port=None)

    def _settled(
        self, namespace: IndexedNamespace, hook: str, tracked: TrackedPacket, packet: Packet, context: NamespaceView
    ) -> Traversal:
        """A hook of a packet whose translation is decided: it happens between the chains before and after it."""
        before, after = _split(namespace, hook)
        first = traverse(before, hook, packet, namespace=context)
        if first.verdict is not Verdict.ACCEPT:
            return first
        moved = _translated(tracked, first.packet, hook)
        second = traverse(after, hook, moved, namespace=context)
        return replace(
            second,
            hits=(*first.hits, *second.hits),
            deciding=second.deciding or first.deciding,
            because=second.because if second.deciding or second.verdict is not Verdict.ACCEPT else first.because,
        )

    def _leave(self, namespace: IndexedNamespace, hook: str, tracked: TrackedPacket, packet: Packet) -> None:
        if packet.state is ConnectionState.UNTRACKED and tracked.entry is not None:
            known = self._connections.get(namespace.inode, [])
            if tracked.entry in known and not tracked.answer:
                known.remove(tracked.entry)
            tracked.entry, tracked.untracked = None, True
        if not tracked.error:
            tracked.packet = packet
        elif tracked.entry is not None and hook in _TRANSLATION:
            # Rules saw the error; the packet's own ends are those that it quotes.
            aim = tracked.entry.original.inverted
            tracked.packet = (
                replace(tracked.packet, source=aim.source, source_port=aim.source_port)
                if hook in _SOURCE_SIDE
                else replace(tracked.packet, destination=aim.destination, destination_port=aim.destination_port)
            )


def _split(namespace: IndexedNamespace, hook: str) -> tuple[Ruleset, Ruleset]:
    """The chains before the translation and those after it, those of type nat left out."""
    found = namespace.around_translation.get(hook)
    if found is None:
        at = _TRANSLATION.get(hook, 0)
        ruleset = namespace.facts.ruleset
        found = (
            replace(ruleset, tables=tuple(_cut(table, hook, at, before=True) for table in ruleset.tables)),
            replace(ruleset, tables=tuple(_cut(table, hook, at, before=False) for table in ruleset.tables)),
        )
        namespace.around_translation[hook] = found
    return found


def _cut(table: Table, hook: str, at: int, *, before: bool) -> Table:
    chains = tuple(
        chain
        for chain in table.chains
        if chain.hook != hook or (chain.type != "nat" and (chain.priority <= at) is before)
    )
    return replace(table, chains=chains)


def _state(tracked: TrackedPacket) -> ConnectionState:
    if tracked.untracked:
        return ConnectionState.UNTRACKED
    if tracked.entry is None:
        # An answer to something that was never seen here.
        return ConnectionState.INVALID if tracked.answer else ConnectionState.NEW
    if tracked.error:
        return ConnectionState.RELATED
    return ConnectionState.ESTABLISHED if tracked.answer else ConnectionState.NEW


def _remember(entry: ConntrackEntry, side: str, packet: Packet) -> None:
    reply = entry.reply
    if side == "destination":
        entry.reply = replace(reply, source=packet.destination, source_port=packet.destination_port)
    else:
        entry.reply = replace(reply, destination=packet.source, destination_port=packet.source_port)


def _translated(tracked: TrackedPacket, packet: Packet, hook: str) -> Packet:
    """The translation of the connection, done to one more packet of it."""
    entry = tracked.entry
    if entry is None or hook not in _TRANSLATION:
        return packet
    aim = entry.original.inverted if tracked.answer else entry.reply.inverted
    if hook in _SOURCE_SIDE:
        if tracked.error:
            return packet
        return replace(packet, source=aim.source, source_port=aim.source_port)
    if tracked.error:
        return replace(packet, destination=aim.destination)
    return replace(packet, destination=aim.destination, destination_port=aim.destination_port)


def hook_context(namespace: IndexedNamespace, family: int, towards: str) -> NamespaceView:
    """What rules look up in the namespace; `towards` is the next hop of a masqueraded packet."""

    def address_of(name: str) -> str:
        link = namespace.by_name.get(name)
        return device_address(namespace, link.ifindex, family, towards) if link else ""

    return NamespaceView(
        is_local=lambda address: is_local(namespace, address), address_of=address_of, ifindexes=namespace.ifindexes
    )


def matched_rules(found: Traversal) -> tuple[RuleAddress, ...]:
    """The rules that matched, the deciding one first."""
    hits = tuple(reversed(found.hits))
    if found.deciding is None:
        return hits
    return (found.deciding, *(rule for rule in hits if rule != found.deciding))


def undelivered_at_hook(
    namespace: IndexedNamespace, hook: str, found: Traversal, family: int, *, bridged: bool = False
) -> Undelivered:
    """The outcome at a hook that did not accept; `bridged` is a frame that came by a port of a bridge."""
    because = found.because or hook
    if found.verdict is not Verdict.REJECT:
        end = PathEnd.DROPPED if found.verdict is Verdict.DROP else PathEnd.UNKNOWN
        return Undelivered(end=end, because=because, netns=namespace.inode)
    # "icmp host-unreachable" of nft, "icmp-host-unreachable" of iptables.
    word = re.split(r" |icmp[6x]?-", found.kind)[-1]
    return Undelivered(
        end=PathEnd.REFUSED,
        because=because,
        netns=namespace.inode,
        errno=_REJECT_ERRNOS[family].get(word, "ECONNREFUSED"),
        answered=True,
        # nf_send_reset() of net/ipv4/netfilter/nf_reject_ipv4.c
        direct=bridged and found.kind == "tcp reset",
    )


def address_with_port(address: str, port: int | None) -> str:
    """Address and port as in a URL: "10.0.0.2:9092", "[::1]:9092"."""
    shown = f"[{address}]" if ":" in address else address
    return shown if port is None else f"{shown}:{port}"


def unmodelled_frame_rule(namespace: IndexedNamespace, device: str, *, bridged: bool) -> str:
    """Why rules below the internet layer may drop a frame at a link; "" where there are none.

    `bridged` is a frame on its way through a bridge, where rules of the family bridge apply.
    """
    for table in namespace.facts.ruleset.tables:
        for chain in table.chains:
            if not chain.hook or not (chain.rules or chain.policy == "drop"):
                continue
            if table.family == "bridge" and bridged:
                return f"netdiag does not model rules of the bridge family (table {table.name})"
            if chain.hook in ("ingress", "egress") and (not chain.devices or device in chain.devices):
                return f"netdiag does not model rules at {chain.hook} of {device} (table {table.name})"
    return ""
