"""What a client refuses a certificate for."""

import contextlib
import hashlib
import os
import ssl
import struct
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdiag.kafka.java_keystore import Keystore, KeystoreError, parse_jks
from netdiag.kafka.other_protocols import MOST_BYTES, MOST_CERTIFICATES, RANDOM_BYTES, VERSIONS, HelloExchange
from netdiag.kafka.security import (
    Certificate,
    CertificateFault,
    Fault,
    ListenerSecurity,
    SpokenProtocol,
    TrustAnchor,
    covers,
    faults_of,
    server_name,
)
from tests.io.network.authorities import Issued, authority, issue
from tests.tools import tool


def test_the_four_security_protocols_have_the_names_that_kafka_gives_them() -> None:
    first = list(SpokenProtocol)[:4]
    assert {spoken.value for spoken in first} == {"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"}
    assert all(spoken.name == spoken.value for spoken in first)


def test_a_sight_of_nothing_secured_is_only_what_is_spoken() -> None:
    assert ListenerSecurity(spoken=SpokenProtocol.HTTP) == ListenerSecurity(
        spoken=SpokenProtocol.HTTP, detail="", tls=None, sasl=None
    )


NOW = datetime(2026, 6, 1, tzinfo=UTC)
ROOT = Certificate(
    subject="CN=Root",
    issuer="CN=Root",
    common_name="Root",
    names=(),
    addresses=(),
    not_before=NOW - timedelta(days=1000),
    not_after=NOW + timedelta(days=1000),
    key="EC secp256r1",
    key_bits=256,
    signature="ecdsa-with-SHA256",
    is_authority=True,
    fingerprint="00",
)
GOOD = replace(
    ROOT,
    subject="CN=kafka",
    common_name="kafka",
    names=("kafka", "*.kafka.lab"),
    addresses=("10.0.0.1", "fd00::1"),
    key="RSA 2048",
    key_bits=2048,
    signature="sha256WithRSAEncryption",
    is_authority=False,
)


def faults(
    *chain: Certificate, hosts: tuple[str, ...] = ("kafka",), anchored: TrustAnchor = TrustAnchor.TRUSTED
) -> list[Fault]:
    return list(faults_of(chain, hosts=hosts, anchored=anchored, now=NOW))


@pytest.mark.parametrize(
    ("names", "host", "expected"),
    [
        (("kafka",), "kafka", True),
        (("KAFKA",), "kafka", True),
        (("kafka",), "KaFKA.", True),
        (("kafka",), "kafka.lab", False),
        (("*.lab",), "kafka.lab", True),
        (("*.lab",), "a.kafka.lab", False),
        (("*.lab",), "lab", False),
        (("*",), "kafka", False),
        (("kafka.*",), "kafka.lab", False),
        (("k*a.lab",), "kafka.lab", True),
        (("kaf*.lab",), "ka.lab", False),
        (("kafka.*.lab",), "kafka.eu.lab", True),
        (("*.kafka.lab", "other"), "b1.kafka.lab", True),
        (("10.0.0.1",), "10.0.0.1", False),
        (("a*a*a.lab",), "aa.lab", False),
        (("",), "", False),
    ],
)
def test_names(names: tuple[str, ...], host: str, expected: bool) -> None:
    assert covers(replace(GOOD, names=names, addresses=()), host) is expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("10.0.0.1", True),
        ("10.0.0.2", False),
        ("fd00::1", True),
        ("fd00:0:0::1", True),
        ("[fd00::1]", True),
        ("fd00::1%eth0", True),
        ("fd00::2", False),
    ],
)
def test_addresses(host: str, expected: bool) -> None:
    assert covers(GOOD, host) is expected


def test_the_common_name_counts_only_where_no_host_is_named() -> None:
    assert covers(replace(GOOD, names=()), "kafka")
    assert covers(replace(GOOD, names=(), addresses=()), "kafka")
    assert not covers(replace(GOOD, names=("other",)), "kafka")
    assert not covers(replace(GOOD, names=(), addresses=(), common_name="10.0.0.1"), "10.0.0.1")


def test_a_star_that_tries_every_cut_is_still_quick() -> None:
    assert not covers(replace(GOOD, names=("*a" * 100 + "b.lab",)), "a" * 250 + ".lab")


def test_a_good_certificate_has_no_fault() -> None:
    assert faults(GOOD, ROOT, hosts=("kafka", "10.0.0.1", "b.kafka.lab")) == []
    assert faults(hosts=("kafka",)) == []


def test_every_host_that_is_not_covered_is_named_once() -> None:
    found = faults(GOOD, hosts=("kafka", "localhost", "10.0.0.9", "localhost"))
    assert [fault.detail for fault in found] == [
        f'"{host}" is not among its names: kafka, *.kafka.lab, 10.0.0.1, fd00::1' for host in ("localhost", "10.0.0.9")
    ]
    assert all(fault.fault is CertificateFault.NAME and fault.refused for fault in found)
    (lenient,) = faults_of([GOOD], hosts=["x"], anchored=TrustAnchor.TRUSTED, now=NOW, checks_names=False)
    assert not lenient.refused


def test_many_names_are_cut() -> None:
    (fault,) = faults(replace(GOOD, names=tuple(f"k{i}" for i in range(9)), addresses=()))
    assert fault.detail.endswith("k4 and 4 more")


@pytest.mark.parametrize(
    ("validity", "fault", "refused", "said"),
    [
        ((-100, -1), CertificateFault.EXPIRED, True, "it expired on 2026-05-31"),
        ((1, 100), CertificateFault.NOT_YET_VALID, True, "it is valid from 2026-06-02 00:00 on"),
        ((-1, 29), CertificateFault.EXPIRES_SOON, False, "it expires on 2026-06-30, in 29 days"),
    ],
)
def test_dates(validity: tuple[int, int], fault: CertificateFault, refused: bool, said: str) -> None:
    begin, end = (NOW + timedelta(days=count) for count in validity)
    dated = replace(GOOD, not_before=begin, not_after=end)
    assert faults(dated) == [Fault(fault=fault, detail=said, refused=refused)]
    assert [fault.refused for fault in faults(dated, anchored=TrustAnchor.PINNED)] == [False]


def test_an_expired_authority_is_named() -> None:
    (fault,) = faults(GOOD, replace(ROOT, subject="CN=Sub", not_after=NOW - timedelta(days=1)))
    assert fault.detail == '"CN=Sub" of its chain expired on 2026-05-31'


def test_java_looks_at_no_date_of_a_root_that_it_trusts() -> None:
    root = replace(ROOT, subject="CN=Root", issuer="CN=Root", not_after=NOW - timedelta(days=1))
    between = replace(root, issuer="CN=Other")
    assert [fault.refused for fault in (*faults(GOOD, root), *faults(GOOD, between))] == [False, True]
    assert [fault.refused for fault in faults(root) if fault.fault is CertificateFault.EXPIRED] == [True]


@pytest.mark.parametrize(
    ("anchored", "found"),
    [
        (TrustAnchor.TRUSTED, []),
        (TrustAnchor.PINNED, []),
        (TrustAnchor.NOT_ASKED, []),
        (TrustAnchor.SELF_SIGNED, [CertificateFault.SELF_SIGNED]),
        (TrustAnchor.UNKNOWN_ROOT, [CertificateFault.UNKNOWN_AUTHORITY]),
        (TrustAnchor.MISSING_ISSUER, [CertificateFault.UNKNOWN_AUTHORITY, CertificateFault.INCOMPLETE_CHAIN]),
    ],
)
def test_where_the_chain_leads(anchored: TrustAnchor, found: list[CertificateFault]) -> None:
    assert [fault.fault for fault in faults(GOOD, anchored=anchored)] == found


def test_who_vouches_for_itself_is_told_of_even_where_no_authorities_are_given() -> None:
    (fault,) = faults(replace(GOOD, issuer=GOOD.subject), anchored=TrustAnchor.NOT_ASKED)
    assert (fault.fault, fault.refused) == (CertificateFault.SELF_SIGNED, False)


@pytest.mark.parametrize(
    ("kind", "bits", "refused"), [("RSA", 1024, False), ("RSA", 1023, True), ("RSA", 512, True), ("EC", 160, True)]
)
def test_weak_keys(kind: str, bits: int, refused: bool) -> None:
    (fault,) = faults(replace(GOOD, key=f"{kind} {bits}", key_bits=bits))
    assert (fault.fault, fault.refused) == (CertificateFault.WEAK_KEY, refused)


@pytest.mark.parametrize(
    ("signature", "refused"),
    [("md5WithRSAEncryption", True), ("sha1WithRSAEncryption", False), ("ecdsa-with-SHA1", False)],
)
def test_weak_signatures(signature: str, refused: bool) -> None:
    (fault,) = faults(replace(GOOD, signature=signature))
    assert (fault.fault, fault.refused) == (CertificateFault.WEAK_SIGNATURE, refused)
    assert faults(GOOD, replace(ROOT, signature=signature)) == []


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> tuple[Issued, Path]:
    """A server's certificate under an authority under another, and its file."""
    leaf = issue("kafka", by=authority("Sub", by=authority()), names=["kafka"])
    return leaf, leaf.write(tmp_path_factory.mktemp("tls") / "kafka.pem")


def server(path: Path, *versions: str, wants_client: bool = False) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    context.set_ciphers("ALL:@SECLEVEL=0")
    known = [ssl.TLSVersion[name.replace("v1.", "v1_")] for name in versions]
    context.minimum_version, context.maximum_version = min(known), max(known)
    if wants_client:
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_verify_locations(path)
    return context


def greet(context: ssl.SSLContext, version: str, *, host: str = "kafka", chunk: int = 1000) -> HelloExchange:
    """One exchange, answered by OpenSSL."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    answering = context.wrap_bio(incoming, outgoing, server_side=True)
    exchange = HelloExchange(version=version, host=host)
    incoming.write(exchange.hello(os.urandom(RANDOM_BYTES)))
    with contextlib.suppress(ssl.SSLError):
        answering.do_handshake()
    said = outgoing.read()
    for start in range(0, len(said), chunk):
        exchange.receive(said[start : start + chunk])
    return exchange


@pytest.mark.parametrize("chunk", [1, 100, 100_000])
def test_what_a_server_of_1_2_says(chain: tuple[Issued, Path], chunk: int) -> None:
    leaf, path = chain
    exchange = greet(server(path, "TLSv1.2"), "TLSv1.2", chunk=chunk)
    assert leaf.issuer is not None
    assert (exchange.accepted, exchange.ended, exchange.wants_client) == (True, True, False)
    assert exchange.chain == (leaf.der, leaf.issuer.der)
    assert exchange.cipher.startswith("TLS_ECDHE_RSA_WITH_")


def test_a_server_that_wants_a_clients_certificate(chain: tuple[Issued, Path]) -> None:
    exchange = greet(server(chain[1], "TLSv1.2", wants_client=True), "TLSv1.2")
    assert exchange.wants_client
    assert exchange.ended


@pytest.mark.parametrize("host", ["kafka", "10.0.0.1", "fd00::1", "", "žluťoučký.lab", "x" * 300])
def test_a_server_of_1_3_only(chain: tuple[Issued, Path], host: str) -> None:
    context = server(chain[1], "TLSv1.3")
    newest, older = greet(context, "TLSv1.3", host=host), greet(context, "TLSv1.2", host=host)
    assert (newest.accepted, newest.cipher[:4], newest.ended) == (True, "TLS_", True)
    assert (older.accepted, older.answered, older.ended, older.chain) == (False, True, True, ())


@pytest.mark.parametrize("offered", [("TLSv1.2",), ("TLSv1.3",), ("TLSv1.2", "TLSv1.3")])
def test_each_version_is_told_from_the_others(chain: tuple[Issued, Path], offered: tuple[str, ...]) -> None:
    context = server(chain[1], *offered)
    assert tuple(version for version in VERSIONS if greet(context, version).accepted) == offered


def test_a_server_on_another_curve_asks_again_and_has_accepted(chain: tuple[Issued, Path]) -> None:
    context = server(chain[1], "TLSv1.3")
    context.set_ecdh_curve("secp521r1")
    exchange = greet(context, "TLSv1.3")
    assert (exchange.accepted, exchange.ended) == (True, True)


@pytest.mark.parametrize(
    ("said", "answered"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", False),
        (b"\x15\x03\x03\x00\x02\x02\x28", True),
        (b"\x16\x03\x03\x00\x04\x0b\x00\x00\x00", True),
        (b"\x16\x03\x03\x00\x06\x02\x00\x00\x02\x03\x03", True),
        (b"\x16\x03\x03\xff\xff" + bytes(0xFFFF), True),
        (b"", False),
    ],
)
def test_strangers(said: bytes, answered: bool) -> None:
    exchange = HelloExchange(version="TLSv1.2")
    exchange.hello(bytes(RANDOM_BYTES))
    exchange.receive(said)
    exchange.receive(b"")
    assert (exchange.ended, exchange.answered, exchange.accepted) == (True, answered, False)


def test_a_flood_is_not_kept() -> None:
    exchange = HelloExchange(version="TLSv1.2")
    record = struct.pack(">BHH", 22, 0x0303, 0x4000) + b"\x0b\xff\xff\xff" + bytes(0x3FFC)
    for _ in range(1000):
        exchange.receive(record)
        if exchange.ended:
            break
    assert exchange.ended
    assert len(exchange._messages) <= MOST_BYTES


def test_more_certificates_than_anybody_sends_are_left() -> None:
    body = b"".join((3).to_bytes(3, "big") + b"abc" for _ in range(1000))
    hello = b"\x03\x03" + bytes(32) + b"\x00\xc0\x2f\x00"
    exchange = HelloExchange(version="TLSv1.2")
    for kind, message in ((2, hello), (11, len(body).to_bytes(3, "big") + body), (14, b"")):
        whole = bytes([kind]) + len(message).to_bytes(3, "big") + message
        exchange.receive(struct.pack(">BHH", 22, 0x0303, len(whole)) + whole)
    assert exchange.chain == (b"abc",) * MOST_CERTIFICATES


@given(st.lists(st.binary(max_size=200), max_size=5), st.sampled_from(sorted(VERSIONS)))
def test_nothing_that_is_sent_raises(pieces: list[bytes], version: str) -> None:
    exchange = HelloExchange(version=version)
    for piece in pieces:
        exchange.receive(struct.pack(">BHH", 22, 0x0303, len(piece)) + piece)
        exchange.receive(b"\x16\x03\x03\x00\x05\x02\x00\x00\x01" + piece[:1])


STORE, KEY = "store-pass", "key-pass-ž"


def keytool(*words: str) -> None:
    subprocess.run([tool("keytool"), *words], check=True, capture_output=True, timeout=120)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """key.jks, its certificate own.der, and trust.jks, which trusts that; made anew each time."""
    here = tmp_path_factory.mktemp("keystores")
    common = ("-alias", "kafka", "-keystore", str(here / "key.jks"), "-storepass", STORE)
    keytool("-genkeypair", *common, "-storetype", "JKS", "-keypass", KEY, "-keyalg", "EC", "-dname", "CN=kafka")
    keytool("-exportcert", *common, "-file", str(here / "own.der"))
    trust = ("-keystore", str(here / "trust.jks"), "-storetype", "JKS", "-storepass", STORE)
    keytool("-importcert", "-noprompt", "-alias", "ca", "-file", str(here / "own.der"), *trust)
    return here


def test_a_truststore_with_and_without_its_password(folder: Path) -> None:
    data, own = (folder / "trust.jks").read_bytes(), (folder / "own.der").read_bytes()
    assert parse_jks(data, STORE) == parse_jks(data, None) == Keystore(trusted=(own,))


def test_a_key_with_a_password_of_its_own(folder: Path) -> None:
    data, own = (folder / "key.jks").read_bytes(), (folder / "own.der").read_bytes()
    (entry,) = parse_jks(data, STORE, KEY).keys
    assert (entry.alias, entry.chain) == ("kafka", (own,))
    # PKCS#8: SEQUENCE, version 0, the algorithm id-ecPublicKey
    assert entry.key[:1] == b"\x30"
    assert bytes.fromhex("06072a8648ce3d0201") in entry.key[:40]
    assert str(entry.key) not in repr(entry)
    assert parse_jks(data, None).keys == ()


@pytest.mark.parametrize(
    ("store", "key", "said"),
    [("another", KEY, "password is wrong"), (STORE, "another", "password of its key"), (STORE, None, "of its key")],
)
def test_wrong_passwords(folder: Path, store: str, key: str | None, said: str) -> None:
    with pytest.raises(KeystoreError, match=said) as raised:
        parse_jks((folder / "key.jks").read_bytes(), store, key)
    assert STORE not in str(raised.value)


def test_damage_is_never_anything_but_an_error(folder: Path) -> None:
    for name in ("key.jks", "trust.jks"):
        data = (folder / name).read_bytes()
        for cut in range(0, len(data) - 20, 7):
            with pytest.raises(KeystoreError):
                parse_jks(data[:cut], STORE, KEY)
        body = data[:-20]
        for at in range(0, len(body), 3):
            damaged = body[:at] + bytes([body[at] ^ 0xFF]) + body[at + 1 :]
            digest = hashlib.sha1(STORE.encode("utf-16-be") + b"Mighty Aphrodite" + damaged).digest()
            try:
                parse_jks(damaged + digest, STORE, KEY)
            except KeystoreError:
                continue


@pytest.mark.parametrize(
    ("host", "sent"),
    [
        ("kafka", "kafka"),
        ("kafka.example.", "kafka.example"),
        ("kafka-1", "kafka-1"),
        ("kafka_1", None),
        ("1.2.3.4", None),
        ("::1", None),
        ("käfka", None),
        ("a" * 64 + "." + "b" * 200, None),
        ("", None),
    ],
)
def test_the_name_that_is_sent_is_one_that_java_allows(host: str, sent: str | None) -> None:
    assert server_name(host) == sent
    hello = HelloExchange(version="TLSv1.2", host=host).hello(bytes(RANDOM_BYTES))
    assert (host.rstrip(".").encode() in hello) == (sent is not None or not host)
