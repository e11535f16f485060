"""Runs the parts of a traffic while tcpdump writes, then asks the brokers what is true of it."""

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.wire.traffic.cluster import INTERNAL, Cluster
from tests.wire.traffic.facts import Facts, Generation, Position, Rebalance, Recording
from tests.wire.traffic.hands import Hands

Part = Callable[[Hands], None]
_PREPARING = re.compile(r"Preparing to rebalance group (\S+) in state \S+ with old generation (\d+).*?\(reason: (.*)\)")
_STABILIZED = re.compile(r"Stabilized group (\S+) generation (\d+)")
_BUMPED = re.compile(r"\[GroupId (\S+?)\].*?Bumped group epoch to (\d+)")
_LINE = re.compile(r"^(\S+)\s+(\S+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s", re.MULTILINE)


def record(cluster: Cluster, folder: Path, name: str, parts: Sequence[Part], *, at_once: int = 4) -> Recording:
    """The captures of these parts, several at once, and the facts."""
    facts = Facts()
    hands = Hands(cluster, folder, facts)
    before = {service: len(cluster.stack.logs(service)) for service in ("broker-1", "broker-2")}
    with cluster.sniff(folder, name) as sniffed, ThreadPoolExecutor(at_once) as pool:
        for done in [pool.submit(part, hands) for part in parts]:
            done.result()
        _describe(hands)
    for service, length in before.items():
        log = cluster.stack.logs(service)[length:]
        (folder / f"{name}-{service}.log").write_text(log, encoding="utf-8")
        facts.rebalances += read_rebalances(log)
        facts.generations += read_generations(log)
    return Recording(
        name=name,
        version=cluster.version,
        files={point: one.file for point, one in sniffed.items()},
        dropped={point: one.dropped for point, one in sniffed.items()},
        facts=facts,
    )


def read_rebalances(log: str) -> list[Rebalance]:
    """The lines with which a broker's group coordinator begins to rebalance."""
    return [Rebalance(group=found[1], generation=int(found[2]), reason=found[3]) for found in _PREPARING.finditer(log)]


def read_generations(log: str) -> list[Generation]:
    """The lines in which a group coordinator tells that a generation is complete, an epoch raised."""
    found = [Generation(group=one[1], number=int(one[2]), is_classic=True) for one in _STABILIZED.finditer(log)]
    return found + [Generation(group=one[1], number=int(one[2]), is_classic=False) for one in _BUMPED.finditer(log)]


def read_positions(printed: str) -> list[Position]:
    """The table of kafka-consumer-groups --describe; partitions without a committed offset are left out."""
    return [
        Position(
            group=found[1],
            topic=found[2],
            partition=int(found[3]),
            current=int(found[4]),
            end=int(found[5]),
            lag=int(found[6]),
        )
        for found in _LINE.finditer(printed)
    ]


def _describe(hands: Hands) -> None:
    """What kafka-consumer-groups says of every group, once all is quiet."""
    tool = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
    words = ("--bootstrap-server", INTERNAL, "--describe", "--all-groups")
    printed = hands.java(hands.cluster.client(3), tool, *words)
    (hands.folder / "groups.txt").write_text(printed, encoding="utf-8")
    hands.facts.positions += read_positions(printed)
