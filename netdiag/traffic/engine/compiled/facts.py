"""The way back from the store to the values of the engine in plain Python, message by message."""

from typing import Any

from netdiag.traffic.engine.assemble import Answer, Asked
from netdiag.traffic.engine.bodies import Bodies, RequestFacts, ResponseFacts
from netdiag.traffic.engine.bodies.facts import BatchFacts, EndpointFacts, Facts, PartitionFacts, Topic
from netdiag.traffic.engine.compiled.layout import DECODED, SCALARS, TEXTS, topic_id
from netdiag.traffic.engine.compiled.store import Store
from netdiag.traffic.engine.compiled.strings import raw, text
from netdiag.traffic.engine.headers import RequestHeader, header_version, request_header, response_header
from netdiag.traffic.engine.message import Message

_BITS = {name: 1 << bit for bit, name in enumerate(SCALARS)}
_FLAGS = {"transactional", "control", "log_append_time", "complete"}


def asked(store: Store, m: int, bodies: Bodies) -> Asked:
    """A request, as the pairing keeps it."""
    message = _message(store, m)
    return Asked(_request_header(store, m), message, request_facts(store, m, bodies))


def answer(store: Store, m: int, bodies: Bodies) -> Answer:
    """The response to a request that is known."""
    return Answer(int(store.facts[m]["correlation_id"]), _message(store, m), response_facts(store, m, bodies))


def alone(store: Store, m: int) -> Answer:
    """A response whose request is not there."""
    return Answer(int(store.facts[m]["correlation_id"]), _message(store, m), None)


def request_facts(store: Store, m: int, bodies: Bodies) -> RequestFacts:
    """What a request tells."""
    row = store.facts[m]
    if row["raw"] < 0:
        facts = RequestFacts()
        _fill(store, m, facts)
        return facts
    head = _raw(store, m)
    size = int(row["size"])
    header = request_header(head, size)
    if header.api_key is None or header.api_version is None or header.body is None:
        facts = RequestFacts()
        facts.decoded = _headless(header.known, len(head), size)
        return facts
    return bodies.request_facts(header.api_key, header.api_version, head[header.body :], size - header.body)


def response_facts(store: Store, m: int, bodies: Bodies) -> ResponseFacts:
    """What a response tells."""
    row = store.facts[m]
    if row["raw"] < 0:
        facts = ResponseFacts()
        _fill(store, m, facts)
        return facts
    head = _raw(store, m)
    size = int(row["size"])
    key, version = int(row["api_key"]), int(row["api_version"])
    header = response_header(head, key, version)
    if header.body is None:
        facts = ResponseFacts()
        facts.decoded = _headless(_has_layout(key, version), len(head), size)
        return facts
    return bodies.response_facts(key, version, head[header.body :], size - header.body)


def _has_layout(api_key: int, api_version: int) -> bool:
    return header_version(api_key, api_version) is not None


def _headless(known: bool, kept: int, size: int) -> str:
    """How far a body was decoded whose beginning was not found."""
    if not known:
        return "header"
    return "truncated" if kept < size else "failed"


def _raw(store: Store, m: int) -> bytes:
    row = store.facts[m]
    return store.raw[row["raw"] : row["raw"] + row["raw_size"]].tobytes()


def _message(store: Store, m: int) -> Message:
    row = store.facts[m]
    return Message(
        bool(row["is_request"]),
        int(row["size"]),
        b"",
        None,
        int(row["start_time"]),
        int(row["end_time"]),
        int(row["start_number"]),
        int(row["end_number"]),
        int(row["file"]),
    )


def _request_header(store: Store, m: int) -> RequestHeader:
    row = store.facts[m]
    key, version = int(row["api_key"]), int(row["api_version"])
    client_id = text(store.strings, int(row["client_id"]))
    return RequestHeader(key, version, int(row["correlation_id"]), client_id, None, _has_layout(key, version))


def _fill(store: Store, m: int, facts: Facts) -> None:
    row = store.facts[m]
    present = int(row["present"])
    facts.decoded = DECODED[row["decoded"]]
    for name, bit in _BITS.items():
        if present & bit:
            value: Any = int(row[name])
            if name in TEXTS:
                value = text(store.strings, value)
            elif name in ("empty", "committed"):
                value = bool(value)
            setattr(facts, name, value)
    facts.topics = [topic_of(store, int(number)) or "" for number in store.topics[slice(*row["topics"])]]
    facts.partitions = [_partition(store, each) for each in store.partitions[slice(*row["partitions"])]]
    facts.batches = [_batch(store, each) for each in store.batches[slice(*row["batches"])]]
    if isinstance(facts, RequestFacts):
        forgotten = store.forgotten[slice(*row["forgotten"])]
        facts.forgotten = [(topic_of(store, int(topic)), int(number)) for topic, number in forgotten]  # type: ignore[misc]
    elif isinstance(facts, ResponseFacts):
        facts.endpoints = [_endpoint(store, each) for each in store.endpoints[slice(*row["endpoints"])]]


def topic_of(store: Store, number: int) -> Topic | None:
    """A topic by its number: its name or its id."""
    if number < -1:
        return raw(store.ids, topic_id(number))
    return text(store.strings, number)


def _partition(store: Store, row: Any) -> PartitionFacts:
    values: list[Any] = []
    for bit, name in enumerate(PartitionFacts._fields):
        value: Any = int(row[name]) if int(row["present"]) & 1 << bit else None
        if name == "topic":
            value = topic_of(store, int(row[name]))
        elif name == "group" and value is not None:
            value = text(store.strings, value)
        values.append(value)
    return PartitionFacts(*values)


def _batch(store: Store, row: Any) -> BatchFacts:
    values: list[Any] = []
    for bit, name in enumerate(BatchFacts._fields):
        value: Any = int(row[name]) if int(row["present"]) & 1 << bit else None
        if name == "topic":
            value = topic_of(store, int(row[name]))
        elif name in _FLAGS and value is not None:
            value = bool(value)
        values.append(value)
    return BatchFacts(*values)


def _endpoint(store: Store, row: Any) -> EndpointFacts:
    host = text(store.strings, int(row["host"]))
    rack = text(store.strings, int(row["rack"]))
    return EndpointFacts(int(row["node_id"]), host, int(row["port"]), rack, None)  # type: ignore[arg-type]
