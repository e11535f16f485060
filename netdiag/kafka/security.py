"""What a secured listener shows (protocol, certificate, mechanisms), and what a client refuses its certificate for.

Clients check as Java's TLS does, which Kafka's own clients use. The rules are those of
`sun.security.util.HostnameChecker` and of `jdk.certpath.disabledAlgorithms` (JDK 11 to 21): names of subjectAltName,
the common name only where that names no host; a wildcard within any label but the last; addresses only by address.
Whether a chain leads to a known authority takes cryptography and comes in as `TrustAnchor`.
"""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from enum import StrEnum

from netdiag.patterns import regex
from netdiag.values import dataclass


class SpokenProtocol(StrEnum):
    """What a port really speaks; the first four are values of listener.security.protocol.map."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"
    CONTROLLER = "KRaft controller"
    HTTP = "HTTP"
    ZOOKEEPER = "ZooKeeper"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """One certificate of a chain, the server's own first.

    `names` are the DNS names and `addresses` the IP addresses of subjectAltName (RFC 5280, section 4.2.1.6);
    `common_name` counts, for Java and OpenSSL alike, where `names` is empty. `key` is like "RSA 2048" or "EC P-256",
    `signature` the hash and algorithm of the signature, like "sha256WithRSAEncryption". `fingerprint`: SHA-256, hex.
    """

    subject: str
    issuer: str
    common_name: str
    names: tuple[str, ...]
    addresses: tuple[str, ...]
    not_before: datetime
    not_after: datetime
    key: str
    key_bits: int
    signature: str
    is_authority: bool
    fingerprint: str


class CertificateFault(StrEnum):
    """What a client refuses a certificate for, or should be told of; the value is the word users see."""

    NAME = "name not covered"
    EXPIRED = "expired"
    NOT_YET_VALID = "not yet valid"
    UNKNOWN_AUTHORITY = "unknown authority"
    SELF_SIGNED = "self-signed"
    INCOMPLETE_CHAIN = "incomplete chain"
    WEAK_KEY = "weak key"
    WEAK_SIGNATURE = "weak signature"
    EXPIRES_SOON = "expires soon"


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsHandshake:
    """The observed TLS handshake of a listener.

    `versions` are those that the server accepted ("TLSv1.2"), `cipher` that of the best of them. `wants_client`: the
    server asks for a client's certificate; `needs_client`: it ends without one. `faults` hold for the name asked for
    and for the authorities that were given.
    """

    versions: tuple[str, ...]
    cipher: str
    chain: tuple[Certificate, ...]
    wants_client: bool
    needs_client: bool
    faults: tuple[tuple[CertificateFault, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SaslOffer:
    """What a SASL listener offers; `authenticated` is None where nobody tried, `error` the broker's own words."""

    mechanisms: tuple[str, ...]
    mechanism: str = ""
    authenticated: bool | None = None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerSecurity:
    """What one port reveals about its security. `detail` is for people, without secrets."""

    spoken: SpokenProtocol
    detail: str = ""
    tls: TlsHandshake | None = None
    sasl: SaslOffer | None = None


WARN_DAYS = 30
# Below this Java refuses; below the others everybody else does by now (NIST SP 800-131A).
_REFUSED_BITS = {"RSA": 1024, "DSA": 1024, "EC": 224}
_WEAK_BITS = {"RSA": 2048, "DSA": 2048, "EC": 224}
_REFUSED_HASHES = ("md2", "md5")
_WEAK_HASHES = (*_REFUSED_HASHES, "sha1")
_MOST_NAMES = 5
_LABEL = regex(r"(?:[^\W_](?:[^\W_]|-)*)?[^\W_]")


class TrustAnchor(StrEnum):
    """Where the certificate chain of a server ends."""

    TRUSTED = "trusted"
    PINNED = "pinned"  # the server's own certificate is among those trusted: Java looks no further
    SELF_SIGNED = "self-signed"
    UNKNOWN_ROOT = "unknown root"
    MISSING_ISSUER = "missing issuer"
    NOT_ASKED = "not asked"  # no authorities were given


class StoreFault(StrEnum):
    """Why Kafka cannot use a key store or trust store; the value follows the name of its file."""

    FORMAT = "is damaged or of another type"
    PASSWORD = "does not open with its password"
    KEY_PASSWORD = "has a key that does not open with its password"
    TRADITIONAL_KEY = "has a key that is not PKCS#8"
    NO_KEY = "holds no private key"
    NO_CERTIFICATE = "holds no certificate"
    COSTLY = "takes too long to open: its password is hashed millions of times"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedStore:
    """What a key store or trust store holds, without its secrets.

    `chain` are the certificates of its key, the key's own first, `trusted` the others; `ders` are the same certificates
    in binary. `key_belongs` is None where nobody can tell. `is_closed` is a store that takes a library to open which
    is not installed.
    """

    chain: tuple[Certificate, ...] = ()
    trusted: tuple[Certificate, ...] = ()
    chain_ders: tuple[bytes, ...] = field(default=(), repr=False)
    trusted_ders: tuple[bytes, ...] = field(default=(), repr=False)
    key_belongs: bool | None = None
    fault: StoreFault | None = None
    is_closed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault of a certificate. `refused`: a Java client ends the handshake because of it."""

    fault: CertificateFault
    detail: str
    refused: bool


def faults_of(
    chain: Sequence[Certificate],
    *,
    hosts: Iterable[str],
    anchored: TrustAnchor,
    now: datetime,
    warn_days: int = WARN_DAYS,
    checks_names: bool = True,
) -> tuple[Fault, ...]:
    """All faults, in the order of `CertificateFault`, for every host that a client may connect to."""
    if not chain:
        return ()
    found = [
        *_names(chain[0], hosts, checks_names),
        *_dates(chain, now, warn_days, pinned=anchored is TrustAnchor.PINNED),
        *_anchor(chain, anchored),
        *_strength(chain, anchored),
    ]
    order = list(CertificateFault)
    return tuple(sorted(dict.fromkeys(found), key=lambda fault: order.index(fault.fault)))


def covers(certificate: Certificate, host: str) -> bool:
    """Whether the certificate covers this host, by the rules of Java."""
    try:
        address = ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        names = certificate.names or ((certificate.common_name,) if certificate.common_name else ())
        return is_domain_name(host) and any(_matches(pattern, host) for pattern in names)
    return any(_same_address(given, address) for given in certificate.addresses)


LIBRDKAFKA_SAYS = "certificate verify failed"
"""What librdkafka prints of every certificate that it does not accept, whatever the reason."""


def java_says(certificate: Certificate, host: str) -> str:
    """What a Java client prints where the certificate does not cover the host (`HostnameChecker`)."""
    if not is_address(host):
        if not is_domain_name(host):
            return f"Illegal given domain name: {host}"
        if certificate.names:
            return f"No subject alternative DNS name matching {host} found."
        return f"No name matching {host} found"
    if certificate.names or certificate.addresses:
        return f"No subject alternative names matching IP address {host} found"
    return "No subject alternative names present"


def is_domain_name(host: str) -> bool:
    """Whether Java takes a host for a domain name at all: letters, digits and inner hyphens (`SNIHostName`)."""
    return all(_LABEL.fullmatch(label) for label in host.rstrip(".").split("."))


def server_name(host: str) -> str | None:
    """What stands in server_name (RFC 6066, section 3); None for what is no domain name to Java.

    A broker ends the handshake of a client that sends another name, such as one with an underscore ("Illegal server
    name").
    """
    name = host.rstrip(".")
    is_name = host.isascii() and len(name) < 254 and is_domain_name(host) and not name.replace(".", "").isdigit()
    return name if is_name else None


def is_address(host: str) -> bool:
    """Whether a host is an address and no name."""
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def names_of(certificate: Certificate) -> str:
    """The names that count, for people."""
    names = [f"{name} (as a DNS name)" if is_address(name) else name for name in certificate.names]
    given = [*names, *certificate.addresses] or [certificate.common_name or "nobody"]
    return ", ".join(given[:_MOST_NAMES]) + (f" and {len(given) - _MOST_NAMES} more" if given[_MOST_NAMES:] else "")


def _same_address(given: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    try:
        return ipaddress.ip_address(given) == address
    except ValueError:
        return False


def _matches(pattern: str, host: str) -> bool:
    """One name against a host: `*` stands for any letters within a label, but not in the last one."""
    wanted, given = host.rstrip(".").lower().split("."), pattern.rstrip(".").lower().split(".")
    if len(wanted) != len(given) or "*" in given[-1] or not all(wanted):
        return False
    return all(_label(pattern_label, label) for pattern_label, label in zip(given, wanted, strict=True))


def _label(pattern: str, label: str) -> bool:
    if "*" not in pattern:
        return pattern == label
    start, *middle, end = pattern.split("*")
    if not label.startswith(start):
        return False
    at = len(start)
    for piece in middle:
        found = label.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return len(label) - len(end) >= at and label.endswith(end)


def _mismatch(own: Certificate, host: str) -> str:
    if is_address(host) or is_domain_name(host):
        return f"is not among its names: {names_of(own)}"
    return "is no domain name to Java, whose names have letters, digits and hyphens only"


def _names(own: Certificate, hosts: Iterable[str], checks_names: bool) -> list[Fault]:
    return [
        Fault(
            fault=CertificateFault.NAME,
            detail=f'"{host}" {_mismatch(own, host)}',
            refused=checks_names,
        )
        for host in dict.fromkeys(hosts)
        if host and not covers(own, host)
    ]


def _dates(chain: Sequence[Certificate], now: datetime, warn_days: int, *, pinned: bool) -> list[Fault]:
    found: list[Fault] = []
    for certificate in chain:
        who, until = _who(certificate, chain), certificate.not_after
        # Java looks at no date of the authority that it trusts; where it does not trust it, that is the fault.
        is_root = certificate is not chain[0] and certificate.subject == certificate.issuer
        if now > until:
            detail = f"{who} expired on {until:%Y-%m-%d}"
            found.append(Fault(fault=CertificateFault.EXPIRED, detail=detail, refused=not (pinned or is_root)))
        elif now < certificate.not_before:
            detail = f"{who} is valid from {certificate.not_before:%Y-%m-%d %H:%M} on"
            found.append(Fault(fault=CertificateFault.NOT_YET_VALID, detail=detail, refused=not pinned))
        elif until - now < timedelta(days=warn_days):
            detail = f"{who} expires on {until:%Y-%m-%d}, in {(until - now).days} days"
            found.append(Fault(fault=CertificateFault.EXPIRES_SOON, detail=detail, refused=False))
    return found


def _anchor(chain: Sequence[Certificate], anchored: TrustAnchor) -> list[Fault]:
    last = chain[-1]
    unknown, incomplete = CertificateFault.UNKNOWN_AUTHORITY, CertificateFault.INCOMPLETE_CHAIN
    match anchored:
        case TrustAnchor.SELF_SIGNED:
            detail = f'"{chain[0].subject}" is self-signed, and is not among the trusted authorities'
            return [Fault(fault=CertificateFault.SELF_SIGNED, detail=detail, refused=True)]
        case TrustAnchor.UNKNOWN_ROOT:
            detail = f'"{last.subject}" is not among the trusted authorities'
            return [Fault(fault=unknown, detail=detail, refused=True)]
        case TrustAnchor.MISSING_ISSUER:
            issuer = last.issuer
            return [
                Fault(fault=unknown, detail=f'"{issuer}" is not among the trusted authorities', refused=True),
                Fault(fault=incomplete, detail=f'the certificate of "{issuer}" is not sent', refused=True),
            ]
        case TrustAnchor.NOT_ASKED if len(chain) == 1 and chain[0].subject == chain[0].issuer:
            detail = f'"{chain[0].subject}" is self-signed: clients need it in their truststore'
            return [Fault(fault=CertificateFault.SELF_SIGNED, detail=detail, refused=False)]
    return []


def _strength(chain: Sequence[Certificate], anchored: TrustAnchor) -> list[Fault]:
    found: list[Fault] = []
    for certificate in chain:
        who, kind = _who(certificate, chain), certificate.key.split(" ")[0]
        if certificate.key_bits < _WEAK_BITS.get(kind, 0):
            refused = certificate.key_bits < _REFUSED_BITS[kind]
            detail = f"{who} has a key of {certificate.key_bits} bits ({kind})"
            found.append(Fault(fault=CertificateFault.WEAK_KEY, detail=detail, refused=refused))
        hashed = certificate.signature.lower().replace("-", "")
        # Nobody checks the signature of a root: it is trusted for being there.
        if certificate.subject != certificate.issuer and any(name in hashed for name in _WEAK_HASHES):
            refused = any(name in hashed for name in _REFUSED_HASHES) and anchored is not TrustAnchor.PINNED
            detail = f"{who} is signed with {certificate.signature}"
            found.append(Fault(fault=CertificateFault.WEAK_SIGNATURE, detail=detail, refused=refused))
    return found


def _who(certificate: Certificate, chain: Sequence[Certificate]) -> str:
    return "it" if certificate is chain[0] else f'"{certificate.subject}" of its chain'
