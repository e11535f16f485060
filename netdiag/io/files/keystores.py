"""Key stores and trust stores as Kafka opens them, and where a certificate chain leads to.

PEM and JKS take nothing but Python. PKCS#12, encrypted keys and signatures take `cryptography`, which the bare install
does not have: `can_verify` says whether it is there. Files are a stranger's: what cannot be read is a `StoreFault`.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from netdiag.kafka.certificate_bytes import (
    CertificateParts,
    certificate_parts,
    is_plain_key,
    key_belongs,
    pem_blocks,
    slow_hashing,
)
from netdiag.kafka.client_properties import Store, StoreType
from netdiag.kafka.java_keystore import MAGIC, KeyPasswordError, KeystoreError, parse_jks
from netdiag.kafka.security import OpenedStore, StoreFault, TrustAnchor

try:
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        load_der_private_key,
        pkcs12,
    )
except ImportError:
    can_verify = False
else:
    can_verify = True

# What OpenSSL hashes in half a second; Java writes 10,000 rounds, OpenSSL 2,048.
_MOST_ROUNDS = 1_000_000
_LONGEST_PATH = 10
_MOST_CERTIFICATES = 1000


def now() -> datetime:
    """The time that certificates are valid at, or not."""
    return datetime.now(UTC)


def open_store(store: Store, data: bytes | None, *, has_key: bool) -> OpenedStore:
    """What a store holds; `data` is its file, None where its text stands in the settings."""
    if store.type is StoreType.PEM:
        text = data if data is not None else f"{store.key}\n{store.certificates}".encode()
        return _open_pem(text, store.key_password, has_key=has_key)
    if data is None:
        return OpenedStore(fault=StoreFault.FORMAT)
    if data[:4] == MAGIC:
        return _open_jks(data, store, has_key=has_key)
    return _open_pkcs12(data, store, has_key=has_key)


def anchored(chain: Sequence[bytes], authorities: Sequence[bytes]) -> TrustAnchor:
    """Where a chain (DER, the server's own first) leads to; without `cryptography` by the names alone."""
    if chain and chain[0] in authorities:
        return TrustAnchor.PINNED
    sent, trusted = _parts(chain), _parts(authorities)
    if not sent:
        return TrustAnchor.MISSING_ISSUER
    current = sent[0]
    for step in range(_LONGEST_PATH):
        if any(_issued(current, by) for by in trusted) or (step and current in trusted):
            return TrustAnchor.TRUSTED
        if current.subject == current.issuer:
            return TrustAnchor.UNKNOWN_ROOT if step else TrustAnchor.SELF_SIGNED
        above = next((by for by in sent[1:] if by != current and _issued(current, by)), None)
        if above is None:
            break
        current = above
    return TrustAnchor.MISSING_ISSUER


def _open_pem(text: bytes, password: str | None, *, has_key: bool) -> OpenedStore:
    blocks = list(pem_blocks(text))
    certificates = [data for label, data in blocks if label in ("CERTIFICATE", "X509 CERTIFICATE")]
    keys = [(label, data) for label, data in blocks if label.endswith("PRIVATE KEY")]
    if not certificates:
        return OpenedStore(fault=StoreFault.NO_CERTIFICATE if b"-----BEGIN " in text else StoreFault.FORMAT)
    if len(_parts(certificates)) != len(certificates):
        return OpenedStore(fault=StoreFault.FORMAT)
    if not has_key:
        return _opened(trusted=certificates)
    if not keys:
        return OpenedStore(fault=StoreFault.NO_KEY)
    label, key = keys[0]
    if label == "ENCRYPTED PRIVATE KEY":
        return _with_encrypted_key(certificates, key, password)
    if not is_plain_key(key):
        return OpenedStore(fault=StoreFault.TRADITIONAL_KEY)
    return _opened(chain=certificates, key=key)


def _with_encrypted_key(certificates: Sequence[bytes], key: bytes, password: str | None) -> OpenedStore:
    if password is None:
        return OpenedStore(fault=StoreFault.KEY_PASSWORD)
    if slow_hashing(key, _MOST_ROUNDS):
        return OpenedStore(fault=StoreFault.COSTLY)
    if not can_verify:
        return _opened(chain=certificates)
    try:
        loaded = load_der_private_key(key, password.encode())
        plain = loaded.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return OpenedStore(fault=StoreFault.KEY_PASSWORD)
    return _opened(chain=certificates, key=plain)


def _open_jks(data: bytes, store: Store, *, has_key: bool) -> OpenedStore:
    try:
        found = parse_jks(data, store.password, store.key_password)
    except KeyPasswordError:
        if has_key:
            return OpenedStore(fault=StoreFault.KEY_PASSWORD)
        found = parse_jks(data, None)
    except KeystoreError:
        return OpenedStore(fault=StoreFault.PASSWORD if _is_sound(data) else StoreFault.FORMAT)
    if not has_key:
        return _opened(trusted=[*found.trusted, *(der for key in found.keys for der in key.chain[:1])])
    if not found.keys:
        return OpenedStore(fault=StoreFault.NO_KEY)
    return _opened(chain=found.keys[0].chain, key=found.keys[0].key, trusted=found.trusted)


def _is_sound(data: bytes) -> bool:
    """Whether it is a whole JKS, whatever its password."""
    try:
        parse_jks(data, None)
    except KeystoreError:
        return False
    return True


def _open_pkcs12(data: bytes, store: Store, *, has_key: bool) -> OpenedStore:
    if data[:1] != b"\x30":
        return OpenedStore(fault=StoreFault.FORMAT)
    if slow_hashing(data, _MOST_ROUNDS):
        return OpenedStore(fault=StoreFault.COSTLY)
    if not can_verify:
        return OpenedStore(is_closed=True)
    try:
        bundle = pkcs12.load_pkcs12(data, None if store.password is None else store.password.encode())
    except ValueError as error:
        return OpenedStore(fault=StoreFault.PASSWORD if "password" in str(error).lower() else StoreFault.FORMAT)
    except (TypeError, UnsupportedAlgorithm):
        return OpenedStore(fault=StoreFault.FORMAT)
    others = [one.certificate.public_bytes(Encoding.DER) for one in bundle.additional_certs[:_MOST_CERTIFICATES]]
    if not has_key:
        own = [bundle.cert.certificate.public_bytes(Encoding.DER)] if bundle.cert else []
        return _opened(trusted=[*others, *own])
    if bundle.key is None or bundle.cert is None:
        return OpenedStore(fault=StoreFault.NO_KEY)
    key = bundle.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    own_der = bundle.cert.certificate.public_bytes(Encoding.DER)
    return _opened(chain=_in_order(own_der, others), key=key)


def _in_order(own: bytes, others: Sequence[bytes]) -> list[bytes]:
    """The chain as Java makes it of a bag of certificates: each followed by the one whose name it has as issuer."""
    left, chain = _parts(others), _parts([own])
    while chain and len(chain) < _LONGEST_PATH:
        above = next((one for one in left if one.subject == chain[-1].issuer and one not in chain), None)
        if above is None:
            break
        chain.append(above)
    return [one.der for one in chain]


def _opened(*, chain: Sequence[bytes] = (), trusted: Sequence[bytes] = (), key: bytes | None = None) -> OpenedStore:
    own, others = _parts(chain), _parts(trusted)
    if not own and not others:
        return OpenedStore(fault=StoreFault.NO_CERTIFICATE)
    return OpenedStore(
        chain=tuple(one.certificate for one in own),
        trusted=tuple(one.certificate for one in others),
        chain_ders=tuple(one.der for one in own),
        trusted_ders=tuple(one.der for one in others),
        key_belongs=key_belongs(key, own[0]) if key is not None and own else None,
    )


def _parts(ders: Iterable[bytes]) -> list[CertificateParts]:
    return list(_readable(ders))


def _readable(ders: Iterable[bytes]) -> Iterator[CertificateParts]:
    for der in list(ders)[:_MOST_CERTIFICATES]:
        parts = certificate_parts(der)
        if parts is not None:
            yield parts


def _issued(certificate: CertificateParts, by: CertificateParts) -> bool:
    if certificate.issuer != by.subject:
        return False
    if not can_verify:
        return True
    try:
        with warnings.catch_warnings():
            # Of what the library will refuse one day.
            warnings.simplefilter("ignore")
            child, parent = (x509.load_der_x509_certificate(one.der) for one in (certificate, by))
            child.verify_directly_issued_by(parent)
    except InvalidSignature:
        return False
    except (ValueError, TypeError, UnsupportedAlgorithm):
        # An algorithm that nobody verifies any more: the names agree, and its weakness is a fault of its own.
        return True
    return True
