"""What Kafka's own tools say is registered: zookeeper-shell, kafka-cluster, kafka-metadata-quorum and kafka-dump-log.

Each runs on this machine's Java, inside the network namespace of a container and with its names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bars.data_directories import dumped
from tests.lab.cache import cache_root
from tests.lab.jars import KAFKA_3, KAFKA_4, kafka_jars
from tests.lab.processes import run
from tests.lab.stack import Stack

_SHELL = "org.apache.zookeeper.ZooKeeperMainWithTlsSupportForKafka"
_CLUSTER = "org.apache.kafka.tools.ClusterTool"
_QUORUM = "org.apache.kafka.tools.MetadataQuorumCommand"
_FENCED, _UNFENCED = 1, -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """Cluster, controller, and the endpoints of each broker as Kafka writes them; `fenced` are ids."""

    cluster_id: str | None
    controller_id: int | None
    endpoints: dict[int, tuple[str, ...]]
    fenced: frozenset[int] = frozenset()


def in_zookeeper(stack: Stack, inside: str, address: str, numbers: Sequence[int], login: str = "") -> Truth:
    """What zookeeper-shell prints at an address, from inside a service; `login` is user:password."""
    paths = ["/cluster/id", "/controller", *(f"/brokers/ids/{number}" for number in numbers)]
    printed = zookeeper_shell(stack, inside, address, [f"get {path}" for path in paths], login)
    found = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    ids = [one["id"] for one in found if "id" in one]
    controllers = [one["brokerid"] for one in found if "brokerid" in one]
    # The shell prints no path: a broker is known by the order of those that are there.
    there = [number for number in numbers if f"Node does not exist: /brokers/ids/{number}" not in printed]
    registered = [one["endpoints"] for one in found if "endpoints" in one]
    assert len(there) == len(registered), printed
    return Truth(
        cluster_id=ids[0] if ids else None,
        controller_id=controllers[0] if controllers else None,
        endpoints={number: tuple(ends) for number, ends in zip(there, registered, strict=True)},
    )


def zookeeper_shell(stack: Stack, inside: str, address: str, commands: Sequence[str], login: str = "") -> str:
    """What zookeeper-shell of 3.9 prints."""
    lines = [*([f"addauth digest {login}"] if login else []), *commands]
    words = ("-server", address)
    return _java(stack, inside, KAFKA_3, _SHELL, words, stdin="\n".join(lines) + "\n")


def at_listener(stack: Stack, inside: str, address: str, *, tells_fenced: bool) -> dict[int, tuple[str, bool | None]]:
    """What kafka-cluster list-endpoints prints of a listener: host:port by broker, and whether it is fenced.

    Where a broker does not tell that, as before 4.0, the tool would say that none is.
    """
    option = ("--include-fenced-brokers",) if tells_fenced else ()
    printed = _java(stack, inside, KAFKA_4, _CLUSTER, ("list-endpoints", "--bootstrap-server", address, *option))
    found: dict[int, tuple[str, bool | None]] = {}
    for line in printed.splitlines():
        if match := re.match(r"(\d+)\s+(\S+)\s+(\d+)\s+\S+\s*(\S*)", line):
            fenced = {"fenced": True, "unfenced": False}[match[4]] if tells_fenced else None
            found[int(match[1])] = (f"{match[2]}:{match[3]}", fenced)
    return found


def quorum_leader(stack: Stack, inside: str, address: str) -> int | None:
    """Who leads the quorum, by kafka-metadata-quorum."""
    printed = _java(stack, inside, KAFKA_4, _QUORUM, ("--bootstrap-server", address, "describe", "--status"))
    match = re.search(r"^LeaderId:\s+(-?\d+)", printed, re.MULTILINE)
    return int(match[1]) if match else None


def in_metadata_log(stack: Stack, service: str, folder: Path, release: str, directory: str) -> Truth:
    """What kafka-dump-log decodes of the metadata log and its latest snapshot, copied out of a container."""
    stack.engine.docker("cp", f"{stack.container(service)}:{directory}/__cluster_metadata-0", str(folder))
    log = folder / "__cluster_metadata-0"
    snapshots = sorted(log.glob("*.checkpoint"))[-1:]
    endpoints: dict[int, tuple[str, ...]] = {}
    fenced: set[int] = set()
    for path in (*snapshots, *sorted(log.glob("*.log"))):
        for line in dumped(release, "--cluster-metadata-decoder", "--files", path).splitlines():
            start = line.find("payload: {")
            if start < 0:
                continue
            record, _ = json.JSONDecoder().raw_decode(line, start + len("payload: "))
            data = record.get("data", {})
            match record.get("type"):
                case "REGISTER_BROKER_RECORD":
                    number = data["brokerId"]
                    endpoints[number] = tuple(f"{e['name']}://{e['host']}:{e['port']}" for e in data["endPoints"])
                    (fenced.add if data.get("fenced", True) else fenced.discard)(number)
                case "BROKER_REGISTRATION_CHANGE_RECORD" if data.get("fenced", 0) == _FENCED:
                    fenced.add(data["brokerId"])
                case "BROKER_REGISTRATION_CHANGE_RECORD" if data.get("fenced", 0) == _UNFENCED:
                    fenced.discard(data["brokerId"])
                case "UNREGISTER_BROKER_RECORD":
                    endpoints.pop(data["brokerId"], None)
                    fenced.discard(data["brokerId"])
    return Truth(cluster_id=None, controller_id=None, endpoints=endpoints, fenced=frozenset(fenced))


def _java(stack: Stack, inside: str, release: str, main: str, words: Sequence[str], *, stdin: str | None = None) -> str:
    jars = kafka_jars(cache_root(), release)
    options = ("-Xmx160m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*")
    command = stack.state(inside).place.argv(["java", *options, main, *words])
    done = run(command, check=False, stdin=stdin, timeout=120)
    return done.stdout + done.stderr
