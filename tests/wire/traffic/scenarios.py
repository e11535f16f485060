"""Which workloads make a recording: a short one of all kinds for every run, and many long ones, a kind each.

They run while tcpdump writes; then the brokers are asked what is true of them.
"""

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.lab.jars import KAFKA_4
from tests.wire.traffic import workloads
from tests.wire.traffic.client_actions import AIOKAFKA, JAVA, KAFKA_PYTHON, LIBRDKAFKA, ClientActions
from tests.wire.traffic.cluster import INTERNAL, Cluster
from tests.wire.traffic.facts import Facts, Generation, Position, Rebalance, Recording

Workload = Callable[[ClientActions], None]
_PREPARING = re.compile(r"Preparing to rebalance group (\S+) in state \S+ with old generation (\d+).*?\(reason: (.*)\)")
_STABILIZED = re.compile(r"Stabilized group (\S+) generation (\d+)")
_BUMPED = re.compile(r"\[GroupId (\S+?)\].*?Bumped group epoch to (\d+)")
_LINE = re.compile(r"^(\S+)\s+(\S+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s", re.MULTILINE)


def record(cluster: Cluster, folder: Path, name: str, work: Sequence[Workload], *, at_once: int = 4) -> Recording:
    """The captures of these workloads, several at once, and the facts."""
    facts = Facts()
    actions = ClientActions(cluster, folder, facts)
    before = {service: len(cluster.stack.logs(service)) for service in ("broker-1", "broker-2")}
    with cluster.sniff(folder, name) as sniffed, ThreadPoolExecutor(at_once) as pool:
        for done in [pool.submit(workload, actions) for workload in work]:
            done.result()
        _describe(actions)
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


def _describe(actions: ClientActions) -> None:
    """What kafka-consumer-groups says of every group, once all is quiet."""
    tool = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
    words = ("--bootstrap-server", INTERNAL, "--describe", "--all-groups")
    printed = actions.java(actions.cluster.client(3), tool, *words)
    (actions.folder / "groups.txt").write_text(printed, encoding="utf-8")
    actions.facts.positions += read_positions(printed)


_TOPICS = {"codecs": 3, "codecs-java": 3, "tx": 2, "tx-java": 2, "doors": 2}
_NEW_PROTOCOL = "consumer"


def _group(library: str, strategy: str, *, kill: bool = True, stall: bool = True) -> Workload:
    def workload(actions: ClientActions) -> None:
        workloads.triggers(actions, library, strategy, kill=kill, stall=stall)

    return workload


def _few(workload: Callable[[ClientActions, tuple[str, ...], int], None], *codecs: str) -> Workload:
    return lambda actions: workload(actions, codecs, 60)


def short(cluster: Cluster, folder: Path) -> Recording:
    """Every library, codec, acks, group protocol and kind of listener, in less than a minute."""
    _topics(cluster, folder)
    groups: list[Workload] = [_group(LIBRDKAFKA, "cooperative-sticky"), _group(JAVA, "range", stall=False)]
    if cluster.version == KAFKA_4:
        groups.append(_group(LIBRDKAFKA, _NEW_PROTOCOL, stall=False))
    chosen: list[Workload] = [
        *groups,
        _few(workloads.produce_java, "lz4"),
        _few(workloads.produce_librdkafka, "none", "zstd"),
        _few(workloads.produce_python, "gzip", "lz4", "snappy"),
        _few(workloads.produce_aiokafka, "snappy", "gzip", "zstd"),
        workloads.transactions,
        workloads.static_member,
        workloads.administration,
        workloads.sasl,
        workloads.published,
        workloads.tls,
    ]
    return record(cluster, folder, "short", chosen, at_once=6)


def long(cluster: Cluster, folder: Path) -> list[Recording]:
    """A recording for each kind of traffic."""
    _topics(cluster, folder)
    chosen: dict[str, list[Workload]] = {
        "produce-librdkafka": [workloads.produce_librdkafka],
        "produce-python": [workloads.produce_python, workloads.produce_aiokafka],
        "produce-java": [workloads.produce_java],
        "consume-java": [workloads.console],
        "transactions": [workloads.transactions, workloads.transactions_java],
        "administration": [workloads.administration, workloads.administration_java],
        "sasl": [workloads.sasl, workloads.scram],
        "tls": [workloads.tls],
        "published": [workloads.published],
        "static": [workloads.static_member],
        "frozen": [workloads.frozen_member],
    }
    strategies = ["range", "cooperative-sticky"]
    for library in (LIBRDKAFKA, JAVA, KAFKA_PYTHON):
        for strategy in strategies:
            chosen[f"group-{library}-{strategy}"] = [_group(library, strategy)]
    chosen["group-aiokafka"] = [_group(AIOKAFKA, "range")]
    if cluster.version == KAFKA_4:
        for library in (LIBRDKAFKA, JAVA):
            chosen[f"group-{library}-new"] = [_group(library, _NEW_PROTOCOL)]
        chosen["share"] = [workloads.share_group]
    made, known = [], set[str]()
    for name, some in chosen.items():
        recording = record(cluster, folder, name, some)
        # Groups of earlier recordings are described again; what they did is not in this capture.
        recording.facts.positions[:] = [one for one in recording.facts.positions if one.group not in known]
        known |= {one.group for one in recording.facts.positions}
        made.append(recording)
    return made


def _topics(cluster: Cluster, folder: Path) -> None:
    record(cluster, folder, "topics", [lambda actions: actions.make_topics(_TOPICS)])
