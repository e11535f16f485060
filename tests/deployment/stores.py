"""The `x-certificates` of an example as the files that they stand for.

A file is a key store: `names` and `addresses` of its certificate, the authority that it is issued `by` (else itself),
`days` before and after today in which it is valid. Or it is a trust store of the authorities that it `trusts`. The type
is the ending of its name; a `password`, hashed in `rounds`, is for PKCS#12. In PEM, the key may be that of `another`
certificate, or `traditional` (PKCS#1 and its like). Authorities are made as they are named.
"""

from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12
from cryptography.hazmat.primitives.serialization.pkcs12 import PBES

from tests.io.network.authorities import Issued, authority, issue


def made_stores(described: Mapping[str, Mapping[str, Any]]) -> dict[str, bytes]:
    """The bytes of each file."""
    authorities = {name: authority(name) for one in described.values() for name in _authorities(one)}
    return {path: _store(path, one, authorities) for path, one in described.items()}


def _authorities(one: Mapping[str, Any]) -> list[str]:
    return [*one.get("trusts", ()), *([one["by"]] if "by" in one else [])]


def _store(path: str, one: Mapping[str, Any], authorities: Mapping[str, Issued]) -> bytes:
    is_pem = path.endswith(".pem")
    if "trusts" in one:
        trusted = [authorities[name] for name in one["trusts"]]
        assert is_pem, path
        return b"".join(each.pem for each in trusted)
    issued = issue(
        one.get("name", "kafka"),
        by=authorities.get(one.get("by", "")),
        names=one.get("names", ()),
        addresses=one.get("addresses", ()),
        valid=tuple(one.get("days", (-1, 365))),
        curve=ec.SECP256R1(),
    )
    if is_pem:
        return _key(one.get("key", ""), issued) + issued.pem
    secret = (
        PrivateFormat.PKCS12.encryption_builder()
        .kdf_rounds(one.get("rounds", 2048))
        .key_cert_algorithm(PBES.PBESv2SHA256AndAES256CBC)
        .hmac_hash(SHA256())
        .build(one.get("password", "another").encode())
    )
    return pkcs12.serialize_key_and_certificates(b"kafka", issued.key, issued.certificate, None, secret)


def _key(kind: str, issued: Issued) -> bytes:
    if kind == "traditional":
        return issued.key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    return (issue("another", curve=ec.SECP256R1()) if kind == "another" else issued).key_pem()
