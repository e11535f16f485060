"""A packet at the hooks of the packet filter, with what connection tracking remembers of it on its way.

Each namespace has its own memory: what was translated for a connection's first packet is done to all that follow, and
undone for the answers. Sources: net/netfilter/nf_conntrack_core.c, nf_nat_core.c (nf_nat_inet_fn), nf_nat_proto.c.
"""

from dataclasses import dataclass, field, replace

from netdiag.linux.filtering import ConnectionState, Packet, Surroundings, Traversal, Verdict, traverse
from netdiag.linux.ruleset import RuleAddress, Ruleset, Table
from netdiag.topology.routing import device_address, is_local
from netdiag.topology.terrain import Place

# Where the kernel translates: NF_IP_PRI_NAT_DST, NF_IP_PRI_NAT_SRC.
_TRANSLATION = {"prerouting": -100, "output": -100, "input": 100, "postrouting": 100}
_SOURCE_SIDE = frozenset({"input", "postrouting"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """What connection tracking knows a packet by."""

    source: str
    source_port: int | None
    destination: str
    destination_port: int | None

    @property
    def turned(self) -> "Ends":
        """Those of an answer."""
        return Ends(
            source=self.destination,
            source_port=self.destination_port,
            destination=self.source,
            destination_port=self.source_port,
        )


@dataclass(slots=True, kw_only=True)
class Connection:
    """An entry of connection tracking; `settled` are the sides on which translation has been decided."""

    original: Ends
    reply: Ends
    settled: set[str] = field(default_factory=set)


@dataclass(slots=True, kw_only=True)
class Moving:
    """A packet under way. `answer` is one that goes back to the client.

    `error` is for an answer by ICMP: the address of the machine that sends it; the packet's ends are then those of an
    answer by the server, which the error quotes.
    """

    packet: Packet
    answer: bool = False
    error: str = ""
    track: Connection | None = None
    untracked: bool = False

    @property
    def ends(self) -> Ends:
        """Its addresses and ports now."""
        return ends_of(self.packet)


def ends_of(packet: Packet) -> Ends:
    """Addresses and ports of a packet."""
    return Ends(
        source=packet.source,
        source_port=packet.source_port,
        destination=packet.destination,
        destination_port=packet.destination_port,
    )


class Passage:
    """The memory of all namespaces for one walk."""

    def __init__(self) -> None:
        self._connections: dict[int, list[Connection]] = {}

    def enter(self, moving: Moving) -> None:
        """It has come into a namespace, or by a pair: what was known of it is looked up anew."""
        moving.track = None
        moving.untracked = False

    def hook(
        self,
        place: Place,
        hook: str,
        moving: Moving,
        *,
        in_link: str = "",
        out_link: str = "",
        ports: tuple[str, str] = ("", ""),
        towards: str = "",
    ) -> Traversal:
        """What the rules at a hook make of it; the packet is then as they leave it."""
        if hook in ("prerouting", "output") and moving.track is None and not moving.untracked:
            self._track(place, moving)
        if self._nobody_asked(place, hook, moving):
            return Traversal(verdict=Verdict.ACCEPT, packet=moving.packet, because="no rule against it")
        packet = self._seen(moving, in_link=in_link, out_link=out_link, ports=ports)
        around = surroundings(place, packet.family, towards or packet.destination)
        side = "source" if hook in _SOURCE_SIDE else "destination"
        track = moving.track
        if track is not None and not moving.answer and hook in _TRANSLATION and side not in track.settled:
            found = traverse(place.facts.ruleset, hook, packet, surroundings=around)
            if found.verdict is Verdict.ACCEPT:
                track.settled.add(side)
                _remember(track, side, found.packet)
        else:
            found = self._settled(place, hook, moving, packet, around)
        self._leave(place, hook, moving, found.packet)
        return found

    def _nobody_asked(self, place: Place, hook: str, moving: Moving) -> bool:
        """Whether the hook is empty, and nothing is to be translated at it."""
        track = moving.track
        if hook in place.hooked or place.facts.ruleset.unread:
            return False
        if track is not None and track.reply != track.original.turned:
            return False
        if track is not None and not moving.answer:
            track.settled.add("source" if hook in _SOURCE_SIDE else "destination")
        return True

    def _track(self, place: Place, moving: Moving) -> None:
        known = self._connections.setdefault(place.inode, [])
        ends = moving.ends
        moving.track = next((c for c in known if ends == (c.reply if moving.answer else c.original)), None)
        if moving.track is None and not moving.answer:
            moving.track = Connection(original=ends, reply=ends.turned)
            known.append(moving.track)

    def _seen(self, moving: Moving, *, in_link: str, out_link: str, ports: tuple[str, str]) -> Packet:
        track = moving.track
        first, last = (track.original, track.reply.turned) if track else (moving.ends, moving.ends)
        to_elsewhere = (first.destination, first.destination_port) != (last.destination, last.destination_port)
        from_elsewhere = (first.source, first.source_port) != (last.source, last.source_port)
        packet = replace(
            moving.packet,
            in_link=in_link,
            out_link=out_link,
            in_port=ports[0],
            out_port=ports[1],
            state=_state(moving),
            reply=moving.answer,
            original_destination=first.destination if to_elsewhere else "",
            original_destination_port=first.destination_port if to_elsewhere else None,
            original_source=first.source if from_elsewhere else "",
            original_source_port=first.source_port if from_elsewhere else None,
        )
        if not moving.error:
            return packet
        protocol = "icmp" if packet.family == 4 else "icmpv6"
        return replace(packet, protocol=protocol, source=moving.error, source_port=None, destination_port=None)

    def _settled(self, place: Place, hook: str, moving: Moving, packet: Packet, around: Surroundings) -> Traversal:
        """A hook of a packet whose translations are decided: they are made at their place among the chains."""
        before, after = _split(place, hook)
        first = traverse(before, hook, packet, surroundings=around)
        if first.verdict is not Verdict.ACCEPT:
            return first
        moved = _translated(moving, first.packet, hook)
        second = traverse(after, hook, moved, surroundings=around)
        return replace(
            second,
            hits=(*first.hits, *second.hits),
            deciding=second.deciding or first.deciding,
            because=second.because if second.deciding or second.verdict is not Verdict.ACCEPT else first.because,
        )

    def _leave(self, place: Place, hook: str, moving: Moving, packet: Packet) -> None:
        if packet.state is ConnectionState.UNTRACKED and moving.track is not None:
            known = self._connections.get(place.inode, [])
            if moving.track in known and not moving.answer:
                known.remove(moving.track)
            moving.track, moving.untracked = None, True
        if not moving.error:
            moving.packet = packet
        elif moving.track is not None and hook in _TRANSLATION:
            # Rules saw the error; the packet's own ends are those that it quotes.
            aim = moving.track.original.turned
            moving.packet = (
                replace(moving.packet, source=aim.source, source_port=aim.source_port)
                if hook in _SOURCE_SIDE
                else replace(moving.packet, destination=aim.destination, destination_port=aim.destination_port)
            )


def _split(place: Place, hook: str) -> tuple[Ruleset, Ruleset]:
    """The chains before the translation and those after it, those of type nat left out."""
    found = place.parts.get(hook)
    if found is None:
        at = _TRANSLATION.get(hook, 0)
        ruleset = place.facts.ruleset
        found = (
            replace(ruleset, tables=tuple(_cut(table, hook, at, before=True) for table in ruleset.tables)),
            replace(ruleset, tables=tuple(_cut(table, hook, at, before=False) for table in ruleset.tables)),
        )
        place.parts[hook] = found
    return found


def _cut(table: Table, hook: str, at: int, *, before: bool) -> Table:
    chains = tuple(
        chain
        for chain in table.chains
        if chain.hook != hook or (chain.type != "nat" and (chain.priority <= at) is before)
    )
    return replace(table, chains=chains)


def _state(moving: Moving) -> ConnectionState:
    if moving.untracked:
        return ConnectionState.UNTRACKED
    if moving.track is None:
        # An answer to something that was never seen here.
        return ConnectionState.INVALID if moving.answer else ConnectionState.NEW
    if moving.error:
        return ConnectionState.RELATED
    return ConnectionState.ESTABLISHED if moving.answer else ConnectionState.NEW


def _remember(track: Connection, side: str, packet: Packet) -> None:
    reply = track.reply
    if side == "destination":
        track.reply = replace(reply, source=packet.destination, source_port=packet.destination_port)
    else:
        track.reply = replace(reply, destination=packet.source, destination_port=packet.source_port)


def _translated(moving: Moving, packet: Packet, hook: str) -> Packet:
    """What was decided for the connection, done to one more packet of it."""
    track = moving.track
    if track is None or hook not in _TRANSLATION:
        return packet
    aim = track.original.turned if moving.answer else track.reply.turned
    if hook in _SOURCE_SIDE:
        if moving.error:
            return packet
        return replace(packet, source=aim.source, source_port=aim.source_port)
    if moving.error:
        return replace(packet, destination=aim.destination)
    return replace(packet, destination=aim.destination, destination_port=aim.destination_port)


def surroundings(place: Place, family: int, towards: str) -> Surroundings:
    """What rules ask of the namespace that a packet is in; `towards` is where a masqueraded packet goes next."""

    def address_of(name: str) -> str:
        link = place.by_name.get(name)
        return device_address(place, link.ifindex, family, towards) if link else ""

    return Surroundings(
        is_local=lambda address: is_local(place, address), address_of=address_of, ifindexes=place.ifindexes
    )


def told(found: Traversal) -> tuple[RuleAddress, ...]:
    """The rules that a packet met, the deciding one first."""
    hits = tuple(reversed(found.hits))
    if found.deciding is None:
        return hits
    return (found.deciding, *(rule for rule in hits if rule != found.deciding))
