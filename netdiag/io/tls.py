"""A TLS listener seen from outside: versions, cipher, the whole chain, whether it wants a client's certificate.

Every version is offered alone and the connection ended after the server's first words, so a look takes a connection a
version; a server that speaks TLS 1.3 only says its certificates in secret, for which OpenSSL greets it once.
"""

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress

from netdiag.io.client_identity import context_of
from netdiag.io.lines import TlsBroken, TlsLine, received
from netdiag.kafka.tls_hello import RANDOM_BYTES, VERSIONS, Greeting
from netdiag.values import dataclass

Dial = Callable[[], AbstractAsyncContextManager[socket.socket | None]]
"""Gives a fresh connection to the endpoint, or None where there is none any more."""

# Its first words tell most: the chain, and whether a client's certificate is wanted.
_FIRST = "TLSv1.2"


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
    for greeting in await asyncio.gather(*(_greet(dial, version, host, deadline) for version in others)):
        greetings[greeting.version] = greeting
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


async def _greet(dial: Dial, version: str, host: str, deadline: float) -> Greeting:
    greeting = Greeting(version=version, host=host)
    with suppress(TimeoutError):
        async with asyncio.timeout_at(deadline), dial() as channel:
            if channel is not None:
                await _talk(channel, greeting, deadline)
    return greeting


async def _talk(channel: socket.socket, greeting: Greeting, deadline: float) -> None:
    with suppress(TimeoutError, OSError):
        async with asyncio.timeout_at(deadline):
            hello = greeting.hello(os.urandom(RANDOM_BYTES))
            await asyncio.get_running_loop().sock_sendall(channel, hello)
            while not greeting.ended:
                greeting.receive(await received(channel))


async def _chain_by_openssl(dial: Dial, host: str, deadline: float) -> tuple[bytes, ...]:
    with suppress(TimeoutError, OSError, TlsBroken):
        async with asyncio.timeout_at(deadline), dial() as channel:
            if channel is not None:
                line = TlsLine(channel, context_of(None, verify=False), host)
                await line.greet()
                return line.chain
    return ()
