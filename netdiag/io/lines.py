"""A connected socket to talk on: plain, or with TLS in between. Sends and receives; who answers is not its concern.

Every wait gives way to the others of the event loop, also while a peer floods; deadlines are the caller's.
"""

import asyncio
import re
import socket
import ssl
from typing import Protocol

CHUNK = 64 * 1024
_IN_BRACKETS = re.compile(r"^\[[^]]*\]\s*|\s*\(_ssl\.c:\d+\)$")


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
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=_server_name(host))

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


def _server_name(host: str) -> str | None:
    """What can stand in server_name: a DNS name in ASCII (RFC 6066, section 3)."""
    name = host.rstrip(".")
    sound = re.fullmatch(r"(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?", name)
    return name if sound and ".." not in name and not name.replace(".", "").isdigit() else None


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
