"""Which parts make a recording: a short one of all kinds for every run, and many long ones, a kind each."""

from collections.abc import Callable
from pathlib import Path

from tests.lab.jars import KAFKA_4
from tests.wire.traffic import group_parts, parts
from tests.wire.traffic.cluster import Cluster
from tests.wire.traffic.facts import Recording
from tests.wire.traffic.hands import AIOKAFKA, JAVA, KAFKA_PYTHON, LIBRDKAFKA, Hands
from tests.wire.traffic.record import Part, record

_TOPICS = {"codecs": 3, "codecs-java": 3, "tx": 2, "tx-java": 2, "doors": 2}
_NEW_PROTOCOL = "consumer"


def _group(library: str, strategy: str, *, kill: bool = True, stall: bool = True) -> Part:
    def part(hands: Hands) -> None:
        group_parts.triggers(hands, library, strategy, kill=kill, stall=stall)

    return part


def _few(part: Callable[[Hands, tuple[str, ...], int], None], *codecs: str) -> Part:
    return lambda hands: part(hands, codecs, 60)


def short(cluster: Cluster, folder: Path) -> Recording:
    """Every library, codec, acks, group protocol and kind of listener, in less than a minute."""
    _topics(cluster, folder)
    groups: list[Part] = [_group(LIBRDKAFKA, "cooperative-sticky"), _group(JAVA, "range", stall=False)]
    if cluster.version == KAFKA_4:
        groups.append(_group(LIBRDKAFKA, _NEW_PROTOCOL, stall=False))
    chosen: list[Part] = [
        *groups,
        _few(parts.produce_java, "lz4"),
        _few(parts.produce_librdkafka, "none", "zstd"),
        _few(parts.produce_python, "gzip", "lz4", "snappy"),
        _few(parts.produce_aiokafka, "snappy", "gzip", "zstd"),
        parts.transactions,
        group_parts.static_member,
        parts.administration,
        parts.sasl,
        parts.published,
        parts.tls,
    ]
    return record(cluster, folder, "short", chosen, at_once=6)


def long(cluster: Cluster, folder: Path) -> list[Recording]:
    """A recording for each kind of traffic."""
    _topics(cluster, folder)
    chosen: dict[str, list[Part]] = {
        "produce-librdkafka": [parts.produce_librdkafka],
        "produce-python": [parts.produce_python, parts.produce_aiokafka],
        "produce-java": [parts.produce_java],
        "consume-java": [parts.console],
        "transactions": [parts.transactions, parts.transactions_java],
        "administration": [parts.administration, parts.administration_java],
        "sasl": [parts.sasl, parts.scram],
        "tls": [parts.tls],
        "published": [parts.published],
        "static": [group_parts.static_member],
        "frozen": [group_parts.frozen_member],
    }
    strategies = ["range", "cooperative-sticky"]
    for library in (LIBRDKAFKA, JAVA, KAFKA_PYTHON):
        for strategy in strategies:
            chosen[f"group-{library}-{strategy}"] = [_group(library, strategy)]
    chosen["group-aiokafka"] = [_group(AIOKAFKA, "range")]
    if cluster.version == KAFKA_4:
        for library in (LIBRDKAFKA, JAVA):
            chosen[f"group-{library}-new"] = [_group(library, _NEW_PROTOCOL)]
        chosen["share"] = [parts.share_group]
    made, known = [], set[str]()
    for name, some in chosen.items():
        recording = record(cluster, folder, name, some)
        # Groups of earlier recordings are described again; what they did is not in this capture.
        recording.facts.positions[:] = [one for one in recording.facts.positions if one.group not in known]
        known |= {one.group for one in recording.facts.positions}
        made.append(recording)
    return made


def _topics(cluster: Cluster, folder: Path) -> None:
    record(cluster, folder, "topics", [lambda hands: hands.make_topics(_TOPICS)])
