"""Predict the path of a connection: of its first packet as the kernel would treat it, and of the answer.

Nothing is sent and nothing is read. What is not modelled ends in UNKNOWN with the reason. A connection that a
docker-proxy accepts is followed to the container that the proxy connects to.
"""

import ipaddress
from collections.abc import Mapping
from dataclasses import replace

from netdiag.engine.container import Status
from netdiag.linux.filtering.packet import Packet
from netdiag.linux.sockets import Listener, Protocol
from netdiag.topology.graph import Hop, HopKind, Path, PathEnd, Topology
from netdiag.topology.inventory import IndexedInventory, IndexedNamespace, Inventory, address_bits, family_of
from netdiag.topology.path.name_lookup import Resolution, Resolver, topology_resolver
from netdiag.topology.path.netfilter import Delivered, Netfilter, TrackedPacket, Undelivered, address_with_port
from netdiag.topology.path.routing import ChosenRoute, Flow, is_local, look_up_route, source_address
from netdiag.topology.path.simulation import PacketSimulation
from netdiag.topology.published_ports import PROXY_COMMAND, parse_proxy
from netdiag.values import dataclass

_LOOPBACK_OF_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}
_MOST_PROXIES = 4
_MOST_ADDRESSES = 8
# The kernel's default of net.ipv4.ip_local_port_range.
_CLIENT_PORTS = (32768, 60999)


def predict_path(
    topology: Topology | Inventory,
    source: int,
    destination: str,
    port: int,
    protocol: str = "tcp",
    resolver: Resolver | None = None,
) -> Path:
    """The path from the namespace of that inode to a name or address; several addresses are tried as clients do."""
    return PathPredictor(topology, resolver).predict(source, destination, port, protocol)


class PathPredictor:
    """For many predictions in one topology."""

    def __init__(self, topology: Topology | Inventory, resolver: Resolver | None = None) -> None:
        if isinstance(topology, Topology):
            self._index = IndexedInventory(topology.inventory)
            self._resolver: Resolver | None = resolver or topology_resolver(topology)
            self._paused: Mapping[int, str] = _paused(topology)
        else:
            self._index, self._resolver, self._paused = IndexedInventory(topology), resolver, {}

    def predict(
        self, source: int, destination: str, port: int, protocol: str = "tcp", source_port: int | None = None
    ) -> Path:
        """The path to one destination; `source_port` None is one of the ephemeral ports."""
        resolved = self._resolve(source, destination)
        hops: list[Hop] = []
        address = ""
        outcome = _Outcome(end=PathEnd.UNKNOWN if resolved.unknown else PathEnd.UNRESOLVED, because=resolved.because)
        if not resolved.addresses:
            hops.append(Hop(kind=HopKind.RESOLVER, netns=source, what=resolved.because))
        for address in resolved.addresses[:_MOST_ADDRESSES]:
            if resolved.because:
                what = f"{destination} is {address} ({resolved.because})"
                hops.append(Hop(kind=HopKind.RESOLVER, netns=source, what=what))
            dialled = _LOOPBACK_OF_ANY.get(address, address)
            attempt = _Attempt(self._index, self._paused, hops, source, dialled, port, protocol, source_port)
            outcome = attempt.connect()
            if outcome.end in (PathEnd.CONNECTED, PathEnd.CLOSED, PathEnd.UNKNOWN):
                break
        return Path(
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

    def _resolve(self, source: int, destination: str) -> Resolution:
        literal = destination.strip("[]")
        try:
            ipaddress.ip_address(literal)
        except ValueError:
            if self._resolver is not None:
                return self._resolver(source, destination)
            return Resolution(addresses=(), because=f'"{destination}" was not resolved', unknown=True)
        return Resolution(addresses=(literal,), because="")


def _paused(topology: Topology) -> dict[int, str]:
    """Namespaces whose containers are all paused."""
    paused = {id for id, one in topology.containers.items() if one.state.status is Status.PAUSED}
    return {
        place.netns: f"container {topology.containers[place.containers[0]].name} is paused"
        for place in topology.places
        if place.containers and set(place.containers) <= paused
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    end: PathEnd
    because: str
    errno: str = ""
    target: int | None = None
    pids: tuple[int, ...] = ()


class _Attempt:
    """One attempt to connect to one address; `proxies` is how many docker-proxies it has come through."""

    def __init__(
        self,
        index: IndexedInventory,
        paused: Mapping[int, str],
        hops: list[Hop],
        source: int,
        address: str,
        port: int,
        protocol: str,
        source_port: int | None,
        proxies: int = 0,
    ) -> None:
        self._index = index
        self._paused = paused
        self._hops = hops
        self._netfilter = Netfilter()
        self._source = source
        self._address = address.partition("%")[0]
        self._port = port
        self._proxies = proxies
        self._first = TrackedPacket(
            packet=Packet(
                family=family_of(address),
                protocol=protocol,
                source="",
                destination=self._address,
                source_port=_client_port(index.namespace(source)) if source_port is None else source_port,
                destination_port=port,
            )
        )

    def connect(self) -> _Outcome:
        """What connect(2) gets, and what becomes of the connection behind docker-proxies."""
        if self._address.lower().startswith("fe80:"):
            because = "netdiag does not model link-local addresses (fe80::/10)"
            return _Outcome(end=PathEnd.UNKNOWN, because=because)
        delivered = self._deliver(self._source, self._first)
        if isinstance(delivered, Undelivered):
            return self._undelivered(delivered)
        packet = self._first.packet
        port = packet.destination_port or 0
        listener = find_listener(delivered.namespace, packet.protocol, packet.destination, port, delivered.iif)
        if listener is None:
            return self._refused(delivered.namespace)
        return self._accepted(delivered.namespace, listener)

    def _deliver(self, netns: int, packet: TrackedPacket) -> Delivered | Undelivered:
        return PacketSimulation(self._index, self._netfilter, self._hops, packet).deliver(netns)

    def _undelivered(self, first: Undelivered) -> _Outcome:
        namespace = self._index.namespace(first.netns)
        if first.answered and namespace is not None:
            lost = self._wrong_sender(_reply_to(self._first.packet)) if first.direct else self._error_lost(namespace)
            if lost is not None:
                because = f"{first.because}; the message about it does not reach the client: {lost.because}"
                return _Outcome(end=_end_of_lost(lost), because=because, target=first.netns)
        return _Outcome(end=first.end, because=first.because, errno=first.errno, target=first.netns)

    def _refused(self, namespace: IndexedNamespace) -> _Outcome:
        packet = self._first.packet
        port = packet.destination_port or 0
        if packet.mark:
            because = (
                f"no socket listens on port {port} there, but IPVS, which is not visible, may accept marked packets"
            )
            return _Outcome(end=PathEnd.UNKNOWN, because=because, target=namespace.inode)
        elsewhere = dict.fromkeys(
            one.address
            for one in namespace.facts.listeners
            if one.port == port and one.protocol.value == packet.protocol
        )
        because = f"nothing listens on port {port} there"
        if elsewhere:
            asked = address_with_port(packet.destination, port)
            because = f"nothing listens on {asked} there, only on {', '.join(elsewhere)}"
        self._hops.append(Hop(kind=HopKind.SOCKET, netns=namespace.inode, what=because))
        lost = self._answer_lost(namespace)
        if lost is not None:
            because = f"{because}; the refusal is lost: {lost.because}"
            return _Outcome(end=_end_of_lost(lost), because=because, target=namespace.inode)
        return _Outcome(end=PathEnd.REFUSED, because=because, errno="ECONNREFUSED", target=namespace.inode)

    def _accepted(self, namespace: IndexedNamespace, listener: Listener) -> _Outcome:
        inode = namespace.inode
        who = describe_listener(self._index.inventory, listener)
        if listener.backlog and listener.queue > listener.backlog:
            because = (
                f"{who} has more waiting connections than its backlog allows ({listener.queue} of {listener.backlog})"
            )
            self._hops.append(Hop(kind=HopKind.SOCKET, netns=inode, what=because))
            return _Outcome(end=PathEnd.DROPPED, because=because, target=inode, pids=listener.pids)
        paused = f" ({self._paused[inode]}: the kernel accepts, but no process reads)" if inode in self._paused else ""
        self._hops.append(Hop(kind=HopKind.SOCKET, netns=inode, what=f"{who} listens{paused}"))
        lost = self._answer_lost(namespace)
        if lost is not None:
            because = f"{who} answers, but the response is lost: {lost.because}"
            return _Outcome(end=_end_of_lost(lost), because=because, target=inode, pids=listener.pids)
        return self._behind_proxy(listener, who) or _Outcome(
            end=PathEnd.CONNECTED, because=f"{who} accepts{paused}", target=inode, pids=listener.pids
        )

    def _behind_proxy(self, listener: Listener, who: str) -> _Outcome | None:
        """A docker-proxy accepts in any case, and closes where it gets no connection to the container."""
        processes = [process for pid in listener.pids if (process := self._index.inventory.processes.get(pid))]
        process = next((one for one in processes if one.comm == PROXY_COMMAND and one.netns is not None), None)
        proxy = parse_proxy(process) if process is not None else None
        if process is None or process.netns is None or proxy is None or not proxy.container_ip:
            return None
        to = address_with_port(proxy.container_ip, proxy.container_port)
        what = f"docker-proxy (pid {proxy.pid}) connects to {to}"
        self._hops.append(Hop(kind=HopKind.PROXY, netns=process.netns, what=what))
        if self._proxies >= _MOST_PROXIES:
            return _Outcome(end=PathEnd.UNKNOWN, because=f"{_MOST_PROXIES} docker-proxies in a row")
        outcome = _Attempt(
            self._index,
            self._paused,
            self._hops,
            process.netns,
            proxy.container_ip,
            proxy.container_port,
            self._first.packet.protocol,
            source_port=None,
            proxies=self._proxies + 1,
        ).connect()
        if outcome.end in (PathEnd.CONNECTED, PathEnd.CLOSED):
            return outcome
        if outcome.end is PathEnd.UNKNOWN:
            return replace(outcome, because=f"{who} accepts; behind it: {outcome.because}")
        because = f"{who} accepts, but cannot connect to {to} and closes the connection: {outcome.because}"
        return replace(outcome, end=PathEnd.CLOSED, because=because, errno="")

    def _answer_lost(self, namespace: IndexedNamespace) -> Undelivered | None:
        """Why the server's answer does not reach the client from the address that was dialled; None where it does."""
        return self._reply_lost(namespace, TrackedPacket(packet=_reply_to(self._first.packet), answer=True))

    def _error_lost(self, namespace: IndexedNamespace) -> Undelivered | None:
        """Why an ICMP error about the packet does not reach the client."""
        packet = self._first.packet
        if is_local(namespace, packet.destination):
            sender = packet.destination
        else:
            route = look_up_route(namespace, Flow(destination=packet.source))
            sender = source_address(namespace, route, packet.source) if isinstance(route, ChosenRoute) else ""
            if not sender:
                because = f"no route back to {packet.source}"
                return Undelivered(end=PathEnd.DROPPED, because=because, netns=namespace.inode)
        return self._reply_lost(namespace, TrackedPacket(packet=_reply_to(packet), answer=True, error=sender))

    def _reply_lost(self, namespace: IndexedNamespace, reply: TrackedPacket) -> Undelivered | None:
        outcome = self._deliver(namespace.inode, reply)
        if isinstance(outcome, Undelivered):
            return outcome
        if outcome.namespace.inode != self._source:
            because = f"the response to {reply.packet.destination} arrives in another namespace than the client's"
            return Undelivered(end=PathEnd.DROPPED, because=because, netns=outcome.namespace.inode)
        return self._wrong_sender(reply.packet)

    def _wrong_sender(self, reply: Packet) -> Undelivered | None:
        """A reply from another address than the client dialled. A bridge sends a reset back without translating it."""
        if (reply.source, reply.source_port) == (self._address, self._port):
            return None
        sender, expected = (
            address_with_port(reply.source, reply.source_port),
            address_with_port(self._address, self._port),
        )
        because = f"the response comes from {sender}, but the client expects {expected}"
        return Undelivered(end=PathEnd.DROPPED, because=because, netns=self._source)


def _end_of_lost(lost: Undelivered) -> PathEnd:
    """What a client sees whose answer is lost: silence, unless the reason is not known."""
    return PathEnd.UNKNOWN if lost.end is PathEnd.UNKNOWN else PathEnd.DROPPED


def _client_port(namespace: IndexedNamespace | None) -> int:
    """One of the ephemeral ports; which one it will be is not known, and hardly any rule asks."""
    low, high = (namespace.facts.settings.local_port_range if namespace is not None else None) or _CLIENT_PORTS
    return (low + high) // 2


def _reply_to(packet: Packet) -> Packet:
    return Packet(
        family=packet.family,
        protocol=packet.protocol,
        source=packet.destination,
        destination=packet.source,
        source_port=packet.destination_port,
        destination_port=packet.source_port,
        reply=True,
    )


def find_listener(namespace: IndexedNamespace, protocol: str, address: str, port: int, iif: int) -> Listener | None:
    """The socket with the closest address to that of a packet which came by link `iif` (net/ipv4/inet_hashtables.c)."""
    wanted = Protocol.UDP if protocol == "udp" else Protocol.TCP
    fitting = [
        listener
        for listener in namespace.facts.listeners
        if listener.port == port and listener.protocol is wanted and listener.ifindex in (None, iif)
    ]
    scored = [(score, index) for index, one in enumerate(fitting) if (score := _closeness(one, address)) is not None]
    return fitting[max(scored, key=lambda one: (one[0], -one[1]))[1]] if scored else None


def _closeness(listener: Listener, address: str) -> int | None:
    """None where the socket does not serve the address; higher for one bound to it than for one bound to all."""
    bound = ipaddress.ip_address(listener.address.partition("%")[0])
    device = 4 if listener.ifindex is not None else 0
    mapped = bound.ipv4_mapped if isinstance(bound, ipaddress.IPv6Address) else None
    if family_of(address) == 4:
        if mapped is not None or bound.version == 4:
            closest = mapped or bound
            if int(closest) == address_bits(address):
                return device + 3
            return device + 1 if int(closest) == 0 else None
        return device if int(bound) == 0 and not listener.v6only else None
    if bound.version == 4 or mapped is not None:
        return None
    if int(bound) == address_bits(address):
        return device + 3
    return device + 1 if int(bound) == 0 else None


def describe_listener(inventory: Inventory, listener: Listener) -> str:
    """A socket with its program: "java (pid 17) on 0.0.0.0:9092"."""
    shown = f"[{listener.address}]" if ":" in listener.address else listener.address
    where = f"{shown}:{listener.port}"
    owners = [inventory.processes[pid] for pid in listener.pids if pid in inventory.processes]
    if owners:
        return f"{owners[0].comm} (pid {owners[0].pid}) on {where}"
    if listener.pids:
        return f"process {listener.pids[0]} on {where}"
    return f"the kernel on {where}" if not listener.inode else f"a socket on {where}"
