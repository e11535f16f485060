"""What Kafka's own tools say is registered: zookeeper-shell, kafka-cluster, kafka-metadata-quorum, kafka-dump-log and
kafka-metadata-shell.

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
from tests.lab.jars import KAFKA_3, KAFKA_4, kafka_jars, shell_jars
from tests.lab.processes import run
from tests.lab.stack import Stack

_SHELL = "org.apache.zookeeper.ZooKeeperMainWithTlsSupportForKafka"
_CLUSTER = "org.apache.kafka.tools.ClusterTool"
_QUORUM = "org.apache.kafka.tools.MetadataQuorumCommand"
_METADATA_SHELL = "org.apache.kafka.shell.MetadataShell"
_JVM = ("-Xmx160m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_ENDPOINT = re.compile(r"Endpoint\(listenerName='([^']*)', securityProtocol=\w+, host='([^']*)', port=(\d+)\)")
_FENCED, _UNFENCED = 1, -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """Cluster, controller, and the endpoints of each broker as Kafka writes them; `fenced` are ids."""

    cluster_id: str | None
    controller_id: int | None
    endpoints: dict[int, tuple[str, ...]]
    fenced: frozenset[int] = frozenset()


def in_zookeeper(
    stack: Stack,
    inside: str,
    address: str,
    numbers: Sequence[int],
    login: str = "",
    *,
    jaas: Path | None = None,
    tls: Path | None = None,
) -> Truth:
    """What zookeeper-shell prints at an address, from inside a service; `login` is user:password."""
    paths = ["/cluster/id", "/controller", *(f"/brokers/ids/{number}" for number in numbers)]
    printed = zookeeper_shell(stack, inside, address, [f"get {path}" for path in paths], login, jaas=jaas, tls=tls)
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


def zookeeper_shell(
    stack: Stack,
    inside: str,
    address: str,
    commands: Sequence[str],
    login: str = "",
    *,
    jaas: Path | None = None,
    tls: Path | None = None,
) -> str:
    """What zookeeper-shell of 3.9 prints; `jaas` logs in by SASL, `tls` is its -zk-tls-config-file."""
    lines = [*([f"addauth digest {login}"] if login else []), *commands]
    words = ("-server", address, *(("-zk-tls-config-file", str(tls)) if tls else ()))
    options = (f"-Djava.security.auth.login.config={jaas}",) if jaas else ()
    return _java(stack, inside, KAFKA_3, _SHELL, words, stdin="\n".join(lines) + "\n", options=options)


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


def in_snapshot(path: Path, release: str) -> Truth:
    """What kafka-metadata-shell shows of the brokers in a snapshot of the metadata."""
    printed = {number: _shown(path, release, f"/image/cluster/brokers/{number}") for number in _listed(path, release)}
    endpoints = {
        int(number): tuple(f"{name}://{host}:{port}" for name, host, port in _ENDPOINT.findall(text))
        for number, text in printed.items()
    }
    fenced = frozenset(int(number) for number, text in printed.items() if "fenced=true" in text)
    return Truth(cluster_id=None, controller_id=None, endpoints=endpoints, fenced=fenced)


def _listed(path: Path, release: str) -> list[str]:
    return [word for word in _shown(path, release, "/image/cluster/brokers", "ls").split() if word.isdecimal()]


def _shown(path: Path, release: str, node: str, command: str = "cat") -> str:
    jars = shell_jars(cache_root(), release)
    words = ["java", *_JVM, "-cp", f"{jars}/*", _METADATA_SHELL, "--snapshot", str(path), command, node]
    # The shell of 3.9 may end before it has read the snapshot.
    return next((text for _ in range(10) if (text := run(words, timeout=120).stdout)), "")


def _java(
    stack: Stack,
    inside: str,
    release: str,
    main: str,
    words: Sequence[str],
    *,
    stdin: str | None = None,
    options: Sequence[str] = (),
) -> str:
    jars = kafka_jars(cache_root(), release)
    command = stack.state(inside).place.argv(["java", *_JVM, *options, "-cp", f"{jars}/*", main, *words])
    done = run(command, check=False, stdin=stdin, timeout=120)
    return done.stdout + done.stderr
