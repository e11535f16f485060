"""The first flight, with OpenSSL as the server, and with servers that do not keep to TLS."""

import contextlib
import os
import ssl
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdiag.kafka.other_protocols import MOST_BYTES, MOST_CERTIFICATES, RANDOM_BYTES, VERSIONS, HelloExchange
from tests.io.network.authorities import Issued, authority, issue


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
