"""Certificates read in plain Python: what `cryptography` says of them, and nothing of damaged ones."""

import random
import time
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from netdiag.io.network.certificates import read_certificate
from netdiag.kafka.certificate_bytes import certificate_parts, is_plain_key, key_belongs, pem_blocks, slow_hashing
from tests.io.network.authorities import Issued, authority, issue

ROOT = authority("Röot, Inc. + Söhne")
CERTIFICATES = {
    "authority": ROOT,
    "names": issue("kafka", by=ROOT, names=["kafka", "*.kafka.lab"], addresses=["10.0.0.1", "fd00::1"]),
    "common name": issue(" kafka "),
    "expired": issue("kafka", valid=(-30, -1)),
    "after 2050": issue("kafka", valid=(-1, 20_000)),
    "P-384": issue("kafka", curve=ec.SECP384R1()),
    "small": issue("kafka", bits=1024),
}
BUNDLES = (Path("/etc/ssl/certs/ca-certificates.crt"), Path("/etc/pki/tls/certs/ca-bundle.crt"))


def key_of(issued: Issued) -> bytes:
    """The key as PKCS#8."""
    return issued.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_certificate_is_what_cryptography_says(name: str) -> None:
    issued = CERTIFICATES[name]
    parts = certificate_parts(issued.der)
    assert parts is not None
    assert parts.certificate == read_certificate(issued.der)
    assert key_belongs(key_of(issued), parts) is True
    other = CERTIFICATES["P-384" if name != "P-384" else "small"]
    assert key_belongs(key_of(other), parts) is False


@pytest.mark.filterwarnings("ignore")
def test_the_authorities_of_the_system_are_what_cryptography_says() -> None:
    bundle = next((path for path in BUNDLES if path.exists()), None)
    blocks = list(pem_blocks(bundle.read_bytes())) if bundle else [("CERTIFICATE", ROOT.der)]
    for label, der in blocks:
        parts = certificate_parts(der)
        assert label == "CERTIFICATE"
        assert parts is not None
        assert parts.certificate == read_certificate(der)


def test_a_damaged_certificate_is_none_or_another_one() -> None:
    der, chance = CERTIFICATES["names"].der, random.Random(7)
    whole = certificate_parts(der)
    assert whole is not None
    for count in range(3000):
        damaged = bytearray(der[: chance.randrange(len(der))] if count % 3 == 0 else der)
        for _ in range(chance.randrange(1, 4)):
            if damaged:
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        certificate_parts(bytes(damaged))
        key_belongs(bytes(damaged), whole)
        is_plain_key(bytes(damaged))
    assert certificate_parts(b"") is None
    assert certificate_parts(b"\x30\x84\xff\xff\xff\xff") is None


def _nested(depth: int, inner: bytes) -> bytes:
    for _ in range(depth):
        inner = b"\x30\x84" + len(inner).to_bytes(4, "big") + inner
    return inner


ROUNDS = b"\x04\x02ab\x02\x04\x7f\xff\xff\xff"


@pytest.mark.parametrize(
    ("data", "is_slow"),
    [
        (_nested(3, ROUNDS), True),
        (_nested(3, b"\x04\x02ab\x02\x02\x27\x10"), False),
        (_nested(2, b"\x04\x14" + _nested(2, ROUNDS[:8])), False),
        # What is nested or divided more than any store is not opened.
        (_nested(5000, ROUNDS), True),
        (_nested(1, b"\x05\x00" * 200_000), True),
        (b"\x30\x80\x00\x00", False),
    ],
)
def test_rounds_of_hashing_are_seen_before_they_are_done(data: bytes, is_slow: bool) -> None:
    start = time.process_time()
    assert slow_hashing(data, 1_000_000) is is_slow
    assert time.process_time() - start < 2


def test_pem_with_a_thousand_beginnings_takes_no_time() -> None:
    start = time.process_time()
    list(pem_blocks(b"-----BEGIN CERTIFICATE-----\nAAAA" * 30_000))
    assert [*pem_blocks(b"-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----")] == [("CERTIFICATE", b"")]
    assert time.process_time() - start < 2
