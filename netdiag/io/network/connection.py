"""One connection to one address: connect, converse plainly or within TLS, and say as a value what came of it.

A connection that is accepted proves nothing (docker-proxy accepts for a dead port, the kernel for a frozen process);
only a Kafka answer counts. Every wait gives way to the others of the event loop, also while a peer floods; deadlines
are the caller's.
"""

import asyncio
import errno
import os
import re
import select
import socket
import ssl
from collections.abc import Callable, Sequence
from typing import Protocol

from netdiag.deployment.model.verdict import (
    Address,
    Answered,
    Contact,
    Failed,
    Mechanism,
    NodeEndpoint,
    Reason,
    Unknown,
)
from netdiag.io.network.limits import AnswerAllowance
from netdiag.kafka import questions
from netdiag.kafka.conversation import Conversation
from netdiag.kafka.listeners import parse_listeners, well_formed
from netdiag.kafka.questions import QUORUM, Event, FailureKind
from netdiag.kafka.security import server_name
from netdiag.values import dataclass

CHUNK = 64 * 1024
_IN_BRACKETS = re.compile(r"^\[[^]]*\]\s*|\s*\(_ssl\.c:\d+\)$")
MOST_ENDPOINTS = 1000
_LONGEST_HOST = 255
_REASONS = {
    FailureKind.CLOSED: Reason.CLOSED,
    FailureKind.TLS: Reason.TLS,
    FailureKind.SASL: Reason.SASL,
    FailureKind.NOT_KAFKA: Reason.NOT_KAFKA,
    FailureKind.NO_ANSWER: Reason.TIMEOUT,
}
_OWN_LIMITS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EADDRNOTAVAIL})


class TlsBroken(Exception):
    """TLS came to an end that nobody asked for: an alert, or bytes that are no TLS. `verify_code` is OpenSSL's."""

    def __init__(self, words: str, *, alert: bool = False, verify_code: int = 0) -> None:
        super().__init__(words)
        self.words = words
        self.alert = alert
        self.verify_code = verify_code


class Line(Protocol):
    """What a conversation is held on; `receive` gives b"" at the end. OSError as sockets raise it, or TlsBroken."""

    async def send(self, data: bytes) -> None:
        """Send all of it."""

    async def receive(self) -> bytes:
        """Some bytes."""


class PlainLine:
    """The socket as it is."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel

    async def send(self, data: bytes) -> None:
        """Send all of it."""
        await asyncio.get_running_loop().sock_sendall(self._channel, data)

    async def receive(self) -> bytes:
        """Some bytes."""
        return await received(self._channel)


class TlsLine:
    """TLS on the socket; `greet` comes first. `host` is named to the server where it is a DNS name."""

    def __init__(self, channel: socket.socket, context: ssl.SSLContext, host: str) -> None:
        self._channel = channel
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=server_name(host))

    async def greet(self) -> None:
        """The handshake, as far as it concerns the client: in TLS 1.3 the server may still refuse afterwards."""
        while True:
            try:
                self._tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                await self._feed()
            except ssl.SSLError as error:
                await self._flush()
                raise _broken(error) from None
        await self._flush()

    @property
    def version(self) -> str:
        """What was agreed upon, like TLSv1.3."""
        return self._tls.version() or ""

    @property
    def cipher(self) -> str:
        """What was agreed upon, as OpenSSL calls it."""
        agreed = self._tls.cipher()
        return agreed[0] if agreed else ""

    @property
    def chain(self) -> tuple[bytes, ...]:
        """The server's certificates (DER), its own first; only that one where Python does not give the others."""
        whole = getattr(self._tls, "get_unverified_chain", None)
        if whole is not None:
            return tuple(bytes(one) for one in whole() or ())
        # Python 3.11 and 3.12 have it one level below.
        whole = getattr(getattr(self._tls, "_sslobj", None), "get_unverified_chain", None)
        if whole is not None:
            return tuple(ssl.PEM_cert_to_DER_cert(one.public_bytes()) for one in whole() or ())
        own = self._tls.getpeercert(binary_form=True)
        return (own,) if own else ()

    async def send(self, data: bytes) -> None:
        """Send all of it."""
        while data:
            try:
                data = data[self._tls.write(data) :]
            except ssl.SSLWantReadError:
                await self._feed()
            except ssl.SSLError as error:
                raise _broken(error) from None
        await self._flush()

    async def receive(self) -> bytes:
        """Some bytes."""
        while True:
            try:
                return self._tls.read(CHUNK)
            except ssl.SSLWantReadError:
                await self._feed()
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return b""
            except ssl.SSLError as error:
                raise _broken(error) from None

    async def _feed(self) -> None:
        await self._flush()
        data = await received(self._channel)
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()

    async def _flush(self) -> None:
        if data := self._outgoing.read():
            await asyncio.get_running_loop().sock_sendall(self._channel, data)


async def received(channel: socket.socket) -> bytes:
    """Some bytes of a socket; b"" at the end. The others have their turn even while there is always more."""
    await asyncio.sleep(0)
    return await asyncio.get_running_loop().sock_recv(channel, CHUNK)


def _broken(error: ssl.SSLError) -> TlsBroken:
    """OpenSSL's words without its file names."""
    reason = error.reason or ""
    code = error.verify_code if isinstance(error, ssl.SSLCertVerificationError) else 0
    if code and isinstance(error, ssl.SSLCertVerificationError):
        return TlsBroken(error.verify_message, verify_code=code)
    # the latter from Python 3.11.2, Debian 12's
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return TlsBroken("closed during the handshake")
    alert = "_ALERT_" in reason
    words = reason.partition("_ALERT_")[2] if alert else reason
    text = words.replace("_", " ").lower() or _IN_BRACKETS.sub("", str(error))
    return TlsBroken(f"alert: {text}" if alert else text, alert=alert)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An address as a socket takes it."""

    ip: str
    port: int

    @property
    def family(self) -> socket.AddressFamily:
        """The address family of `ip`."""
        return socket.AF_INET6 if ":" in self.ip else socket.AF_INET

    def __str__(self) -> str:
        return str(Address(host=self.ip, port=self.port))


async def connect(channel: socket.socket, target: Target, deadline: float, patience: float) -> Failed | Unknown | None:
    """Connect; None when it was accepted. `patience` is how long the attempt may take, for the words of a time-out."""
    loop = asyncio.get_running_loop()
    begin = loop.time()
    number = channel.connect_ex((target.ip, target.port))
    # Within one machine, the answer is often there at once, which saves the loop the waiting.
    come = _come_meanwhile(channel) if number == errno.EINPROGRESS else OSError(number, os.strerror(number))
    if come is not None:
        return connect_failure(come, target) if come.errno else None
    try:
        async with asyncio.timeout_at(min(deadline, begin + patience)):
            # It goes on where it is.
            await loop.sock_connect(channel, (target.ip, target.port))
    except TimeoutError:
        # The loop may have been too busy to notice what had come long before.
        late = _come_meanwhile(channel)
        if late is None:
            because = f"{target} did not answer in {_seconds(loop, begin)}"
            return Failed(reason=Reason.TIMEOUT, because=because, ip=target.ip)
        return connect_failure(late, target) if late.errno else None
    except OSError as error:
        return connect_failure(error, target)
    return None


def connect_failure(error: OSError, target: Target) -> Failed | Unknown:
    """What an errno of connect(2) means; neither ETIMEDOUT nor anything else is taken for a refusal."""
    number = error.errno or 0
    said = os.strerror(number) if number else str(error)
    if number == errno.ECONNREFUSED:
        return Failed(reason=Reason.REFUSED, because=f"{target} refuses connections", ip=target.ip)
    if number == errno.ETIMEDOUT:
        return Failed(reason=Reason.TIMEOUT, because=f"{target} did not answer", ip=target.ip)
    if number in (errno.ECONNRESET, errno.EPIPE):
        return Failed(reason=Reason.CLOSED, because=f"{target} accepts, then resets", ip=target.ip)
    if number in _OWN_LIMITS:
        return Unknown(because=f"{target} could not be tried: {said}")
    if number == errno.EHOSTUNREACH:
        return Failed(reason=Reason.UNREACHABLE, because=f"no device answers for {target.ip} ({said})", ip=target.ip)
    return Failed(reason=Reason.UNREACHABLE, because=f"no route to {target.ip} ({said})", ip=target.ip)


def _come_meanwhile(channel: socket.socket) -> OSError | None:
    """How the attempt on this socket ended, with errno 0 for well; None while it goes on."""
    waiting = select.poll()
    waiting.register(channel, select.POLLOUT)
    if not waiting.poll(0):
        return None
    number = channel.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    return OSError(number, os.strerror(number))


async def converse(
    line: Line,
    target: Target,
    talk: Conversation,
    allowance: AnswerAllowance,
    deadline: float,
    told: Callable[[Sequence[Event]], None] | None = None,
) -> Contact:
    """Hold the conversation on a line until it ends, or until `deadline`.

    `told` hears every event when it happens.
    """
    loop = asyncio.get_running_loop()
    begin = loop.time()
    try:
        async with asyncio.timeout_at(deadline):
            await line.send(talk.start())
            while talk.outcome is None:
                data = await line.receive()
                if not data:
                    talk.closed()
                    break
                if not allowance.received(len(data)):
                    return Unknown(because=f"{target} answers more than this run can read")
                with allowance.reading():
                    events = talk.receive(data)
                if told is not None:
                    told(events)
                if reply := talk.bytes_to_send():
                    await line.send(reply)
                elif talk.outcome is None and loop.time() >= deadline:
                    break
    except TimeoutError:
        pass
    except TlsBroken as error:
        return Failed(reason=Reason.TLS, because=f"{target} ends TLS: {error.words}", ip=target.ip)
    except OSError as error:
        if error.errno == errno.ETIMEDOUT:
            return Failed(reason=Reason.TIMEOUT, because=f"{target} accepts, but sends nothing", ip=target.ip)
        talk.closed()
    if talk.outcome is None:
        talk.timed_out()
    return _contact(talk, target, _seconds(loop, begin))


def _contact(talk: Conversation, target: Target, elapsed: str) -> Contact:
    match talk.outcome:
        case questions.Answered() as answered:
            return _answered(answered, target)
        case questions.Failed(kind=FailureKind.NO_ANSWER) as failed:
            what = failed.detail if failed.first_bytes else "silent"
            because = f"{target} accepted, then {what}, after {elapsed}"
            return Failed(reason=Reason.TIMEOUT, because=because, ip=target.ip)
        case questions.Failed() as failed if failed.kind in _REASONS:
            mechanism = Mechanism.CONTROLLER_LISTENER if failed.speaks == QUORUM else None
            because = f"{target}: {failed.detail}"
            return Failed(reason=_REASONS[failed.kind], because=because, ip=target.ip, mechanism=mechanism)
        case questions.Failed() as failed:
            return Unknown(because=f"{target}: {failed.detail}")
    return Unknown(because=f"the conversation with {target} did not end")


def _answered(answered: questions.Answered, target: Target) -> Answered:
    named = answered.brokers[:MOST_ENDPOINTS]
    who = f"node {answered.node_id}" if answered.node_id is not None else "a broker that does not say who it is"
    notes = [f"{who} answers from {target}"]
    if answered.identity_unknown:
        notes.append(answered.identity_unknown)
    if len(named) < len(answered.brokers):
        notes.append(f"it names {len(answered.brokers)} brokers, netdiag checks only {MOST_ENDPOINTS}")
    return Answered(
        node_id=answered.node_id,
        cluster_id=answered.cluster_id,
        brokers=tuple(NodeEndpoint(node_id=b.node_id, host=b.host[:_LONGEST_HOST], port=b.port) for b in named),
        listener=_listener(answered),
        ip=target.ip,
        because="; ".join(notes),
        leaderless=answered.leaderless[:MOST_ENDPOINTS],
    )


def _listener(answered: questions.Answered) -> str | None:
    """The name of the listener that answered: the advertised one whose endpoint Metadata gives for this very broker."""
    own = next((b for b in answered.brokers if b.node_id == answered.node_id), None)
    if own is None:
        return None
    advertised = answered.setting("advertised.listeners") or answered.setting("listeners") or ""
    names = {
        e.endpoint.listener
        for e in well_formed(parse_listeners(advertised))
        if e.endpoint.port == own.port and e.endpoint.host in ("", own.host)
    }
    return names.pop() if len(names) == 1 else None


def _seconds(loop: asyncio.AbstractEventLoop, begin: float) -> str:
    return f"{loop.time() - begin:.1f} s"
