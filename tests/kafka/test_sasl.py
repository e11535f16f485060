"""Logins as dialogues, and the exchanges of SCRAM."""

import base64
import hashlib
import hmac
from collections.abc import Callable

import pytest

from netdiag.kafka.protocol import LocalProtocolError, decode_request, encode_response
from netdiag.kafka.sasl import (
    MOST_ITERATIONS,
    SCRAM_MECHANISMS,
    SPOKEN,
    LoggedIn,
    Login,
    Refused,
    RefusedBy,
    Scram,
    ScramError,
)

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
        self.hash = SCRAM_MECHANISMS[mechanism]
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


@pytest.mark.parametrize("mechanism", sorted(SCRAM_MECHANISMS))
@pytest.mark.parametrize(
    ("username", "password"), [("alice", "secret"), ("a=b,c", "pass,word="), ("Žofie", "žluťoučký")]
)
def test_a_server_is_convinced_and_convinces(mechanism: str, username: str, password: str) -> None:
    server = Server(mechanism, password)
    exchange = Scram(mechanism=mechanism, username=username, password=password, nonce="abcdef")
    exchange.check(server.verdict(exchange.final(server.answer(exchange.first()))))


@pytest.mark.parametrize("mechanism", sorted(SCRAM_MECHANISMS))
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


SECRET = "p4ss-w0rd"


def login(mechanism: str = "PLAIN", password: str = SECRET) -> Login:
    return Login(mechanism=mechanism, username="alice", password=password, nonce="fresh")


def handshake(correlation_id: int, error_code: int = 0, mechanisms: tuple[str, ...] = ("PLAIN",)) -> bytes:
    return encode_response(17, 1, correlation_id, {"error_code": error_code, "mechanisms": mechanisms})


def token(correlation_id: int, data: bytes = b"", error_code: int = 0, words: str | None = None) -> bytes:
    body = {"error_code": error_code, "error_message": words, "auth_bytes": data}
    return encode_response(36, 0, correlation_id, body)


def talk(client: Login, broker: Callable[[int, int, bytes], bytes], *, chunk: int = 7) -> None:
    """Let them talk; `broker` takes api key, correlation id and token."""
    sent = client.start()
    while sent and client.outcome is None:
        request = decode_request(sent[4:])
        answer = broker(request.api_key, request.correlation_id, bytes(request.body.value.get("auth_bytes", b"")))
        for start in range(0, len(answer), chunk):
            client.receive(answer[start : start + chunk])
        sent = client.bytes_to_send()


@pytest.mark.parametrize("chunk", [1, 7, 10_000])
def test_plain(chunk: int) -> None:
    tokens: list[bytes] = []

    def broker(api_key: int, correlation_id: int, data: bytes) -> bytes:
        tokens.append(data)
        return handshake(correlation_id) if api_key == 17 else token(correlation_id)

    client = login()
    talk(client, broker, chunk=chunk)
    assert tokens == [b"", b"\0alice\0" + SECRET.encode()]
    assert client.outcome == LoggedIn(mechanism="PLAIN", mechanisms=("PLAIN",))


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("knows", [True, False])
def test_scram(mechanism: str, knows: bool) -> None:
    server = Server(mechanism, SECRET if knows else "another")
    step: list[bytes] = []

    def broker(api_key: int, correlation_id: int, data: bytes) -> bytes:
        if api_key == 17:
            return handshake(correlation_id, mechanisms=(mechanism,))
        step.append(data)
        if len(step) == 1:
            return token(correlation_id, server.answer(data))
        verdict = server.verdict(data)
        if verdict.startswith(b"e="):
            return token(correlation_id, error_code=58, words="Authentication failed")
        return token(correlation_id, verdict)

    client = login(mechanism)
    talk(client, broker)
    if knows:
        assert client.outcome == LoggedIn(mechanism=mechanism, mechanisms=(mechanism,))
    else:
        assert isinstance(client.outcome, Refused)
        assert client.outcome.by is RefusedBy.CREDENTIALS
        assert client.outcome.detail == f"{mechanism} is refused: Authentication failed"


def test_a_server_that_signs_wrong_is_not_trusted() -> None:
    server = Server("SCRAM-SHA-256", "another")
    step: list[bytes] = []

    def broker(api_key: int, correlation_id: int, data: bytes) -> bytes:
        if api_key == 17:
            return handshake(correlation_id, mechanisms=("SCRAM-SHA-256",))
        step.append(data)
        return token(correlation_id, server.answer(data) if len(step) == 1 else b"v=AAAA")

    client = login("SCRAM-SHA-256")
    talk(client, broker)
    assert isinstance(client.outcome, Refused)
    assert client.outcome.by is RefusedBy.NOT_TRUSTED


@pytest.mark.parametrize(
    ("error_code", "mechanisms", "by", "said"),
    [
        (33, ("SCRAM-SHA-512", "GSSAPI"), RefusedBy.MECHANISM, "PLAIN is not enabled, enabled: SCRAM-SHA-512, GSSAPI"),
        (33, (), RefusedBy.MECHANISM, "enabled: none"),
        (34, (), RefusedBy.NOT_SASL, "does not require SASL"),
        (-1, (), RefusedBy.NOT_KAFKA, "UNKNOWN_SERVER_ERROR"),
    ],
)
def test_a_refused_handshake(error_code: int, mechanisms: tuple[str, ...], by: RefusedBy, said: str) -> None:
    client = login()
    talk(client, lambda _, correlation_id, __: handshake(correlation_id, error_code, mechanisms))
    assert isinstance(client.outcome, Refused)
    assert (client.outcome.by, client.outcome.mechanisms) == (by, mechanisms)
    assert said in client.outcome.detail


def test_a_broker_that_repeats_the_password_does_not_get_it_shown() -> None:
    def broker(api_key: int, correlation_id: int, data: bytes) -> bytes:
        if api_key == 17:
            return handshake(correlation_id)
        return token(correlation_id, error_code=58, words=f"wrong: {data.decode()} " + "x" * 5000)

    client = login()
    talk(client, broker)
    assert isinstance(client.outcome, Refused)
    assert SECRET not in repr(client.outcome)
    assert "[hidden]" in client.outcome.detail
    assert len(client.outcome.detail) < 400


@pytest.mark.parametrize(
    ("answer", "by"),
    [
        (b"\x15\x03\x03\x00\x02\x02\x0a", RefusedBy.TLS),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", RefusedBy.NOT_KAFKA),
        (b"\x7f\xff\xff\xff" + bytes(100), RefusedBy.NOT_KAFKA),
        (b"\x00\x00\x00\x08" + bytes(8), RefusedBy.NOT_KAFKA),
        (b"\x00\x00\x00\x07\x6e\x64\x40\x00\x00\x00\x7f", RefusedBy.NOT_KAFKA),
    ],
)
def test_strangers(answer: bytes, by: RefusedBy) -> None:
    client = login()
    client.start()
    client.receive(answer)
    assert isinstance(client.outcome, Refused)
    assert client.outcome.by is by
    client.receive(answer)
    client.closed()
    assert client.outcome.by is by


def test_silence_and_a_closed_connection() -> None:
    silent, closing, later = login(), login(), login()
    for one in (silent, closing, later):
        one.start()
    silent.timed_out()
    closing.closed()
    later.receive(handshake(0x6E64_4000))
    assert later.bytes_to_send()
    later.closed()
    outcomes = [one.outcome for one in (silent, closing, later)]
    assert [outcome.by for outcome in outcomes if isinstance(outcome, Refused)] == [
        RefusedBy.NO_ANSWER,
        RefusedBy.CLOSED,
        RefusedBy.CREDENTIALS,
    ]


def test_only_what_is_spoken() -> None:
    assert SPOKEN == ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
    with pytest.raises(LocalProtocolError):
        login("GSSAPI")
