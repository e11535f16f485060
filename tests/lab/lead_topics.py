"""A topic that tells brokers apart: partition i is led by the i-th broker and kept by it alone.

A client that gets an offset of partition i has talked to that broker and to no other: any other
answers NOT_LEADER. Metadata (`kcat -L`, `kafka-topics --list`) proves the first hop only.
The topic is asked for with a request of our own to each broker from its own namespace, so it can
be made however wrong the advertised addresses are.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

from tests.lab.containers import Container
from tests.lab.errors import LabError
from tests.lab.listening import listening
from tests.lab.readiness import NotKafka, ask, create_topic

_EXISTS = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """The topic's name and the leader of each partition, in order."""

    name: str
    leaders: tuple[int, ...]


class Brokers(Protocol):
    """What runs brokers: a compose project, or a stack of a swarm."""

    @property
    def project(self) -> str:
        """What it is called."""

    def brokers(self) -> list[Container]:
        """The containers that are Kafka brokers."""


def lead_topics(stack: Brokers, limit: float = 30, *, of: str | None = None) -> Topic:
    """The stack's topic, made if absent and waited for until every broker knows its leaders.

    `of` names the one broker of a cluster of its own, where a stack has several clusters: it has a topic of its own.

    Raises LabError where there can be none, as with ZooKeeper when the controller cannot reach
    the brokers: they learn of no topic and their metadata stays empty.
    """
    doors = _doors([one for one in stack.brokers() if one.is_running and of in (None, one.service)])
    if not doors:
        raise LabError("no topic: no broker answers")
    leaders = tuple(sorted({node for one in doors for node in _known(one)}))
    if not leaders:
        raise LabError("no topic: the metadata of every broker is empty")
    topic = Topic(name=f"nd-{stack.project}{f'-{of}' if of else ''}", leaders=leaders)
    deadline = time.monotonic() + limit
    while True:
        codes = [_create(door, topic) for door in doors]
        if 0 in codes or _EXISTS in codes:
            break
        if time.monotonic() > deadline:
            raise LabError(f"no topic: the brokers answered with the error codes {codes}")
        time.sleep(0.3)
    expected = tuple(enumerate(leaders))
    while not all(_leaders(door, topic.name) == expected for door in doors):
        if time.monotonic() > deadline:
            seen = [_leaders(door, topic.name) for door in doors]
            raise LabError(f"no topic: leaders {expected} never became known, but {seen}")
        time.sleep(0.1)
    return topic


@dataclass(frozen=True, slots=True)
class _Door:
    broker: Container
    address: str
    port: int


def _doors(brokers: list[Container]) -> list[_Door]:
    """A door that speaks Kafka to clients for each broker that has one."""
    found = []
    for broker in brokers:
        for address, port in listening(broker.pid):
            try:
                ask(broker.place.netns, address, port, timeout=1.5)
            except NotKafka:
                continue
            found.append(_Door(broker, address, port))
            break
    return found


def _known(door: _Door) -> tuple[int, ...]:
    return ask(door.broker.place.netns, door.address, door.port).node_ids


def _create(door: _Door, topic: Topic) -> int | None:
    """The error code, None when the broker did not answer."""
    place = door.broker.place
    try:
        return create_topic(place.netns, door.address, door.port, topic.name, topic.leaders)
    except NotKafka:
        return None


def _leaders(door: _Door, topic: str) -> tuple[tuple[int, int], ...]:
    try:
        return ask(door.broker.place.netns, door.address, door.port, topic=topic).leaders
    except NotKafka:
        return ()
