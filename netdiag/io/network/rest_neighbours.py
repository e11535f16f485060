"""The services beside the brokers: what members get at their URLs, and what coordinators tell of groups of workers.

A URL is asked for its root, once, from the namespace of each member that is told it or that shares a group with whoever
advertises it: no user, password or path is sent, no redirect followed, and only the first line read. It answers once it
speaks HTTP, for https within TLS, whose certificate nobody checks. Of a group of Connect workers, a broker's plaintext
listener tells the coordinator, and that one the URLs that the workers have registered.
"""

import asyncio
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TypeVar

from netdiag.deployment.model.deployment import Deployment, RestNeighbour
from netdiag.deployment.model.verdict import Address, Answered, Contact, Failed, Reason, Unknown
from netdiag.deployment.neighbours import url_cells
from netdiag.deployment.observation.live_view import LiveVantage, SeenGroup, SeenUrl, SeenWorker
from netdiag.deployment.sources.client_settings import parse_bootstrap_list
from netdiag.errors import NetdiagError
from netdiag.io.kernel.netns import open_namespace
from netdiag.io.network.client_identity import context_of
from netdiag.io.network.connection import Line, PlainLine, Target, TlsBroken, TlsLine
from netdiag.io.network.limits import many_sockets
from netdiag.io.network.name_service import read_name_service
from netdiag.io.network.other_protocols import answers_tls
from netdiag.io.network.prober import Ask, Place, Prober
from netdiag.io.network.resolver import Resolver
from netdiag.kafka.connect_group import (
    LARGEST_ANSWER,
    ConnectGroup,
    Coordinator,
    NoGroup,
    coordinator_request,
    group_request,
    read_coordinator,
    read_group,
)
from netdiag.kafka.protocol import FrameError, FrameSplitter
from netdiag.kafka.rest_services import BOOTSTRAP_PROPERTY, RestService, split_url

_Told = TypeVar("_Told", Coordinator | NoGroup, ConnectGroup | NoGroup)
_EXTRA = 0.7
_CHUNK = 16 * 1024
# Forwards that are tried: ten workers by two.
_MOST_FORWARDS = 100
_MOST_GROUPS = 20
# How long a server is given to refuse a client without a certificate, in seconds.
_TO_OBJECT = 0.5
_TLS_ALERT = b"\x15\x03"
_HTTP = b"HTTP/1."
# What servers say to clients without a certificate: TLS 1.3 (RFC 8446, section 6.2), Java and OpenSSL with TLS 1.2.
# With every cipher on offer, a handshake hardly fails for another reason.
_WANTS_CERTIFICATE = ("alert: certificate required", "alert: bad certificate", "alert: handshake failure")
_Seen = tuple[tuple[SeenGroup, ...], tuple[SeenUrl, ...]]


def read_neighbours(deployment: Deployment, vantages: Sequence[LiveVantage], *, timeout: float) -> _Seen:
    """The groups of the Connect workers that are asked about, and what `url_cells` gave; `timeout` is for one step."""
    workers = [one for one in deployment.neighbours if one.config.service is RestService.CONNECT and one.config.group]
    urls = list(dict.fromkeys((cell.source, cell.url) for cell in url_cells(deployment)))
    inside = {each.vantage.member: each for each in vantages if each.vantage.member}
    with ExitStack() as opened:
        sockets = opened.enter_context(many_sockets())
        places: dict[str, Place] = {}
        for name in dict.fromkeys((*(worker.name for worker in workers), *(source for source, _ in urls))):
            if name not in inside:
                continue
            try:
                namespace = opened.enter_context(open_namespace(inside[name].entrance))
            except NetdiagError:
                # The vantage is among those that were skipped, with the reason.
                continue
            places[name] = Place(namespace=namespace, resolver=Resolver(namespace, read_name_service(namespace)))
        if places:
            return asyncio.run(_read_all(deployment, workers, urls, places, timeout, sockets))
    return (), ()


async def _read_all(
    deployment: Deployment,
    workers: Sequence[RestNeighbour],
    urls: Sequence[tuple[str, str]],
    places: dict[str, Place],
    timeout: float,
    sockets: int,
) -> _Seen:
    deadline = asyncio.get_running_loop().time() + 2 * timeout + _EXTRA
    prober = Prober(patience=timeout, deadline=deadline, sockets=sockets)
    groups: dict[tuple[str, str], RestNeighbour] = {}
    for worker in workers:
        if worker.name in places:
            groups.setdefault((worker.config.group or "", _bootstraps(worker)), worker)
    chosen = list(groups.values())[:_MOST_GROUPS]
    seen_groups, seen_urls = await asyncio.gather(
        asyncio.gather(*(_read(deployment, prober, places, worker) for worker in chosen)),
        _ask_urls(prober, places, urls),
    )
    return tuple(seen_groups), seen_urls


async def _ask_urls(prober: Prober, places: dict[str, Place], urls: Sequence[tuple[str, str]]) -> tuple[SeenUrl, ...]:
    """What members get at URLs, each once."""
    asked = list(dict.fromkeys((source, url) for source, url in urls if source in places))
    contacts = await asyncio.gather(*(_ask_url(prober, places[source], url) for source, url in asked))
    return tuple(
        SeenUrl(source=source, url=url, contact=contact) for (source, url), contact in zip(asked, contacts, strict=True)
    )


async def _read(deployment: Deployment, prober: Prober, places: dict[str, Place], worker: RestNeighbour) -> SeenGroup:
    """One group, as this worker of it can learn of it."""
    name, place = worker.config.group or "", places[worker.name]
    told: Coordinator | ConnectGroup | NoGroup = NoGroup(because="it names no broker")
    for address in parse_bootstrap_list(_bootstraps(worker))[:3]:
        bootstrap = Address(host=address.host, port=address.port)
        told = await _exchange(prober, place, bootstrap, coordinator_request(name), read_coordinator)
        if isinstance(told, Coordinator):
            break
    if isinstance(told, Coordinator):
        coordinator = Address(host=told.host, port=told.port)
        told = await _exchange(prober, place, coordinator, group_request(name), read_group)
    if not isinstance(told, ConnectGroup):
        because = told.because if isinstance(told, NoGroup) else ""
        return SeenGroup(group=name, because=because)
    workers = tuple(
        SeenWorker(
            url=one.url, client_host=one.client_host, member=_member_at(deployment, one.client_host), leads=one.leads
        )
        for one in told.members
    )
    pairs = [
        (source.member, target.url)
        for source in workers
        for target in workers
        if source is not target and source.member in places
    ][:_MOST_FORWARDS]
    return SeenGroup(group=name, workers=workers, forwards=await _ask_urls(prober, places, pairs))


async def _exchange(
    prober: Prober, place: Place, address: Address, request: bytes, read: Callable[[bytes], _Told]
) -> _Told | NoGroup:
    """What a broker answers to one request."""
    told: list[_Told] = []

    async def ask(channel: socket.socket, target: Target, until: float, attempt: int) -> Contact | None:
        frames = FrameSplitter(LARGEST_ANSWER)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout_at(until):
                await loop.sock_sendall(channel, request)
                while data := await loop.sock_recv(channel, _CHUNK):
                    for frame in frames.feed(data):
                        told.append(read(frame))
                        return Answered(node_id=None, cluster_id=None, ip=target.ip)
        except TimeoutError:
            return Failed(reason=Reason.TIMEOUT, because=f"{target} accepted, then silent", ip=target.ip)
        except (OSError, FrameError) as error:
            return Failed(reason=Reason.NOT_KAFKA, because=f"{target}: {error}", ip=target.ip)
        return Failed(reason=Reason.CLOSED, because=f"{target} closed", ip=target.ip)

    contact = await prober.asked(place, address, ask)
    return told[-1] if told else NoGroup(because=contact.because)


async def _ask_url(prober: Prober, place: Place, url: str) -> Contact:
    split = split_url(url)
    if split is None:
        return Failed(reason=Reason.UNRESOLVED, because=f"{url} is not a URL with a port")
    scheme, host, port = split
    # Nothing of the URL but what the expression for it allows.
    request = f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\nAccept: application/json\r\nConnection: close\r\n\r\n".encode()
    ask = _http(request) if scheme == "http" else _https(request, host)
    return await prober.asked(place, Address(host=host, port=port), ask)


def _http(request: bytes) -> Ask:
    """A request for the root of a service, which changes nothing; its first line tells that this is HTTP."""

    async def ask(channel: socket.socket, target: Target, until: float, attempt: int) -> Contact | None:
        if attempt:
            # It closed on HTTP.
            if await answers_tls(channel, until):
                return Failed(reason=Reason.TLS, because=f"{target} closes on HTTP and answers TLS", ip=target.ip)
            return Failed(reason=Reason.CLOSED, because=f"{target} closed", ip=target.ip)
        seen = b""
        try:
            async with asyncio.timeout_at(until):
                seen = await _beginning(PlainLine(channel), request)
        except TimeoutError:
            return Failed(reason=Reason.TIMEOUT, because=f"{target} accepted, then silent", ip=target.ip)
        except OSError:
            pass
        if seen.startswith(_TLS_ALERT):
            return Failed(reason=Reason.TLS, because=f"{target} speaks TLS", ip=target.ip)
        return _judged(seen, target) if seen else None

    return ask


def _https(request: bytes, host: str) -> Ask:
    """The same request within TLS, without a certificate of its own."""

    async def ask(channel: socket.socket, target: Target, until: float, attempt: int) -> Contact | None:
        line, greeted, seen = TlsLine(channel, context_of(None, verify=False), host), False, b""
        try:
            async with asyncio.timeout_at(until):
                await line.greet()
                greeted = True
                if attempt:
                    # A reset may have swallowed what it said to the request: it says so without one, too.
                    async with asyncio.timeout(_TO_OBJECT):
                        await line.receive()
                else:
                    seen = await _beginning(line, request)
        except TimeoutError:
            if attempt and greeted:
                return _closes_within(target)
            return Failed(reason=Reason.TIMEOUT, because=f"{target} accepted, then silent", ip=target.ip)
        except TlsBroken as error:
            if error.words in _WANTS_CERTIFICATE:
                return Unknown(because=f"{target} asks for a client's certificate, it seems ({error.words})")
            said = f"ends TLS: {error.words}" if error.alert or greeted else "does not speak TLS"
            return Failed(reason=Reason.TLS, because=f"{target} {said}", ip=target.ip)
        except OSError:
            if not greeted:
                return Failed(reason=Reason.TLS, because=f"{target} does not speak TLS", ip=target.ip)
        if not seen:
            return _closes_within(target) if attempt else None
        return _judged(seen, target)

    return ask


def _closes_within(target: Target) -> Failed:
    because = f"{target} answers TLS and closes on HTTP within it"
    return Failed(reason=Reason.CLOSED, because=because, ip=target.ip)


async def _beginning(line: Line, request: bytes) -> bytes:
    """As much of an answer as tells whether it is HTTP; b"" for none."""
    await line.send(request)
    seen = b""
    while len(seen) < len(_HTTP) and (data := await line.receive()):
        seen += data
    return seen


def _judged(seen: bytes, target: Target) -> Contact:
    if seen.startswith(_HTTP):
        return Answered(node_id=None, cluster_id=None, ip=target.ip)
    return Failed(reason=Reason.NOT_KAFKA, because=f"{target} does not speak HTTP", ip=target.ip)


def _bootstraps(worker: RestNeighbour) -> str:
    return worker.config.value(BOOTSTRAP_PROPERTY[RestService.CONNECT]) or ""


def _member_at(deployment: Deployment, address: str) -> str:
    """The member that has an address; "" where several do, or none."""
    names = {member.name for member, _ in deployment.members_by_address.get(address, ())}
    return names.pop() if len(names) == 1 else ""
