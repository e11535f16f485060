"""The client's side of SCRAM (RFC 5802, RFC 7677) as Kafka speaks it, without I/O: three texts out, two in.

    exchange = Scram(mechanism="SCRAM-SHA-256", username="alice", password="...", nonce=secrets.token_urlsafe(24))
    send(exchange.first()); send(exchange.final(received)); exchange.check(received)

The server's signature is checked: who does not know the password is not believed to be the server. As Kafka's own
client does, texts are taken as UTF-8, without SASLprep. `ScramError` says what is wrong, never with a secret in it.
"""

import base64
import binascii
import hashlib
import hmac

MECHANISMS = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
FEWEST_ITERATIONS = 4096
MOST_ITERATIONS = 65_536
"""Kafka allows 16,384; a stranger must not keep us counting."""
_LONGEST = 4096
_HEADER = "n,,"


class ScramError(Exception):
    """The other side does not keep to SCRAM, or is not who it says."""


class Scram:
    """One exchange. `nonce` is fresh randomness, printable and without a comma."""

    def __init__(self, *, mechanism: str, username: str, password: str, nonce: str) -> None:
        self._hash = MECHANISMS[mechanism]
        self._password = password
        self._nonce = nonce
        self._bare = f"n={_escaped(username)},r={nonce}"
        self._signature = b""

    def first(self) -> bytes:
        """client-first-message."""
        return (_HEADER + self._bare).encode()

    def final(self, server_first: bytes) -> bytes:
        """client-final-message, for server-first-message."""
        text = _text(server_first)
        fields = _fields(text)
        nonce, salt, iterations = fields.get("r", ""), _decoded(fields.get("s", "")), _number(fields.get("i", ""))
        if not nonce.startswith(self._nonce) or nonce == self._nonce:
            raise ScramError("its nonce does not continue ours")
        if not salt:
            raise ScramError("it gives no salt")
        if not FEWEST_ITERATIONS <= iterations <= MOST_ITERATIONS:
            raise ScramError(f"it wants {iterations} iterations")
        salted = hashlib.pbkdf2_hmac(self._hash, self._password.encode(), salt, iterations)
        without_proof = f"c={base64.b64encode(_HEADER.encode()).decode()},r={nonce}"
        message = ",".join((self._bare, text, without_proof)).encode()
        client_key = self._hmac(salted, b"Client Key")
        client_signature = self._hmac(hashlib.new(self._hash, client_key).digest(), message)
        self._signature = self._hmac(self._hmac(salted, b"Server Key"), message)
        proof = bytes(a ^ b for a, b in zip(client_key, client_signature, strict=True))
        return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()

    def check(self, server_final: bytes) -> None:
        """Whether server-final-message comes from somebody who knows the password."""
        fields = _fields(_text(server_final))
        if "e" in fields:
            raise ScramError(f"it says {fields['e'][:80]}")
        if not self._signature or not hmac.compare_digest(_decoded(fields.get("v", "")), self._signature):
            raise ScramError("its signature is wrong: it does not know the password")

    def _hmac(self, key: bytes, message: bytes) -> bytes:
        return hmac.new(key, message, self._hash).digest()


def _escaped(name: str) -> str:
    return name.replace("=", "=3D").replace(",", "=2C")


def _text(message: bytes) -> str:
    if len(message) > _LONGEST:
        raise ScramError(f"its message has {len(message)} bytes")
    try:
        return message.decode()
    except UnicodeDecodeError:
        raise ScramError("its message is no text") from None


def _fields(text: str) -> dict[str, str]:
    """The attributes by letter; what has no letter is passed over."""
    pieces = [piece.partition("=") for piece in text.split(",")]
    if pieces and pieces[0][0] == "m":
        raise ScramError("it demands an extension")
    return {letter: value for letter, equals, value in pieces if equals and len(letter) == 1}


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ScramError("its message holds broken base64") from None


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
