"""What consumers put into JoinGroup and SyncGroup is read; what others put there is left alone."""

import random

import pytest

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.bodies.members import assignment, subscription

SUBSCRIPTION = {
    "topics": ("orders", "payments"),
    "user_data": b"anything",
    "owned_partitions": ({"topic": "orders", "partitions": (0, 3)}, {"topic": "payments", "partitions": ()}),
}
ASSIGNMENT = {"assigned_partitions": ({"topic": "orders", "partitions": (1, 2)},), "user_data": None}


def _subscription(version: int) -> bytes:
    fields = {name: value for name, value in SUBSCRIPTION.items() if version or name != "owned_partitions"}
    return version.to_bytes(2, "big") + wire.encode_data("ConsumerProtocolSubscription", version, fields)


@pytest.mark.parametrize("version", range(4))
def test_a_subscription(version: int) -> None:
    data = b"ab" + _subscription(version)
    owned = [("orders", 0), ("orders", 3)] if version else []
    assert subscription(data, 2, len(data), len(data)) == (["orders", "payments"], owned)


@pytest.mark.parametrize("version", range(4))
def test_an_assignment(version: int) -> None:
    data = version.to_bytes(2, "big") + wire.encode_data("ConsumerProtocolAssignment", version, ASSIGNMENT)
    assert assignment(data, 0, len(data), len(data)) == [("orders", 1), ("orders", 2)]


def test_a_member_that_gets_nothing_has_an_empty_assignment() -> None:
    assert assignment(b"", 0, 0, 0) == []


def test_a_cut_one_gives_what_is_there() -> None:
    data = _subscription(1)
    whole = subscription(data, 0, len(data), len(data))
    assert whole is not None
    for kept in range(len(data)):
        found = subscription(data[:kept], 0, len(data), kept)
        assert found is not None
        assert found[0] == whole[0][: len(found[0])]
        assert found[1] == whole[1][: len(found[1])]
    assert found == whole, "user data and tags are all that the last byte can end"


def test_a_version_without_what_belongs_to_it_still_names_its_topics() -> None:
    data = b"\x00\x01" + _subscription(0)[2:]
    assert subscription(data, 0, len(data), len(data)) == (["orders", "payments"], [])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\x01",
        b"\x00\x01\x00\x15http://registry:8081/\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
        b'{"version":1}',
        b"\x00\x00\x00\x00\x00\x01\x00\x02\xc3\xa4\xff\xff\xff\xff",
        b"\x00\x00\x7f\xff\xff\xff\x00\x01a",
    ],
)
def test_what_no_consumer_wrote(data: bytes) -> None:
    assert subscription(data, 0, len(data), len(data)) is None
    assert assignment(data, 0, len(data), len(data)) in (None, [])


def test_any_bytes_give_an_answer() -> None:
    dice = random.Random(2)
    good = _subscription(1)
    for _ in range(20_000):
        data = bytearray(good)
        for _ in range(dice.randrange(1, 5)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        end = dice.randrange(len(data) + 50)
        kept = dice.randrange(len(data))
        subscription(bytes(data[:kept]), 0, end, kept)
        assignment(bytes(data[:kept]), 0, end, kept)
