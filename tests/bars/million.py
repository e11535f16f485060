"""Tables of a million exchanges, as the engine would write them: an hour and a half of a cluster of three brokers, of
which one is lost in the sixth part of ten. Made with arrays, for the engine itself is measured elsewhere.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from netdiag.traffic.arrow import schema_of
from netdiag.traffic.tables import NAMES, Kind, table

EXCHANGES = 1_000_000
CONNECTIONS, TOPICS, PARTITIONS, GROUPS, SERVICES = 20_000, 40, 12, 30, 120
SECONDS = 5400
FIRST = 1_700_000_000_000_000
# The share of the time after which it happens.
BREAKS = 0.6
_PRODUCE, _FETCH, _METADATA, _COMMIT, _HEARTBEAT, _JOIN, _SYNC = 0, 1, 3, 8, 12, 11, 14
_APIS = {_PRODUCE: "Produce", _FETCH: "Fetch", _METADATA: "Metadata", _COMMIT: "OffsetCommit", _HEARTBEAT: "Heartbeat"}
_NOT_LEADER, _COORDINATOR_LOADING = 6, 14
_EMPTY: dict[Kind, Any] = {Kind.STRING: "", Kind.BOOL: False, Kind.TIME: FIRST, Kind.STRINGS: []}

Columns = dict[str, Any]


def make(folder: Path, *, exchanges: int = EXCHANGES) -> dict[str, int]:
    """A folder for each table; how many rows each has."""
    chance = np.random.default_rng(7)
    made = _traffic(chance, exchanges) | {"connections": _connections(chance), "group_events": _groups(chance)}
    rows = {}
    for name in NAMES:
        columns = made.get(name, {})
        rows[name] = len(next(iter(columns.values()))) if columns else 0
        (folder / name).mkdir(parents=True)
        pq.write_table(_table(name, columns, rows[name]), folder / name / "part-00000.parquet", compression="zstd")
    return rows


def _traffic(chance: np.random.Generator, count: int) -> dict[str, Columns]:
    share = np.sort(chance.random(count))
    time = FIRST + (share * SECONDS * 1e6).astype("i8")
    api = chance.choice(list(_APIS), count, p=[0.4, 0.35, 0.05, 0.1, 0.1])
    connection = chance.integers(0, CONNECTIONS, count)
    broker = connection % 3
    bad = (share > BREAKS) & (broker == 2)
    failed = bad & np.isin(api, [_PRODUCE, _COMMIT]) & (chance.random(count) < 0.7)
    silent = bad & (api == _FETCH) & (chance.random(count) < 0.2)
    latency = np.exp(chance.normal(0.5, 0.9, count)) * np.where(bad, 40, 1)
    error = np.where(failed, np.where(api == _PRODUCE, _NOT_LEADER, _COORDINATOR_LOADING), 0)
    topic = np.minimum(chance.geometric(0.12, count) - 1, TOPICS - 1)
    partition = chance.integers(0, PARTITIONS, count)
    size = np.exp(chance.normal(7.5, 1.0, count)).astype("i8")
    group = chance.integers(0, GROUPS, count)
    number = np.arange(count)
    exchanges = {
        "time": time,
        "client": _addresses(connection),
        "broker": _brokers(broker),
        "api_key": api,
        "api_name": np.array(["", *_APIS.values()])[np.searchsorted(list(_APIS), api) + 1],
        "api_version": np.full(count, 9),
        "correlation_id": number,
        "client_id": _named("service-", connection % SERVICES),
        "request_bytes": np.where(api == _PRODUCE, size + 90, 90),
        "response_bytes": _nulls(np.where(api == _FETCH, size + 60, 60), silent),
        "latency_ms": _nulls(latency, silent),
        "error_code": _nulls(error, silent),
        "group": _nulls(_named("group-", group), api != _COMMIT),
        "outcome": np.where(silent, "unanswered", "answered"),
        "decoded": np.full(count, "full"),
        "response_time": _nulls(time + (latency * 1000).astype("i8"), silent),
        "connection": connection,
        "file": np.full(count, "made.pcap"),
    }
    named = np.isin(api, [_PRODUCE, _FETCH, _COMMIT]) & ~silent
    end = (share * 400_000).astype("i8")
    late = np.where((share > BREAKS) & (group < 3), ((share - BREAKS) * 300_000).astype("i8"), 20)
    partitions = {
        **{name: exchanges[name] for name in ("time", "connection", "correlation_id", "api_key", "client_id")},
        "group": exchanges["group"],
        "topic": _named("topic-", topic),
        "partition": partition,
        "error_code": error,
        "records": np.where(api == _COMMIT, 0, 1 + size // 200),
        "record_bytes": np.where(api == _COMMIT, 0, size),
        "request_offset": np.where(api == _COMMIT, np.maximum(end - late, 0), end),
        "response_offset": np.where(api == _PRODUCE, end, -1),
        "high_watermark": _nulls(end, api != _FETCH),
    }
    kept = {name: pa.array(column).filter(pa.array(named)) for name, column in partitions.items()}
    return {"exchanges": exchanges, "partitions": kept}


def _connections(chance: np.random.Generator) -> Columns:
    share = chance.random(CONNECTIONS)
    number = np.arange(CONNECTIONS)
    broker = number % 3
    refused = (share > BREAKS) & (broker == 2) & (chance.random(CONNECTIONS) < 0.8)
    first = FIRST + (share * SECONDS * 1e6).astype("i8")
    length = np.where(refused, 0, chance.exponential(60e6, CONNECTIONS)).astype("i8")
    return {
        "connection": number,
        "client": _addresses(number),
        "broker": _brokers(broker),
        "first_time": first,
        "last_time": np.minimum(first + length, FIRST + SECONDS * 1_000_000),
        "opening": np.where(refused, "refused", "complete"),
        "ending": np.where(refused, "reset-by-broker", np.where(chance.random(CONNECTIONS) < 0.1, "open", "fin")),
        "handshake_ms": _nulls(chance.exponential(0.4, CONNECTIONS), refused),
        "protocol": np.where(refused, "none", "kafka"),
        "client_id": _nulls(_named("service-", number % SERVICES), refused),
        "client_software": np.full(CONNECTIONS, "apache-kafka-java 4.1.0"),
        "client_packets": np.full(CONNECTIONS, 50),
        "client_bytes": chance.integers(100, 10**6, CONNECTIONS),
        "broker_bytes": chance.integers(100, 10**6, CONNECTIONS),
        "requests": np.where(refused, 0, 50),
        "responses": np.where(refused, 0, 50),
        "retransmissions": (chance.random(CONNECTIONS) < 0.02).astype("i8"),
        "file": np.full(CONNECTIONS, "made.pcap"),
    }


def _groups(chance: np.random.Generator) -> Columns:
    """Every group once at the beginning, three of them over and over after the fault."""
    at = [(group, 1, 0.01 + 0.2 * chance.random()) for group in range(GROUPS)]
    at += [(group, 2 + n, BREAKS + 0.005 * n + 0.001 * group) for group in range(3) for n in range(70)]
    rows = [
        (group, generation, share, api, member)
        for group, generation, share in at
        for api in (_JOIN, _SYNC)
        for member in range(3)
    ]
    group, generation, share, api, member = (np.array(column) for column in zip(*rows, strict=True))
    time = FIRST + (share * SECONDS * 1e6).astype("i8") + np.where(api == _SYNC, 3_000_000, 0)
    connection = group * 3 + member
    return {
        "time": time,
        "response_time": time + 2_500_000,
        "connection": connection,
        "correlation_id": np.arange(len(rows)),
        "api_key": api,
        "group": _named("group-", group),
        "client": _addresses(connection),
        "broker": _brokers(connection % 3),
        "client_id": _named("service-", connection % SERVICES),
        "member_id": _named("member-", connection),
        "generation": generation,
        "protocol": _nulls(np.full(len(rows), "range"), api == _SYNC),
        "leader": _named("member-", group * 3),
        "error_code": np.zeros(len(rows), "i8"),
    }


def _table(name: str, columns: Columns, count: int) -> pa.Table:
    schema = schema_of(table(name), unit="us")
    kinds = {column.name: column for column in table(name).columns}
    arrays = []
    for field in schema:
        if field.name in columns:
            found = columns[field.name]
            found = found if isinstance(found, pa.Array) else pa.array(found)
            arrays.append(found.cast(field.type))
        elif kinds[field.name].required:
            arrays.append(pa.array([_EMPTY.get(kinds[field.name].kind, 0)] * count, field.type))
        else:
            arrays.append(pa.nulls(count, field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def _named(prefix: str, numbers: Any) -> Any:
    return np.char.add(prefix, np.asarray(numbers).astype(str))


def _addresses(connection: Any) -> Any:
    host = np.char.add("10.1.0.", (connection % SERVICES + 1).astype(str))
    return np.char.add(np.char.add(host, ":"), (30_000 + connection).astype(str))


def _brokers(number: Any) -> Any:
    return np.char.add(np.char.add("10.1.1.", (number + 1).astype(str)), ":9092")


def _nulls(values: Any, where: Any) -> pa.Array:
    return pa.array(values, mask=np.asarray(where))
