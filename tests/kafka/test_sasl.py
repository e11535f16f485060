"""Logging in, as a dialogue with a broker that is written down here, with one that refuses and with strangers."""

from collections.abc import Callable

import pytest

from netdiag.kafka.protocol import LocalProtocolError, decode_request, encode_response
from netdiag.kafka.sasl import SPOKEN, LoggedIn, Login, Refused, RefusedBy
from tests.kafka.test_scram import Server

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
        (34, (), RefusedBy.NOT_SASL, "wants no SASL"),
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
