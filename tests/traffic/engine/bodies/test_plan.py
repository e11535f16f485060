"""The facts of random messages of every api key, version and direction are those of the generic reader."""

import random
from typing import Any

import pytest

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.bodies import RequestFacts, ResponseFacts, request_facts, response_facts
from tests.kafka.protocol.random_values import RandomValues, every_message
from tests.traffic.engine.bodies.oracle import request_oracle, response_oracle

MESSAGES = every_message()


def _body(api_key: int, version: int, direction: wire.Direction, seed: int) -> bytes:
    values = RandomValues(f"{api_key} {version} {direction} {seed}", tame=False)
    return wire.encode(api_key, version, direction, values.struct(wire.layout(api_key, version, direction)))


def _said(facts: RequestFacts | ResponseFacts) -> dict[str, Any]:
    """What facts say: no difference between nothing and an empty list of rows."""
    rows = ("topics", "names", "partitions", "batches", "leaders", "endpoints", "forgotten", "coordinator_keys")
    return {name: value for name, value in vars(facts).items() if value is not None and (value or name not in rows)}


def _both(
    api_key: int, version: int, direction: wire.Direction, body: bytes, declared: int
) -> tuple[dict[str, Any], dict[str, Any], bool]:
    if direction is wire.Direction.REQUEST:
        expected, cut = request_oracle(api_key, version, body, declared)
        return _said(request_facts(api_key, version, body, declared)), _said(expected), cut
    if api_key == 18 and body[:2] == b"\x00\x23":
        version = 0
    expected_, cut = response_oracle(api_key, version, body, declared)
    return _said(response_facts(api_key, version, body, declared)), _said(expected_), cut


@pytest.mark.parametrize("direction", wire.Direction)
@pytest.mark.parametrize("api_key", wire.api_keys())
def test_whole_messages(api_key: int, direction: wire.Direction) -> None:
    for version in wire.api_versions(api_key):
        for seed in range(6):
            body = _body(api_key, version, direction, seed)
            if (api_key, direction, body[:2]) == (18, wire.Direction.RESPONSE, b"\x00\x23"):
                continue
            found, expected, _ = _both(api_key, version, direction, body, len(body))
            assert found == expected, (api_key, version, direction, seed)
            more, _, _ = _both(api_key, version, direction, body + b"\x00", len(body) + 1)
            assert more == expected, "one byte more is tolerated"


@pytest.mark.parametrize("direction", wire.Direction)
@pytest.mark.parametrize("api_key", wire.api_keys())
def test_messages_cut_anywhere_give_what_is_there(api_key: int, direction: wire.Direction) -> None:
    dice = random.Random(api_key)
    for version in wire.api_versions(api_key):
        body = _body(api_key, version, direction, 3)[:100_000]
        places = range(len(body)) if len(body) < 50 else sorted(dice.sample(range(len(body)), 50))
        for place in places:
            if (api_key, direction, body[:2]) == (18, wire.Direction.RESPONSE, b"\x00\x23"):
                continue
            found, expected, _ = _both(api_key, version, direction, body[:place], len(body))
            assert _without_records(found) == _without_records(expected), (version, place)


def _without_records(said: dict[str, Any]) -> dict[str, Any]:
    """What the reader cannot tell of a field that was cut, but its beginning can: that has tests of its own."""
    blank = {
        "partitions": ("records", "record_bytes", "last_offset", "max_timestamp"),
        "leaders": ("replicas", "in_sync"),
    }
    left_out = ("records", "record_bytes", "batches", "empty", "assignment")
    out = {name: value for name, value in said.items() if name not in left_out}
    for name, columns in blank.items():
        if name in out:
            out[name] = [row._replace(**dict.fromkeys(columns)) for row in out[name]]
    return out
