"""X.509 certificates and PKCS#8 keys out of their bytes in plain Python: what a client compares, no signatures.

A certificate is walked along the one path that RFC 5280 gives it, so nothing nests, and every length is checked
against what is left. What cannot be read is None: Java would not take it either.
"""

import base64
import binascii
import hashlib
import ipaddress
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime

from netdiag.kafka.security import Certificate
from netdiag.patterns import regex
from netdiag.values import dataclass

# A certificate with hundreds of names has some 20 kB.
_LARGEST = 64 * 1024
_MOST_NAMES = 200
_LONGEST_TEXT = 300
_MOST_BLOCKS = 500
_MOST_ELEMENTS = 100_000
_DEEPEST = 24
_PEM = regex(r"-----BEGIN ([A-Z0-9 ]{1,40})-----([A-Za-z0-9+/=\s]*)-----END \1-----")
_SEQUENCE, _SET, _INTEGER, _BITS, _OCTETS, _OID = 0x30, 0x31, 0x02, 0x03, 0x04, 0x06
_UTC_TIME, _TIME = 0x17, 0x18
_UTF16, _LATIN = 0x1E, 0x14
_DNS_NAME, _ADDRESS = 0x82, 0x87
_COMMON_NAME, _ALTERNATIVES, _CONSTRAINTS = "2.5.4.3", "2.5.29.17", "2.5.29.19"
_ATTRIBUTES = {
    _COMMON_NAME: "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
_SIGNATURES = {
    "1.2.840.113549.1.1.2": "md2WithRSAEncryption",
    "1.2.840.113549.1.1.4": "md5WithRSAEncryption",
    "1.2.840.113549.1.1.5": "sha1WithRSAEncryption",
    "1.2.840.113549.1.1.14": "sha224WithRSAEncryption",
    "1.2.840.113549.1.1.11": "sha256WithRSAEncryption",
    "1.2.840.113549.1.1.12": "sha384WithRSAEncryption",
    "1.2.840.113549.1.1.13": "sha512WithRSAEncryption",
    "1.2.840.113549.1.1.10": "RSASSA-PSS",
    "1.2.840.10040.4.3": "dsa-with-sha1",
    "2.16.840.1.101.3.4.3.2": "dsa-with-sha256",
    "1.2.840.10045.4.1": "ecdsa-with-SHA1",
    "1.2.840.10045.4.3.2": "ecdsa-with-SHA256",
    "1.2.840.10045.4.3.3": "ecdsa-with-SHA384",
    "1.2.840.10045.4.3.4": "ecdsa-with-SHA512",
    "1.3.101.112": "Ed25519",
    "1.3.101.113": "Ed448",
}
_RSA, _DSA, _EC = ("1.2.840.113549.1.1.1", "1.2.840.113549.1.1.10"), "1.2.840.10040.4.1", "1.2.840.10045.2.1"
_CURVES = {
    "1.2.840.10045.3.1.7": ("P-256", 256),
    "1.3.132.0.34": ("P-384", 384),
    "1.3.132.0.35": ("P-521", 521),
    "1.3.132.0.10": ("secp256k1", 256),
    "1.2.840.10045.3.1.1": ("secp192r1", 192),
    "1.3.132.0.33": ("secp224r1", 224),
}
_EDWARDS = {"1.3.101.112": ("Ed25519", 256), "1.3.101.113": ("Ed448", 456)}


class _NotDerError(ValueError):
    """The bytes are not what RFC 5280 says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Element:
    """One element: its tag, its content, and the whole of it."""

    tag: int
    content: bytes
    whole: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateParts:
    """A certificate with what chains are made of: the names of both sides as bytes, and its public key."""

    certificate: Certificate
    der: bytes
    subject: bytes
    issuer: bytes
    public_key: bytes


def pem_blocks(text: bytes) -> Iterator[tuple[str, bytes]]:
    """The label and the bytes of each block of a PEM text, in order; of a broken one no bytes."""
    for count, match in enumerate(_PEM.finditer(text.decode("latin-1"))):
        if count == _MOST_BLOCKS:
            return
        try:
            yield match[1], base64.b64decode("".join(match[2].split()), validate=True)
        except (binascii.Error, ValueError):
            yield match[1], b""


def certificate_parts(der: bytes) -> CertificateParts | None:
    """The certificate of these bytes; None where they are none."""
    try:
        return _certificate(der)
    except (_NotDerError, ValueError, OverflowError, IndexError):
        return None


def key_belongs(key: bytes, parts: CertificateParts) -> bool | None:
    """Whether an unencrypted PKCS#8 key is the certificate's; None where its bytes do not tell."""
    try:
        algorithm, inner = _private_key(key)
        kind, _, public = _public_key(parts.public_key)
        if algorithm != kind:
            return False
        if kind in _RSA:
            _, modulus, *_ = _elements(_only(inner, _SEQUENCE))
            return modulus.content == next(_elements(_only(public, _SEQUENCE))).content
        if kind == _EC:
            own = [one for one in _elements(_only(inner, _SEQUENCE)) if one.tag == 0xA1]
            return _only(own[0].content, _BITS)[1:] == public if own else None
    except (_NotDerError, ValueError, IndexError, StopIteration):
        return False
    return None


def is_plain_key(key: bytes) -> bool:
    """Whether the bytes are an unencrypted PKCS#8 key."""
    try:
        _private_key(key)
    except (_NotDerError, ValueError, IndexError):
        return False
    return True


def slow_hashing(data: bytes, most: int) -> bool:
    """Whether an encrypted structure asks for more rounds of hashing than `most`, as far as can be seen unopened.

    Rounds are a number that stands behind a salt: in the parameters of every password-based cipher, and in MacData.
    """
    level, seen = [data], 0
    for _ in range(_DEEPEST):
        below: list[bytes] = []
        for content in level:
            before = 0
            for one in _elements_before_damage(content):
                seen += 1
                if seen > _MOST_ELEMENTS:
                    return True
                if one.tag == _INTEGER and before == _OCTETS and int.from_bytes(one.content[:16], "big") > most:
                    return True
                if one.tag & 0x20 or _holds_sequence(one):
                    below.append(one.content)
                before = one.tag
        level = below
    return bool(level)


def _elements_before_damage(data: bytes) -> Iterator[_Element]:
    with suppress(_NotDerError):
        yield from _elements(data)


def _holds_sequence(element: _Element) -> bool:
    """Whether octets are a structure of their own, and not encrypted ones that look like one."""
    if element.tag != _OCTETS or element.content[:1] != b"\x30":
        return False
    first = next(_elements_before_damage(element.content), None)
    return first is not None and len(first.whole) == len(element.content)


def _private_key(key: bytes) -> tuple[str, bytes]:
    version, algorithm, inner, *_ = _elements(_only(key, _SEQUENCE))
    if (version.tag, algorithm.tag, inner.tag) != (_INTEGER, _SEQUENCE, _OCTETS):
        raise _NotDerError
    return _identifier(next(_elements(algorithm.content))), inner.content


def _certificate(der: bytes) -> CertificateParts:
    if len(der) > _LARGEST:
        raise _NotDerError
    body, algorithm, _ = _elements(_only(der, _SEQUENCE))
    fields = list(_elements(body.content))
    if fields[0].tag == 0xA0:
        fields = fields[1:]
    _, _, issuer, validity, subject, key, *rest = fields
    if {one.tag for one in (issuer, validity, subject, key)} != {_SEQUENCE}:
        raise _NotDerError
    start, end = _elements(validity.content)
    extensions = dict(_extensions(rest))
    names, addresses = _alternatives(extensions.get(_ALTERNATIVES, b""))
    kind, bits = _key_size(key.content)
    oid = _identifier(next(_elements(algorithm.content)))
    attributes = list(_attributes(subject.content))
    certificate = Certificate(
        subject=_name(attributes),
        issuer=_name(list(_attributes(issuer.content))),
        common_name=next((value for name, value in reversed(attributes) if name == _COMMON_NAME), "")[:_LONGEST_TEXT],
        names=names,
        addresses=addresses,
        not_before=_time(start),
        not_after=_time(end),
        key=kind,
        key_bits=bits,
        signature=_SIGNATURES.get(oid, oid),
        is_authority=_is_authority(extensions.get(_CONSTRAINTS, b"")),
        fingerprint=hashlib.sha256(der).hexdigest(),
    )
    return CertificateParts(
        certificate=certificate, der=der, subject=subject.content, issuer=issuer.content, public_key=key.content
    )


def _elements(data: bytes) -> Iterator[_Element]:
    position = 0
    while position < len(data):
        if position + 2 > len(data):
            raise _NotDerError
        tag, size, start = data[position], data[position + 1], position + 2
        if size & 0x80:
            count = size & 0x7F
            # None at all would be an indefinite length, which DER does not have.
            if not 0 < count <= 4 or start + count > len(data):
                raise _NotDerError
            size, start = int.from_bytes(data[start : start + count], "big"), start + count
        if size > len(data) - start:
            raise _NotDerError
        yield _Element(tag=tag, content=data[start : start + size], whole=data[position : start + size])
        position = start + size


def _only(data: bytes, tag: int) -> bytes:
    """The content of the one element that the bytes are."""
    found = next(_elements(data), None)
    if found is None or found.tag != tag or len(found.whole) != len(data):
        raise _NotDerError
    return found.content


def _identifier(element: _Element) -> str:
    """An object identifier in dots."""
    data = element.content
    if element.tag != _OID or not 0 < len(data) <= 64:
        raise _NotDerError
    numbers, number = [], 0
    for byte in data:
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(number)
            number = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:])))


def _time(element: _Element) -> datetime:
    text = element.content.decode("ascii")
    if element.tag == _UTC_TIME:
        text = ("19" if int(text[:2]) >= 50 else "20") + text
    elif element.tag != _TIME:
        raise _NotDerError
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)


def _attributes(name: bytes) -> Iterator[tuple[str, str]]:
    for group in _elements(name):
        for pair in _elements(group.content):
            kind, value = _elements(pair.content)
            yield _identifier(kind), _text(value)


def _text(value: _Element) -> str:
    coding = {_UTF16: "utf-16-be", _LATIN: "latin-1"}.get(value.tag, "utf-8")
    return value.content.decode(coding, errors="replace")


def _name(attributes: list[tuple[str, str]]) -> str:
    """A distinguished name as RFC 4514 writes it, the last attribute first."""
    shown = [f"{_ATTRIBUTES.get(name, name)}={_escaped(value)}" for name, value in reversed(attributes)]
    return ",".join(shown)[:_LONGEST_TEXT]


def _escaped(value: str) -> str:
    text = "".join(f"\\{char}" if char in '\\",+;<>' else "\\00" if char == "\0" else char for char in value)
    if text[:1] in ("#", " "):
        text = "\\" + text
    return text[:-1] + "\\ " if text.endswith(" ") else text


def _extensions(rest: list[_Element]) -> Iterator[tuple[str, bytes]]:
    for field in rest:
        if field.tag == 0xA3:
            for extension in _elements(_only(field.content, _SEQUENCE)):
                name, *_, value = _elements(extension.content)
                yield _identifier(name), value.content


def _alternatives(extension: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not extension:
        return (), ()
    given = list(_elements(_only(extension, _SEQUENCE)))
    names = [one.content.decode("latin-1")[:_LONGEST_TEXT] for one in given if one.tag == _DNS_NAME]
    addresses = [str(ipaddress.ip_address(one.content)) for one in given if one.tag == _ADDRESS]
    return tuple(names[:_MOST_NAMES]), tuple(addresses[:_MOST_NAMES])


def _is_authority(extension: bytes) -> bool:
    first = next(_elements(_only(extension, _SEQUENCE)), None) if extension else None
    return first is not None and first.tag == 0x01 and first.content != b"\0"


def _public_key(content: bytes) -> tuple[str, bytes, bytes]:
    """Algorithm, its parameters and the key itself."""
    algorithm, bits = _elements(content)
    kind, *parameters = _elements(algorithm.content)
    if bits.tag != _BITS:
        raise _NotDerError
    return _identifier(kind), parameters[0].whole if parameters else b"", bits.content[1:]


def _key_size(content: bytes) -> tuple[str, int]:
    kind, parameters, key = _public_key(content)
    if kind in _RSA:
        bits = int.from_bytes(next(_elements(_only(key, _SEQUENCE))).content, "big").bit_length()
        return f"RSA {bits}", bits
    if kind == _DSA:
        bits = int.from_bytes(next(_elements(_only(parameters, _SEQUENCE))).content, "big").bit_length()
        return f"DSA {bits}", bits
    if kind == _EC:
        oid = _identifier(next(_elements(parameters)))
        name, bits = _CURVES.get(oid, (oid, 0))
        return f"EC {name}", bits
    return _EDWARDS.get(kind, ("unknown", 0))
