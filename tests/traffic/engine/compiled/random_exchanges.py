"""Exchanges that no broker ever had: every fact at random, of few topics and sessions, so that they meet."""

from random import Random
from typing import Any

from netdiag.traffic.engine.assemble import Answer, Asked
from netdiag.traffic.engine.bodies.facts import (
    BatchFacts,
    EndpointFacts,
    Facts,
    LeaderFacts,
    PartitionFacts,
    RequestFacts,
    ResponseFacts,
    Topic,
)
from netdiag.traffic.engine.compiled.ends import Ends
from netdiag.traffic.engine.compiled.layout import DECODED, OUTCOMES, SCALARS, TEXTS
from netdiag.traffic.engine.headers import RequestHeader
from netdiag.traffic.engine.message import Message
from netdiag.traffic.engine.pairing import PRODUCE
from tests.traffic.engine.compiled.exchanges import Exchange

IDS = [bytes(15) + bytes([number]) for number in range(6)]
TOPICS: list[Topic] = ["orders", "", "päyments", *IDS]
GROUPS = [None, "", "group-a", "group-b"]
KEYS = [0, 0, 0, 1, 1, 1, 2, 8, 9, 11, 12, 13, 14, 3, 99, -7]
OF_REQUESTS = frozenset(vars(RequestFacts)) | frozenset(RequestFacts.__annotations__)
FLAGS = frozenset({"empty", "committed"})
LARGE = [-1, 0, 1, 5, 70, 1 << 31, (1 << 63) - 1, -(1 << 63)]
SMALL = [-1, 0, 1, 2, 3, 7, 500, -(1 << 15), (1 << 15) - 1]


def random_exchanges(random: Random, count: int) -> list[Exchange]:
    """So many, in any order of outcomes."""
    return [_exchange(random) for _ in range(count)]


def _exchange(random: Random) -> Exchange:
    connection = random.randrange(4)
    client = f"10.0.0.{connection}:4000{connection}"
    ends = Ends((connection - 2) << 40, client, f"10.0.1.{connection % 2}:9092", random.choice([None, "app-1"]))
    outcome = random.choice(OUTCOMES)
    asked = None if outcome == "no-request" else _asked(random)
    answer = _answer(random, asked) if outcome in ("answered", "no-request") else None
    if asked is not None and answer is None:
        silent = asked.header.api_key == PRODUCE and asked.facts.acks == 0
        outcome = "no-response" if silent else "unanswered"
    return Exchange(ends, asked, answer, outcome)


def _asked(random: Random) -> Asked:
    client_id = random.choice([None, "", "app-1", "app-2"])
    header = RequestHeader(random.choice(KEYS), random.randrange(20), random.randrange(-5, 99), client_id, None, True)
    facts = RequestFacts()
    _fill(random, facts, RequestFacts)
    if random.random() < 0.7:
        facts.session_id, facts.session_epoch = random.choice([0, 1, 2, 3]), random.choice([-1, 0, 1, 2, 3])
    facts.forgotten = [(random.choice(TOPICS), random.randrange(3)) for _ in range(random.choice([0, 0, 2]))]
    return Asked(header, _message(random, is_request=True), facts)


def _answer(random: Random, asked: Asked | None) -> Answer:
    if asked is None:
        return Answer(random.randrange(99), _message(random, is_request=False), None)
    facts = ResponseFacts()
    _fill(random, facts, ResponseFacts)
    if random.random() < 0.5:
        facts.session_id = random.choice([0, 1, 2, 3])
    if random.random() < 0.1:
        facts.names = [(random.choice(IDS), random.choice(["orders", "späti", ""])) for _ in range(2)]
        facts.endpoints = [EndpointFacts(1, "kafka", 9092, None, None)]
        facts.leaders = [LeaderFacts(None, random.choice(IDS), 0, 1, 2, 3, 3, 0)]
    return Answer(asked.header.correlation_id or 0, _message(random, is_request=False), facts)


def _message(random: Random, *, is_request: bool) -> Message:
    times = random.randrange(1 << 60), random.randrange(1 << 60)
    return Message(is_request, random.randrange(1 << 31), b"", None, *times, 3, random.randrange(1 << 40), 0)


def _fill(random: Random, facts: Facts, kind: type[Facts]) -> None:
    for name in SCALARS:
        if not hasattr(kind, name) or random.random() < 0.5:
            continue
        if name in TEXTS:
            setattr(facts, name, random.choice(["", "group-a", "äther"]))
        elif name in FLAGS:
            setattr(facts, name, random.random() < 0.5)
        elif name in ("records", "record_bytes"):
            setattr(facts, name, random.choice([0, 1, 1 << 40]))
        else:
            setattr(facts, name, random.choice(SMALL))
    facts.decoded = random.choice(DECODED)
    facts.topics = random.choices(TOPICS, k=random.choice([0, 1, 1, 5]))
    facts.partitions = [_partition(random) for _ in range(random.choice([0, 1, 2, 4, 40]))]
    facts.batches = [_batch(random) for _ in range(random.choice([0, 0, 1, 3]))]


def _partition(random: Random) -> PartitionFacts:
    large = [random.choice([None, *LARGE]) for _ in range(7)]
    return PartitionFacts(
        topic=random.choice(TOPICS),
        partition=random.randrange(4),
        group=random.choice(GROUPS),
        error_code=random.choice([None, *SMALL]),
        offset=large[0],
        high_watermark=large[1],
        last_stable_offset=large[2],
        log_start_offset=large[3],
        timestamp=large[4],
        leader_id=random.choice([None, *SMALL]),
        leader_epoch=random.choice([None, *SMALL]),
        records=random.choice([None, 0, 1, 77, 1 << 40]),
        record_bytes=random.choice([None, 0, 1 << 33]),
        last_offset=large[5],
        max_timestamp=large[6],
    )


def _batch(random: Random) -> BatchFacts:
    def maybe(*values: Any) -> Any:
        return random.choice([None, *values])

    return BatchFacts(
        topic=random.choice(TOPICS),
        partition=random.randrange(4),
        magic=random.randrange(3),
        base_offset=maybe(*LARGE),
        last_offset_delta=maybe(*SMALL),
        records=maybe(*SMALL),
        bytes=random.randrange(1 << 31),
        codec=maybe(*range(8)),
        producer_id=maybe(*LARGE),
        producer_epoch=maybe(*SMALL),
        base_sequence=maybe(*SMALL),
        transactional=maybe(True, False),
        control=maybe(True, False),
        first_timestamp=maybe(*LARGE),
        max_timestamp=maybe(*LARGE),
        log_append_time=maybe(True, False),
        complete=random.random() < 0.5,
    )
