"""Whether a connected endpoint answers a TLS greeting."""

import asyncio
import socket
import ssl
from contextlib import suppress

# The first two bytes of a handshake or an alert record of SSL 3.0 to TLS 1.3 (RFC 8446, section 5.1).
_RECORDS = (b"\x16\x03", b"\x15\x03")


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
