"""What workloads do: start a producer, a member, a console tool, and note what it tells."""

import base64
import json
import re
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.lab.errors import LabError
from tests.lab.namespaces import Place
from tests.wire.traffic.clients import Client
from tests.wire.traffic.cluster import INTERNAL, Cluster
from tests.wire.traffic.facts import Consumed, Counted, Facts, Produced
from tests.wire.traffic.software import java_command, python_command

LIBRDKAFKA, KAFKA_PYTHON, AIOKAFKA, JAVA = "librdkafka", "kafka_python", "aio", "java"
_SESSION_MS = 3000


class ClientActions:
    """Everything a workload needs; one for a recording."""

    def __init__(self, cluster: Cluster, folder: Path, facts: Facts) -> None:
        self.cluster = cluster
        self.folder = folder
        self.facts = facts
        self._lock = threading.Lock()

    def run(self, place: Place, program: str, **asked: Any) -> Client:
        """A Python program."""
        return self.cluster.clients.start(place, python_command(program, json.dumps(asked)))

    def make_topics(self, partitions: Mapping[str, int], *, more: bool = False) -> None:
        """Topics with their partition counts."""
        config = {"bootstrap.servers": INTERNAL, "client.id": "topic-maker"}
        self.run(
            self.cluster.client(1), LIBRDKAFKA, do="topics", partitions=dict(partitions), more=more, config=config
        ).end()

    def java(self, place: Place, main: str, *arguments: str, limit: float = 120) -> str:
        """A Java program in a JVM of its own, to its end: what it printed."""
        command = java_command(self.cluster.cache, self.cluster.version, main, *arguments)
        return self.cluster.clients.start(place, command).wait_exit(limit)

    def tools(self, place: Place, calls: Sequence[Sequence[str]], limit: float = 120) -> list[str]:
        """Console tools one after the other in one JVM, each a class with arguments: what each printed."""
        client = self.cluster.clients.start(place, java_command(self.cluster.cache, self.cluster.version, "Tools"))
        printed = []
        for number, call in enumerate(calls):
            client.tell("\t".join((str(number), *call)))
            until = time.monotonic() + limit
            while len(client.lines) <= number:
                if time.monotonic() > until:
                    raise LabError(f"{call[0]} does not end: {client.said()}")
                time.sleep(0.05)
            _, status, text = client.lines[number].split("\t")
            printed.append(f"{status}\n{base64.b64decode(text).decode(errors='replace')}")
        client.kill()
        return printed

    def produce(
        self,
        place: Place,
        library: str,
        client_id: str,
        topic: str,
        *,
        config: Mapping[str, Any],
        count: int = 100,
        size: int = 300,
        partitions: int = 1,
        bootstrap: str = INTERNAL,
        **more: Any,
    ) -> Client:
        """Start a producer; `note_produced` waits for it."""
        names = _names(library, bootstrap, client_id)
        asked = {"topic": topic, "count": count, "size": size, "partitions": partitions, **more}
        return self.run(place, library, do="produce", config={**names, **config}, **asked)

    def note_produced(self, client: Client, client_id: str, *, is_hidden: bool = False) -> None:
        """Wait for a producer and note what it says."""
        told = client.end()
        requests = told.get("statistics", {}).get("requests", {}).get("Produce")
        done = Produced(client_id=client_id, records=told["delivered"], requests=requests, is_hidden=is_hidden)
        with self._lock:
            self.facts.produced.append(done)
            if "tx" in told.get("statistics", {}) and not is_hidden:
                self.facts.counted.append(_counted_by_librdkafka(client_id, told["statistics"]))

    def perf(self, place: Place, client_id: str, topic: str, *, count: int, **config: object) -> None:
        """Kafka's own producer-perf-test."""
        properties: dict[str, object] = {"bootstrap.servers": INTERNAL, "client.id": client_id, **config}
        words = [f"{key.replace('_', '.')}={value}" for key, value in properties.items()]
        base = ("--topic", topic, "--num-records", str(count), "--record-size", "300", "--throughput", "-1")
        printed = self.java(
            place, "org.apache.kafka.tools.ProducerPerformance", *base, "--print-metrics", "--producer-props", *words
        )
        (self.folder / f"{client_id}.perf.txt").write_text(printed, encoding="utf-8")
        with self._lock:
            self.facts.counted.append(_counted_by_java(client_id, printed))

    def member(
        self,
        place: Place,
        library: str,
        group: str,
        client_id: str,
        topics: Sequence[str],
        *,
        strategy: str = "range",
        config: Mapping[str, Any] | None = None,
    ) -> Client:
        """Start a group member; `strategy` consumer is the new group protocol."""
        if library == JAVA:
            return self._java_member(place, group, client_id, topics, strategy, config or {})
        asked = {"do": "member", "topics": list(topics)}
        settings = {**_names(library, INTERNAL, client_id), **_grouped(library, group, strategy), **(config or {})}
        if library == KAFKA_PYTHON:
            asked["strategy"] = strategy
        return self.run(place, library, **asked, config=settings)

    def note_consumed(self, client: Client, client_id: str, group: str, *, is_all: bool = False) -> None:
        """Close a member and note what it says; `is_all`: it has had all that it can have fetched."""
        told = client.close()
        done = Consumed(client_id=client_id, group=group, records=told["total"], is_all=is_all)
        with self._lock:
            self.facts.consumed.append(done)

    def _java_member(
        self,
        place: Place,
        group: str,
        client_id: str,
        topics: Sequence[str],
        strategy: str,
        config: Mapping[str, Any],
    ) -> Client:
        settings = {
            "bootstrap.servers": INTERNAL,
            "client.id": client_id,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "metadata.max.age.ms": 2000,
            **config,
        }
        if strategy == "consumer":
            settings["group.protocol"] = "consumer"
        else:
            settings["session.timeout.ms"] = _SESSION_MS
            settings["heartbeat.interval.ms"] = 500
            settings["partition.assignment.strategy"] = "org.apache.kafka.clients.consumer." + (
                "CooperativeStickyAssignor" if strategy == "cooperative-sticky" else "RangeAssignor"
            )
        file = self.folder / f"{client_id}-{secrets.token_hex(3)}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()), encoding="utf-8")
        command = java_command(self.cluster.cache, self.cluster.version, "Member", str(file), *topics)
        return self.cluster.clients.start(place, command)


def _counted_by_librdkafka(client_id: str, statistics: Mapping[str, int]) -> Counted:
    return Counted(
        client_id=client_id,
        requests=statistics["tx"],
        responses=statistics["rx"],
        sent=statistics["tx_bytes"],
        received=statistics["rx_bytes"],
        forgets_bootstrap=True,
    )


def _counted_by_java(client_id: str, printed: str) -> Counted:
    """From the metrics that a perf test prints."""
    found = dict(re.findall(r"^producer-(?:topic-)?metrics:(\S+):\{[^}]*\}\s*:\s*([\d.]+)$", printed, re.MULTILINE))
    return Counted(
        client_id=client_id,
        requests=int(float(found["request-total"])),
        responses=int(float(found["response-total"])),
        sent=int(float(found["outgoing-byte-total"])),
        received=int(float(found["incoming-byte-total"])),
        batch_bytes=int(float(found["byte-total"])),
    )


def consumed(client: Client) -> int:
    """How many records a member has told of."""
    totals = [sum(event["total"].values()) for event in client.events if "total" in event]
    return totals[-1] if totals else 0


def _names(library: str, bootstrap: str, client_id: str) -> dict[str, Any]:
    if library == LIBRDKAFKA:
        return {"bootstrap.servers": bootstrap, "client.id": client_id}
    return {"bootstrap_servers": bootstrap, "client_id": client_id}


def _grouped(library: str, group: str, strategy: str) -> dict[str, Any]:
    if library == LIBRDKAFKA:
        settings: dict[str, Any] = {
            "group.id": group,
            "auto.offset.reset": "earliest",
            "topic.metadata.refresh.interval.ms": 2000,
        }
        if strategy == "consumer":
            return {**settings, "group.protocol": "consumer"}
        return {
            **settings,
            "partition.assignment.strategy": strategy,
            "session.timeout.ms": _SESSION_MS,
            "heartbeat.interval.ms": 500,
        }
    return {
        "group_id": group,
        "auto_offset_reset": "earliest",
        "metadata_max_age_ms": 2000,
        "session_timeout_ms": _SESSION_MS,
        "heartbeat_interval_ms": 500,
    }
