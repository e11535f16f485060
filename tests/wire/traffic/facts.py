"""What the clients and brokers themselves say about the traffic of a capture: the other side of the truth."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Produced:
    """Records that a producer was told were written, by topic-partition; `requests` by its own count, if it counts."""

    client_id: str
    records: Mapping[str, int]
    requests: int | None = None
    acked: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumed:
    """Records that a consumer handed to its application, by topic-partition."""

    client_id: str
    group: str
    records: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A line of kafka-consumer-groups --describe."""

    group: str
    topic: str
    partition: int
    current: int
    end: int
    lag: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebalance:
    """A line of a broker's log: a group begins to rebalance, from which generation, why."""

    group: str
    generation: int
    reason: str


@dataclass(slots=True, kw_only=True)
class Facts:
    """Filled by the parts of a scenario, which run side by side."""

    produced: list[Produced] = field(default_factory=list)
    consumed: list[Consumed] = field(default_factory=list)
    positions: list[Position] = field(default_factory=list)
    rebalances: list[Rebalance] = field(default_factory=list)
    commits: dict[tuple[str, str], int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One traffic: its captures by where they were taken, how many packets the kernel dropped, what is true of it."""

    name: str
    version: str
    files: Mapping[str, Path]
    dropped: Mapping[str, int]
    facts: Facts
