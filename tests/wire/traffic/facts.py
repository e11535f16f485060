"""What the clients and brokers themselves say about the traffic of a capture: the other side of the truth."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Produced:
    """Records that a producer wrote, by topic-partition, as it was told; `requests` by its own count, if it counts.

    `is_hidden`: over TLS, no capture can show it.
    """

    client_id: str
    records: Mapping[str, int]
    requests: int | None = None
    is_hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What a client's own metrics say that it sent and received, with the sizes before each message.

    `forgets_bootstrap`: without its first connection (librdkafka drops the broker that it began with).
    """

    client_id: str
    requests: int
    responses: int
    sent: int
    received: int
    batch_bytes: int | None = None
    forgets_bootstrap: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumed:
    """Records that a consumer handed to its application, by topic-partition; `is_all`: it fetched no others."""

    client_id: str
    group: str
    records: Mapping[str, int]
    is_all: bool = False


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """A line of a broker's log: a generation of a classic group is complete, or the epoch of a new one is raised."""

    group: str
    number: int
    is_classic: bool


@dataclass(slots=True, kw_only=True)
class Facts:
    """Filled by the workloads of a scenario, which run side by side."""

    produced: list[Produced] = field(default_factory=list)
    counted: list[Counted] = field(default_factory=list)
    consumed: list[Consumed] = field(default_factory=list)
    positions: list[Position] = field(default_factory=list)
    rebalances: list[Rebalance] = field(default_factory=list)
    generations: list[Generation] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One traffic: its captures by where they were taken, how many packets the kernel dropped, what is true of it."""

    name: str
    version: str
    files: Mapping[str, Path]
    dropped: Mapping[str, int]
    facts: Facts
