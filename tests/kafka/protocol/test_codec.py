"""Decoding and encoding by layout: values, damaged and hostile bytes, values that do not fit."""

import contextlib
import random
import struct
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdiag.kafka import protocol as wire
from netdiag.kafka.protocol import FrameError, FrameSplitter, decode_layout, frame, frame_size
from tests.each import each
from tests.examples import examples
from tests.kafka.protocol.random_values import RandomValues, every_message

REQUEST, RESPONSE = wire.Direction.REQUEST, wire.Direction.RESPONSE
OLD = Path(__file__).with_name("kafka_3_9_bodies.txt")


def metadata(version: int, body: bytes, **options: Any) -> wire.Decoded:
    return wire.decode(3, version, RESPONSE, body, **options)


@each(("api_key", "version", "direction"), every_message())
def test_what_is_written_is_read(api_key: int, version: int, direction: wire.Direction) -> None:
    value = RandomValues(f"wild {api_key} {version} {direction}", tame=False).struct(
        wire.layout(api_key, version, direction)
    )
    data = wire.encode(api_key, version, direction, value)
    decoded = wire.decode(api_key, version, direction, memoryview(data))
    assert decoded.value == value
    assert (decoded.length, decoded.left_over, decoded.truncated) == (len(data), 0, None)


def test_messages_that_only_kafka_3_9_knows() -> None:
    lines = [line.split() for line in OLD.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert len(lines) == 118
    for api_key, version, direction, *body in lines:
        message = int(api_key), int(version), wire.Direction(direction)
        data = bytes.fromhex("".join(body))
        decoded = wire.decode(*message, data)
        values = RandomValues(f"golden {api_key} {version} {direction}", most_elements=2)
        assert decoded.value == values.struct(wire.layout(*message))
        assert decoded.left_over == 0
        assert wire.encode(*message, decoded.value) == data


def test_bytes_behind_the_message_are_counted() -> None:
    body = wire.encode(3, 1, RESPONSE, {"controller_id": 4})
    assert metadata(1, body + b"\x00\x00\x00").left_over == 3


def test_unknown_tagged_fields_are_kept_and_written_again() -> None:
    value = {"error_code": 1, wire.UNKNOWN_TAGS: ((7, b"new"), (300, b""))}
    data = wire.encode(12, 4, RESPONSE, value)
    assert wire.decode(12, 4, RESPONSE, data).value[wire.UNKNOWN_TAGS] == ((7, b"new"), (300, b""))


def test_a_tagged_field_that_is_absent_has_its_default() -> None:
    value = wire.decode(18, 4, RESPONSE, wire.encode(18, 4, RESPONSE, {})).value
    assert value["finalized_features_epoch"] == -1
    assert value["supported_features"] == ()


def test_a_string_that_is_not_utf_8_is_shown_with_replacements() -> None:
    body = bytes.fromhex("00000001 00000007 0003 61ff62 00002384 ffff 00000007 00000000")
    assert metadata(1, body).value["brokers"][0]["host"] == "a\ufffdb"


@pytest.mark.parametrize(
    ("version", "body", "message"),
    [
        (1, "7fffffff", "brokers: an array of 2147483647 elements does not fit into 0 bytes (at byte 4)"),
        (1, "fffffffe", "brokers: a length of -2 (at byte 4)"),
        (1, "ffffffff", "brokers: null where null is not allowed (at byte 4)"),
        (1, "00000001 00000007 7fff 00000000 0000", "brokers[0].host: 32767 bytes are needed, 6 are left (at byte 10)"),
        (1, "00", "brokers: 4 bytes are needed, 1 are left (at byte 0)"),
        (12, "00000000 ffffffffff", "brokers: a varint of more than 32 bits (at byte 9)"),
        (12, "00000000 ffffffff7f", "brokers: a varint of more than 32 bits (at byte 9)"),
        (12, "00000000 ffffffff0f", "brokers: an array of 4294967294 elements does not fit into 0 bytes (at byte 9)"),
    ],
)
def test_lengths_are_held_against_what_is_left(version: int, body: str, message: str) -> None:
    with pytest.raises(wire.DecodeError) as error:
        metadata(version, bytes.fromhex(body))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ("ff01", "255 tagged fields do not fit"),
        ("02 00 01 01 00 01 01", "tag 0 occurs twice"),
        ("01 01 02 0000", "finalized_features_epoch: 8 bytes are needed, 2 are left"),
        ("01 01 09 0000000000000001 00", "1 bytes too many in a tagged field"),
        ("01 01 7f 0000", "a tagged field of 127 bytes does not fit"),
        ("01 09 7f 0000", "127 bytes are needed"),
    ],
)
def test_tagged_fields_are_bounded(tags: str, message: str) -> None:
    body = bytes.fromhex("0000 01 00000000" + tags)
    with pytest.raises(wire.DecodeError, match=message):
        wire.decode(18, 4, RESPONSE, body)


def test_elements_that_take_no_bytes_cost_their_share() -> None:
    shape = wire.layout(3, 0, RESPONSE)
    empty = wire.Layout(fields=(), tagged={}, flexible=False, min_size=0)
    field = next(field for field in shape.fields if field.name == "brokers")
    hollow = wire.Field(**{name: getattr(field, name) for name in field.__slots__} | {"layout": empty, "min_size": 0})
    outer = wire.Layout(fields=(hollow,), tagged={}, flexible=False, min_size=4)
    with pytest.raises(wire.DecodeError, match="more values than are allowed"):
        decode_layout(outer, struct.pack(">i", 2**31 - 1))


def test_the_number_of_values_is_bounded() -> None:
    body = wire.encode(3, 1, RESPONSE, {"brokers": ({"host": "a"},) * 100})
    assert len(metadata(1, body, max_values=1000).value["brokers"]) == 100
    with pytest.raises(wire.DecodeError, match="more values than are allowed"):
        metadata(1, body, max_values=100)


def test_what_is_omitted_is_read_and_costs_nothing() -> None:
    unknown = {wire.UNKNOWN_TAGS: ((9, b"new"),)}
    topic = {"name": "a", "partitions": ({"leader_id": 7, "replica_nodes": tuple(range(40)), **unknown},) * 4}
    body = wire.encode(3, 12, RESPONSE, {"topics": (topic,), "controller_id": 1})
    with pytest.raises(wire.DecodeError, match="more values than are allowed"):
        wire.decode(3, 12, RESPONSE, body, max_values=100)
    omitted = frozenset({"replica_nodes", "partition_index", wire.UNKNOWN_TAGS})
    read = wire.decode(3, 12, RESPONSE, body, max_values=100, omitted=omitted)
    partition = read.value["topics"][0]["partitions"][3]
    assert partition["leader_id"] == 7
    assert omitted.isdisjoint(partition)
    assert (read.value["controller_id"], read.left_over) == (1, 0)


def test_a_truncated_message_gives_what_was_kept() -> None:
    brokers = tuple({"node_id": n, "host": f"kafka-{n}", "port": 9092, "rack": None} for n in range(1, 4))
    body = wire.encode(3, 1, RESPONSE, {"brokers": brokers, "controller_id": 1})
    kept = metadata(1, body[:38], declared=len(body))
    assert kept.truncated == wire.Truncated(offset=36, path="brokers[1].port")
    assert kept.value == {"brokers": (brokers[0], {"node_id": 2, "host": "kafka-2"})}


def test_a_truncated_message_is_still_held_to_its_declared_length() -> None:
    with pytest.raises(wire.DecodeError, match="does not fit into 96 bytes"):
        metadata(1, bytes.fromhex("00ffffff 0000"), declared=100)


@examples(300)
@given(st.sampled_from(every_message()), st.integers(0, 5), st.data())
def test_any_prefix_gives_a_part_of_the_whole(
    message: tuple[int, int, wire.Direction], seed: int, data: st.DataObject
) -> None:
    value = RandomValues(f"{message} {seed}").struct(wire.layout(*message))
    body = wire.encode(*message, value)
    cut = data.draw(st.integers(0, len(body)))
    kept = wire.decode(*message, body[:cut], declared=len(body))
    assert (kept.truncated is None) == (cut == len(body))
    assert part_of(kept.value, value, wire.layout(*message))


def part_of(part: dict[str, Any], whole: dict[str, Any], shape: wire.Layout) -> bool:
    """Whether every plain field that is there is the whole one, except the last, which may be a part itself.

    Tagged fields that were not kept stand with their default and say nothing.
    """
    there = [field for field in shape.fields if field.name in part]
    if there != list(shape.fields[: len(there)]):
        return False
    for field in there:
        some, full = part[field.name], whole[field.name]
        if some == full:
            continue
        if field is not there[-1] or (field.layout is None and not field.array):
            return False
        if field.array:
            *done, last = some or (None,)
            if tuple(done) != full[: len(done)]:
                return False
            some, full = last, full[len(done)]
        if field.layout is not None and some is not None and not part_of(some, full, field.layout):
            return False
    return True


@examples(400)
@given(st.sampled_from(every_message()), st.binary(max_size=200))
def test_random_bytes_give_a_value_or_a_decode_error(message: tuple[int, int, wire.Direction], data: bytes) -> None:
    problem: wire.DecodeError | None = None
    try:
        wire.decode(*message, data)
    except wire.DecodeError as error:
        problem = error
    assert problem is None or (0 <= problem.offset <= len(data) and str(problem))


def test_mutated_messages_cost_little_memory_and_time() -> None:
    """Every message of the table, well-formed, then with bytes changed, cut out and lengths blown up."""
    rnd = random.Random(1)
    bodies = [
        (message, wire.encode(*message, RandomValues(f"{message}").struct(wire.layout(*message))))
        for message in every_message()
    ]
    tracemalloc.start()
    started = time.monotonic()
    slowest = 0.0
    for message, body in bodies:
        for _ in range(8):
            hostile = mutated(rnd, body)
            begun = time.monotonic()
            with contextlib.suppress(wire.DecodeError):
                wire.decode(*message, hostile)
            slowest = max(slowest, time.monotonic() - begun)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 << 20
    assert slowest < 2
    assert time.monotonic() - started < 60


def mutated(rnd: random.Random, body: bytes) -> bytes:
    data = bytearray(body)
    for _ in range(rnd.randint(1, 3)):
        if not data:
            break
        at = rnd.randrange(len(data))
        match rnd.randrange(4):
            case 0:
                data[at] = rnd.randrange(256)
            case 1:
                data[at : at + 4] = rnd.choice((b"\x7f\xff\xff\xff", b"\xff\xff\xff\x0f", b"\xff\xff\xff\xff", b"\x80"))
            case 2:
                del data[at : at + rnd.randint(1, 9)]
            case _:
                data[at:at] = rnd.randbytes(rnd.randint(1, 9))
    return bytes(data)


def test_golden_bytes() -> None:
    """Metadata v4 for no topics, as the protocol guide lays it out."""
    assert wire.encode(3, 4, REQUEST, {"topics": (), "allow_auto_topic_creation": False}).hex() == "0000000000"


def test_a_missing_field_has_its_default() -> None:
    assert wire.encode(3, 12, REQUEST, {}).hex(" ") == "01 01 00 00"
    assert wire.encode(3, 12, REQUEST, {"topics": None}).hex(" ") == "00 01 00 00"


def test_a_tagged_field_with_its_default_is_not_written() -> None:
    with_default = wire.encode(18, 3, RESPONSE, {"finalized_features_epoch": -1})
    assert with_default == wire.encode(18, 3, RESPONSE, {})
    with_value = wire.encode(18, 3, RESPONSE, {"finalized_features_epoch": 2})
    assert with_value[-11:].hex(" ") == "01 01 08 00 00 00 00 00 00 00 02"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"brokers": ({"port": "x"},)}, "brokers[0].port: 'x' is no int32"),
        ({"brokers": ({"port": 1 << 31},)}, "brokers[0].port: 2147483648 is no int32"),
        ({"brokers": ({"host": None},)}, "brokers[0].host: null where null is not allowed"),
        ({"brokers": ({"host": "x" * 40_000},)}, "brokers[0].host: a length of 40000 does not fit"),
        ({"brokers": ({"host": 7},)}, "brokers[0].host: str is needed, not int"),
        ({"brokers": "abc"}, "brokers: an array is needed, not str"),
        ({"brokers": (7,)}, "brokers[0]: a struct is needed, not int"),
        ({"cluster": 1}, "no field 'cluster' in this version"),
    ],
)
def test_a_value_that_does_not_fit_is_our_own_fault(value: dict[str, Any], message: str) -> None:
    with pytest.raises(wire.EncodeError) as error:
        wire.encode(3, 1, RESPONSE, value)
    assert str(error.value) == message
    assert isinstance(error.value, wire.LocalProtocolError)


def test_a_tag_that_is_known_is_not_written_raw() -> None:
    with pytest.raises(wire.EncodeError, match="tag 1 occurs twice or is known by name"):
        wire.encode(18, 3, RESPONSE, {wire.UNKNOWN_TAGS: ((1, b""),)})


def test_a_uuid_is_no_string() -> None:
    with pytest.raises(wire.EncodeError, match="a UUID is needed, not str"):
        wire.encode(3, 12, REQUEST, {"topics": ({"topic_id": "x", "name": None},)})


GOLDEN_API_VERSIONS = bytes.fromhex(
    "0000001d"  # size 29
    "0012 0004 00000007"  # ApiVersions, version 4, correlation id 7
    "0007 6e657464696167"  # client id "netdiag", never compact
    "00"  # no tagged fields in the header
    "08 6e657464696167"  # software name "netdiag", compact
    "02 30"  # software version "0"
    "00"
)


def test_a_flexible_request_is_written_as_the_protocol_says() -> None:
    body = {"client_software_name": "netdiag", "client_software_version": "0"}
    assert wire.encode_request(18, 4, 7, "netdiag", body) == GOLDEN_API_VERSIONS


def test_a_request_is_read_by_its_own_header() -> None:
    request = wire.decode_request(GOLDEN_API_VERSIONS[4:])
    assert (request.api_key, request.api_version, request.correlation_id, request.client_id) == (18, 4, 7, "netdiag")
    assert request.body.value == {"client_software_name": "netdiag", "client_software_version": "0"}


def test_the_first_controlled_shutdown_has_no_client_id() -> None:
    data = wire.encode_request(7, 0, 3, "ignored", {"broker_id": 5})
    assert data.hex() == "0000000c" + "00070000" + "00000003" + "00000005"
    assert wire.decode_request(data[4:]).client_id is None


def test_a_null_client_id_stays_null() -> None:
    assert wire.decode_request(wire.encode_request(3, 1, 1, None, {})[4:]).client_id is None


def test_an_api_versions_response_has_the_oldest_header() -> None:
    data = wire.encode_response(18, 4, 7, {"error_code": 0})
    assert data[4:10].hex() == "000000070000"
    assert wire.decode_response(data[4:], 18, 4).correlation_id == 7


def test_an_unsupported_version_is_answered_in_version_0() -> None:
    data = wire.encode_response(18, 0, 7, {"error_code": 35, "api_keys": ({"api_key": 18, "max_version": 3},)})
    response = wire.decode_response(data[4:], 18, 4)
    assert response.api_version == 0
    assert response.body.value["api_keys"][0]["max_version"] == 3


@pytest.mark.parametrize("data", ["", "0012", "00120004 0000", "00120004 00000007 7fff"])
def test_a_short_request_is_the_senders_fault(data: str) -> None:
    with pytest.raises(wire.RemoteProtocolError):
        wire.decode_request(bytes.fromhex(data))


def test_an_unknown_api_key_is_told_apart() -> None:
    with pytest.raises(wire.UnknownMessage):
        wire.decode_request(bytes.fromhex("7fff 0000 00000001 ffff"))


@given(st.lists(st.binary(min_size=4, max_size=40), max_size=6), st.lists(st.integers(1, 30)))
def test_any_cutting_gives_the_same_frames(messages: list[bytes], sizes: list[int]) -> None:
    stream = b"".join(frame(message) for message in messages)
    splitter = FrameSplitter()
    found: list[bytes] = []
    while stream:
        size = sizes.pop() if sizes else len(stream)
        found += splitter.feed(stream[:size])
        stream = stream[size:]
    assert found == messages
    assert splitter.pending == b""


@pytest.mark.parametrize("prefix", ["7fffffff", "ffffffff", "80000000", "00000003", "00000000", "48545450"])
def test_an_impossible_size_is_refused_on_its_four_bytes(prefix: str) -> None:
    splitter = FrameSplitter(largest=1 << 20)
    assert list(splitter.feed(bytes.fromhex(prefix)[:3])) == []
    with pytest.raises(FrameError):
        list(splitter.feed(bytes.fromhex(prefix)[3:]))


def test_what_has_come_of_a_frame_can_be_seen() -> None:
    splitter = FrameSplitter()
    assert list(splitter.feed(b"\x00\x00\x00\x09abc")) == []
    assert splitter.pending == b"\x00\x00\x00\x09abc"


def test_the_error_names_size_and_limit() -> None:
    with pytest.raises(FrameError, match="a message of 2147483647 bytes is announced, between 4 and 1000 are possible"):
        frame_size(b"\x7f\xff\xff\xff", 1000)
