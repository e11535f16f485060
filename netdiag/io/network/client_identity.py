"""What a client brings to a TLS handshake: whom it trusts and who it is, read from the files that its settings name.

Keystores are read as Java reads them (JKS and PKCS12 by what they are, whatever their type says). Keys stay in memory:
OpenSSL takes them from an anonymous file only. Errors name the setting and the file, never what a password is.
"""

import os
import ssl
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path

from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
    load_pem_private_key,
    pkcs12,
)

from netdiag.errors import InputError
from netdiag.io.files import read_file
from netdiag.io.network.certificates import split_pem
from netdiag.kafka.client_properties import ClientProperties, Store, StoreType, parse_client_properties
from netdiag.kafka.java_keystore import MAGIC, KeystoreError, parse_jks
from netdiag.kafka.zookeeper_client import parse_zookeeper_tls
from netdiag.values import dataclass

_LARGEST_FILE = 4 * 1024 * 1024
_SYSTEM_BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
_MODERN = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A client of its settings. `authorities` and `chain` are DER, `key` is PEM without a password."""

    properties: ClientProperties
    authorities: tuple[bytes, ...] = ()
    chain: tuple[bytes, ...] = ()
    key: bytes = field(default=b"", repr=False)


def read_client(path: str) -> Client:
    """The client of a client.properties file; relative names in it start from the working directory, as in Java."""
    text = _read(path, "--client-properties").decode("utf-8", errors="replace")
    return _client(parse_client_properties(text, where=path))


def read_zookeeper_client(path: str) -> Client:
    """The client of ZooKeeper that a properties file describes, which uses TLS."""
    text = _read(path, "--zookeeper-properties").decode("utf-8", errors="replace")
    return _client(parse_zookeeper_tls(text, where=path))


def _client(properties: ClientProperties) -> Client:
    if not properties.uses_tls:
        return Client(properties=properties)
    chain, key = _own(properties.keystore) if properties.keystore else ((), b"")
    authorities = _trusted(properties.truststore) if properties.truststore else _system_authorities()
    return Client(properties=properties, authorities=authorities, chain=chain, key=key)


def context_of(client: Client | None, *, verify: bool) -> ssl.SSLContext:
    """How OpenSSL greets for this client; None is one that trusts and shows nothing.

    It takes every algorithm that it has: what Java would refuse is judged by `kafka.security`. Names are
    judged there, too.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    versions = client.properties.versions if client else tuple(_MODERN)
    if versions[0] not in _MODERN or client is None:
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    else:
        context.minimum_version = _MODERN[versions[0]]
    if versions[-1] == "TLSv1.2":
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    if client is None:
        return context
    if verify:
        context.verify_mode = ssl.CERT_REQUIRED
        # Java takes whatever is in the truststore for an authority, roots or not, and does not insist on extensions.
        context.verify_flags = ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
        if client.authorities:
            with suppress(ssl.SSLError):
                context.load_verify_locations(cadata=b"".join(client.authorities))
    if client.key:
        with _as_file(client.key + _pem(client.chain)) as name:
            context.load_cert_chain(name)
    return context


def _read(path: str, setting: str) -> bytes:
    try:
        return read_file(path, limit=_LARGEST_FILE)
    except InputError as error:
        raise InputError(f"the file of {setting} cannot be read: {error.message}", where=path) from error


def _trusted(store: Store) -> tuple[bytes, ...]:
    setting = "ssl.truststore.location"
    data = _read(store.location, setting) if store.location else store.certificates.encode()
    try:
        if store.type is StoreType.PEM:
            return split_pem(data)
        if data[:4] == MAGIC:
            return parse_jks(data, store.password).trusted
        bundle = pkcs12.load_pkcs12(data, _bytes(store.password))
        return tuple(one.certificate.public_bytes(Encoding.DER) for one in bundle.additional_certs)
    except (ValueError, TypeError, KeystoreError) as error:
        raise _unreadable(setting, store, error) from None


def _own(store: Store) -> tuple[tuple[bytes, ...], bytes]:
    """The client's chain (DER) and its key (PEM, without a password)."""
    setting = "ssl.keystore.location"
    data = _read(store.location, setting) if store.location else (store.key + "\n" + store.certificates).encode()
    try:
        if store.type is StoreType.PEM:
            return split_pem(data), _plain_key(load_pem_private_key(data, _bytes(store.key_password)))
        if data[:4] == MAGIC:
            keys = parse_jks(data, store.password, store.key_password).keys
            if not keys:
                raise KeystoreError("it holds no key")
            return keys[0].chain, _plain_key(load_der_private_key(keys[0].key, None))
        bundle = pkcs12.load_pkcs12(data, _bytes(store.password))
        if bundle.key is None or bundle.cert is None:
            raise KeystoreError("it holds no key")
        certificates = (bundle.cert, *bundle.additional_certs)
        return tuple(one.certificate.public_bytes(Encoding.DER) for one in certificates), _plain_key(bundle.key)
    except (ValueError, TypeError, KeystoreError) as error:
        raise _unreadable(setting, store, error) from None


def _unreadable(setting: str, store: Store, error: Exception) -> InputError:
    """What is wrong; of the library's words none are passed on, they might quote what was read."""
    why = str(error) if isinstance(error, KeystoreError) else "the password is wrong, or the keystore is damaged"
    if store.type is StoreType.PEM:
        why = "it is not PEM with what it should hold, or the password is wrong"
    return InputError(f"the {store.type} of {setting} cannot be opened: {why}", where=store.location)


def _plain_key(key: object) -> bytes:
    found: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())  # type: ignore[attr-defined]
    return found


def _bytes(password: str | None) -> bytes | None:
    return None if password is None else password.encode()


def _pem(ders: Sequence[bytes]) -> bytes:
    return b"".join(ssl.DER_cert_to_PEM_cert(der).encode() for der in ders)


def _system_authorities() -> tuple[bytes, ...]:
    """Without a truststore Java trusts its own list; the system's is the nearest to it."""
    for name in (os.environ.get("SSL_CERT_FILE", ""), *_SYSTEM_BUNDLES):
        with suppress(OSError, ValueError):
            if name:
                return split_pem(Path(name).read_bytes())
    return ()


@contextmanager
def _as_file(data: bytes) -> Iterator[str]:
    """A name that OpenSSL can open; nothing reaches a disk where the kernel has anonymous files."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("netdiag", os.MFD_CLOEXEC)
        try:
            os.write(descriptor, data)
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
        return
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        yield file.name
