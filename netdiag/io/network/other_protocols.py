"""Who answers where a Kafka greeting was met with silence or a closed door: HTTP, TLS, ZooKeeper, or nobody.

Each is greeted in its own words on a connection of its own, one after the other, for a server may serve one at a time.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress

from netdiag.deployment.model.verdict import Answered, Failed, Mechanism, Reason
from netdiag.io.network.connection import PlainLine, Target, converse
from netdiag.io.network.limits import AnswerAllowance
from netdiag.kafka.conversation import Conversation
from netdiag.kafka.other_protocols import Alive, FourLetterWord, OtherProtocol, who_answers

_PATIENCE = 1.0
_ENOUGH = 0.3
_HTTP = b"HEAD / HTTP/1.0\r\n\r\n"

Connect = Callable[[], Awaitable[socket.socket | None]]
"""A new connection to the target; None where there is none."""
# The first two bytes of a handshake or an alert record of SSL 3.0 to TLS 1.3 (RFC 8446, section 5.1).
_RECORDS = (b"\x16\x03", b"\x15\x03")


async def identify(target: Target, connect: Connect, failed: Failed, deadline: float) -> Failed:
    """The failure with the name of whoever is there; as it was where nobody answers any greeting."""
    loop = asyncio.get_running_loop()
    for greet in (_http, _tls, _zookeeper):
        if deadline - loop.time() < _ENOUGH:
            break
        channel = await connect()
        if channel is None:
            break
        with channel:
            found = await greet(channel, target, min(deadline, loop.time() + _PATIENCE))
        if found is not None:
            return found
    return failed


async def plaintext_instead(
    channel: socket.socket, target: Target, share: AnswerAllowance, until: float
) -> Failed | None:
    """What to say of one that closed on TLS, where it answers Kafka in plaintext on a new connection."""
    plain = await converse(PlainLine(channel), target, Conversation(), share, until)
    if isinstance(plain, Answered) or (isinstance(plain, Failed) and plain.reason is Reason.SASL):
        because = f"{target} closes on TLS and answers plaintext"
        return Failed(reason=Reason.TLS, because=because, ip=target.ip)
    return None


async def _http(channel: socket.socket, target: Target, until: float) -> Failed | None:
    first = await _answer(channel, _HTTP, until)
    protocol, what = who_answers(first)
    if not first or protocol is not OtherProtocol.TEXT:
        return None
    return Failed(
        reason=Reason.NOT_KAFKA, because=f"{target} answers with {what}", ip=target.ip, mechanism=Mechanism.NOT_KAFKA
    )


async def _tls(channel: socket.socket, target: Target, until: float) -> Failed | None:
    if not await answers_tls(channel, until):
        return None
    because = f"{target} is silent or closes on plaintext and answers TLS"
    return Failed(reason=Reason.TLS, because=because, ip=target.ip, mechanism=Mechanism.TLS_EXPECTED)


async def _zookeeper(channel: socket.socket, target: Target, until: float) -> Failed | None:
    talk = FourLetterWord()
    talk.receive(await _answer(channel, talk.start(), until))
    talk.closed()
    if not isinstance(talk.outcome, Alive):
        return None
    because = f"{target} is a ZooKeeper, not a broker"
    return Failed(reason=Reason.NOT_KAFKA, because=because, ip=target.ip, mechanism=Mechanism.NOT_KAFKA)


async def _answer(channel: socket.socket, words: bytes, until: float) -> bytes:
    """What comes at first; empty for silence, an end or an error."""
    loop = asyncio.get_running_loop()
    with suppress(TimeoutError, OSError):
        async with asyncio.timeout_at(until):
            await loop.sock_sendall(channel, words)
            return await loop.sock_recv(channel, 4096)
    return b""


async def answers_tls(channel: socket.socket, deadline: float) -> bool:
    """Send a ClientHello and look whether a TLS record comes back; no certificate is looked at."""
    loop = asyncio.get_running_loop()
    with suppress(TimeoutError, OSError):
        async with asyncio.timeout_at(deadline):
            await loop.sock_sendall(channel, _client_hello())
            return await loop.sock_recv(channel, 2) in _RECORDS
    return False


def _client_hello() -> bytes:
    # Not the default context: it would load every certificate authority of the machine.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing).do_handshake()
    return outgoing.read()
