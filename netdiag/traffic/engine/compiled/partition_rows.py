"""The rows of partitions and batches as records: what `details` says, said of records."""

from typing import Any

import numpy as np

from netdiag.traffic.engine.bodies.facts import BatchFacts, PartitionFacts
from netdiag.traffic.engine.compiled.arenas import Arenas
from netdiag.traffic.engine.compiled.joining import Join, group_of, take, topic_of
from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.layout import SCALARS
from netdiag.traffic.engine.compiled.row_bits import bit, mask
from netdiag.traffic.engine.compiled.sessions import NONE, Sessions, offset_of
from netdiag.traffic.engine.compiled.words import Words, name_of, shape_of, text_of
from netdiag.traffic.rows import BatchRow, PartitionRow

_LARGEST = (1 << 63) - 1
PRODUCE = 0

_P_CLIENT_ID = bit(PartitionRow, "client_id")
_P_GROUP = bit(PartitionRow, "group")
_P_TOPIC = bit(PartitionRow, "topic")
_P_TOPIC_ID = bit(PartitionRow, "topic_id")
_P_ERROR = bit(PartitionRow, "error_code")
_P_RECORDS = bit(PartitionRow, "records")
_P_RECORD_BYTES = bit(PartitionRow, "record_bytes")
_P_REQUEST_OFFSET = bit(PartitionRow, "request_offset")
_P_RESPONSE_OFFSET = bit(PartitionRow, "response_offset")
_P_LAST_OFFSET = bit(PartitionRow, "last_offset")
_P_HIGH = bit(PartitionRow, "high_watermark")
_P_STABLE = bit(PartitionRow, "last_stable_offset")
_P_LOG_START = bit(PartitionRow, "log_start_offset")
_P_TIMESTAMP = bit(PartitionRow, "timestamp")
_P_MAX_TIMESTAMP = bit(PartitionRow, "max_timestamp")
_P_LEADER = bit(PartitionRow, "leader_id")
_P_EPOCH = bit(PartitionRow, "leader_epoch")
_P_REPLICA = bit(PartitionRow, "replica_id")
_P_SESSION = bit(PartitionRow, "session_id")

_ERROR = mask(PartitionFacts._fields, "error_code")
_OFFSET = mask(PartitionFacts._fields, "offset")
_HIGH = mask(PartitionFacts._fields, "high_watermark")
_STABLE = mask(PartitionFacts._fields, "last_stable_offset")
_LOG_START = mask(PartitionFacts._fields, "log_start_offset")
_TIMESTAMP = mask(PartitionFacts._fields, "timestamp")
_LEADER = mask(PartitionFacts._fields, "leader_id")
_EPOCH = mask(PartitionFacts._fields, "leader_epoch")
_RECORDS = mask(PartitionFacts._fields, "records")
_RECORD_BYTES = mask(PartitionFacts._fields, "record_bytes")
_LAST = mask(PartitionFacts._fields, "last_offset")
_LATEST = mask(PartitionFacts._fields, "max_timestamp")

_ASKED_GROUP = mask(SCALARS, "group")
_ASKED_REPLICA = mask(SCALARS, "replica_id")
_ASKED_SESSION = mask(SCALARS, "session_id")

_B_CLIENT_ID = bit(BatchRow, "client_id")
_B_TOPIC = bit(BatchRow, "topic")
_B_TOPIC_ID = bit(BatchRow, "topic_id")
# From `base_offset` on facts and row have the same fields in the same order.
_SHIFT = np.uint64(BatchRow._fields.index("base_offset") - BatchFacts._fields.index("base_offset"))
_OWN = np.uint64(~((1 << BatchFacts._fields.index("base_offset")) - 1) & 0xFFFFFFFF)
_MAGIC_2_CODECS = 8


@kernel
def partition_row(
    row: Any, where: Any, words: Words, arenas: Arenas, asked: Any, named: Any, others: Arenas, serial: int
) -> None:
    """What every row has: that of a partition which `named`, a row of `others`, names."""
    present = np.uint64(0)
    row.time = asked.end_time
    row.connection = where.connection
    row.correlation_id = asked.correlation_id
    row.api_key = asked.api_key
    client_id = text_of(arenas, asked.client_id)
    if client_id >= 0:
        row.client_id = client_id
        present |= _P_CLIENT_ID
    group = group_of(others, named)
    if group < 0 and asked.present & _ASKED_GROUP:
        group = arenas.texts[asked.group]
    if group >= 0:
        row.group = group
        present |= _P_GROUP
    topic = name_of(words, others, named.topic, serial)
    if topic >= 0:
        row.topic = topic
        present |= _P_TOPIC
    shape = shape_of(words, others, named.topic)
    if shape >= 0:
        row.topic_id = shape
        present |= _P_TOPIC_ID
    row.partition = named.partition
    if asked.present & _ASKED_REPLICA:
        row.replica_id = asked.replica_id
        present |= _P_REPLICA
    if asked.present & _ASKED_SESSION:
        row.session_id = asked.session_id
        present |= _P_SESSION
    row.present = present


@kernel
def carried(row: Any, carrier: Any, produce: bool) -> None:
    """The records of the partition."""
    present = row.present
    if carrier.present & _RECORDS:
        row.records = carrier.records
        present |= _P_RECORDS
    if carrier.present & _RECORD_BYTES:
        row.record_bytes = carrier.record_bytes
        present |= _P_RECORD_BYTES
    if carrier.present & _LATEST:
        row.max_timestamp = carrier.max_timestamp
        present |= _P_MAX_TIMESTAMP
    if not produce and carrier.present & _LAST:
        row.last_offset = carrier.last_offset
        present |= _P_LAST_OFFSET
    row.present = present


@kernel
def requested(row: Any, request: Any) -> None:
    """What the request says of the partition."""
    present = row.present
    if request.present & _OFFSET:
        row.request_offset = request.offset
        present |= _P_REQUEST_OFFSET
    if request.present & _TIMESTAMP:
        row.timestamp = request.timestamp
        present |= _P_TIMESTAMP
    if request.present & _EPOCH and request.leader_epoch >= 0:
        row.leader_epoch = request.leader_epoch
        present |= _P_EPOCH
    row.present = present


@kernel
def told(row: Any, answer: Any, produce: bool) -> None:
    """What the answer says of the partition; -1 is the wire's word for none."""
    present = row.present
    if answer.present & _OFFSET and (answer.offset >= 0 or not produce):
        row.response_offset = answer.offset
        present |= _P_RESPONSE_OFFSET
    if answer.present & _ERROR:
        row.error_code = answer.error_code
        present |= _P_ERROR
    if answer.present & _HIGH and answer.high_watermark >= 0:
        row.high_watermark = answer.high_watermark
        present |= _P_HIGH
    if answer.present & _STABLE and answer.last_stable_offset >= 0:
        row.last_stable_offset = answer.last_stable_offset
        present |= _P_STABLE
    if answer.present & _LOG_START and answer.log_start_offset >= 0:
        row.log_start_offset = answer.log_start_offset
        present |= _P_LOG_START
    if answer.present & _LEADER and answer.leader_id >= 0:
        row.leader_id = answer.leader_id
        present |= _P_LEADER
    if answer.present & _EPOCH and answer.leader_epoch >= 0:
        row.leader_epoch = answer.leader_epoch
        present |= _P_EPOCH
    row.present = present


@kernel
def produced_until(row: Any) -> None:
    """The last offset that was produced: of as many records as the request had, from where the answer says."""
    known = row.present & _P_RESPONSE_OFFSET and row.present & _P_RECORDS and row.records != 0
    if known and row.response_offset <= _LARGEST - (row.records - 1):
        row.last_offset = row.response_offset + row.records - 1
        row.present |= _P_LAST_OFFSET


@kernel
def in_force(row: Any, sessions: Sessions, slot: int, arenas: Arenas, answer: Any) -> None:
    """Of an answer whose partition the request does not name: the offset of the session."""
    if slot == NONE:
        return
    at = offset_of(sessions, slot, topic_of(arenas, answer.topic), answer.partition)
    if at != NONE:
        row.request_offset = sessions.entries[at].offset
        row.present |= _P_REQUEST_OFFSET


@kernel
def batch_row(
    row: Any, where: Any, words: Words, arenas: Arenas, asked: Any, batch: Any, others: Arenas, serial: int
) -> None:
    """A batch, a row of `others`."""
    present = (np.uint64(batch.present) & _OWN) << _SHIFT
    row.time = asked.end_time
    row.connection = where.connection
    row.correlation_id = asked.correlation_id
    row.api_key = asked.api_key
    client_id = text_of(arenas, asked.client_id)
    if client_id >= 0:
        row.client_id = client_id
        present |= _B_CLIENT_ID
    topic = name_of(words, others, batch.topic, serial)
    if topic >= 0:
        row.topic = topic
        present |= _B_TOPIC
    shape = shape_of(words, others, batch.topic)
    if shape >= 0:
        row.topic_id = shape
        present |= _B_TOPIC_ID
    row.partition = batch.partition
    row.magic = batch.magic
    row.base_offset = batch.base_offset
    row.last_offset_delta = batch.last_offset_delta
    row.records = batch.records
    row.bytes = batch.bytes
    row.codec = words.codecs[batch.codec & (_MAGIC_2_CODECS - 1)]
    row.producer_id = batch.producer_id
    row.producer_epoch = batch.producer_epoch
    row.base_sequence = batch.base_sequence
    row.transactional = batch.transactional
    row.control = batch.control
    row.first_timestamp = batch.first_timestamp
    row.max_timestamp = batch.max_timestamp
    row.log_append_time = batch.log_append_time
    row.complete = batch.complete
    row.present = present


@kernel
def answer_row(join: Join, arenas: Arenas, others: Arenas, answer: Any) -> Any:
    """The row of the request that this answer, a row of `others`, is to."""
    return take(join, arenas, topic_of(others, answer.topic), answer.partition, group_of(others, answer))
