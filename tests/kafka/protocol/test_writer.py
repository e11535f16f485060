"""The writer: defaults, and values that do not fit."""

from typing import Any

import pytest

from netdiag.kafka import protocol as wire

REQUEST, RESPONSE = wire.Direction.REQUEST, wire.Direction.RESPONSE


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
    with pytest.raises(wire.EncodeError, match="tag 1 stands twice or is known by name"):
        wire.encode(18, 3, RESPONSE, {wire.UNKNOWN_TAGS: ((1, b""),)})


def test_a_uuid_is_no_string() -> None:
    with pytest.raises(wire.EncodeError, match="a UUID is needed, not str"):
        wire.encode(3, 12, REQUEST, {"topics": ({"topic_id": "x", "name": None},)})
