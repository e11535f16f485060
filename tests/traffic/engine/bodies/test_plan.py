"""The facts of random messages of every api key, version and direction are those of the generic reader."""

import random
import time
from typing import Any

import pytest

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.bodies import Bodies, RequestFacts, ResponseFacts, request_facts, response_facts
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


@pytest.mark.parametrize("tables", [{"exchanges"}, {"partitions"}, {"batches"}, {"group_events", "endpoints"}])
def test_for_fewer_tables_what_is_told_is_the_same(tables: set[str]) -> None:
    few = Bodies(tables)
    for api_key, version, direction in MESSAGES[::5]:
        body = _body(api_key, version, direction, 4)
        for place in (len(body), len(body) // 2):
            if direction is wire.Direction.REQUEST:
                found: RequestFacts | ResponseFacts = few.request_facts(api_key, version, body[:place], len(body))
                whole: RequestFacts | ResponseFacts = request_facts(api_key, version, body[:place], len(body))
            else:
                found = few.response_facts(api_key, version, body[:place], len(body))
                whole = response_facts(api_key, version, body[:place], len(body))
            said, everything = _said(found), _said(whole)
            assert said.items() <= everything.items() or said == everything
            for name in ("decoded", "topics", "names", "error_code", "throttle_ms", "records", "record_bytes", "empty"):
                assert said.get(name) == everything.get(name), (api_key, version, name)
            rows = {"partitions", "batches", "leaders", "endpoints"}
            assert {name for name in said if name in rows} <= tables


def test_no_element_of_an_array_is_nothing() -> None:
    """A count is held against the bytes that are left, which bounds the time only if every element takes some."""

    def least(layout: wire.Layout) -> int:
        inner = [field for field in layout.fields if field.array]
        below = [least(field.layout) for field in layout.fields if field.layout is not None]
        return min([*(field.min_size for field in inner), *below], default=1)

    assert min(least(wire.layout(*message)) for message in MESSAGES) >= 1


def test_mutated_messages_give_facts() -> None:
    dice = random.Random(11)
    bodies = [(message, _body(*message, seed)) for message in MESSAGES[::3] for seed in (0, 1)]
    for _ in range(20_000):
        (api_key, version, direction), body = dice.choice(bodies)
        data = bytearray(body or b"x")
        for _ in range(dice.randrange(1, 8)):
            data[dice.randrange(len(data))] = dice.choice((0, 1, 127, 128, 255, dice.randrange(256)))
        del data[dice.choice((len(data), dice.randrange(len(data) + 1))) :]
        read = request_facts if direction is wire.Direction.REQUEST else response_facts
        facts = read(api_key, version, bytes(data), len(data) + dice.choice((0, 0, 1, 1000, 100_000_000)))
        assert facts.decoded in ("full", "truncated", "failed")
        assert len(facts.topics) + len(facts.partitions) + len(facts.batches) <= 2 * len(data)


@pytest.mark.parametrize("head", [b"\xff" * 300, b"\x7f" * 300, b"\x00" * 300, b"\x01" * 300, b"\x00\x7f" * 150])
def test_counts_that_lie_cost_no_time(head: bytes) -> None:
    begin = time.process_time()
    for api_key, version, direction in MESSAGES:
        read = request_facts if direction is wire.Direction.REQUEST else response_facts
        facts = read(api_key, version, head, 1 << 30)
        assert facts.decoded in ("full", "truncated", "failed")
    assert time.process_time() - begin < 20, "making the readers takes most of it"
