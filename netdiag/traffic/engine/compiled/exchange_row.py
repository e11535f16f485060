"""The row of an exchange as a record: what `assemble.exchange_row` says, said of records."""

from typing import Any

import numpy as np

from netdiag.traffic.engine.bodies.facts import HEADER
from netdiag.traffic.engine.compiled.arenas import Arenas
from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.layout import DECODED, OUTCOMES, SCALARS
from netdiag.traffic.engine.compiled.row_bits import bit, mask
from netdiag.traffic.engine.compiled.words import Words, text_of
from netdiag.traffic.engine.pairing import ANSWERED, NO_REQUEST, NO_RESPONSE, PRODUCE, UNANSWERED
from netdiag.traffic.rows import ExchangeRow

TOPICS = bit(ExchangeRow, "topics")

_X_API = bit(ExchangeRow, "api_key") | bit(ExchangeRow, "api_name") | bit(ExchangeRow, "api_version")
_X_CLIENT_ID = bit(ExchangeRow, "client_id")
_X_REQUEST = bit(ExchangeRow, "request_bytes") | bit(ExchangeRow, "request_packet")
_X_RESPONSE = (
    bit(ExchangeRow, "response_bytes") | bit(ExchangeRow, "response_time") | bit(ExchangeRow, "response_packet")
)
_X_LATENCY = bit(ExchangeRow, "latency_ms") | bit(ExchangeRow, "service_ms")
_X_GROUP = bit(ExchangeRow, "group")
_X_TRANSACTIONAL_ID = bit(ExchangeRow, "transactional_id")
_X_ERROR = bit(ExchangeRow, "error_code")
_X_THROTTLE = bit(ExchangeRow, "throttle_ms")
_X_EMPTY = bit(ExchangeRow, "empty")
_X_WAIT = bit(ExchangeRow, "wait_ms")
_X_ACKS = bit(ExchangeRow, "acks")
_X_REPLICA = bit(ExchangeRow, "replica_id")
_X_COMMITTED = bit(ExchangeRow, "committed")
_X_RECORDS = bit(ExchangeRow, "records")
_X_RECORD_BYTES = bit(ExchangeRow, "record_bytes")
_X_CLIENT_NAME = bit(ExchangeRow, "client_name")
_X_BROKER_NAME = bit(ExchangeRow, "broker_name")
_X_LISTENER = bit(ExchangeRow, "listener")

_ERROR = mask(SCALARS, "error_code")
_THROTTLE = mask(SCALARS, "throttle_ms")
_EMPTY_ANSWER = mask(SCALARS, "empty")
_WAIT = mask(SCALARS, "wait_ms")
_ACKS = mask(SCALARS, "acks")
_REPLICA = mask(SCALARS, "replica_id")
_COMMITTED = mask(SCALARS, "committed")
_RECORDS = mask(SCALARS, "records")
_RECORD_BYTES = mask(SCALARS, "record_bytes")
_GROUP = mask(SCALARS, "group")
_TRANSACTIONAL_ID = mask(SCALARS, "transactional_id")
_HEADER = DECODED.index(HEADER)
_ANSWERED, _NO_RESPONSE, _UNANSWERED, _NO_REQUEST = (
    OUTCOMES.index(each) for each in (ANSWERED, NO_RESPONSE, UNANSWERED, NO_REQUEST)
)


@kernel
def placed(row: Any, where: Any) -> None:
    """Which connection the exchange is of; the first to be called."""
    row.present = np.uint64(0)
    row.connection = where.connection
    row.client = where.client
    row.broker = where.broker
    if where.client_name >= 0:
        row.client_name = where.client_name
        row.present |= _X_CLIENT_NAME
    if where.broker_name >= 0:
        row.broker_name = where.broker_name
        row.present |= _X_BROKER_NAME
    if where.listener >= 0:
        row.listener = where.listener
        row.present |= _X_LISTENER


@kernel
def asked_for(row: Any, words: Words, arenas: Arenas, asked: Any) -> None:
    """What the request says."""
    present = row.present | _X_API | _X_REQUEST
    row.time = asked.end_time
    row.api_key = asked.api_key
    row.api_version = asked.api_version
    row.correlation_id = asked.correlation_id
    client_id = text_of(arenas, asked.client_id)
    if client_id >= 0:
        row.client_id = client_id
        present |= _X_CLIENT_ID
    row.request_bytes = asked.size
    row.request_packet = asked.end_number
    row.file = words.files[asked.file]
    row.decoded = words.decoded[asked.decoded]
    if asked.present & _GROUP:
        row.group = arenas.texts[asked.group]
        present |= _X_GROUP
    if asked.present & _TRANSACTIONAL_ID:
        row.transactional_id = arenas.texts[asked.transactional_id]
        present |= _X_TRANSACTIONAL_ID
    if asked.present & _WAIT:
        row.wait_ms = asked.wait_ms
        present |= _X_WAIT
    if asked.present & _ACKS:
        row.acks = asked.acks
        present |= _X_ACKS
    if asked.present & _REPLICA:
        row.replica_id = asked.replica_id
        present |= _X_REPLICA
    if asked.present & _COMMITTED:
        row.committed = asked.committed
        present |= _X_COMMITTED
    row.present = _carried(row, present, asked)


@kernel
def unanswered(row: Any, words: Words, asked: Any) -> None:
    """There is no response: to a Produce with acks=0 none was to come."""
    silent = asked.api_key == PRODUCE and asked.present & _ACKS != 0 and asked.acks == 0
    row.outcome = words.outcomes[_NO_RESPONSE if silent else _UNANSWERED]


@kernel
def answered(row: Any, words: Words, asked: Any, said: Any) -> None:
    """What the response to that request says."""
    present = row.present | _X_RESPONSE | _X_LATENCY
    row.outcome = words.outcomes[_ANSWERED]
    row.response_bytes = said.size
    row.response_time = said.end_time
    row.response_packet = said.end_number
    row.latency_ms = np.float64(said.end_time - asked.end_time) / 1e6
    row.service_ms = np.float64(said.start_time - asked.end_time) / 1e6
    if said.present & _ERROR:
        row.error_code = said.error_code
        present |= _X_ERROR
    if said.present & _THROTTLE:
        row.throttle_ms = said.throttle_ms
        present |= _X_THROTTLE
    if said.present & _EMPTY_ANSWER:
        row.empty = said.empty
        present |= _X_EMPTY
    if said.decoded > asked.decoded:
        row.decoded = words.decoded[said.decoded]
    if not asked.present & (_RECORDS | _RECORD_BYTES):
        present = _carried(row, present, said)
    row.present = present


@kernel
def alone(row: Any, words: Words, said: Any) -> None:
    """A response without its request."""
    row.outcome = words.outcomes[_NO_REQUEST]
    row.time = said.end_time
    row.correlation_id = said.correlation_id
    row.response_bytes = said.size
    row.response_time = said.end_time
    row.response_packet = said.end_number
    row.decoded = words.decoded[_HEADER]
    row.file = words.files[said.file]
    row.present |= _X_RESPONSE


@kernel
def _carried(row: Any, present: Any, carrier: Any) -> Any:
    if carrier.present & _RECORDS:
        row.records = carrier.records
        present |= _X_RECORDS
    if carrier.present & _RECORD_BYTES:
        row.record_bytes = carrier.record_bytes
        present |= _X_RECORD_BYTES
    return present
