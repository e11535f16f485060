"""A Java keystore of type JKS: certificates and private keys out of its bytes, without I/O.

Layout and the two home-made algorithms are those of `sun.security.provider.JavaKeyStore` and `KeyProtector` (OpenJDK):
a digest over password, the words "Mighty Aphrodite" and the file, and a key stream of SHA-1 sums over password and
salt. Both hang on the password as UTF-16. Every length is checked against what is left before it is used.
"""

import hashlib
import hmac
import struct
from dataclasses import field

from netdiag.values import dataclass

MAGIC = b"\xfe\xed\xfe\xed"
_PRIVATE_KEY, _TRUSTED = 1, 2
_SALT = _DIGEST = 20
_WHITENER = b"Mighty Aphrodite"
_MOST_ENTRIES = 10_000
# OBJECT IDENTIFIER 1.3.6.1.4.1.42.2.17.1.1, which stands before the octets of a protected key.
_PROTECTED = bytes.fromhex("060a2b060104012a02110101")


class KeystoreError(Exception):
    """The bytes are not a keystore, or the password is wrong; the message holds no secret."""


class KeyPasswordError(KeystoreError):
    """The keystore opens, and a key in it does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyEntry:
    """A private key (PKCS#8, DER) and its certificates (DER), its own first."""

    alias: str
    key: bytes = field(repr=False)
    chain: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Keystore:
    """What a keystore holds; `trusted` are certificates (DER) without a key."""

    trusted: tuple[bytes, ...] = ()
    keys: tuple[KeyEntry, ...] = ()


class _Bytes:
    """Reads forward in bytes that may end too soon."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0

    def take(self, count: int) -> bytes:
        if not 0 <= count <= len(self._data) - self.position:
            raise KeystoreError("it is truncated")
        self.position += count
        return self._data[self.position - count : self.position]

    def number(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def text(self) -> str:
        (size,) = struct.unpack(">H", self.take(2))
        return self.take(size).decode("utf-8", errors="replace")

    def certificate(self) -> bytes:
        kind = self.text()
        found = self.take(self.number())
        if kind != "X.509":
            raise KeystoreError(f"it holds a certificate of type {kind[:20]!r}")
        return found


def parse_jks(data: bytes, password: str | None, key_password: str | None = None) -> Keystore:
    """The keystore; without a password its certificates, unchecked, and no keys, as Java does."""
    if data[:4] != MAGIC:
        raise KeystoreError("it is not a JKS keystore")
    if password is not None:
        _check(data, password)
    rest = _Bytes(data)
    rest.take(4)
    version, count = rest.number(), rest.number()
    if version not in (1, 2) or count > _MOST_ENTRIES:
        raise KeystoreError("it is not a JKS keystore of version 1 or 2")
    trusted: list[bytes] = []
    keys: list[KeyEntry] = []
    for _ in range(count):
        kind, alias = rest.number(), rest.text()
        rest.take(8)
        if kind == _TRUSTED:
            trusted.append(rest.certificate() if version == 2 else rest.take(rest.number()))
            continue
        if kind != _PRIVATE_KEY:
            raise KeystoreError(f"it has an entry of kind {kind}")
        protected = rest.take(rest.number())
        chain = tuple(
            rest.certificate() if version == 2 else rest.take(rest.number())
            for _ in range(min(rest.number(), _MOST_ENTRIES))
        )
        secret = key_password if key_password is not None else password
        if secret is not None:
            keys.append(KeyEntry(alias=alias, key=_recovered(protected, secret), chain=chain))
    return Keystore(trusted=tuple(trusted), keys=tuple(keys))


def _check(data: bytes, password: str) -> None:
    body, digest = data[:-_DIGEST], data[-_DIGEST:]
    if not hmac.compare_digest(_sha1(_utf16(password) + _WHITENER + body), digest):
        raise KeystoreError("the password is wrong, or the keystore is damaged")


def _recovered(protected: bytes, password: str) -> bytes:
    """The key out of EncryptedPrivateKeyInfo with Sun's own algorithm."""
    data = _octets(protected)
    salt, masked, digest = data[:_SALT], data[_SALT:-_DIGEST], data[-_DIGEST:]
    stream = bytearray()
    block = salt
    while len(stream) < len(masked):
        block = _sha1(_utf16(password) + block)
        stream += block
    key = bytes(a ^ b for a, b in zip(masked, stream, strict=False))
    if not hmac.compare_digest(_sha1(_utf16(password) + key), digest):
        raise KeyPasswordError("the password of its key is wrong")
    return key


def _octets(protected: bytes) -> bytes:
    """The octet string of an EncryptedPrivateKeyInfo."""
    found = protected.find(_PROTECTED, 0, 64)
    at = protected.find(b"\x04", found + len(_PROTECTED)) if found >= 0 else -1
    if at < 0:
        raise KeystoreError("its key is encrypted with an unknown algorithm")
    rest = _Bytes(protected)
    rest.take(at + 1)
    size = rest.take(1)[0]
    if size & 0x80:
        size = int.from_bytes(rest.take(size & 0x7F), "big")
    found_octets = rest.take(size)
    if len(found_octets) < _SALT + _DIGEST:
        raise KeystoreError("its key is too short")
    return found_octets


def _sha1(data: bytes) -> bytes:
    return hashlib.sha1(data, usedforsecurity=False).digest()


def _utf16(password: str) -> bytes:
    return password.encode("utf-16-be")
