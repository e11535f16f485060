"""X.509 certificates in bytes as values, and where a chain leads to; read by `cryptography`.

Certificates are a stranger's: what cannot be read is left out, never an exception. Where a chain leads to is told for
people; what a connection is trusted for is decided by OpenSSL (`client_identity`).
"""

from collections.abc import Iterable, Sequence

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from netdiag.io.files import keystores
from netdiag.kafka.security import Certificate, TrustAnchor

_LONGEST_TEXT = 300
_MOST_NAMES = 200
_CURVES = {"secp256r1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521"}
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


def read_certificates(ders: Iterable[bytes]) -> tuple[Certificate, ...]:
    """Those that can be read, in their order."""
    return tuple(found for der in ders if (found := read_certificate(der)) is not None)


def read_certificate(der: bytes) -> Certificate | None:
    """One certificate (DER); None where it is none, or one that nobody would take."""
    try:
        return _certificate(x509.load_der_x509_certificate(der))
    except (ValueError, TypeError, OverflowError, x509.InvalidVersion, x509.DuplicateExtension):
        return None


def split_pem(text: bytes) -> tuple[bytes, ...]:
    """The certificates (DER) in a PEM text; ValueError where one of them is broken or there is none."""
    return tuple(found.public_bytes(Encoding.DER) for found in x509.load_pem_x509_certificates(text))


def anchored(chain: Sequence[bytes], authorities: Sequence[bytes] | None) -> TrustAnchor:
    """Where a chain (DER, the server's own first) leads to, given what is trusted; None: nothing was given."""
    return TrustAnchor.NOT_ASKED if authorities is None or not chain else keystores.anchored(chain, authorities)


def _certificate(found: x509.Certificate) -> Certificate:
    names, addresses = _alternatives(found)
    key, bits = _key(found)
    oid = found.signature_algorithm_oid.dotted_string
    return Certificate(
        subject=_cut(found.subject.rfc4514_string()),
        issuer=_cut(found.issuer.rfc4514_string()),
        common_name=_common_name(found),
        names=names,
        addresses=addresses,
        not_before=found.not_valid_before_utc,
        not_after=found.not_valid_after_utc,
        key=key,
        key_bits=bits,
        signature=_SIGNATURES.get(oid, oid),
        is_authority=_is_authority(found),
        fingerprint=found.fingerprint(SHA256()).hex(),
    )


def _common_name(found: x509.Certificate) -> str:
    names = found.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return _cut(str(names[-1].value)) if names else ""


def _alternatives(found: x509.Certificate) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """DNS names and addresses of subjectAltName."""
    try:
        given = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return (), ()
    names = given.get_values_for_type(x509.DNSName)[:_MOST_NAMES]
    addresses = given.get_values_for_type(x509.IPAddress)[:_MOST_NAMES]
    return tuple(_cut(name) for name in names), tuple(str(address) for address in addresses)


def _is_authority(found: x509.Certificate) -> bool:
    try:
        return bool(found.extensions.get_extension_for_class(x509.BasicConstraints).value.ca)
    except (x509.ExtensionNotFound, ValueError):
        return False


def _key(found: x509.Certificate) -> tuple[str, int]:
    try:
        key = found.public_key()
    except Exception:  # noqa: BLE001 (a key of a kind that the library does not know, or refuses)
        return "unknown", 0
    match key:
        case rsa.RSAPublicKey():
            return f"RSA {key.key_size}", key.key_size
        case dsa.DSAPublicKey():
            return f"DSA {key.key_size}", key.key_size
        case ec.EllipticCurvePublicKey():
            return f"EC {_CURVES.get(key.curve.name, key.curve.name)}", key.curve.key_size
        case ed25519.Ed25519PublicKey():
            return "Ed25519", 256
        case ed448.Ed448PublicKey():
            return "Ed448", 456
    return "unknown", 0


def _cut(text: str) -> str:
    return text[:_LONGEST_TEXT]
