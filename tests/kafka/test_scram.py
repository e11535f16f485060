"""SCRAM, by the examples of the RFCs and against servers that cheat."""

import base64
import hashlib
import hmac

import pytest

from netdiag.kafka.scram import MECHANISMS, MOST_ITERATIONS, Scram, ScramError

# RFC 7677, section 3.
NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
CLIENT_FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def example(password: str = "pencil") -> Scram:
    return Scram(mechanism="SCRAM-SHA-256", username="user", password=password, nonce=NONCE)


def test_the_example_of_the_rfc() -> None:
    exchange = example()
    assert exchange.first() == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    assert exchange.final(SERVER_FIRST) == CLIENT_FINAL
    exchange.check(SERVER_FINAL)


class Server:
    """What RFC 5802 says of the server, written down a second time."""

    def __init__(self, mechanism: str, password: str) -> None:
        self.hash = MECHANISMS[mechanism]
        self.salted = hashlib.pbkdf2_hmac(self.hash, password.encode(), b"salt and more", 4096)
        self.first = b""

    def answer(self, client_first: bytes) -> bytes:
        self.bare = client_first.removeprefix(b"n,,")
        self.first = self.bare.rpartition(b"r=")[2]
        self.first = b"r=" + self.first + b"more,s=" + base64.b64encode(b"salt and more") + b",i=4096"
        return self.first

    def verdict(self, client_final: bytes) -> bytes:
        without, _, proof = client_final.partition(b",p=")
        message = b",".join((self.bare, self.first, without))
        key = hmac.new(self.salted, b"Client Key", self.hash).digest()
        stored = hashlib.new(self.hash, key).digest()
        signature = hmac.new(stored, message, self.hash).digest()
        recovered = bytes(a ^ b for a, b in zip(base64.b64decode(proof), signature, strict=True))
        if hashlib.new(self.hash, recovered).digest() != stored:
            return b"e=invalid-proof"
        server_key = hmac.new(self.salted, b"Server Key", self.hash).digest()
        return b"v=" + base64.b64encode(hmac.new(server_key, message, self.hash).digest())


@pytest.mark.parametrize("mechanism", sorted(MECHANISMS))
@pytest.mark.parametrize(
    ("username", "password"), [("alice", "secret"), ("a=b,c", "pass,word="), ("Žofie", "žluťoučký")]
)
def test_a_server_is_convinced_and_convinces(mechanism: str, username: str, password: str) -> None:
    server = Server(mechanism, password)
    exchange = Scram(mechanism=mechanism, username=username, password=password, nonce="abcdef")
    exchange.check(server.verdict(exchange.final(server.answer(exchange.first()))))


@pytest.mark.parametrize("mechanism", sorted(MECHANISMS))
def test_a_wrong_password_is_told_in_the_servers_words(mechanism: str) -> None:
    server = Server(mechanism, "right")
    exchange = Scram(mechanism=mechanism, username="alice", password="wrong", nonce="abcdef")
    with pytest.raises(ScramError, match="it says invalid-proof"):
        exchange.check(server.verdict(exchange.final(server.answer(exchange.first()))))


def test_a_server_that_does_not_know_the_password_is_not_believed() -> None:
    exchange = example()
    exchange.final(SERVER_FIRST)
    with pytest.raises(ScramError, match="does not know the password"):
        exchange.check(b"v=" + base64.b64encode(bytes(32)))


def test_a_server_that_skips_the_proof_is_not_believed() -> None:
    with pytest.raises(ScramError, match="does not know"):
        example().check(b"v=")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (b"r=other,s=AAAA,i=4096", "nonce"),
        (f"r={NONCE},s=AAAA,i=4096".encode(), "nonce"),
        (f"r={NONCE}x,s=,i=4096".encode(), "no salt"),
        (f"r={NONCE}x,s=!!!,i=4096".encode(), "base64"),
        (f"r={NONCE}x,s=AAAA,i=1".encode(), "1 iterations"),
        (f"r={NONCE}x,s=AAAA,i={MOST_ITERATIONS + 1}".encode(), "iterations"),
        (f"r={NONCE}x,s=AAAA,i=99999999999999999999".encode(), "0 iterations"),
        (f"r={NONCE}x,s=AAAA,i=-4096".encode(), "0 iterations"),
        (b"m=something,r=x,s=AAAA,i=4096", "extension"),
        (b"\xff\xfe", "no text"),
        (b"r=" + b"x" * 5000, "5002 bytes"),
        (b"", "nonce"),
    ],
)
def test_a_server_that_does_not_keep_to_scram(message: bytes, said: str) -> None:
    with pytest.raises(ScramError, match=said) as raised:
        example("the password").final(message)
    assert "the password" not in str(raised.value)
