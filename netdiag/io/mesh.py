"""Observing a mesh: every edge from inside the namespace of its source, all side by side, within one deadline.

Kafka endpoints are contacted by the prober that looks at the cells, so an edge that is a cell as well costs nothing.
ZooKeeper is asked for `srvr`; one that closes without a word, by opening a session.
"""

import asyncio
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from netdiag.deployment.model.contact import Answered, Contact, Failed, Reason
from netdiag.deployment.observation.live_view import LiveVantage
from netdiag.deployment.prediction.mesh import Edge, EdgeKind, Mesh, contact_between_members
from netdiag.errors import NetdiagError
from netdiag.io.connection import Target
from netdiag.io.kernel.netns import open_namespace
from netdiag.io.limits import many_sockets
from netdiag.io.name_service import read_name_service
from netdiag.io.prober import Place, Prober
from netdiag.io.resolver import Resolver
from netdiag.kafka.zookeeper import Alive, FourLetterWord, NotAlive, SessionOpening
from netdiag.values import dataclass

TIMEOUT = 4.0
_EXTRA = 0.7
_CHUNK = 16 * 1024
_NOT_ENTERED = "no place to look from was found in it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What is to be looked at, for a run of its own."""

    stances: tuple[LiveVantage, ...]
    edges: tuple[Edge, ...]
    timeout: float = TIMEOUT


def observe_mesh(look: Look) -> Mesh:
    """The mesh, looked at alone; takes at most the time-out and a little more."""
    places: dict[str, Place] = {}
    skipped: dict[str, str] = {}
    wanted = {edge.source for edge in look.edges}
    edges: list[Edge] = []
    with ExitStack() as opened:
        sockets = opened.enter_context(many_sockets())
        for stance in look.stances:
            member = stance.vantage.member
            if member is None or member not in wanted or member in places:
                continue
            try:
                namespace = opened.enter_context(open_namespace(stance.entrance))
            except NetdiagError as error:
                skipped[member] = str(error)
                continue
            names = read_name_service(namespace)
            places[member] = Place(namespace=namespace, resolver=Resolver(namespace, names))
        asyncio.run(_alone(look, places, sockets, edges))
    return mesh_of(edges, places, skipped)


def mesh_of(edges: Sequence[Edge], places: Mapping[str, Place], skipped: Mapping[str, str]) -> Mesh:
    """The mesh of observed edges; whoever was not entered is named."""
    missing = sorted({edge.source for edge in edges} - set(places))
    return Mesh(edges=tuple(edges), skipped=tuple((name, skipped.get(name, _NOT_ENTERED)) for name in missing))


async def _alone(look: Look, places: Mapping[str, Place], sockets: int, edges: list[Edge]) -> None:
    deadline = asyncio.get_running_loop().time() + look.timeout + _EXTRA
    prober = Prober(patience=look.timeout, deadline=deadline, sockets=sockets)
    edges += await look_along(prober, places, look.edges)


async def look_along(prober: Prober, places: Mapping[str, Place], edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """The edges with what a contact from their source gives; `places` are by member name."""
    known: dict[object, asyncio.Task[Contact]] = {}

    async def look(edge: Edge) -> Edge:
        place = places.get(edge.source)
        if place is None:
            return edge
        key = (edge.kind is EdgeKind.ZOOKEEPER, place, edge.address)
        if key not in known:
            known[key] = asyncio.create_task(_contact(prober, place, edge))
        contact = await known[key]
        return replace(edge, observed=contact_between_members(contact, edge.kind))

    return tuple(await asyncio.gather(*(look(edge) for edge in edges)))


async def _contact(prober: Prober, place: Place, edge: Edge) -> Contact:
    if edge.kind is not EdgeKind.ZOOKEEPER:
        return await prober.contact(place, edge.address, edge.node_id)
    return await prober.asked(place, edge.address, _ask_zookeeper)


async def _ask_zookeeper(channel: socket.socket, target: Target, until: float, attempt: int) -> Contact | None:
    """What ZooKeeper says on a connected socket; None where it is to be asked on another one."""
    talk: FourLetterWord | SessionOpening = FourLetterWord() if attempt == 0 else SessionOpening()
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout_at(until):
            await loop.sock_sendall(channel, talk.start())
            while talk.outcome is None:
                data = await loop.sock_recv(channel, _CHUNK)
                if not data:
                    talk.closed()
                    break
                talk.receive(data)
            if isinstance(talk, SessionOpening) and isinstance(talk.outcome, Alive):
                await loop.sock_sendall(channel, talk.farewell())
    except TimeoutError:
        if talk.outcome is None:
            return Failed(reason=Reason.TIMEOUT, because=f"{target} accepted, then silent", ip=target.ip)
    except OSError:
        talk.closed()
    match talk.outcome:
        case Alive() as alive:
            return Answered(node_id=None, cluster_id=None, ip=target.ip, because=alive.said)
        case NotAlive(closed=True) if attempt == 0:
            return None
        case NotAlive() as dead:
            reason = Reason.CLOSED if dead.closed else Reason.NOT_KAFKA
            return Failed(reason=reason, because=f"{target}: {dead.said}", ip=target.ip)
        case None:
            return Failed(reason=Reason.CLOSED, because=f"{target} closed", ip=target.ip)
