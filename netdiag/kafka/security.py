"""Words about secured listeners: what a port speaks, what its certificate says, which mechanisms it offers."""

from datetime import datetime
from enum import StrEnum

from netdiag.values import dataclass


class Spoken(StrEnum):
    """What really answers on a port; the first four are values of listener.security.protocol.map."""

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
class TlsSight:
    """A TLS handshake seen from outside.

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
class SaslSight:
    """What a SASL listener offers; `authenticated` is None where nobody tried, `error` the broker's own words."""

    mechanisms: tuple[str, ...]
    mechanism: str = ""
    authenticated: bool | None = None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecuritySight:
    """All that one port told about its security. `detail` is for people, without secrets."""

    spoken: Spoken
    detail: str = ""
    tls: TlsSight | None = None
    sasl: SaslSight | None = None
