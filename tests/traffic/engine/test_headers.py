"""Headers are read from whole messages, from cut ones and from those of unknown versions."""

import random

import pytest

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.headers import RequestHeader, request_header, response_header
from tests.kafka.protocol.random_values import every_message

REQUESTS = [(key, version) for key, version, direction in every_message() if direction is wire.Direction.REQUEST]
CLIENT_IDS = ("", "c", "consumer-1", "ä語", None)


def _request(api_key: int, api_version: int, client_id: str | None) -> bytes:
    version = wire.header_version(api_key, api_version, wire.Direction.REQUEST)
    fields = {"request_api_key": api_key, "request_api_version": api_version, "correlation_id": -7}
    if version:
        fields["client_id"] = client_id  # type: ignore[assignment]
    return wire.encode_layout(wire.header_layout(wire.Direction.REQUEST, version), fields) + b"body"


@pytest.mark.parametrize("client_id", CLIENT_IDS)
def test_the_header_of_every_request_is_that_of_the_table(client_id: str | None) -> None:
    for api_key, api_version in REQUESTS:
        message = _request(api_key, api_version, client_id)
        seen = None if (api_key, api_version) == (7, 0) else client_id
        assert request_header(message, len(message)) == RequestHeader(
            api_key, api_version, -7, seen, len(message) - 4, True
        )


def test_the_header_of_every_response_is_that_of_the_table() -> None:
    for api_key, api_version in REQUESTS:
        version = wire.header_version(api_key, api_version, wire.Direction.RESPONSE)
        shape = wire.header_layout(wire.Direction.RESPONSE, version)
        message = wire.encode_layout(shape, {"correlation_id": 2**31 - 1}) + b"body"
        assert response_header(message, api_key, api_version) == (2**31 - 1, len(message) - 4)


@pytest.mark.parametrize(("api_key", "api_version"), [(3, 12), (3, 1), (7, 0), (900, 3), (1, 99)])
def test_a_header_that_is_cut_gives_what_is_there(api_key: int, api_version: int) -> None:
    known = api_key < 900 and api_version < 99
    message = (
        _request(api_key, api_version, "client")
        if known
        else b"".join(
            (api_key.to_bytes(2, "big"), api_version.to_bytes(2, "big"), b"\xff\xff\xff\xf9", b"\x00\x06client\x00rest")
        )
    )
    whole = request_header(message, len(message))
    assert whole[:3] == (api_key, api_version, -7)
    assert whole.client_id == (None if api_key == 7 else "client")
    assert (whole.body is not None) == whole.known == known
    for length in range(len(message)):
        header = request_header(message[:length], len(message))
        for part, all_of_it, at in zip(header, whole, (2, 4, 8, 16, whole.body or 0), strict=False):
            assert part == (all_of_it if length >= at else None)


def test_a_response_header_that_is_cut_gives_what_is_there() -> None:
    assert response_header(b"\x00\x00\x00", 3, 12) == (None, None)
    assert response_header(b"\x00\x00\x00\x05", 3, 12) == (5, None)
    assert response_header(b"\x00\x00\x00\x05", 3, 1) == (5, 4)
    assert response_header(b"\x00\x00\x00\x05\x00", 3, 99) == (5, None)
    assert response_header(b"\x00\x00\x00\x05\x00", 18, 3) == (5, 4)


def test_a_client_id_that_cannot_be_one_is_none() -> None:
    for length in (-2, 100):
        head = b"\x00\x03\x00\x01\x00\x00\x00\x05" + length.to_bytes(2, "big", signed=True) + b"abc"
        header = request_header(head, len(head))
        assert (header.correlation_id, header.client_id, header.body) == (5, None, None)


def test_tagged_fields_of_a_header_are_stepped_over() -> None:
    tags = b"\x02\x00\x03abc\x81\x01\x00"
    request = b"\x00\x03\x00\x0c\x00\x00\x00\x05\xff\xff" + tags
    assert request_header(request + b"body", len(request) + 4).body == len(request)
    response = b"\x00\x00\x00\x05" + tags
    assert response_header(response + b"body", 3, 12).body == len(response)
    for length in range(4, len(response)):
        assert response_header(response[:length], 3, 12).body is None


def test_any_bytes_give_a_header() -> None:
    dice = random.Random(4)
    for _ in range(20_000):
        head = dice.randbytes(dice.randrange(40))
        if dice.random() < 0.7:
            head = bytes((0, dice.randrange(100), 0, dice.randrange(15))) + head
        header = request_header(head, len(head) + dice.randrange(3))
        assert header.body is None or header.body <= len(head)
        answer = response_header(head, dice.randrange(100), dice.randrange(15))
        assert answer.body is None or answer.body <= len(head)
