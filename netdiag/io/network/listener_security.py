"""What a port really speaks, and all that it tells about its security: a closed set, whoever answers.

Asked in this order, each on a connection of its own: Kafka in plaintext (with SaslHandshake, so that a SASL listener
names its mechanisms), TLS from outside, Kafka inside TLS without and with the client's certificate, and where all of
these are met with a closed connection the words of ZooKeeper and HTTP. Nothing is sent that changes anything, and no
credentials: what became of those is known from the client's own conversation.

TLS is looked at from outside: every version is offered alone and the connection ended after the server's first words,
so a look takes a connection a version; a server that speaks TLS 1.3 only says its certificates in secret, for which
OpenSSL greets it once.
"""

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from datetime import UTC, datetime

from netdiag.io.network.certificates import anchored, read_certificates
from netdiag.io.network.client_identity import Client, context_of
from netdiag.io.network.connection import Line, PlainLine, TlsBroken, TlsLine, received
from netdiag.kafka.conversation import Conversation, sasl_conversation
from netdiag.kafka.other_protocols import RANDOM_BYTES, VERSIONS, HelloExchange
from netdiag.kafka.questions import Answered, ApiVersion, ApiVersionsReceived, Failed, FailureKind, without_metadata
from netdiag.kafka.sasl import LoggedIn, Refused
from netdiag.kafka.security import (
    WARN_DAYS,
    Fault,
    ListenerSecurity,
    SaslOffer,
    SpokenProtocol,
    TlsHandshake,
    faults_of,
)
from netdiag.values import dataclass

Dial = Callable[[], AbstractAsyncContextManager[socket.socket | None]]
"""Gives a fresh connection to the endpoint, or None where there is none any more."""

# Its first words tell most: the chain, and whether a client's certificate is wanted.
_FIRST = "TLSv1.2"
_MOST_BYTES = 2 * 1024 * 1024
_WORDS = ((b"srvr", (b"Zookeeper version", b"srvr is not executed"), SpokenProtocol.ZOOKEEPER),)
_HTTP = b"GET / HTTP/1.0\r\n\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenTls:
    """What the server's first words tell; `chain` is DER."""

    versions: tuple[str, ...]
    cipher: str
    chain: tuple[bytes, ...]
    wants_client: bool


async def look_at_tls(dial: Dial, host: str, deadline: float) -> SeenTls | None:
    """Greet in every version; None where nobody answers in TLS. What time does not allow stays unseen."""
    first = await _greet(dial, _FIRST, host, deadline)
    if not first.answered:
        return None
    others = [version for version in VERSIONS if version != _FIRST]
    greetings = {first.version: first}
    for exchange in await asyncio.gather(*(_greet(dial, version, host, deadline) for version in others)):
        greetings[exchange.version] = exchange
    accepted = [greetings[version] for version in VERSIONS if greetings[version].accepted]
    chain = next((one.chain for one in reversed(accepted) if one.chain), ())
    if accepted and not chain:
        chain = await _chain_by_openssl(dial, host, deadline)
    return SeenTls(
        versions=tuple(one.version for one in accepted),
        cipher=accepted[-1].cipher if accepted else "",
        chain=chain,
        wants_client=any(one.wants_client for one in accepted),
    )


async def _greet(dial: Dial, version: str, host: str, deadline: float) -> HelloExchange:
    exchange = HelloExchange(version=version, host=host)
    with suppress(TimeoutError):
        async with asyncio.timeout_at(deadline), dial() as channel:
            if channel is not None:
                await _talk(channel, exchange, deadline)
    return exchange


async def _talk(channel: socket.socket, exchange: HelloExchange, deadline: float) -> None:
    with suppress(TimeoutError, OSError):
        async with asyncio.timeout_at(deadline):
            hello = exchange.hello(os.urandom(RANDOM_BYTES))
            await asyncio.get_running_loop().sock_sendall(channel, hello)
            while not exchange.ended:
                exchange.receive(await received(channel))


async def _chain_by_openssl(dial: Dial, host: str, deadline: float) -> tuple[bytes, ...]:
    with suppress(TimeoutError, OSError, TlsBroken):
        async with asyncio.timeout_at(deadline), dial() as channel:
            if channel is not None:
                line = TlsLine(channel, context_of(None, verify=False), host)
                await line.greet()
                return line.chain
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    """What a Kafka conversation met. `broken` are the words of TLS that ended, `closed` without an answer."""

    spoken: SpokenProtocol | None = None
    sasl: SaslOffer | None = None
    detail: str = ""
    broken: str = ""
    closed: bool = False


async def read_security(
    dial: Dial,
    host: str,
    *,
    client: Client | None,
    login: LoggedIn | Refused | None,
    warn_days: int = WARN_DAYS,
    deadline: float,
) -> ListenerSecurity:
    """The sight of one endpoint, asked for by `host`; never an exception for what a stranger does."""
    plain = await _ask(dial, None, host, deadline)
    if plain.spoken is not None:
        return ListenerSecurity(spoken=plain.spoken, detail=plain.detail, sasl=_with_login(plain.sasl, login))
    seen = await look_at_tls(dial, host, deadline)
    if seen is None:
        return await _by_words(dial, plain, deadline)
    inside, needs_client = await _inside(dial, host, client, seen, deadline)
    tls = TlsHandshake(
        versions=seen.versions,
        cipher=seen.cipher,
        chain=read_certificates(seen.chain),
        wants_client=seen.wants_client or needs_client,
        needs_client=needs_client,
        faults=tuple((fault.fault, fault.detail) for fault in _faults(seen, host, client, warn_days)),
    )
    spoken, detail = inside.spoken, inside.detail
    if spoken in (SpokenProtocol.PLAINTEXT, SpokenProtocol.SASL_PLAINTEXT):
        spoken = SpokenProtocol.SSL if spoken is SpokenProtocol.PLAINTEXT else SpokenProtocol.SASL_SSL
    elif spoken is None and needs_client:
        spoken, detail = (
            SpokenProtocol.SSL,
            "it ends without a client certificate, so the rest is unknown",
        )
    return ListenerSecurity(
        spoken=spoken or SpokenProtocol.UNKNOWN,
        detail=detail or inside.broken,
        tls=tls,
        sasl=_with_login(inside.sasl, login),
    )


def _faults(seen: SeenTls, host: str, client: Client | None, warn_days: int) -> tuple[Fault, ...]:
    return faults_of(
        read_certificates(seen.chain),
        hosts=[host],
        anchored=anchored(seen.chain, client.authorities if client and client.properties.uses_tls else None),
        now=datetime.now(UTC),
        warn_days=warn_days,
    )


def _with_login(sasl: SaslOffer | None, login: LoggedIn | Refused | None) -> SaslOffer | None:
    if sasl is None or login is None:
        return sasl
    match login:
        case LoggedIn():
            return replace(sasl, mechanism=login.mechanism, authenticated=True)
        case Refused():
            return replace(sasl, mechanism=login.mechanism, authenticated=False, error=login.detail)


async def _inside(dial: Dial, host: str, client: Client | None, seen: SeenTls, deadline: float) -> tuple[_Heard, bool]:
    """What is heard within TLS, and whether that takes a client's certificate."""
    without = await _ask(dial, False, host, deadline)
    if without.closed and not without.broken:
        # In TLS 1.3 the alert comes after the handshake, and is lost where the server has not read what was sent.
        without = replace(without, broken=await _alert(dial, host, deadline))
    refused = "certificate" in without.broken or bool(seen.wants_client and (without.broken or without.closed))
    if not refused:
        return without, False
    if client is not None and client.key:
        return await _ask(dial, client, host, deadline), True
    return without, True


async def _alert(dial: Dial, host: str, deadline: float) -> str:
    """Why the server ends right after the handshake; to be asked of one that does."""
    with suppress(TimeoutError, OSError):
        async with asyncio.timeout_at(deadline), dial() as channel:
            if channel is not None:
                line = TlsLine(channel, context_of(None, verify=False), host)
                try:
                    await line.greet()
                    await line.receive()
                except TlsBroken as error:
                    return error.words
    return ""


async def _ask(dial: Dial, over: Client | bool | None, host: str, deadline: float) -> _Heard:
    """Converse in plaintext (None), in TLS as nobody (False) or in TLS as a client."""
    heard = _Heard(detail="no answer in time")
    with suppress(TimeoutError):
        async with asyncio.timeout_at(deadline), dial() as channel:
            if channel is None:
                return _Heard(detail="it accepts no connection any more")
            heard = await _converse(channel, over, host)
    return heard


async def _converse(channel: socket.socket, over: Client | bool | None, host: str) -> _Heard:
    talk = sasl_conversation()
    offered: tuple[ApiVersion, ...] = ()
    count = 0
    try:
        line: Line = PlainLine(channel)
        if over is not None:
            tls = TlsLine(channel, context_of(over if isinstance(over, Client) else None, verify=False), host)
            await tls.greet()
            line = tls
        await line.send(talk.start())
        while talk.outcome is None:
            data = await line.receive()
            count += len(data)
            if not data or count > _MOST_BYTES:
                talk.closed()
                break
            for event in talk.receive(data):
                if isinstance(event, ApiVersionsReceived):
                    offered = event.api_versions
            if reply := talk.bytes_to_send():
                await line.send(reply)
    except TlsBroken as error:
        return _Heard(broken=error.words)
    except OSError:
        if talk.waiting_for is None:
            return _Heard(closed=True)
        talk.closed()
    return _heard(talk, offered)


def _heard(talk: Conversation, offered: tuple[ApiVersion, ...]) -> _Heard:
    outcome = talk.outcome
    controller = bool(offered) and without_metadata(offered)[1] == "KRaft controller" and not _has_metadata(offered)
    match outcome:
        case Answered():
            return _Heard(spoken=SpokenProtocol.CONTROLLER if controller else SpokenProtocol.PLAINTEXT)
        case Failed(kind=FailureKind.SASL):
            sasl = SaslOffer(mechanisms=outcome.mechanisms)
            return _Heard(
                spoken=SpokenProtocol.CONTROLLER if controller else SpokenProtocol.SASL_PLAINTEXT,
                sasl=sasl,
                detail=outcome.detail,
            )
        case Failed(kind=FailureKind.NOT_KAFKA):
            named = {
                "HTTP": SpokenProtocol.HTTP,
                "ZooKeeper": SpokenProtocol.ZOOKEEPER,
                "KRaft controller": SpokenProtocol.CONTROLLER,
            }
            return _Heard(spoken=named.get(outcome.speaks or "", SpokenProtocol.UNKNOWN), detail=outcome.detail)
        case Failed():
            return _Heard(closed=outcome.kind is FailureKind.CLOSED, detail=outcome.detail)
    return _Heard(detail="it did not finish")


def _has_metadata(offered: tuple[ApiVersion, ...]) -> bool:
    return any(api.api_key == 3 for api in offered)


async def _by_words(dial: Dial, plain: _Heard, deadline: float) -> ListenerSecurity:
    """Who closes on everything that is not its own language is asked in that."""
    if plain.closed:
        for question, answers, spoken in (*_WORDS, (_HTTP, (b"HTTP/",), SpokenProtocol.HTTP)):
            said = await _first_words(dial, question, deadline)
            if said.startswith(answers):
                return ListenerSecurity(spoken=spoken)
    return ListenerSecurity(spoken=SpokenProtocol.UNKNOWN, detail=plain.detail or plain.broken)


async def _first_words(dial: Dial, question: bytes, deadline: float) -> bytes:
    with suppress(TimeoutError, OSError):
        async with asyncio.timeout_at(deadline), dial() as channel:
            if channel is not None:
                await asyncio.get_running_loop().sock_sendall(channel, question)
                return (await received(channel))[:64]
    return b""
