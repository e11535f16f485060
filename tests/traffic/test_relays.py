"""Which connections are relays of others."""

import random
from typing import Any

import pyarrow as pa
import pytest

from netdiag.traffic.arrow import schema_of
from netdiag.traffic.relays import COLUMNS, OPENED_WITHIN_US, relays_among
from netdiag.traffic.tables import table

MS = 1000
OUTER: dict[str, Any] = {
    "connection": 1,
    "client": "127.0.0.1:49264",
    "broker": "127.0.0.1:9092",
    "first_time": 1_700_000_000_000_000,
    "opening": "complete",
    "digest": 77,
    "client_bytes": 70,
    "broker_bytes": 500,
}
BEGAN: int = OUTER["first_time"]
INNER = {
    **OUTER,
    "connection": 2,
    "client": "172.18.0.1:35140",
    "broker": "172.18.0.5:9092",
    "first_time": BEGAN + MS,
}
Row = dict[str, Any]


def relays(*rows: Row) -> dict[int, int]:
    return relays_among(pa.Table.from_pylist(list(rows), schema_of(table("connections"), COLUMNS, unit="us")))


def test_the_inner_connection_is_a_relay_of_the_outer() -> None:
    assert relays(OUTER, INNER) == {2: 1}
    assert relays(INNER, OUTER) == {2: 1}
    assert relays() == relays(OUTER) == {}


@pytest.mark.parametrize(
    "change",
    [
        {"digest": 78},
        {"digest": None},
        {"client": "127.0.0.1:50000"},
        {"broker": "127.0.0.1:9092"},
        {"client_bytes": 71},
        {"broker_bytes": 501},
        {"first_time": BEGAN + 60 * MS},
        {"first_time": BEGAN - MS},
    ],
    ids=str,
)
def test_what_differs_is_no_relay(change: Row) -> None:
    assert 2 not in relays(OUTER, {**INNER, **change})


@pytest.mark.parametrize("after", [0, 1, 30, 49, 50])
def test_a_relay_is_found_wherever_its_time_lies(after: int) -> None:
    rows = []
    for number in range(0, 200, 2):
        begin = {"digest": 1000 + number, "first_time": BEGAN + number * 7 * MS}
        rows += [
            {**OUTER, **begin, "connection": number},
            {**INNER, **begin, "connection": number + 1, "first_time": begin["first_time"] + after * MS},
        ]
    assert relays(*rows) == {number: number - 1 for number in range(1, 200, 2)}


def test_the_nearest_of_several_is_meant() -> None:
    earlier = {**OUTER, "connection": 3, "client": "127.0.0.2:1", "first_time": BEGAN - 10 * MS}
    assert relays(OUTER, earlier, INNER)[2] == 1


def test_of_two_opened_at_once_one_stays() -> None:
    assert relays(OUTER, {**INNER, "first_time": BEGAN}) == {2: 1}


def test_health_checks_of_many_clients_are_no_relays() -> None:
    checks = [
        {**OUTER, "connection": number, "client": f"10.0.0.{number % 250}:1", "first_time": BEGAN + number}
        for number in range(50_000)
    ]
    assert relays(*checks) == {}


@pytest.mark.parametrize(("opening", "of_all"), [("complete", {}), ("unseen", {2: 1})])
def test_an_address_that_answers_much_itself_is_a_broker(opening: str, of_all: dict[int, int]) -> None:
    """Two clients of one library begin alike; what a broker says beside that nobody says again."""
    much = {**OUTER, "connection": 3, "opening": opening, "digest": 5, "client_bytes": 100 * 570}
    assert relays(OUTER, INNER, much) == of_all


def test_a_relay_to_brokers_elsewhere_stays_one() -> None:
    """Of a proxy's connections those count that lead to a broker in the capture."""
    others = [{**OUTER, "connection": number, "digest": number} for number in range(100, 150)]
    assert relays(OUTER, INNER, *others) == {2: 1}


@pytest.mark.parametrize("seed", range(20))
def test_it_is_what_comparing_all_pairs_finds(seed: int) -> None:
    chance = random.Random(seed)
    rows: list[Row] = [
        {
            "connection": chance.randrange(-(2**62), 2**62),
            "client": f"10.0.0.{chance.randrange(4)}:{chance.randrange(1000, 1004)}",
            "broker": f"10.0.1.{chance.randrange(3)}:9092",
            "first_time": chance.choice((0, 1, 49_999, 50_000, 50_001, 100_000, chance.randrange(300_000))),
            "opening": "unseen",
            "digest": chance.choice((None, 1, 2)),
            "client_bytes": chance.choice((1, 2)),
            "broker_bytes": 1,
        }
        for _ in range(chance.choice((2, 10, 60)))
    ]
    assert relays(*rows) == by_pairs(rows)


def by_pairs(rows: list[Row]) -> dict[int, int]:
    found: dict[int, tuple[int, int]] = {}
    for inner in rows:
        for outer in rows:
            same = all(inner[name] == outer[name] for name in ("digest", "client_bytes", "broker_bytes"))
            hosts = [each["client"].partition(":")[0] for each in (inner, outer)]
            opened = inner["first_time"] - outer["first_time"]
            later = opened > 0 or (opened == 0 and inner["connection"] > outer["connection"])
            if not same or inner["digest"] is None or hosts[0] == hosts[1] or inner["broker"] == outer["broker"]:
                continue
            if later and opened <= OPENED_WITHIN_US:
                place = (outer["first_time"], outer["connection"])
                found[inner["connection"]] = max(found.get(inner["connection"], place), place)
    return {connection: place[1] for connection, place in found.items()}
