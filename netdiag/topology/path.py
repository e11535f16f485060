"""The way of a connection's first packet as the kernel would take it, and of the answer: `walk`.

Nothing is sent, nothing is read: an inventory is asked what would happen. What is not modelled ends in UNKNOWN with the
reason. A connection that a docker-proxy takes is followed to the container that it connects to.
"""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, replace

from netdiag.engine.container import Status
from netdiag.linux.filtering import Packet
from netdiag.linux.socket import Listener
from netdiag.topology.asking import Names, Resolved, names_of
from netdiag.topology.delivery import Proxied, described, find_listener, proxied
from netdiag.topology.fates import Delivered, Ended, Fate, at_port
from netdiag.topology.graph import Topology
from netdiag.topology.hops import End, Hop, HopKind, Path
from netdiag.topology.inventory import Inventory
from netdiag.topology.journey import Journey
from netdiag.topology.passage import Moving, Passage
from netdiag.topology.routing import Flow, Way, is_local, look_up, source_address
from netdiag.topology.terrain import Place, Terrain, family_of

_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}
_MOST_PROXIES = 4
_MOST_ADDRESSES = 8
# net.ipv4.ip_local_port_range as the kernel sets it.
_CLIENT_PORTS = (32768, 60999)


def walk(
    topology: Topology | Inventory,
    source: int,
    destination: str,
    port: int,
    protocol: str = "tcp",
    names: Names | None = None,
) -> Path:
    """The way from the namespace of that inode to a name or address; several addresses are tried as clients do."""
    return Walker(topology, names).walk(source, destination, port, protocol)


class Walker:
    """For many walks through one topology."""

    def __init__(self, topology: Topology | Inventory, names: Names | None = None) -> None:
        self.terrain = Terrain(topology.inventory if isinstance(topology, Topology) else topology)
        self._names = names or (names_of(topology) if isinstance(topology, Topology) else None)
        self._frozen = _paused(topology) if isinstance(topology, Topology) else {}

    def walk(
        self, source: int, destination: str, port: int, protocol: str = "tcp", source_port: int | None = None
    ) -> Path:
        """One way."""
        resolved = self._resolve(source, destination)
        if not resolved.addresses:
            end = End.UNKNOWN if resolved.unknown else End.UNRESOLVED
            hop = Hop(kind=HopKind.RESOLVER, netns=source, what=resolved.because)
            return Path(
                source=source,
                destination=destination,
                port=port,
                address="",
                hops=(hop,),
                end=end,
                because=resolved.because,
            )
        hops: list[Hop] = []
        path: Path | None = None
        for address in resolved.addresses[:_MOST_ADDRESSES]:
            if resolved.because:
                hops.append(
                    Hop(kind=HopKind.RESOLVER, netns=source, what=f"{destination} is {address} ({resolved.because})")
                )
            try_ = _Try(self.terrain, self._frozen, protocol, hops)
            outcome = try_.connect(source, _ANY.get(address, address), port, source_port)
            path = Path(
                source=source,
                destination=destination,
                port=port,
                address=address,
                hops=tuple(hops),
                end=outcome.end,
                because=outcome.because,
                errno=outcome.errno,
                target=outcome.target,
                pids=outcome.pids,
            )
            if outcome.end in (End.CONNECTED, End.CLOSED, End.UNKNOWN):
                break
        assert path is not None
        return path

    def _resolve(self, source: int, destination: str) -> Resolved:
        literal = _literal(destination)
        if literal:
            return Resolved(addresses=(literal,), because="")
        if self._names is not None:
            return self._names(source, destination)
        return Resolved(addresses=(), because=f'who "{destination}" is was not asked', unknown=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    end: End
    because: str
    errno: str = ""
    target: int | None = None
    pids: tuple[int, ...] = ()


class _Try:
    """One attempt to connect to one address."""

    def __init__(self, terrain: Terrain, frozen: Mapping[int, str], protocol: str, hops: list[Hop]) -> None:
        self._terrain = terrain
        self._frozen = frozen
        self._protocol = protocol
        self._hops = hops

    def connect(
        self, source: int, address: str, port: int, source_port: int | None = None, *, proxies: int = 0
    ) -> _Outcome:
        journey = Journey(self._terrain, Passage(), self._hops)
        if source_port is None:
            source_port = _client_port(self._terrain.place(source))
        if address.lower().startswith("fe80:"):
            because = "addresses of one link alone (fe80::/10) are not modelled"
            return _Outcome(end=End.UNKNOWN, because=because)
        packet = Packet(
            family=family_of(address),
            protocol=self._protocol,
            source="",
            destination=address.partition("%")[0],
            source_port=source_port,
            destination_port=port,
        )
        moving = Moving(packet=packet)
        fate = journey.carry(source, moving)
        back = _Back(journey=journey, source=source, address=packet.destination, port=port)
        if isinstance(fate, Ended):
            return self._ended(fate, moving, back)
        listener = find_listener(
            fate.place, self._protocol, moving.packet.destination, moving.packet.destination_port or 0, fate.iif
        )
        if listener is None:
            return self._refused(fate, moving, back)
        return self._accepted(fate, listener, moving, back, proxies)

    def _ended(self, fate: Ended, moving: Moving, back: "_Back") -> _Outcome:
        place = self._terrain.place(fate.netns)
        if fate.by is not None and place is not None and not moving.answer:
            lost = back.reset(place, moving) if fate.direct else back.error(place, moving)
            if lost is not None:
                because = f"{fate.because}; what tells the client so does not reach it: {lost.because}"
                end = End.UNKNOWN if lost.end is End.UNKNOWN else End.DROPPED
                return _Outcome(end=end, because=because, target=fate.netns)
        return _Outcome(end=fate.end, because=fate.because, errno=fate.errno, target=fate.netns)

    def _refused(self, fate: Delivered, moving: Moving, back: "_Back") -> _Outcome:
        port, address = moving.packet.destination_port or 0, moving.packet.destination
        if moving.packet.mark:
            because = f"no socket listens on port {port} there, but IPVS, which is not seen, may take what is marked"
            return _Outcome(end=End.UNKNOWN, because=because, target=fate.place.inode)
        elsewhere = [
            f"{one.address}"
            for one in fate.place.facts.listeners
            if one.port == port and one.protocol.value == self._protocol
        ]
        because = f"nobody listens on port {port} there"
        if elsewhere:
            because = f"nobody listens on {at_port(address, port)} there, only on {', '.join(dict.fromkeys(elsewhere))}"
        self._hops.append(Hop(kind=HopKind.SOCKET, netns=fate.place.inode, what=because))
        lost = back.answer(fate.place, moving)
        if lost is not None:
            end = End.UNKNOWN if lost.end is End.UNKNOWN else End.DROPPED
            return _Outcome(end=end, because=f"{because}; the refusal is lost: {lost.because}", target=fate.place.inode)
        return _Outcome(end=End.REFUSED, because=because, errno="ECONNREFUSED", target=fate.place.inode)

    def _accepted(self, fate: Delivered, listener: Listener, moving: Moving, back: "_Back", proxies: int) -> _Outcome:
        inode = fate.place.inode
        who = described(self._terrain.inventory, listener)
        if listener.backlog and listener.queue > listener.backlog:
            because = f"{who} has more connections waiting than it takes ({listener.queue} of {listener.backlog})"
            self._hops.append(Hop(kind=HopKind.SOCKET, netns=inode, what=because))
            return _Outcome(end=End.DROPPED, because=because, target=inode, pids=listener.pids)
        frozen = f" ({self._frozen[inode]}: the kernel accepts, nobody reads)" if inode in self._frozen else ""
        self._hops.append(Hop(kind=HopKind.SOCKET, netns=inode, what=f"{who} listens{frozen}"))
        lost = back.answer(fate.place, moving)
        if lost is not None:
            end = End.UNKNOWN if lost.end is End.UNKNOWN else End.DROPPED
            because = f"{who} answers, but the answer is lost: {lost.because}"
            return _Outcome(end=end, because=because, target=inode, pids=listener.pids)
        behind = proxied(self._terrain.inventory, listener)
        if behind is not None:
            return self._through(behind, who, proxies)
        return _Outcome(end=End.CONNECTED, because=f"{who} accepts{frozen}", target=inode, pids=listener.pids)

    def _through(self, behind: Proxied, who: str, proxies: int) -> _Outcome:
        """A docker-proxy accepts whatever happens behind it, and closes when it gets no connection itself."""
        to = f"{at_port(behind.address, behind.port)}"
        self._hops.append(
            Hop(kind=HopKind.PROXY, netns=behind.netns, what=f"docker-proxy (pid {behind.pid}) connects to {to}")
        )
        if proxies >= _MOST_PROXIES:
            return _Outcome(end=End.UNKNOWN, because=f"{_MOST_PROXIES} docker-proxies one after another")
        outcome = self.connect(behind.netns, behind.address, behind.port, proxies=proxies + 1)
        if outcome.end in (End.CONNECTED, End.CLOSED):
            return outcome
        if outcome.end is End.UNKNOWN:
            return replace(outcome, because=f"{who} accepts; behind it: {outcome.because}")
        because = f"{who} accepts, but gets no connection to {to} and closes: {outcome.because}"
        return replace(outcome, end=End.CLOSED, because=because, errno="")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Back:
    """The way back to the client, which dialled `address`."""

    journey: Journey
    source: int
    address: str
    port: int

    def answer(self, place: Place, moving: Moving) -> Ended | None:
        """A segment of the server; None where it reaches the client as what it waits for."""
        reply = Moving(packet=_turned(moving.packet), answer=True)
        return self._judged(self.journey.carry(place.inode, reply), reply)

    def error(self, place: Place, moving: Moving) -> Ended | None:
        """A message by ICMP about the packet."""
        packet = moving.packet
        if is_local(place, packet.destination):
            sender = packet.destination
        else:
            way = look_up(place, Flow(destination=packet.source))
            sender = source_address(place, way, packet.source) if isinstance(way, Way) else ""
            if not sender:
                return Ended(end=End.DROPPED, because=f"no route back to {packet.source}", netns=place.inode)
        reply = Moving(packet=_turned(packet), answer=True, error=sender)
        return self._judged(self.journey.carry(place.inode, reply), reply)

    def reset(self, place: Place, moving: Moving) -> Ended | None:
        """A segment that a bridge sends back by the port that the packet came by, as it is."""
        return self._judged(Delivered(place=place, iif=0), Moving(packet=_turned(moving.packet)), anywhere=True)

    def _judged(self, fate: Fate, reply: Moving, *, anywhere: bool = False) -> Ended | None:
        if isinstance(fate, Ended):
            return fate
        if fate.place.inode != self.source and not anywhere:
            because = f"the answer to {reply.packet.destination} gets to another namespace than the client's"
            return Ended(end=End.DROPPED, because=because, netns=fate.place.inode)
        came = (reply.packet.source, reply.packet.source_port)
        if came != (self.address, self.port):
            expected = at_port(self.address, self.port)
            because = f"the answer comes from {at_port(came[0], came[1])}, where the client expects {expected}"
            return Ended(end=End.DROPPED, because=because, netns=fate.place.inode)
        return None


def _client_port(place: Place | None) -> int:
    """One of those that the kernel gives to clients; which one it will be is not known, and hardly a rule asks."""
    low, high = (place.facts.settings.local_port_range if place is not None else None) or _CLIENT_PORTS
    return (low + high) // 2


def _turned(packet: Packet) -> Packet:
    return Packet(
        family=packet.family,
        protocol=packet.protocol,
        source=packet.destination,
        destination=packet.source,
        source_port=packet.destination_port,
        destination_port=packet.source_port,
        reply=True,
    )


def _paused(topology: Topology) -> dict[int, str]:
    """Namespaces of containers that are frozen."""
    paused = {id for id, one in topology.containers.items() if one.state.status is Status.PAUSED}
    return {
        place.netns: f"container {topology.containers[place.containers[0]].name} is paused"
        for place in topology.places
        if place.containers and set(place.containers) <= paused
    }


def _literal(destination: str) -> str:
    bare = destination.strip("[]")
    try:
        ipaddress.ip_address(bare)
    except ValueError:
        return ""
    return bare
