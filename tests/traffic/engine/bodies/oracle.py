"""The facts of a body by way of the generic reader: written out message by message, and knowing no plan.

Takes what the reader of `kafka.protocol` gives, also of a message that was cut: a field that is not there is missing.
"""

from collections.abc import Iterator
from typing import Any

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.bodies.facts import (
    EndpointFacts,
    LeaderFacts,
    PartitionFacts,
    RequestFacts,
    ResponseFacts,
    Topic,
)
from netdiag.traffic.engine.bodies.records import summarise

Value = dict[str, Any]
Row = PartitionFacts
NOTHING: Any = (None,) * len(PartitionFacts._fields)


def request_oracle(api_key: int, api_version: int, body: bytes, declared: int) -> tuple[RequestFacts, bool]:
    """Facts of a request that the reader takes, and whether it was cut."""
    decoded = wire.decode(api_key, api_version, wire.Direction.REQUEST, body, declared=declared)
    value, cut = decoded.value, decoded.truncated is not None
    facts = RequestFacts()
    facts.topics = list(_topics(api_key, value, cut))
    facts.names = list(_names(value))
    if cut:
        facts.decoded = "truncated"
    _request_scalars(facts, api_key, api_version, value)
    facts.partitions = list(_request_partitions(api_key, value))
    if api_key == 0:
        _batches(facts, value, "topic_data", "partition_data")
    if api_key in (1, 78) and value.get("forgotten_topics_data") is not None:
        facts.forgotten = list(_pairs(value["forgotten_topics_data"]))
    if api_key == 1 and not cut and facts.replica_id is None:
        facts.replica_id = -1
    if api_key in (68, 76):
        facts.subscription = _listed(value.get("subscribed_topic_names"))
    if api_key == 68 and value.get("topic_partitions") is not None:
        facts.owned = list(_pairs(value["topic_partitions"]))
    if api_key == 10:
        facts.coordinator_keys = [value["key"]] if "key" in value else list(value.get("coordinator_keys", ()))
        if facts.coordinator_keys:
            if api_version == 0 or value.get("key_type") == 0:
                facts.group = facts.coordinator_keys[0]
            elif value.get("key_type") == 1:
                facts.transactional_id = facts.coordinator_keys[0]
        facts.key_type = value.get("key_type")
    return facts, cut


def response_oracle(api_key: int, api_version: int, body: bytes, declared: int) -> tuple[ResponseFacts, bool]:
    """Facts of a response that the reader takes, and whether it was cut."""
    decoded = wire.decode(api_key, api_version, wire.Direction.RESPONSE, body, declared=declared)
    value, cut = decoded.value, decoded.truncated is not None
    facts = ResponseFacts()
    facts.topics = list(_topics(api_key, value, cut))
    facts.names = list(_names(value))
    codes = list(_error_codes(value))
    facts.error_code = next((code for code in codes if code), 0 if codes or not cut else None)
    facts.throttle_ms = value.get("throttle_time_ms")
    facts.session_id = value.get("session_id")
    facts.cluster_id = value.get("cluster_id")
    facts.controller_id = value.get("controller_id")
    facts.member_id = value.get("member_id")
    facts.generation = value.get("generation_id", value.get("member_epoch"))
    facts.protocol_type = value.get("protocol_type")
    facts.protocol = value.get("protocol_name")
    facts.leader = value.get("leader")
    if cut:
        facts.decoded = "truncated"
    facts.partitions = list(_response_partitions(api_key, value))
    if api_key in (1, 78):
        _batches(facts, value, "responses", "partitions")
        facts.empty = False if facts.record_bytes else None if cut else True
    facts.endpoints = list(_endpoints(api_key, api_version, value))
    if api_key in (3, 75):
        facts.leaders = list(_leaders(api_key, api_version, value))
    if api_key == 11 and "members" in value:
        facts.members = [member["member_id"] for member in value["members"] if "member_id" in member]
    if api_key == 14 and "assignment" in value:
        facts.assignment = _assigned(value["assignment"])
    if api_key in (68, 76) and value.get("assignment") and value["assignment"].get("topic_partitions") is not None:
        facts.assignment = list(_pairs(value["assignment"]["topic_partitions"]))
    return facts, cut


def _assigned(raw: bytes) -> list[tuple[Topic, int]] | None:
    if not raw:
        return []
    try:
        decoded = wire.decode_data("ConsumerProtocolAssignment", min(3, int.from_bytes(raw[:2], "big")), raw[2:])
    except wire.DecodeError:
        return None
    return [(each["topic"], number) for each in decoded.value["assigned_partitions"] for number in each["partitions"]]


def _request_scalars(facts: RequestFacts, api_key: int, api_version: int, value: Value) -> None:
    facts.transactional_id = value.get("transactional_id", value.get("v3_and_below_transactional_id"))
    if value.get("transactions"):
        facts.transactional_id = value["transactions"][0].get("transactional_id")
    facts.group = value.get("group_id")
    for array in ("groups", "groups_names", "group_ids"):
        if value.get(array):
            first = value[array][0]
            facts.group = first if isinstance(first, str) else first.get("group_id")
            for group in value[array]:
                if isinstance(group, dict) and facts.member_id is None:
                    facts.member_id = group.get("member_id")
    facts.acks = value.get("acks")
    facts.wait_ms = value.get("max_wait_ms")
    facts.replica_id = value.get("replica_id")
    state = value.get("replica_state", {})
    if state != {"replica_id": -1, "replica_epoch": -1}:
        facts.replica_id = state.get("replica_id", facts.replica_id)
    facts.session_id = value.get("session_id")
    facts.session_epoch = value.get("session_epoch", value.get("share_session_epoch"))
    facts.sasl_mechanism = value.get("mechanism")
    facts.software_name = value.get("client_software_name")
    facts.software_version = value.get("client_software_version")
    facts.member_id = value.get("member_id", facts.member_id)
    facts.instance_id = value.get("group_instance_id", value.get("instance_id"))
    facts.generation = value.get("generation_id", value.get("generation_id_or_member_epoch", value.get("member_epoch")))
    facts.protocol_type = value.get("protocol_type")
    facts.protocol = value.get("protocol_name", value.get("server_assignor"))
    facts.session_timeout_ms = value.get("session_timeout_ms")
    facts.rebalance_timeout_ms = value.get("rebalance_timeout_ms")
    facts.reason = value.get("reason")
    facts.committed = value.get("committed")
    if api_key == 11:
        facts.wait_ms = facts.rebalance_timeout_ms if api_version else facts.session_timeout_ms
    if api_key == 13 and "members" in value:
        facts.members = [member["member_id"] for member in value["members"] if "member_id" in member]
        for member in reversed(value["members"]):
            facts.instance_id = (
                facts.instance_id if member.get("group_instance_id") is None else member["group_instance_id"]
            )
            facts.reason = facts.reason if member.get("reason") is None else member["reason"]


def _row(topic: Topic, number: int, group: str | None = None, **columns: Any) -> PartitionFacts:
    return PartitionFacts(*NOTHING)._replace(topic=topic, partition=number, group=group, **columns)


def _request_partitions(api_key: int, value: Value) -> Iterator[PartitionFacts]:
    match api_key:
        case 0:
            for topic, part in _each(value, "topic_data", "partition_data", "index"):
                yield _row(topic, part["index"], **_summary(topic, part["index"], part))
        case 1:
            for topic, part in _each(value, "topics", "partitions", "partition"):
                yield _row(
                    topic,
                    part["partition"],
                    offset=part.get("fetch_offset"),
                    leader_epoch=part.get("current_leader_epoch"),
                )
        case 2:
            for topic, part in _each(value, "topics", "partitions", "partition_index"):
                yield _row(
                    topic,
                    part["partition_index"],
                    timestamp=part.get("timestamp"),
                    leader_epoch=part.get("current_leader_epoch"),
                )
        case 8 | 28:
            for topic, part in _each(value, "topics", "partitions", "partition_index"):
                epoch = part.get("committed_leader_epoch")
                yield _row(topic, part["partition_index"], offset=part.get("committed_offset"), leader_epoch=epoch)
        case 9:
            for group in value.get("groups") or (value,):
                name = group.get("group_id") if "groups" in value else None
                for topic, number in _pairs(group.get("topics") or (), "partition_indexes"):
                    yield _row(topic, number, name)
        case 21:
            for topic, part in _each(value, "topics", "partitions", "partition_index"):
                yield _row(topic, part["partition_index"], offset=part.get("offset"))
        case 23:
            for topic, part in _each(value, "topics", "partitions", "partition"):
                yield _row(topic, part["partition"], leader_epoch=part.get("leader_epoch"))
        case 24 | 27:
            for holder in value.get("transactions") or value.get("markers") or (value,):
                listed = holder.get("topics", holder.get("v3_and_below_topics", ()))
                for topic, number in _pairs(listed, "partitions" if api_key == 24 else "partition_indexes"):
                    yield _row(topic, number)
        case 47 | 78 | 79:
            for topic, part in _each(value, "topics", "partitions", "partition_index"):
                yield _row(topic, part["partition_index"])


def _response_partitions(api_key: int, value: Value) -> Iterator[PartitionFacts]:
    match api_key:
        case 0:
            for topic, part in _each(value, "responses", "partition_responses", "index"):
                yield _row(
                    topic,
                    part["index"],
                    error_code=part.get("error_code"),
                    offset=part.get("base_offset"),
                    log_start_offset=part.get("log_start_offset"),
                    **_tagged_leader(part),
                )
        case 1 | 78:
            for topic, part in _each(value, "responses", "partitions", "partition_index"):
                names = ("error_code", "high_watermark", "last_stable_offset", "log_start_offset")
                columns = {name: part.get(name) for name in names}
                columns |= _tagged_leader(part) if api_key == 1 else _current_leader(part)
                columns |= _summary(topic, part["partition_index"], part)
                yield _row(topic, part["partition_index"], **columns)
        case 2:
            for topic, part in _each(value, "topics", "partitions", "partition_index"):
                offset = part.get("offset", next(iter(part.get("old_style_offsets", ())), None))
                columns = {"error_code": part.get("error_code"), "leader_epoch": part.get("leader_epoch")}
                yield _row(topic, part["partition_index"], offset=offset, **columns)
        case 8 | 28 | 47:
            for topic, part in _each(value, "topics", "partitions", "partition_index"):
                yield _row(topic, part["partition_index"], error_code=part.get("error_code"))
        case 9:
            for group in value.get("groups", (value,)):
                name = group.get("group_id")
                for topic, part in _each(group, "topics", "partitions", "partition_index"):
                    columns = {"error_code": part.get("error_code"), "leader_epoch": part.get("committed_leader_epoch")}
                    yield _row(topic, part["partition_index"], name, offset=part.get("committed_offset"), **columns)
        case 21:
            for topic, part in _each(value, "topics", "partitions", "partition_index"):
                columns = {"error_code": part.get("error_code"), "log_start_offset": part.get("low_watermark")}
                yield _row(topic, part["partition_index"], **columns)
        case 23:
            for topic, part in _each(value, "topics", "partitions", "partition"):
                columns = {"error_code": part.get("error_code"), "leader_epoch": part.get("leader_epoch")}
                yield _row(topic, part["partition"], offset=part.get("end_offset"), **columns)
        case 24 | 27:
            for holder in value.get("results_by_transaction") or value.get("markers") or (value,):
                for array in ("topics", "topic_results", "results_by_topic_v3_and_below"):
                    inner = "partitions" if api_key == 27 else "results_by_partition"
                    for topic, part in _each(holder, array, inner, "partition_index"):
                        code = part.get("error_code", part.get("partition_error_code"))
                        yield _row(topic, part["partition_index"], error_code=code)
        case 79:
            for topic, part in _each(value, "responses", "partitions", "partition_index"):
                yield _row(topic, part["partition_index"], error_code=part.get("error_code"), **_current_leader(part))


def _endpoints(api_key: int, api_version: int, value: Value) -> Iterator[EndpointFacts]:
    told = [
        *(value.get("brokers", ()) if api_key in (3, 60) else ()),
        *(value.get("coordinators", ()) if api_key == 10 else ()),
        *([value] if api_key == 10 and api_version < 4 else ()),
        *value.get("node_endpoints", ()),
    ]
    for each in told:
        if "port" in each:
            number = each.get("node_id", each.get("broker_id"))
            yield EndpointFacts(number, each["host"], each["port"], each.get("rack"), each.get("key"))


def _leaders(api_key: int, api_version: int, value: Value) -> Iterator[LeaderFacts]:
    for topic in value.get("topics", ()):
        last = "topic_id" if api_key == 75 or api_version >= 10 else "name"
        number = topic["topic_id"].bytes if "topic_id" in topic else None
        if topic.get("error_code") and last in topic:
            yield LeaderFacts(topic["name"], number, None, None, None, None, None, topic["error_code"])
        for part in topic.get("partitions", ()):
            if "partition_index" in part:
                yield LeaderFacts(
                    topic["name"],
                    number,
                    part["partition_index"],
                    part.get("leader_id"),
                    part.get("leader_epoch"),
                    len(part["replica_nodes"]) if "replica_nodes" in part else None,
                    len(part["isr_nodes"]) if "isr_nodes" in part else None,
                    part["error_code"],
                )


def _batches(facts: RequestFacts | ResponseFacts, value: Value, outer: str, inner: str) -> None:
    """Sums and batches of all records fields."""
    key = "index" if inner == "partition_data" else "partition_index"
    facts.batches, facts.records, facts.record_bytes = [], 0, 0
    for topic, part in _each(value, outer, inner, key):
        raw = part.get("records") or b""
        facts.record_bytes += len(raw)
        found = summarise(raw, 0, len(raw), len(raw), topic, part[key], facts.batches)[0] if raw else 0
        facts.records = None if found is None or facts.records is None else facts.records + found


def _summary(topic: Topic, number: int, part: Value) -> Value:
    if "records" not in part:
        return {}
    raw = part["records"] or b""
    records, last, latest = summarise(raw, 0, len(raw), len(raw), topic, number, None) if raw else (0, None, None)
    return {"records": records, "record_bytes": len(raw), "last_offset": last, "max_timestamp": latest}


def _current_leader(part: Value) -> Value:
    leader = part.get("current_leader", {})
    return {"leader_id": leader.get("leader_id"), "leader_epoch": leader.get("leader_epoch")}


def _tagged_leader(part: Value) -> Value:
    """A tag that is not on the wire tells nothing."""
    nobody = part.get("current_leader") == {"leader_id": -1, "leader_epoch": -1}
    return {} if nobody else _current_leader(part)


def _each(value: Value, outer: str, inner: str, key: str) -> Iterator[tuple[Topic, Value]]:
    for topic in value.get(outer) or ():
        for part in topic.get(inner) or ():
            if key in part:
                yield _topic(topic), part


def _pairs(topics: Any, inner: str = "partitions") -> Iterator[tuple[Topic, int]]:
    for topic in topics:
        for number in topic.get(inner) or ():
            yield _topic(topic), number


def _topic(struct: Value) -> Topic:
    for name in ("name", "topic", "topic_name"):
        if name in struct:
            text: str = struct[name]
            return text
    number: bytes = struct["topic_id"].bytes
    return number


def _listed(value: Any) -> Any:
    return None if value is None else list(value)


_ID_AND_NAME = {3: ("topics",), 69: ("topic_partitions",), 77: ("topic_partitions",)}
"""Where the name follows the id: without the name nothing is known of the topic."""
_TOPIC_ARRAYS = ("topics", "topic_data", "responses", "topic_results")


def _topics(api_key: int, value: Value, cut: bool, inside: str = "") -> Iterator[Topic]:
    named: list[str] = [name for name in ("topic", "topic_name") if name in value]
    if "name" in value and (
        inside in _TOPIC_ARRAYS or "v3_and_below" in inside or (api_key, inside) == (37, "results")
    ):
        named.append("name")
    number = value["topic_id"].bytes if "topic_id" in value and value["topic_id"].int else None
    if cut and next(iter(value), "") == "topic_id" and not named and inside in _ID_AND_NAME.get(api_key, ()):
        number = None
    last = max([*value].index(name) for name in (*named, "topic_id") if name in value) if named or number else -1
    for at, (name, content) in enumerate(value.items()):
        if name in named and content:
            yield content
        if at == last and number is not None and not any(value[each] for each in named):
            yield number
        both = {name, *list(value)[:at]} >= {"resource_name", "resource_type"} and name in (
            "resource_type",
            "resource_name",
        )
        if both and value["resource_type"] == 2 and value["resource_name"]:
            yield value["resource_name"]
        if isinstance(content, dict):
            yield from _topics(api_key, content, cut)
        for item in content if isinstance(content, tuple) else ():
            if isinstance(item, dict):
                yield from _topics(api_key, item, cut, name)
            elif name in ("topic_names", "subscribed_topic_names"):
                yield item


def _names(value: Value) -> Iterator[tuple[bytes, str]]:
    for name in ("name", "topic_name"):
        if value.get(name) and "topic_id" in value and value["topic_id"].int:
            yield value["topic_id"].bytes, value[name]
    for content in value.values():
        if isinstance(content, dict):
            yield from _names(content)
        for item in content if isinstance(content, tuple) else ():
            if isinstance(item, dict):
                yield from _names(item)


def _error_codes(value: Value) -> Iterator[int]:
    for name, content in value.items():
        if name.endswith("error_code"):
            yield content
        if isinstance(content, dict):
            yield from _error_codes(content)
        for item in content if isinstance(content, tuple) else ():
            if isinstance(item, dict):
                yield from _error_codes(item)
