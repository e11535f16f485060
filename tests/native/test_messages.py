"""What random messages of every api key and version tell is what the generic reader of `kafka.protocol` finds in them.

A request is sent without a response, and a response to a request without content, so each tells of itself alone. The
paths to what is told are written out here, message by message; the engine's own are in `native/wire/src/kafka`.
"""

from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from netdiag.kafka import protocol as wire
from tests.kafka.protocol.random_values import RandomValues
from tests.native.conversations import ASK, TOLD
from tests.native.packets import TcpConnection
from tests.native.reading import Rows, rows_of_packets
from tests.native.test_exchanges import BATCH, shown

Value = Mapping[str, Any]
REQUEST, RESPONSE = wire.Direction.REQUEST, wire.Direction.RESPONSE
SEEDS = 3
# What a records field may hold: with how many records, and the greatest timestamp.
RECORDS: Mapping[bytes, tuple[int, int | None]] = {b"": (0, None), BATCH: (3, 3000), BATCH + BATCH: (6, 3000)}
GROUP_KEYS = (11, 12, 13, 14, 68, 76)
_TOPIC_ARRAYS = ("topics", "topic_data", "responses", "topic_results")


class Values(RandomValues):
    """Records are batches, so that it is known what is in them."""

    def _element(self, field: wire.Field) -> Any:
        return self._random.choice(list(RECORDS)) if field.kind == "records" else super()._element(field)


def sent(api_key: int, direction: wire.Direction) -> Iterator[tuple[int, Value, Rows]]:
    """Every version with random values, and the rows of each: a connection that first tells that it speaks Kafka."""
    said, packets = list(_random(api_key, direction)), []
    for number, (version, value) in enumerate(said):
        client, broker = f"10.0.0.1:{10_000 + number}", f"10.1.{number >> 8}.{number & 255}:9092"
        talk = TcpConnection(client, broker, sequences=(number * 1000, number * 1_000_000)).open().ask(ASK).answer(TOLD)
        if direction is REQUEST:
            talk.ask(wire.encode_request(api_key, version, 8, "app", value))
        else:
            talk.ask(wire.encode_request(api_key, version, 8, "app", {}))
            talk.answer(wire.encode_response(api_key, version, 8, value))
        packets += talk.packets
    rows = rows_of_packets(packets)
    numbers = {row.client: row.connection for row in rows["connections"]}
    for number, (version, value) in enumerate(said):
        own = numbers[f"10.0.0.1:{10_000 + number}"]
        tables = ("exchanges", "partitions", "endpoints", "leaders", "group_events")
        mine = {
            name: [row for row in rows[name] if (row.connection, row.correlation_id) == (own, 8)] for name in tables
        }
        yield version, value, mine


def _random(api_key: int, direction: wire.Direction) -> Iterator[tuple[int, Value]]:
    for version in wire.api_versions(api_key):
        layout = wire.layout(api_key, version, direction)
        for seed in range(SEEDS):
            value = Values(f"{api_key} {version} {direction} {seed}", tame=False).struct(layout)
            # An answer of version 0, whichever was asked for.
            if (api_key, value.get("error_code")) != (18, 35):
                yield version, value


def read(api_key: int, version: int, direction: wire.Direction, value: Value) -> Value:
    """What the generic reader finds of it."""
    body = wire.encode(api_key, version, direction, value)
    return wire.decode(api_key, version, direction, body).value


@pytest.mark.parametrize("api_key", wire.api_keys())
def test_requests(api_key: int) -> None:
    for version, value, rows in sent(api_key, REQUEST):
        known = read(api_key, version, REQUEST, value)
        (row,) = rows["exchanges"]
        assert row.decoded == "full", (version, value)
        told = exchange_of_request(api_key, version, known)
        assert {name: getattr(row, name) for name in told} == told, (version, value)
        assert shown(rows["partitions"]) == partitions_of_request(api_key, known), (version, value)
        if api_key in GROUP_KEYS:
            (event,) = rows["group_events"]
            told = group_event_of_request(api_key, known)
            assert {name: getattr(event, name) for name in told} == told, (version, value)


@pytest.mark.parametrize("api_key", wire.api_keys())
def test_responses(api_key: int) -> None:
    for version, value, rows in sent(api_key, RESPONSE):
        known, asked = read(api_key, version, RESPONSE, value), read(api_key, version, REQUEST, {})
        (row,) = rows["exchanges"]
        assert row.decoded == "full", (version, value)
        told = exchange_of_response(api_key, known)
        assert {name: getattr(row, name) for name in told} == told, (version, value)
        assert shown(rows["partitions"]) == partitions_of_response(api_key, known, asked), (version, value)
        assert shown(rows["endpoints"]) == list(endpoints(api_key, version, known, asked)), (version, value)
        assert shown(rows["leaders"]) == list(leaders(api_key, known)), (version, value)
        if api_key in GROUP_KEYS:
            (event,) = rows["group_events"]
            told = group_event_of_response(api_key, known, asked)
            assert {name: getattr(event, name) for name in told} == told, (version, value)


# What the generic reader's values tell, by the columns of the tables.


def exchange_of_request(api_key: int, version: int, value: Value) -> dict[str, Any]:
    """Columns of `exchanges`."""
    facts: dict[str, Any] = {
        "topics": _named_topics(api_key, value),
        "group": _group(api_key, version, value),
        "acks": value.get("acks"),
        "wait_ms": value.get("max_wait_ms"),
        "transactional_id": _transactional_id(api_key, version, value),
        "replica_id": _replica_id(api_key, value),
        "committed": value.get("committed"),
        "records": None,
        "record_bytes": None,
    }
    if api_key == 11:
        facts["wait_ms"] = value["rebalance_timeout_ms"] if version else value["session_timeout_ms"]
    if api_key == 0:
        fields = [part["records"] or b"" for _, part in _each(value, "topic_data", "partition_data")]
        facts["records"], facts["record_bytes"] = sum(RECORDS[data][0] for data in fields), sum(map(len, fields))
    return facts


def exchange_of_response(api_key: int, value: Value) -> dict[str, Any]:
    """Columns of `exchanges`."""
    codes = list(_error_codes(value))
    facts: dict[str, Any] = {
        "topics": _named_topics(api_key, value),
        "error_code": next((code for code in codes if code), 0),
        "throttle_ms": value.get("throttle_time_ms"),
        "empty": None,
    }
    if api_key in (1, 78):
        fields = [part["records"] or b"" for _, part in _each(value, "responses", "partitions")]
        facts["records"], facts["record_bytes"] = sum(RECORDS[data][0] for data in fields), sum(map(len, fields))
        facts["empty"] = not facts["record_bytes"]
    return facts


def group_event_of_request(api_key: int, value: Value) -> dict[str, Any]:
    """Columns of `group_events`."""
    members = value.get("members", ())
    left = [value["member_id"]] if value.get("member_id") else None
    first = {
        name: next((each[name] for each in members if each.get(name) is not None), None)
        for name in ("group_instance_id", "reason")
    }
    owned = value.get("topic_partitions") if api_key == 68 else None
    subscription = value.get("subscribed_topic_names") if api_key in (68, 76) else None
    return {
        "group": value["group_id"],
        "member_id": value.get("member_id") or None,
        "instance_id": value.get("group_instance_id", value.get("instance_id", first["group_instance_id"])),
        "generation": value.get("generation_id", value.get("member_epoch")),
        "protocol_type": value.get("protocol_type") or None,
        "protocol": value.get("protocol_name", value.get("server_assignor")) or None,
        "members": tuple(each["member_id"] for each in members) or _tuple(left) if api_key == 13 else None,
        "subscription": _tuple(subscription),
        "owned": None if owned is None else tuple(f"{topic}-{part}" for topic, part in _numbered(owned)),
        "session_timeout_ms": value.get("session_timeout_ms"),
        "rebalance_timeout_ms": _known(value.get("rebalance_timeout_ms")),
        "reason": value.get("reason", first["reason"]),
    }


def group_event_of_response(api_key: int, value: Value, asked: Value) -> dict[str, Any]:
    """Columns of `group_events`."""
    code = next((code for code in _error_codes(value) if code), 0)
    generation = value.get("generation_id", value.get("member_epoch"))
    if generation is None or code:
        generation = asked.get("generation_id", asked.get("member_epoch"))
    assignment = value.get("assignment")
    given = (assignment or {}).get("topic_partitions") if api_key in (68, 76) else None
    return {
        "error_code": code,
        "member_id": value.get("member_id") or asked.get("member_id") or None,
        "generation": generation,
        "leader": value.get("leader") or None,
        "members": tuple(each["member_id"] for each in value["members"]) or None if api_key == 11 else None,
        **({} if given is None else {"assignment": tuple(f"{topic}-{part}" for topic, part in _numbered(given))}),
    }


def partitions_of_request(api_key: int, value: Value) -> list[dict[str, Any]]:
    """Rows of `partitions`; one that is named twice is one, as it was said last."""
    rows: dict[Any, dict[str, Any]] = {}
    for group, topic, number, columns in _request_partitions(api_key, value):
        key = (group, str(topic), number)
        rows[key] = _row(api_key, value, group, topic, number, **columns)
    return list(rows.values())


def partitions_of_response(api_key: int, value: Value, asked: Value) -> list[dict[str, Any]]:
    """Rows of `partitions`."""
    return [
        _row(api_key, asked, group, topic, number, **columns)
        for group, topic, number, columns in _response_partitions(api_key, value)
    ]


def _row(api_key: int, asked: Value, group: str | None, topic: Any, number: int, **columns: Any) -> dict[str, Any]:
    where = {"topic": topic} if isinstance(topic, str) else {"topic_id": _id(topic)}
    if isinstance(topic, str) is False and topic.int == 1:
        where["topic"] = "__cluster_metadata"
    more = {
        "group": asked.get("group_id") if group is None else group,
        "session_id": asked.get("session_id"),
        "replica_id": _replica_id(api_key, asked),
    }
    found = {**where, "partition": number, **columns, **more}
    return {name: content for name, content in found.items() if content is not None}


Told = Iterator[tuple[str | None, Any, int, dict[str, Any]]]


def _request_partitions(api_key: int, value: Value) -> Told:
    match api_key:
        case 0:
            for topic, part in _each(value, "topic_data", "partition_data"):
                count, latest = RECORDS[part["records"] or b""]
                yield (
                    None,
                    topic,
                    part["index"],
                    {
                        "records": count,
                        "record_bytes": len(part["records"] or b""),
                        "max_timestamp": latest,
                    },
                )
        case 1:
            for topic, part in _each(value, "topics", "partitions"):
                epoch = _known(part.get("current_leader_epoch"))
                columns = {"request_offset": part["fetch_offset"], "leader_epoch": epoch}
                yield None, topic, part["partition"], columns
        case 2:
            for topic, part in _each(value, "topics", "partitions"):
                epoch = _known(part.get("current_leader_epoch"))
                columns = {"timestamp": part["timestamp"], "leader_epoch": epoch}
                yield None, topic, part["partition_index"], columns
        case 8 | 28:
            for topic, part in _each(value, "topics", "partitions"):
                epoch = _known(part.get("committed_leader_epoch"))
                columns = {"request_offset": part["committed_offset"], "leader_epoch": epoch}
                yield None, topic, part["partition_index"], columns
        case 9:
            for group in value.get("groups", (value,)):
                for topic, number in _pairs(group.get("topics") or (), "partition_indexes"):
                    yield group.get("group_id"), topic, number, {}
        case 21:
            for topic, part in _each(value, "topics", "partitions"):
                yield None, topic, part["partition_index"], {"request_offset": part["offset"]}
        case 23:
            for topic, part in _each(value, "topics", "partitions"):
                yield None, topic, part["partition"], {"leader_epoch": _known(part["leader_epoch"])}
        case 24 | 27:
            for holder in value.get("transactions") or value.get("markers") or (value,):
                listed = holder.get("topics", holder.get("v3_and_below_topics", ()))
                for topic, number in _pairs(listed, "partitions" if api_key == 24 else "partition_indexes"):
                    yield None, topic, number, {}
        case 47 | 78 | 79:
            for topic, part in _each(value, "topics", "partitions"):
                yield None, topic, part["partition_index"], {}


def _response_partitions(api_key: int, value: Value) -> Told:
    code: dict[str, Any]
    match api_key:
        case 0:
            for topic, part in _each(value, "responses", "partition_responses"):
                columns = {
                    "error_code": part["error_code"],
                    "response_offset": _known(part["base_offset"]),
                    "log_start_offset": _known(part.get("log_start_offset")),
                }
                yield None, topic, part["index"], columns | _leader(part)
        case 1 | 78:
            for topic, part in _each(value, "responses", "partitions"):
                count, latest = RECORDS[part["records"] or b""]
                columns = {name: _known(part.get(name)) for name in _OFFSETS} | {
                    "error_code": part["error_code"],
                    "records": count,
                    "record_bytes": len(part["records"] or b""),
                    "max_timestamp": latest,
                    "last_offset": 2 if count else None,
                }
                yield None, topic, part["partition_index"], columns | _leader(part)
        case 2:
            for topic, part in _each(value, "topics", "partitions"):
                offset = part["offset"] if "offset" in part else next(iter(part["old_style_offsets"]), None)
                columns = {"response_offset": offset, "leader_epoch": _known(part.get("leader_epoch"))}
                yield None, topic, part["partition_index"], columns | {"error_code": part["error_code"]}
        case 8 | 28 | 47:
            for topic, part in _each(value, "topics", "partitions"):
                yield None, topic, part["partition_index"], {"error_code": part["error_code"]}
        case 9:
            for group in value.get("groups", (value,)):
                for topic, part in _each(group, "topics", "partitions"):
                    epoch = _known(part.get("committed_leader_epoch"))
                    code = {"error_code": part["error_code"], "leader_epoch": epoch}
                    columns = code | {"response_offset": part["committed_offset"]}
                    yield group.get("group_id"), topic, part["partition_index"], columns
        case 21:
            for topic, part in _each(value, "topics", "partitions"):
                columns = {"error_code": part["error_code"], "log_start_offset": _known(part["low_watermark"])}
                yield None, topic, part["partition_index"], columns
        case 23:
            for topic, part in _each(value, "topics", "partitions"):
                code = {"error_code": part["error_code"], "leader_epoch": _known(part.get("leader_epoch"))}
                yield None, topic, part["partition"], code | {"response_offset": part["end_offset"]}
        case 24 | 27:
            inner = "partitions" if api_key == 27 else "results_by_partition"
            for holder in value.get("results_by_transaction") or value.get("markers") or (value,):
                for array in ("topics", "topic_results", "results_by_topic_v3_and_below"):
                    for topic, part in _each(holder, array, inner):
                        found = part.get("error_code", part.get("partition_error_code"))
                        yield None, topic, part["partition_index"], {"error_code": found}
        case 79:
            for topic, part in _each(value, "responses", "partitions"):
                yield None, topic, part["partition_index"], {"error_code": part["error_code"], **_leader(part)}


_OFFSETS = ("high_watermark", "last_stable_offset", "log_start_offset")


def endpoints(api_key: int, version: int, value: Value, asked: Value) -> Iterator[dict[str, Any]]:
    """Rows of `endpoints`: addresses of brokers, coordinators, and leaders that moved."""
    told = [
        *(value.get("brokers", ()) if api_key in (3, 60) else ()),
        *(value.get("coordinators", ()) if api_key == 10 else ()),
        *([value] if api_key == 10 and version < 4 else ()),
        *value.get("node_endpoints", ()),
    ]
    key = asked.get("key") if api_key == 10 else None
    for each in told:
        if each["host"]:
            found = {
                "node_id": each.get("node_id", each.get("broker_id")),
                "host": each["host"],
                "port": each["port"],
                "rack": each.get("rack"),
                "cluster_id": value.get("cluster_id"),
                "controller_id": _known(value.get("controller_id")),
                "coordinator_key": each.get("key", key),
            }
            yield {name: content for name, content in found.items() if content is not None}


def leaders(api_key: int, value: Value) -> Iterator[dict[str, Any]]:
    """Rows of `leaders`: those of partitions, and topics in error."""
    for topic in value.get("topics", ()) if api_key in (3, 75) else ():
        known = topic["topic_id"] if "topic_id" in topic and topic["topic_id"].int else None
        where = {"topic": topic["name"] or None, "topic_id": None if known is None else _id(known)}
        if known is not None and known.int == 1 and not topic["name"]:
            where["topic"] = "__cluster_metadata"
        rows: list[dict[str, Any]] = [{"error_code": topic["error_code"]}] if topic["error_code"] else []
        rows += [
            {
                "partition": part["partition_index"],
                "leader_id": part["leader_id"],
                "leader_epoch": part.get("leader_epoch"),
                "replicas": len(part["replica_nodes"]),
                "in_sync": len(part["isr_nodes"]),
                "error_code": part["error_code"],
            }
            for part in topic["partitions"]
        ]
        for row in rows:
            yield {name: content for name, content in (where | row).items() if content is not None}


def _group(api_key: int, version: int, value: Value) -> str | None:
    group: str | None = value.get("group_id")
    for array in ("groups", "groups_names", "group_ids"):
        if value.get(array):
            first = value[array][0]
            group = first if isinstance(first, str) else first.get("group_id")
    if api_key == 10:
        keys = [value["key"]] if "key" in value else value.get("coordinator_keys")
        if keys and (version == 0 or value.get("key_type") == 0):
            group = keys[0]
    return group


def _transactional_id(api_key: int, version: int, value: Value) -> str | None:
    found: str | None = value.get("transactional_id", value.get("v3_and_below_transactional_id"))
    if value.get("transactions"):
        found = value["transactions"][0].get("transactional_id")
    if api_key == 10 and version and value.get("key_type") == 1:
        keys = [value["key"]] if "key" in value else value.get("coordinator_keys")
        found = keys[0] if keys else found
    return found


def _replica_id(api_key: int, value: Value) -> int | None:
    state = value.get("replica_state", {})
    found = value.get("replica_id") if state in ({}, {"replica_id": -1, "replica_epoch": -1}) else state["replica_id"]
    return -1 if api_key == 1 and found is None else found


def _leader(part: Value) -> dict[str, Any]:
    """Who leads now; a tag that is not on the wire tells nothing."""
    leader = part.get("current_leader", {})
    return {name: _known(leader.get(name)) for name in ("leader_id", "leader_epoch")}


def _each(value: Value, outer: str, inner: str) -> Iterator[tuple[Any, Value]]:
    for topic in value.get(outer) or ():
        for part in topic.get(inner) or ():
            yield _topic(topic), part


def _pairs(topics: Sequence[Value], inner: str = "partitions") -> Iterator[tuple[Any, int]]:
    for topic in topics:
        for number in topic.get(inner) or ():
            yield _topic(topic), number


def _numbered(topics: Sequence[Value]) -> Iterator[tuple[str, int]]:
    for topic, number in _pairs(topics):
        yield topic if isinstance(topic, str) else _text(topic), number


def _topic(struct: Value) -> Any:
    """The name of a topic, or its id."""
    for name in ("name", "topic", "topic_name"):
        if name in struct:
            return struct[name]
    return struct["topic_id"]


def _known(number: int | None) -> int | None:
    """A number that is not the wire's word for none."""
    return None if number is None or number < 0 else number


def _tuple(listed: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if listed is None else tuple(listed)


def _id(number: Any) -> str:
    return urlsafe_b64encode(number.bytes)[:22].decode()


def _text(number: Any) -> str:
    return "__cluster_metadata" if number.int == 1 else _id(number)


def _named_topics(api_key: int, value: Value) -> tuple[str, ...] | None:
    """The topics of a message in their order, each once; ids by the names that this message tells."""
    names: dict[bytes, str] = {}
    for number, name in _names(value):
        names.setdefault(number.bytes, name)
    texts = (each if isinstance(each, str) else names.get(each.bytes, _text(each)) for each in _topics(api_key, value))
    return tuple(dict.fromkeys(texts)) or None


def _topics(api_key: int, value: Value, inside: str = "") -> Iterator[Any]:
    named: list[str] = [name for name in ("topic", "topic_name") if name in value]
    if "name" in value and (
        inside in _TOPIC_ARRAYS or "v3_and_below" in inside or (api_key, inside) == (37, "results")
    ):
        named.append("name")
    number = value["topic_id"] if "topic_id" in value and value["topic_id"].int else None
    last = max([*value].index(name) for name in (*named, "topic_id") if name in value) if named or number else -1
    for at, (name, content) in enumerate(value.items()):
        if name in named and content:
            yield content
        if at == last and number is not None and not any(value[each] for each in named):
            yield number
        both = {name, *list(value)[:at]} >= {"resource_name", "resource_type"}
        if both and name in ("resource_type", "resource_name") and value["resource_type"] == 2:
            yield from [value["resource_name"]] if value["resource_name"] else []
        if isinstance(content, dict):
            yield from _topics(api_key, content)
        for item in content if isinstance(content, tuple) else ():
            if isinstance(item, dict):
                yield from _topics(api_key, item, name)
            elif name in ("topic_names", "subscribed_topic_names"):
                yield item


def _names(value: Value) -> Iterator[tuple[Any, str]]:
    """Ids of topics with their names."""
    for name in ("name", "topic_name"):
        if value.get(name) and "topic_id" in value and value["topic_id"].int:
            yield value["topic_id"], value[name]
    for item in _structs(value):
        yield from _names(item)


def _error_codes(value: Value) -> Iterator[int]:
    for name, content in value.items():
        if name.endswith("error_code"):
            yield content
        for item in _structs({name: content}):
            yield from _error_codes(item)


def _structs(value: Value) -> Iterator[Value]:
    for content in value.values():
        if isinstance(content, dict):
            yield content
        yield from (item for item in content if isinstance(item, dict)) if isinstance(content, tuple) else ()
