"""Tables of rows by chance: few values, so that many rows are alike, and nulls wherever a column may have one."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from netdiag.traffic.arrow import record_batch
from netdiag.traffic.tables import NAMES, Column, Kind, table

T0 = 1_700_000_000 * 10**9
CONNECTIONS, APIS = (
    6,
    {0: "Produce", 1: "Fetch", 3: "Metadata", 8: "OffsetCommit", 11: "JoinGroup", 22: "InitProducerId"},
)
TOPIC_IDS = {"A" * 22: "orders", "B" * 22: "users", "C" * 22: None}
_SECONDS = 40

Row = dict[str, Any]


def anything(seed: int, part: int = 0, rows: int = 300) -> dict[str, pa.Table]:
    """Every table of one part: connections of its own, what is said on them, and of what there is several of them."""
    chance = random.Random(f"{seed} {part}")
    exchanges = _exchanges(chance, part, rows)
    made: dict[str, Sequence[Row]] = {
        "exchanges": exchanges,
        "connections": [_connection(chance, part, number) for number in range(CONNECTIONS)],
        **{name: [_beside(chance, name, chance.choice(exchanges)) for _ in range(rows)] for name in _BESIDE},
    }
    return {name: _table(name, made.get(name, ())) for name in NAMES}


_BESIDE = ("partitions", "batches", "group_events", "endpoints", "leaders")
_OF_EXCHANGES = ("connection", "correlation_id", "client", "broker", "client_id", "api_key", "file")


def _exchanges(chance: random.Random, part: int, rows: int) -> list[Row]:
    found = []
    for number in range(rows):
        at = T0 + chance.randrange(_SECONDS * 10**6) * 1000
        api = chance.choice([*APIS, None])
        row = _row(chance, "exchanges")
        row |= _ends(part, chance.randrange(CONNECTIONS))
        took = chance.choice([0.0, 1.2345, 0.995, 9.995, chance.random() * 10 ** chance.randrange(4)])
        answered = chance.random() < 0.9
        row |= {
            "time": at,
            "correlation_id": number,
            "api_key": api,
            "api_name": APIS.get(api) if api is not None else None,
            "api_version": chance.choice([1, 2]) if api is not None else None,
            "client_id": chance.choice(["one", "two", None]),
            "outcome": "answered" if answered else "unanswered",
            "response_time": at + int(took * 1e3) * 1000 if answered else None,
            "latency_ms": took if answered else None,
            "request_bytes": chance.choice([None, 10, 20, 200_000_000]),
            "response_bytes": chance.randrange(500) if answered else None,
            "topics": chance.choice([None, (), ("orders",), ("A" * 22, "orders"), ("B" * 22,), ("C" * 22,)]),
            "replica_id": chance.choice([None, -1, 1]),
            "request_packet": number * 2,
            "response_packet": number * 2 + 1,
        }
        found.append(row)
    return found


def _connection(chance: random.Random, part: int, number: int) -> Row:
    first = T0 + number * 1000 * 1000
    row = _row(chance, "connections") | _ends(part, number)
    digest = chance.choice([None, 7])
    return row | {
        "first_time": first,
        "last_time": first + chance.randrange(120) * 10**9,
        "client_id": chance.choice(["one", None]),
        "protocol": chance.choice(["kafka", "tls"]),
        "digest": digest,
        "client_bytes": 10,
        "broker_bytes": 10,
        "lost_bytes": chance.choice([0, 0, 5]),
        "relay_of": None,
        "seen_as": None,
    }


def _ends(part: int, number: int) -> Row:
    return {
        "connection": part * 1000 + number,
        "client": f"10.0.{part}.{number % 3}:{40000 + number}" if number % 2 else f"[fd00::{number}]:{number + 1}",
        "broker": f"10.0.9.{number % 2}:9092",
        "client_name": f"app-{number % 2}" if number % 3 else None,
        "broker_name": "kafka" if number % 2 else None,
        "listener": "OUT" if number % 2 else None,
        "file": "a.pcap",
    }


def _beside(chance: random.Random, name: str, exchange: Row) -> Row:
    row = _row(chance, name)
    known = table(name).names
    row |= {each: exchange[each] for each in _OF_EXCHANGES if each in known}
    row["time"] = exchange["time"]
    if name in ("endpoints", "leaders"):
        row["time"] = exchange["response_time"] or exchange["time"]
    if row.get("api_key") is None and "api_key" in known:
        row["api_key"] = 1
    if "topic_id" in known:
        ids = chance.choice([None, *TOPIC_IDS])
        row["topic_id"] = ids
        row["topic"] = chance.choice([TOPIC_IDS.get(ids or "") if ids else "plain", None])
    return row


def _row(chance: random.Random, name: str) -> Row:
    return {column.name: _value(chance, column) for column in table(name).columns}


def _value(chance: random.Random, column: Column) -> Any:
    if not column.required and chance.random() < 0.2:
        return None
    return _VALUES[column.kind](chance)


_VALUES: Mapping[Kind, Callable[[random.Random], Any]] = {
    Kind.BOOL: lambda chance: chance.random() < 0.5,
    Kind.INT16: lambda chance: chance.choice([0, 0, 1, 10]),
    Kind.INT32: lambda chance: chance.choice([-1, 0, 1, 2]),
    Kind.INT64: lambda chance: chance.choice([-1, 0, 5, 1000]),
    Kind.FLOAT64: lambda chance: chance.choice([0.0, 1.5]),
    Kind.STRING: lambda chance: chance.choice(["x", "y", ""]),
    Kind.STRINGS: lambda chance: chance.choice([(), ("x",), ("x", "y")]),
    Kind.TIME: lambda chance: T0 + chance.randrange(_SECONDS * 10**6) * 1000,
}


def _table(name: str, rows: Sequence[Row]) -> pa.Table:
    names = table(name).names
    tuples = [tuple(row[each] for each in names) for row in rows]
    return pa.Table.from_batches([record_batch(table(name), tuples, unit="us")])
