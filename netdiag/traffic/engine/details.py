"""From what both messages of an exchange tell to the rows of the tables below `exchanges`.

Partitions of request and response are joined by topic (name or id, whichever the version has) and number. Where a
number on the wire says "none" (-1), the column is null.
"""

from collections.abc import Sequence
from typing import NamedTuple

from netdiag.traffic.engine.bodies.facts import (
    BatchFacts,
    EndpointFacts,
    LeaderFacts,
    PartitionFacts,
    RequestFacts,
    ResponseFacts,
    Topic,
)
from netdiag.traffic.engine.sessions import Offsets
from netdiag.traffic.engine.topic_ids import TopicIds
from netdiag.traffic.rows import BatchRow, EndpointRow, GroupEventRow, LeaderRow, PartitionRow

PRODUCE, FETCH, FIND_COORDINATOR = 0, 1, 10
JOIN_GROUP, HEARTBEAT, LEAVE_GROUP, SYNC_GROUP, CONSUMER_GROUP_HEARTBEAT, SHARE_GROUP_HEARTBEAT = 11, 12, 13, 14, 68, 76
GROUP_KEYS = frozenset(
    {JOIN_GROUP, HEARTBEAT, LEAVE_GROUP, SYNC_GROUP, CONSUMER_GROUP_HEARTBEAT, SHARE_GROUP_HEARTBEAT}
)
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
_new = tuple.__new__
_LARGEST = (1 << 63) - 1


class Exchange(NamedTuple):
    """What the rows of one exchange have in common; times in nanoseconds, None where there was no response."""

    time: int
    response_time: int | None
    connection: int
    client: str
    broker: str
    correlation_id: int
    api_key: int
    client_id: str | None
    asked: RequestFacts
    said: ResponseFacts | None


def partition_rows(exchange: Exchange, ids: TopicIds, offsets: Offsets | None = None) -> list[PartitionRow]:
    """A row for every partition that one of the messages names; `offsets` are those in force in a fetch session."""
    asked, said = exchange.asked, exchange.said
    answers = () if said is None else said.partitions
    if not asked.partitions and not answers:
        return []
    waiting = {(row.group, row.topic, row.partition): row for row in asked.partitions}
    pairs: list[tuple[PartitionFacts | None, PartitionFacts | None]] = [
        (waiting.pop((row.group, row.topic, row.partition), None), row) for row in answers
    ]
    # a partition that is named twice has one answer
    pairs += [(row, None) for row in waiting.values()]
    produce = exchange.api_key == PRODUCE
    return [_partition_row(exchange, ids, offsets, request, answer, produce) for request, answer in pairs]


def _partition_row(
    exchange: Exchange,
    ids: TopicIds,
    offsets: Offsets | None,
    request: PartitionFacts | None,
    answer: PartitionFacts | None,
    produce: bool,
) -> PartitionRow:
    named = answer or request
    assert named is not None
    topic, number = ids.both(named.topic)
    asked = exchange.asked
    carrier = request if produce else answer
    records, size, last, latest = (None, None, None, None) if carrier is None else carrier[11:15]
    offset = None if answer is None else answer.offset
    if produce:
        offset = _known(offset)
        last = None
        if offset is not None and records and offset + records - 1 <= _LARGEST:
            last = offset + records - 1
    if request is not None:
        start, epoch, timestamp = request.offset, request.leader_epoch, request.timestamp
    else:
        start = None if offsets is None else offsets.get((named.topic, named.partition))
        epoch = timestamp = None
    error = high = stable = log_start = leader = None
    if answer is not None:
        error, high, stable, log_start = answer.error_code, *map(_known, answer[5:8])
        leader = _known(answer.leader_id)
        epoch = epoch if _known(answer.leader_epoch) is None else answer.leader_epoch
    group = named.group if named.group is not None else asked.group
    start_of_row = (exchange.time, exchange.connection, exchange.correlation_id, exchange.api_key, exchange.client_id)
    counted = (error, records, size, start, offset, last, high, stable, log_start, timestamp, latest, leader)
    rest = (_known(epoch), asked.replica_id, asked.session_id)
    return _new(PartitionRow, (*start_of_row, group, topic, number, named.partition, *counted, *rest))


def batch_rows(exchange: Exchange, ids: TopicIds) -> list[BatchRow]:
    """A row for every record batch, produced or fetched."""
    asked, said = exchange.asked, exchange.said
    batches = (*asked.batches, *(() if said is None else said.batches))
    start = (exchange.time, exchange.connection, exchange.correlation_id, exchange.api_key, exchange.client_id)
    return [_batch_row(start, ids, batch) for batch in batches]


def _batch_row(start: tuple[object, ...], ids: TopicIds, batch: BatchFacts) -> BatchRow:
    codec = batch.codec
    shown = None if codec is None else CODECS[codec] if codec < len(CODECS) else f"CODEC({codec})"
    return _new(BatchRow, (*start, *ids.both(batch.topic), *batch[1:7], shown, *batch[8:]))


def group_event_row(exchange: Exchange, ids: TopicIds) -> GroupEventRow:
    """The row of an exchange of a group protocol, one of `GROUP_KEYS`."""
    key, asked, said = exchange.api_key, exchange.asked, exchange.said
    answer = ResponseFacts() if said is None else said
    generation = asked.generation
    if answer.generation is not None and not answer.error_code:
        generation = answer.generation
    members = answer.members
    if key == LEAVE_GROUP:
        members = asked.members or ((asked.member_id,) if asked.member_id else None)
    wait = None if exchange.response_time is None else (exchange.response_time - exchange.time) / 1e6
    return GroupEventRow(
        time=exchange.time,
        response_time=exchange.response_time,
        connection=exchange.connection,
        correlation_id=exchange.correlation_id,
        api_key=key,
        group=asked.group,
        client=exchange.client,
        broker=exchange.broker,
        client_id=exchange.client_id,
        member_id=answer.member_id or asked.member_id or None,
        instance_id=asked.instance_id,
        generation=generation,
        protocol_type=asked.protocol_type or answer.protocol_type,
        protocol=answer.protocol or asked.protocol or None,
        leader=answer.leader or None,
        members=tuple(members) if members else None,
        subscription=None if asked.subscription is None else tuple(asked.subscription),
        owned=_shown(asked.owned, ids),
        assignment=_shown(answer.assignment, ids),
        session_timeout_ms=asked.session_timeout_ms,
        rebalance_timeout_ms=_known(asked.rebalance_timeout_ms),
        reason=asked.reason,
        error_code=None if said is None else said.error_code,
        wait_ms=wait,
    )


def endpoint_rows(exchange: Exchange) -> list[EndpointRow]:
    """A row for every address that the response told; one without a host is none (no coordinator was found)."""
    said = exchange.said
    if said is None or exchange.response_time is None or not said.endpoints:
        return []
    keys = exchange.asked.coordinator_keys
    key = keys[0] if exchange.api_key == FIND_COORDINATOR and keys else None
    return [_endpoint_row(exchange, said, each, key) for each in said.endpoints if each.host]


def _endpoint_row(exchange: Exchange, said: ResponseFacts, told: EndpointFacts, key: str | None) -> EndpointRow:
    assert exchange.response_time is not None
    return EndpointRow(
        time=exchange.response_time,
        connection=exchange.connection,
        correlation_id=exchange.correlation_id,
        api_key=exchange.api_key,
        client=exchange.client,
        broker=exchange.broker,
        client_id=exchange.client_id,
        node_id=told.node_id,
        host=told.host,
        port=told.port,
        rack=told.rack,
        cluster_id=said.cluster_id,
        controller_id=_known(said.controller_id),
        coordinator_key=key if told.coordinator_key is None else told.coordinator_key,
    )


def leader_rows(exchange: Exchange, ids: TopicIds) -> list[LeaderRow]:
    """A row for every partition whose leader the response told, and for every topic in error."""
    said = exchange.said
    if said is None or exchange.response_time is None or not said.leaders:
        return []
    start = (exchange.response_time, exchange.connection, exchange.correlation_id)
    return [_new(LeaderRow, (*start, *_topic(told, ids), *told[2:])) for told in said.leaders]


def _topic(told: LeaderFacts, ids: TopicIds) -> tuple[str | None, str | None]:
    """Name and id; of an id that is all zero there is none."""
    number = told.topic_id if told.topic_id is not None and any(told.topic_id) else None
    name = told.topic if isinstance(told.topic, str) and told.topic else None
    if number is None:
        return name, None
    return name or ids.name(number), ids.text(number)


def _known(number: int | None) -> int | None:
    """A number that is not the wire's word for none."""
    return None if number is None or number < 0 else number


def _shown(pairs: Sequence[tuple[Topic, int]] | None, ids: TopicIds) -> tuple[str, ...] | None:
    return None if pairs is None else tuple(f"{ids.shown(topic)}-{partition}" for topic, partition in pairs)
