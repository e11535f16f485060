"""Records of internal topics: as brokers of 4.3.1 and 3.9.1 wrote them, and bytes that are none."""

import pytest

from netdiag.kafka import protocol as wire
from netdiag.kafka.stored_records import StoredRecord, UnreadableRecord, stored_record
from netdiag.kafka.stored_state import Registration, StateBuilder

OFFSETS, METADATA = "__consumer_offsets", "__cluster_metadata"
# Of a member in the new protocol, whose tagged classic_member_metadata is null.
MEMBER_KEY = b"\x00\x05\x00\x08shipping\x00\x1664HcT/rSTdSztPebYysnfg"
MEMBER = b"\x00\x00\x00\x00\x08rdkafka\x0b/127.0.0.1\x02\x07orders\x01\x00\x04\x93\xe0\x00\x01\x00\x01\x00"


def test_a_member_as_a_broker_wrote_it() -> None:
    record = stored_record(OFFSETS, MEMBER_KEY, MEMBER)
    assert record == StoredRecord(
        kind="ConsumerGroupMemberMetadata",
        version=0,
        key={"group_id": "shipping", "member_id": "64HcT/rSTdSztPebYysnfg"},
        value={
            "instance_id": None,
            "rack_id": None,
            "client_id": "rdkafka",
            "client_host": "/127.0.0.1",
            "subscribed_topic_names": ["orders"],
            "subscribed_topic_regex": "",
            "rebalance_timeout_ms": 300_000,
            "server_assignor": None,
            "classic_member_metadata": None,
        },
    )


@pytest.mark.parametrize("written", [None, {"session_timeout_ms": 45_000, "supported_protocols": ()}])
def test_a_struct_behind_a_tag_is_written_as_it_is_read(written: object) -> None:
    layout = wire.stored_layout(OFFSETS, 5, "value", 0)
    data = wire.encode_layout(layout, {"client_id": "a", "classic_member_metadata": written})
    assert wire.decode_layout(layout, data).value["classic_member_metadata"] == written


def test_a_tombstone() -> None:
    record = stored_record(OFFSETS, MEMBER_KEY, None)
    assert (record.kind, record.version, record.value) == ("ConsumerGroupMemberMetadata", None, None)


def test_what_a_member_subscribes_to_is_told() -> None:
    subscription = b"\0\1" + wire.encode_data("ConsumerProtocolSubscription", 1, {"topics": ("orders",)})
    member = {
        "member_id": "m",
        "client_id": "c",
        "client_host": "h",
        "subscription": subscription,
        "assignment": b"\xff",
    }
    value = {"protocol_type": "consumer", "generation": 1, "members": (member,)}
    data = b"\0\3" + wire.encode_layout(wire.stored_layout(OFFSETS, 2, "value", 3), value)
    record = stored_record(OFFSETS, b"\0\2\0\1g", data)
    assert record.value is not None
    (told,) = record.value["members"]
    assert told["subscription"]["topics"] == ["orders"]
    # What is no assignment stays as it is.
    assert told["assignment"] == "/w=="


def test_the_password_of_a_broker_is_hidden() -> None:
    for kind, name, told in (
        (4, "listener.ssl.key.password", "[hidden]"),
        (4, "log.dirs", "x"),
        (2, "a.b", "x"),
    ):
        value = {"resource_type": kind, "resource_name": "1", "name": name, "value": "x"}
        data = b"\1\4\0" + wire.encode_layout(wire.stored_layout(METADATA, 4, "value", 0), value)
        record = stored_record(METADATA, None, data)
        assert record.value is not None
        assert record.value["value"] == told


@pytest.mark.parametrize(
    ("topic", "key", "value", "message"),
    [
        (METADATA, None, b"", "it has no version"),
        (METADATA, None, b"\xff" * 9, "it has no version"),
        (METADATA, None, b"\x05\x00\x00", "a metadata record in a frame of version 5"),
        (METADATA, None, b"\x01\x63\x00", "no value of record 99 in __cluster_metadata"),
        (METADATA, None, b"\x01\x00\x63", "no version 99 of RegisterBrokerRecord"),
        (METADATA, None, b"\x01\x14\x00\x00x", "1 bytes too many in NoOpRecord"),
        (OFFSETS, b"", b"", "it has no version"),
        (OFFSETS, b"\x00\x63", b"", "no key of record 99 in __consumer_offsets"),
        (OFFSETS, MEMBER_KEY, MEMBER[:-1], "bytes"),
        (OFFSETS, MEMBER_KEY[:-1], MEMBER, "member_id"),
    ],
)
def test_bytes_that_are_no_record(topic: str, key: bytes | None, value: bytes, message: str) -> None:
    with pytest.raises(UnreadableRecord, match=message):
        stored_record(topic, key, value)


def _metadata(kind: str, **value: object) -> StoredRecord:
    return StoredRecord(kind=kind, version=0, key=None, value=dict(value))


def test_who_registered() -> None:
    builder = StateBuilder()
    ends = [{"name": "A", "host": "h", "port": 1}]
    register = _metadata("RegisterBrokerRecord", broker_id=1, broker_epoch=5, fenced=True, rack="r", end_points=ends)
    builder.add_metadata(register, 0)
    builder.add_metadata(_metadata("BrokerRegistrationChangeRecord", broker_id=1, fenced=-1), 1)
    builder.add_metadata(_metadata("BrokerRegistrationChangeRecord", broker_id=1, fenced=0), 2)
    builder.add_metadata(_metadata("FenceBrokerRecord", id=7), 3)
    expected = Registration(node_id=1, endpoints=("A://h:1",), epoch=5, is_fenced=False, rack="r")
    assert (builder.state().brokers, builder.state().metadata_offset) == ((expected,), 3)
    builder.add_metadata(_metadata("FenceBrokerRecord", id=1), 4)
    assert builder.state().brokers[0].is_fenced
    builder.add_metadata(_metadata("UnregisterBrokerRecord", broker_id=1), 5)
    assert builder.state().brokers == ()


def test_members_of_a_group_in_the_new_protocol() -> None:
    builder = StateBuilder()
    group = {"group_id": "g"}
    builder.add_group(StoredRecord(kind="ConsumerGroupMetadata", version=0, key=group, value={"epoch": 2}), "f")
    for member in "ab":
        key = {**group, "member_id": member}
        builder.add_group(StoredRecord(kind="ConsumerGroupMemberMetadata", version=0, key=key, value={}), "f")
    key = {**group, "member_id": "a"}
    builder.add_group(StoredRecord(kind="ConsumerGroupMemberMetadata", version=None, key=key, value=None), "f")
    (told,) = builder.state().groups
    assert (told.name, told.kind, told.generation, told.members) == ("g", "consumer", 2, ("b",))
