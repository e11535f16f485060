"""The observation: what a client really gets at every vantage x bootstrap address.

`observe` opens the vantages, contacts everything side by side, and gives one cell for each pair. Vantages that cannot
be taken come back with the reason. One call takes at most `timeout` + `_EXTRA` seconds.

Of a mesh, every edge is observed from inside the namespace of its source, within the same deadline. Kafka endpoints are
contacted by the prober that looks at the cells, so an edge that is a cell as well costs nothing. ZooKeeper is asked for
`srvr`; one that closes without a word, by opening a session.
"""

import asyncio
import socket
from collections.abc import Hashable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field, replace

from netdiag.deployment.model.verdict import Address, Answered, Cell, Contact, Failed, Reason, judge
from netdiag.deployment.observation.live_view import LiveVantage, SecuredPort, SeenName, SkippedVantage
from netdiag.deployment.prediction.mesh import Edge, EdgeKind, Mesh, contact_between_members
from netdiag.errors import MissingRight, NetdiagError
from netdiag.io.kernel.netns import open_each, open_namespace, stock
from netdiag.io.network.client_handshake import Speaker
from netdiag.io.network.client_identity import Client
from netdiag.io.network.connection import Target
from netdiag.io.network.limits import many_sockets
from netdiag.io.network.name_service import read_name_service
from netdiag.io.network.prober import Place, Prober
from netdiag.io.network.registry import NO_QUESTIONS, RegistryAnswers, RegistryQuestions, ask_side_by_side
from netdiag.io.network.resolver import Resolver
from netdiag.kafka.other_protocols import Alive, FourLetterWord, NotAlive, SessionOpening
from netdiag.kafka.security import WARN_DAYS, ListenerSecurity, SpokenProtocol
from netdiag.values import dataclass

TIMEOUT = 4.0
# On top of the time for one step: all attempts start within half a second, and then there is the reading.
_EXTRA = 0.7
_CHUNK = 16 * 1024
_MOST_STOCKED = 32
_NOT_ENTERED = "no namespace to connect from was found in it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The cells in the order of vantages and addresses, the vantages that were impossible, and what else to know.

    `mesh` holds the edges that were asked for, as they were seen. `security` is what endpoints told where another than
    a plaintext client is asked for, each once for every name. `names` are the names that have several addresses.
    """

    cells: tuple[Cell, ...]
    skipped: tuple[SkippedVantage, ...] = ()
    notes: tuple[str, ...] = ()
    mesh: Mesh = field(default_factory=Mesh)
    security: tuple[SecuredPort, ...] = ()
    names: tuple[SeenName, ...] = ()
    registry: RegistryAnswers = field(default_factory=RegistryAnswers)


def observe(
    vantages: Sequence[LiveVantage],
    addresses: Sequence[Address],
    *,
    timeout: float = TIMEOUT,
    edges: Sequence[Edge] = (),
    client: Client | None = None,
    warn_days: int = WARN_DAYS,
    registry: RegistryQuestions = NO_QUESTIONS,
) -> Observed:
    """Look from every vantage at every address, and from the members that have one along their edges of the mesh.

    `timeout` is seconds for one step: resolve, connect, or converse. `client` is who connects, None a plaintext
    client; certificates that end within `warn_days` are told of. `registry` is
    asked from these vantages, as far as they can be taken.
    """
    places: list[tuple[LiveVantage, Place]] = []
    skipped: list[SkippedVantage] = []
    notes: list[str] = []
    with ExitStack() as opened:
        sockets = opened.enter_context(many_sockets())
        for each, namespace in zip(vantages, open_each([each.entrance for each in vantages]), strict=True):
            if isinstance(namespace, NetdiagError):
                missing = isinstance(namespace, MissingRight)
                skipped.append(SkippedVantage(vantage=each.vantage, because=str(namespace), rights=missing))
                continue
            opened.enter_context(namespace)
            names = read_name_service(namespace)
            notes += [f"{each.vantage.label}: cannot read {because}" for because in names.unreadable]
            places.append((each, Place(namespace=namespace, resolver=Resolver(namespace, names))))
        security: list[SecuredPort] = []
        cells: list[Cell] = []
        seen: list[Edge] = []
        shared: list[SeenName] = []
        told: list[RegistryAnswers] = []
        # What most addresses need, at once; of several for a place, some share one.
        spaces = [place.namespace for _, place in places]
        stock(spaces, socket.SOCK_STREAM, min(len(addresses), _MOST_STOCKED, sockets // (2 * len(spaces) or 1)))
        stock(spaces, socket.SOCK_DGRAM, 1)
        # Not as the coroutine's result: asyncio.run makes a text of that when it puts the signal handler back.
        looking = _Looking(timeout=timeout, sockets=sockets, client=client, warn_days=warn_days, registry=registry)
        asyncio.run(
            _look(places, tuple(dict.fromkeys(addresses)), looking, cells, edges, seen, security, shared, notes, told)
        )
    reasons = {item.vantage.member: item.because for item in skipped if item.vantage.member}
    mesh = _mesh_of(seen, _inside(places), reasons)
    return Observed(
        cells=tuple(cells),
        skipped=tuple(skipped),
        notes=tuple(notes),
        mesh=mesh,
        security=tuple(security),
        names=tuple(shared),
        registry=told[0],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looking:
    """How it is looked."""

    timeout: float
    sockets: int
    client: Client | None
    warn_days: int
    registry: RegistryQuestions


def ask_for_topics(vantage: LiveVantage, address: Address, *, timeout: float, client: Client | None = None) -> Contact:
    """What the brokers at one address say of all topics, in `Answered.leaderless`; NetdiagError as for namespaces."""
    with many_sockets() as sockets, open_namespace(vantage.entrance) as namespace:
        place = Place(namespace=namespace, resolver=Resolver(namespace, read_name_service(namespace)))
        found: list[Contact] = []
        asyncio.run(_ask_for_topics(place, address, timeout, sockets, Speaker(client), found))
    return found[0]


async def _ask_for_topics(
    place: Place, address: Address, timeout: float, sockets: int, speaker: Speaker, found: list[Contact]
) -> None:
    deadline = asyncio.get_running_loop().time() + timeout + _EXTRA
    prober = Prober(patience=timeout, deadline=deadline, sockets=sockets, speaker=speaker, topics=True)
    found.append(await prober.contact(place, address))


def _inside(places: Sequence[tuple[LiveVantage, Place]]) -> dict[str, Place]:
    return {each.vantage.member: place for each, place in places if each.vantage.member}


async def _look(
    places: Sequence[tuple[LiveVantage, Place]],
    addresses: Sequence[Address],
    looking: _Looking,
    cells: list[Cell],
    edges: Sequence[Edge],
    seen: list[Edge],
    security: list[SecuredPort],
    shared: list[SeenName],
    notes: list[str],
    told: list[RegistryAnswers],
) -> None:
    deadline = asyncio.get_running_loop().time() + looking.timeout + _EXTRA
    speaker = Speaker(looking.client)
    prober = Prober(
        patience=looking.timeout,
        deadline=deadline,
        sockets=looking.sockets,
        speaker=speaker,
        warn_days=looking.warn_days,
    )
    by_label = {each.vantage.label: place for each, place in places}
    registry, along, _ = await asyncio.gather(
        ask_side_by_side(looking.registry, by_label, prober, speaker, deadline),
        _look_along(prober, _inside(places), edges),
        prober.both_hops((place, address) for _, place in places for address in addresses),
    )
    told.append(registry)
    seen += along
    cells += [_cell(prober, each, place, address) for each, place in places for address in addresses]
    shared += await _shared_names(prober, places, cells)
    security += _security(await prober.sights(), places)
    if late := prober.not_in_time():
        notes.append(late)


async def _shared_names(
    prober: Prober, places: Sequence[tuple[LiveVantage, Place]], cells: Sequence[Cell]
) -> list[SeenName]:
    """What each address gives of the names that have several, at bootstrap addresses and advertised endpoints."""
    by_label = {each.vantage.label: place for each, place in places}
    asked = {
        (cell.vantage, address)
        for cell in cells
        if cell.observed is not None
        for address in (cell.bootstrap, *(one.endpoint.address for one in cell.observed.endpoints))
    }
    ordered = sorted(asked)
    found = await asyncio.gather(*(prober.each_address(by_label[label], address) for label, address in ordered))
    return [
        SeenName(vantage=label, address=address, contacts=contacts)
        for (label, address), contacts in zip(ordered, found, strict=True)
        if contacts
    ]


def _security(
    sights: Mapping[tuple[Place, Address], tuple[Hashable, ListenerSecurity]],
    places: Sequence[tuple[LiveVantage, Place]],
) -> list[SecuredPort]:
    """Each target by each name once, from the first vantage; what did not tell anything is left out."""
    order = {place: number for number, (_, place) in enumerate(places)}
    labels = {place: each.vantage.label for each, place in places}
    found: dict[Hashable, SecuredPort] = {}
    for (place, address), (key, sight) in sorted(sights.items(), key=lambda item: (order[item[0][0]], item[0][1])):
        if sight.spoken is not SpokenProtocol.UNKNOWN or sight.tls is not None:
            found.setdefault(key, SecuredPort(vantage=labels[place], address=address, sight=sight))
    return list(found.values())


def _cell(prober: Prober, vantage: LiveVantage, place: Place, address: Address) -> Cell:
    verdict = judge(prober.known(place, address), lambda endpoint: prober.known(place, endpoint.address))
    seconds = prober.seconds(place, address)
    return Cell(vantage=vantage.vantage.label, bootstrap=address, observed=verdict, seconds=seconds)


def _mesh_of(edges: Sequence[Edge], places: Mapping[str, Place], skipped: Mapping[str, str]) -> Mesh:
    """The mesh of observed edges; whoever was not entered is named."""
    missing = sorted({edge.source for edge in edges} - set(places))
    return Mesh(edges=tuple(edges), skipped=tuple((name, skipped.get(name, _NOT_ENTERED)) for name in missing))


async def _look_along(prober: Prober, places: Mapping[str, Place], edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """The edges with what a contact from their source gives; `places` are by member name."""
    known: dict[object, asyncio.Task[Contact]] = {}

    async def observed(edge: Edge) -> Edge:
        place = places.get(edge.source)
        if place is None:
            return edge
        key = (edge.kind is EdgeKind.ZOOKEEPER, place, edge.address)
        if key not in known:
            known[key] = asyncio.create_task(_contact(prober, place, edge))
        contact = await known[key]
        return replace(edge, observed=contact_between_members(contact, edge.kind))

    return tuple(await asyncio.gather(*(observed(edge) for edge in edges)))


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
