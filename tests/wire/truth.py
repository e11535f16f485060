"""What clients and brokers say of a traffic, against the rows of its capture: each disagreement as a line."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from tests.wire.traffic.facts import Facts

PRODUCE, FETCH, LIST_OFFSETS, OFFSET_COMMIT, JOIN_GROUP = 0, 1, 2, 8, 11
TXN_OFFSET_COMMIT, CONSUMER_GROUP_HEARTBEAT, SHARE_GROUP_HEARTBEAT = 28, 68, 76
_LATEST = -1
Rows = Mapping[str, Sequence[Any]]


def wrong_traffic(facts: Facts, rows: Rows) -> list[str]:
    """Requests, responses and bytes by client, as the client itself counts them."""
    requests, responses, sent, received = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    forgetful = {told.client_id for told in facts.counted if told.forgets_bootstrap}
    first: dict[str, int] = {}
    for row in sorted(rows["exchanges"], key=lambda row: int(row.time)):
        name = row.client_id
        if first.setdefault(name, row.connection) == row.connection and name in forgetful:
            continue
        if row.request_bytes is not None:
            requests[name] += 1
            sent[name] += 4 + row.request_bytes
        if row.response_bytes is not None:
            responses[name] += 1
            received[name] += 4 + row.response_bytes
    batches = Counter[str]()
    for row in rows["partitions"]:
        if row.api_key == PRODUCE:
            batches[row.client_id] += row.record_bytes or 0
    wrong = []
    for told in facts.counted:
        name = told.client_id
        pairs = {
            "requests": (requests[name], told.requests),
            "responses": (responses[name], told.responses),
            "bytes sent": (sent[name], told.sent),
            "bytes received": (received[name], told.received),
            "bytes of batches": (batches[name], batches[name] if told.batch_bytes is None else told.batch_bytes),
        }
        wrong += [f"{name}: {what} {ours}, client {its}" for what, (ours, its) in pairs.items() if ours != its]
    return wrong


def wrong_produced(facts: Facts, rows: Rows) -> list[str]:
    """Records by producer and partition."""
    ours: dict[str, Counter[str]] = defaultdict(Counter)
    requests = Counter(row.client_id for row in rows["exchanges"] if row.api_key == PRODUCE)
    for row in rows["partitions"]:
        if row.api_key == PRODUCE and not row.error_code:
            ours[row.client_id][f"{row.topic}-{row.partition}"] += row.records or 0
    wrong = []
    for told in facts.produced:
        if told.is_hidden:
            if ours[told.client_id]:
                wrong.append(f"{told.client_id}: produced {dict(ours[told.client_id])}, all of it over TLS")
            continue
        if dict(ours[told.client_id]) != dict(told.records):
            wrong.append(f"{told.client_id}: produced {dict(ours[told.client_id])}, client {dict(told.records)}")
        if told.requests is not None and requests[told.client_id] != told.requests:
            wrong.append(f"{told.client_id}: {requests[told.client_id]} Produce requests, client {told.requests}")
    return wrong


def wrong_consumed(facts: Facts, rows: Rows) -> list[str]:
    """Records by member and partition: all that an application got was fetched, and what was fetched once is equal."""
    fetched: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows["partitions"]:
        if row.api_key == FETCH:
            fetched[row.client_id][f"{row.topic}-{row.partition}"] += row.records or 0
    wrong = []
    for told in facts.consumed:
        ours = {name: count for name, count in fetched[told.client_id].items() if count}
        if told.is_all:
            if ours != dict(told.records):
                wrong.append(f"{told.client_id}: fetched {ours}, client consumed {dict(told.records)}")
        elif any(ours.get(name, 0) < count for name, count in told.records.items()):
            wrong.append(f"{told.client_id}: fetched {ours}, client consumed even {dict(told.records)}")
    return wrong


def wrong_positions(facts: Facts, rows: Rows) -> list[str]:
    """Committed offset, end of the log and lag, as kafka-consumer-groups describes them at the end of the capture."""
    committed: dict[tuple[str, str, int], int] = {}
    ends: dict[tuple[str, int], int] = {}
    for row in sorted(rows["partitions"], key=lambda row: int(row.time)):
        there = (row.topic, row.partition)
        if row.api_key in (OFFSET_COMMIT, TXN_OFFSET_COMMIT) and not row.error_code:
            committed[row.group, *there] = row.request_offset
        elif row.api_key == LIST_OFFSETS and row.timestamp == _LATEST and not row.error_code:
            ends[there] = max(ends.get(there, 0), row.response_offset)
        elif row.api_key == FETCH and row.high_watermark is not None:
            ends[there] = max(ends.get(there, 0), row.high_watermark)
    wrong = []
    for told in facts.positions:
        current = committed.get((told.group, told.topic, told.partition))
        end = ends.get((told.topic, told.partition))
        lag = None if current is None or end is None else end - current
        if (current, end, lag) != (told.current, told.end, told.lag):
            wrong.append(
                f"{told.group} {told.topic}-{told.partition}: committed {current}, end {end}, lag {lag}; "
                f"described {told.current}, {told.end}, {told.lag}"
            )
    return wrong


def wrong_generations(facts: Facts, rows: Rows) -> list[str]:
    """Generations that a group completes, and epochs of consumer and share groups, as the broker logs them."""
    classic: dict[str, set[int]] = defaultdict(set)
    epochs: dict[str, set[int]] = defaultdict(set)
    for row in rows["group_events"]:
        if row.error_code or row.generation is None:
            continue
        if row.api_key == JOIN_GROUP:
            classic[row.group].add(row.generation)
        elif row.api_key in (CONSUMER_GROUP_HEARTBEAT, SHARE_GROUP_HEARTBEAT) and row.generation > 0:
            epochs[row.group].add(row.generation)
    logged: dict[tuple[str, bool], set[int]] = defaultdict(set)
    for told in facts.generations:
        logged[told.group, told.is_classic].add(told.number)
    wrong = []
    for (group, is_classic), numbers in logged.items():
        if is_classic and classic[group] != numbers:
            wrong.append(f"{group}: generations {sorted(classic[group])}, broker {sorted(numbers)}")
        if not is_classic and not (epochs[group] and epochs[group] <= numbers | {1}):
            wrong.append(f"{group}: epochs {sorted(epochs[group])}, broker {sorted(numbers)}")
    return wrong
