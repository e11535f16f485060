"""What brokers and controllers write into Kafka's internal topics, told in words.

Offsets that groups commit and the groups themselves (`__consumer_offsets`), transactions (`__transaction_state`), share
groups (`__share_group_state`), and the metadata of a KRaft cluster (`__cluster_metadata` and its snapshots).

Source: the schemas in the jars of a Kafka server (tools/generate_stored_records.py), MetadataRecordSerde and
CoordinatorRecordSerde of Kafka 4.3; kafka-dump-log decodes the same.
"""

import base64
import uuid
from functools import cache
from typing import Any

from netdiag.kafka import protocol as wire
from netdiag.values import dataclass

METADATA_TOPIC = "__cluster_metadata"
OFFSETS_TOPIC = "__consumer_offsets"
HIDDEN = "[hidden]"
# What somebody who reads it can log in with.
_SECRETS = frozenset({"salt", "stored_key", "server_key", "hmac"})
# Kafka's own limit of a frame's version.
_FRAME_VERSIONS = (0, 1)
_CONSUMER_PROTOCOL = {"subscription": "ConsumerProtocolSubscription", "assignment": "ConsumerProtocolAssignment"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecord:
    """A record of an internal topic.

    `kind` is its name in Kafka ("OffsetCommit", "RegisterBrokerRecord"). `key` and `value` hold its fields, ready for
    JSON; `version` and `value` are None for a tombstone.
    """

    kind: str
    version: int | None
    key: dict[str, Any] | None
    value: dict[str, Any] | None


class UnreadableRecord(Exception):
    """These bytes are no record of this topic; the message says why."""


def stored_record(topic: str, key: bytes | None, value: bytes | None) -> StoredRecord:
    """A record of an internal topic that `stored_topics` names; UnreadableRecord where it is none."""
    try:
        if topic == METADATA_TOPIC:
            return _metadata(value or b"")
        return _coordinator(topic, key or b"", value)
    except wire.ProtocolError as error:
        raise UnreadableRecord(str(error)) from error


def _metadata(data: bytes) -> StoredRecord:
    """Version of the frame, number of the record, its version, its fields."""
    frame, data = _varint(data)
    if frame not in _FRAME_VERSIONS:
        raise UnreadableRecord(f"a metadata record in a frame of version {frame}")
    kind, data = _varint(data)
    version, data = _varint(data)
    value = _fields(METADATA_TOPIC, kind, "value", version, data)
    name = wire.stored_name(METADATA_TOPIC, kind)
    if name == "ConfigRecord" and value.get("value") is not None and _is_secret(str(value.get("name"))):
        value["value"] = HIDDEN
    return StoredRecord(kind=name, version=version, key=None, value=value)


def _is_secret(name: str) -> bool:
    return any(word in name.lower() for word in ("password", "secret", "jaas", "keystore", "truststore", "token"))


def _coordinator(topic: str, key: bytes, value: bytes | None) -> StoredRecord:
    """Both begin with a number: of the kind of record, and of the version of the value."""
    kind, rest = _int16(key)
    named = wire.stored_name(topic, kind)
    fields = _fields(topic, kind, "key", 0, rest)
    if value is None:
        return StoredRecord(kind=named, version=None, key=fields, value=None)
    version, rest = _int16(value)
    # LegacyOffsetCommit is the number of the key alone: brokers of today write 1, and the same values.
    content = 1 if topic == OFFSETS_TOPIC and kind == 0 else kind
    told = _fields(topic, content, "value", version, rest)
    if topic == OFFSETS_TOPIC and told.get("protocol_type") == "consumer":
        for member in told.get("members", ()):
            _tell_member(member)
    return StoredRecord(kind=named, version=version, key=fields, value=told)


def _tell_member(member: dict[str, Any]) -> None:
    """What a consumer subscribes to and is assigned, instead of its bytes; left alone where it is not readable."""
    for field, name in _CONSUMER_PROTOCOL.items():
        try:
            version, rest = _int16(base64.b64decode(member.get(field) or ""))
            newest = min(version, _newest(name))
            member[field] = _plain(wire.decode_data(name, newest, rest).value)
        except (wire.ProtocolError, UnreadableRecord):
            continue


@cache
def _newest(name: str) -> int:
    """The newest version that is known: readers take a newer one for this."""
    version = 0
    while True:
        try:
            wire.data_layout(name, version + 1)
        except wire.UnknownMessage:
            return version
        version += 1


def _fields(topic: str, kind: int, part: str, version: int, data: bytes) -> dict[str, Any]:
    decoded = wire.decode_layout(wire.stored_layout(topic, kind, part, version), data)
    if decoded.left_over:
        raise UnreadableRecord(f"{decoded.left_over} bytes too many in {wire.stored_name(topic, kind)}")
    plain: dict[str, Any] = _plain(decoded.value)
    return plain


def _plain(value: Any) -> Any:
    """As JSON has it: bytes in base64, uuids as Kafka writes them, without what lets somebody log in."""
    if isinstance(value, dict):
        return {
            name: HIDDEN if name in _SECRETS else _plain(each)
            for name, each in value.items()
            if name != wire.UNKNOWN_TAGS
        }
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, uuid.UUID):
        return base64.urlsafe_b64encode(value.bytes).decode().rstrip("=")
    return value


def _int16(data: bytes) -> tuple[int, bytes]:
    if len(data) < 2:
        raise UnreadableRecord("it has no version")
    return int.from_bytes(data[:2], signed=True), data[2:]


def _varint(data: bytes) -> tuple[int, bytes]:
    value = 0
    for place, byte in enumerate(data[:5]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, data[place + 1 :]
    raise UnreadableRecord("it has no version")
