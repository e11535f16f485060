"""A message that is a record, read back into the objects of the plain engine: for rows that are rare.

What the machines kept raw is read by `bodies`. Of the others there is what rows other than those of exchanges,
partitions and batches are made of.
"""

from typing import Any

from netdiag.traffic.engine.assemble import Answer, Asked
from netdiag.traffic.engine.bodies import Bodies, RequestFacts, ResponseFacts
from netdiag.traffic.engine.bodies.facts import EndpointFacts, Facts
from netdiag.traffic.engine.compiled.arenas import Store, text_of
from netdiag.traffic.engine.compiled.layout import DECODED, NOTHING, SCALARS, TEXTS
from netdiag.traffic.engine.headers import RequestHeader, request_header, response_header
from netdiag.traffic.engine.message import Message

_FLAGS = frozenset({"empty", "committed"})


def asked_of(store: Store, number: int, bodies: Bodies) -> Asked:
    """The request of that number."""
    record = store.facts[number]
    message = _message(record, is_request=True)
    if record["raw"] == NOTHING:
        facts = RequestFacts()
        _fill(facts, store, record)
        key, version = int(record["api_key"]), int(record["api_version"])
        client_id = text_of(store.strings, int(record["client_id"]))
        return Asked(RequestHeader(key, version, int(record["correlation_id"]), client_id, None, True), message, facts)
    head = kept(store, record)
    header = request_header(head, message.size)
    if header.api_key is None or header.api_version is None or header.body is None:
        facts = RequestFacts()
        facts.decoded = _headless(header.known, head, message.size)
        return Asked(header, message, facts)
    size = message.size - header.body
    return Asked(header, message, bodies.request_facts(header.api_key, header.api_version, head[header.body :], size))


def answer_of(store: Store, number: int, bodies: Bodies, asked: Asked | None) -> Answer:
    """The response of that number to a request; without its request nobody knows what it says."""
    record = store.facts[number]
    message = _message(record, is_request=False)
    correlation_id = int(record["correlation_id"])
    if asked is None:
        return Answer(correlation_id, message, None)
    facts = ResponseFacts()
    if record["raw"] == NOTHING:
        _fill(facts, store, record)
        return Answer(correlation_id, message, facts)
    head = kept(store, record)
    key, version = asked.header.api_key or 0, asked.header.api_version or 0
    body = response_header(head, key, version).body
    if body is None:
        facts.decoded = _headless(asked.header.known, head, message.size)
    else:
        facts = bodies.response_facts(key, version, head[body:], message.size - body)
    return Answer(correlation_id, message, facts)


def _message(record: Any, *, is_request: bool) -> Message:
    times = int(record["start_time"]), int(record["end_time"])
    numbers = int(record["start_number"]), int(record["end_number"])
    return Message(is_request, int(record["size"]), b"", None, *times, *numbers, int(record["file"]))


def kept(store: Store, record: Any) -> bytes:
    """The bytes of a message that were kept, behind its size."""
    begin = int(record["raw"])
    return store.raw[begin : begin + int(record["raw_size"])].tobytes()


def _headless(known: bool, head: bytes, size: int) -> str:
    """How far a body was decoded whose beginning was not found."""
    if not known:
        return "header"
    return "truncated" if len(head) < size else "failed"


def _fill(facts: Facts, store: Store, record: Any) -> None:
    present = int(record["present"])
    for place, name in enumerate(SCALARS):
        if present >> place & 1:
            value: Any = int(record[name])
            value = text_of(store.strings, value) if name in TEXTS else bool(value) if name in _FLAGS else value
            setattr(facts, name, value)
    facts.decoded = DECODED[record["decoded"]]
    begin, end = record["endpoints"].tolist()
    if isinstance(facts, ResponseFacts) and end > begin:
        facts.endpoints = tuple(_endpoint(store, row) for row in store.endpoints[begin:end])


def _endpoint(store: Store, row: Any) -> EndpointFacts:
    host, rack = (text_of(store.strings, int(row[name])) for name in ("host", "rack"))
    return EndpointFacts(int(row["node_id"]), host or "", int(row["port"]), rack, None)
