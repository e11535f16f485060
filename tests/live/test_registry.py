"""What `netdiag registry` reads of real clusters, in every state, equals what the tools of Kafka and ZooKeeper say."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from netdiag.app.configuration import CheckOptions, LiveOptions
from netdiag.app.live_check import check_live
from netdiag.app.registry import RegistryOptions, RegistryReport, read_registry
from netdiag.app.storage import StorageQuery, read_storage
from netdiag.deployment.model.verdict import Address
from netdiag.deployment.observation.live_view import LiveVantage
from netdiag.deployment.observation.registered import Registered
from netdiag.io.engine.live_deployment import read_live
from netdiag.io.files.projects import ReadOptions
from netdiag.io.network.registry import RegistryQuestions, ZookeeperQuestion, ask_registries
from netdiag.kafka.registry import Registry, RegistryKind, from_stored_state
from netdiag.kafka.stored_records import METADATA_TOPIC
from netdiag.kafka.zookeeper import SaslUser, ZookeeperRead
from netdiag.rules.observed import REGISTERED
from tests.figures import Report
from tests.io.network.authorities import authority, issue
from tests.lab.image_set import APACHE_3, APACHE_4
from tests.lab.jars import KAFKA_3, KAFKA_4
from tests.lab.lab import Lab
from tests.lab.stack import Stack
from tests.live import registry_truth as truth
from tests.live.registry_truth import Truth

BAR = pytest.mark.bar("registry", long=True)
LIMIT = 240.0
NUMBERS = (1, 2, 3)
DATA = "/var/lib/kafka/data"
LOGIN = "reader:secret"
# base64(sha1("reader:secret")), as ZooKeeper's DigestAuthenticationProvider makes it.
DIGEST = "reader:TwMYkJISsEPORbrSYGWeRLjeNEk="


def stack_file(folder: Path, *, kraft: str | None, ports: dict[int, int] | None = None) -> Path:
    """Three brokers with two listeners each, and a fourth of the first's ID that is not started; JSON is YAML."""
    services: dict[str, object] = {}
    common = {
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT",
        "KAFKA_INTER_BROKER_LISTENER_NAME": "INTERNAL",
        "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": 1,
        "KAFKA_HEAP_OPTS": "-Xmx256m",
        "KAFKA_LOG_DIRS": DATA,
    }
    quorum = {
        "CLUSTER_ID": "MkU3OEVBNTcwNTJENDM2Qk",
        "KAFKA_CONTROLLER_QUORUM_VOTERS": "10@controller:9093",
        "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
        "KAFKA_BROKER_SESSION_TIMEOUT_MS": 6000,
        "KAFKA_METADATA_LOG_MAX_SNAPSHOT_INTERVAL_MS": 3000,
    }
    if kraft:
        image = kraft
        services["controller"] = {
            "image": image,
            "environment": {
                **quorum,
                "KAFKA_NODE_ID": 10,
                "KAFKA_PROCESS_ROLES": "controller",
                "KAFKA_LISTENERS": "CONTROLLER://0.0.0.0:9093",
                "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "CONTROLLER:PLAINTEXT",
                "KAFKA_HEAP_OPTS": "-Xmx256m",
                "KAFKA_LOG_DIRS": DATA,
            },
        }
    else:
        image = "${KAFKA_ZK_IMAGE:-confluentinc/cp-kafka:7.9.2}"
        common |= {"KAFKA_ZOOKEEPER_CONNECT": "zookeeper:2181/kafka/one"}
        common["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"] = "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT"
        services["zookeeper"] = {
            "image": "${ZOOKEEPER_IMAGE:-confluentinc/cp-zookeeper:7.9.2}",
            "environment": {"ZOOKEEPER_CLIENT_PORT": 2181, "KAFKA_HEAP_OPTS": "-Xmx128m"},
        }
    for number in (*NUMBERS, 4):
        port = (ports or {}).get(number, 9090 + number)
        own = {1: 1, 4: 1}.get(number, number)
        services[f"broker-{number}"] = {
            "image": image,
            "ports": [f"{19090 + number}:{19090 + number}"],
            "environment": {
                **common,
                **({**quorum, "KAFKA_NODE_ID": own, "KAFKA_PROCESS_ROLES": "broker"} if kraft else {}),
                **({} if kraft else {"KAFKA_BROKER_ID": own}),
                "KAFKA_LISTENERS": f"INTERNAL://0.0.0.0:29092,EXTERNAL://0.0.0.0:{19090 + number}",
                "KAFKA_ADVERTISED_LISTENERS": f"INTERNAL://broker-{number}:29092,EXTERNAL://localhost:{10000 + port}",
            },
            "depends_on": ["controller" if kraft else "zookeeper"],
            **({"profiles": ["second"]} if number == 4 else {}),
        }
    path = folder / "compose.yml"
    path.write_text(json.dumps({"services": services}, indent=1))
    return path


def read(stack: Stack, *, file: Path | None = None, digest: Path | None = None) -> RegistryReport:
    """What netdiag reads of the stack."""
    files = (str(file),) if file else ()
    read_as = ReadOptions(project_name=stack.project, environ={})
    return read_registry(
        RegistryOptions(
            check=CheckOptions(files=files, read=read_as),
            host=stack.engine.docker_host,
            digest_file=str(digest) if digest else None,
        )
    )


def live_rules(stack: Stack) -> list[tuple[str, str | None]]:
    """What a live check finds by the same rules."""
    project = ReadOptions(project_name=stack.project, environ={})
    report = check_live(CheckOptions(read=project), LiveOptions(host=stack.engine.docker_host)).report
    ids = {rule.ID for rule in REGISTERED}
    return [(finding.rule, finding.service) for finding in report.findings if finding.rule in ids]


def rules(report: RegistryReport) -> list[tuple[str, str | None]]:
    """The findings: rule and service."""
    return [(finding.rule, finding.service) for finding in report.findings]


def registry(report: RegistryReport, kind: RegistryKind) -> Registry:
    """The one source of a kind."""
    (cluster,) = report.clusters
    (found,) = [one for one in cluster.registries if one.kind is kind]
    return found


def endpoints(found: Registry) -> dict[int, tuple[str, ...]]:
    """As Kafka writes them."""
    return {broker.node_id: tuple(map(str, broker.endpoints)) for broker in found.brokers}


def until(condition: Callable[[], bool], limit: float = LIMIT) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.5)


class Compared:
    """Counts the endpoints that were held against Kafka's own tools."""

    def __init__(self) -> None:
        self.count = 0

    def hold(self, found: dict[int, tuple[str, ...]], expected: Truth, *, at_least: int = 3) -> None:
        """All of them are equal; a snapshot that was made meanwhile may have those of a broker in another order."""
        there = {number: sorted(some) for number, some in expected.endpoints.items()}
        assert {number: sorted(some) for number, some in found.items()} == there
        assert len(found) >= at_least
        self.count += sum(map(len, found.values()))


@BAR
def test_zookeeper_in_every_state(lab: Lab, tmp_path: Path, figure: Report) -> None:
    file = stack_file(tmp_path, kraft=None)
    address = "zookeeper:2181/kafka/one"
    compared = Compared()
    with lab.up(file, project="registryzk") as stack:

        def same(report: RegistryReport, inside: str = "broker-1", at_least: int = 3) -> None:
            found = registry(report, RegistryKind.ZOOKEEPER)
            expected = truth.in_zookeeper(stack, inside, address, NUMBERS)
            compared.hold(endpoints(found), expected, at_least=at_least)
            assert (found.cluster_id, found.controller_id) == (expected.cluster_id, expected.controller_id)
            assert found.cluster_id

        # Steady, below a chroot; and with the chroot left out, nothing is there.
        report = read(stack)
        same(report)
        assert rules(report) == live_rules(stack) == []
        assert report.clusters[0].notes == ()
        assert [node.now is not None for node in report.clusters[0].nodes] == [True] * 3

        # The file has another listener, and the broker was not started with it; then it is.
        stack_file(tmp_path, kraft=None, ports={2: 9999})
        report = read(stack, file=file)
        same(report)
        assert rules(report) == [("live-registered-endpoint", "broker-2")]
        assert "localhost:19092, but its file has EXTERNAL://localhost:19999" in report.findings[0].message
        stack.run_compose("up", "-d", "-t", "60", "--pull", "never", "broker-2")
        until(lambda: _ready(stack, 3))
        report = read(stack, file=file)
        same(report)
        assert "EXTERNAL://localhost:19999" in endpoints(registry(report, RegistryKind.ZOOKEEPER))[2]
        assert rules(report) == []

        # A second broker with the ID of the first.
        stack.run_compose("--profile", "second", "up", "-d", "--pull", "never", "broker-4")
        until(lambda: not stack.state("broker-4").is_running)
        report = read(stack)
        same(report)
        assert ("live-duplicate-registration", "broker-4") in rules(report)
        assert {rule for rule, _ in rules(report)} == {"live-duplicate-registration"}
        assert rules(report) == live_rules(stack)
        assert "NodeExists" in stack.logs("broker-4")
        stack.run_compose("--profile", "second", "rm", "-f", "-s", "broker-4")

        # The volume of another cluster.
        _stale(stack, "broker-3", tmp_path)
        stack.engine.docker("start", stack.container("broker-3"))
        until(lambda: not stack.state("broker-3").is_running)
        assert "Invalid cluster.id in" in stack.logs("broker-3")
        report = read(stack)
        same(report, at_least=2)
        assert rules(report) == live_rules(stack) == [("live-cluster-id-differs", "broker-3")]

        # The controller answers no more, and ZooKeeper has not noticed yet.
        controller = f"broker-{registry(report, RegistryKind.ZOOKEEPER).controller_id}"
        other = next(f"broker-{number}" for number in (1, 2) if f"broker-{number}" != controller)
        stack.engine.docker("pause", stack.container(controller))
        report = read(stack)
        found_live = live_rules(stack)
        stack.engine.docker("unpause", stack.container(controller))
        assert ("live-controller-lost", None) in found_live
        assert ("live-controller-lost", None) in rules(report)
        assert registry(report, RegistryKind.ZOOKEEPER).controller_id == int(controller[-1])

        # Nodes that only one user may read.
        expected = truth.in_zookeeper(stack, other, address, NUMBERS)
        guarded = [f"/brokers/ids/{number}" for number in expected.endpoints]
        commands = [f"setAcl {path} digest:{DIGEST}:r" for path in guarded]
        truth.zookeeper_shell(stack, other, address, commands)
        report = read(stack)
        found = registry(report, RegistryKind.ZOOKEEPER)
        assert found.brokers == ()
        assert found.problems == tuple(f"{path} may not be read without authentication" for path in guarded)
        login = tmp_path / "login"
        login.write_text(f"{LOGIN}\n")
        found = registry(read(stack, digest=login), RegistryKind.ZOOKEEPER)
        expected = truth.in_zookeeper(stack, other, address, NUMBERS, LOGIN)
        compared.hold(endpoints(found), expected, at_least=2)
        login.write_text("reader:wrong\n")
        assert registry(read(stack, digest=login), RegistryKind.ZOOKEEPER).brokers == ()
    figure("endpoints compared with zookeeper-shell", compared.count)


@BAR
@pytest.mark.parametrize(("image", "release"), [(APACHE_3, KAFKA_3), (APACHE_4, KAFKA_4)])
def test_kraft_in_every_state(lab: Lab, tmp_path: Path, image: str, release: str, figure: Report) -> None:
    file = stack_file(tmp_path, kraft=image)
    compared = Compared()
    with lab.up(file, project=f"registry{release[0]}") as stack:
        copied = 0

        def same(report: RegistryReport, fenced: frozenset[int] = frozenset()) -> None:
            nonlocal copied
            copied += 1
            found = registry(report, RegistryKind.METADATA_LOG)
            folder = tmp_path / f"copy-{copied}"
            folder.mkdir()
            name = found.source.removeprefix("the metadata log of ")
            expected = truth.in_metadata_log(stack, name, folder, release, DATA)
            compared.hold(endpoints(found), expected)
            assert {broker.node_id for broker in found.brokers if broker.is_fenced} == expected.fenced == fenced

        def same_at_listeners(cluster: Registered, inside: str = "broker-1") -> None:
            for told in cluster.listeners:
                member, _, at = told.source.partition(" at ")
                if member != inside:
                    continue
                expected = truth.at_listener(stack, inside, at, tells_fenced=image == APACHE_4)
                found = {
                    broker.node_id: (str(broker.endpoints[0]).partition("://")[2], broker.is_fenced)
                    for broker in told.brokers
                }
                assert found == expected
                compared.count += len(found)

        report = read(stack)
        same(report)
        same_at_listeners(report.clusters[0])
        assert rules(report) == live_rules(stack) == []
        assert report.clusters[0].controller_id == truth.quorum_leader(stack, "broker-1", "localhost:29092") == 10

        # The file has another listener, and the broker was not started with it; then it is.
        stack_file(tmp_path, kraft=image, ports={2: 9999})
        report = read(stack, file=file)
        same(report)
        assert rules(report) == [("live-registered-endpoint", "broker-2")]
        stack.run_compose("up", "-d", "-t", "60", "--pull", "never", "broker-2")
        until(lambda: _ready(stack, 3))
        report = read(stack, file=file)
        same(report)
        assert "EXTERNAL://localhost:19999" in endpoints(registry(report, RegistryKind.METADATA_LOG))[2]
        assert rules(report) == []

        # A second broker with the ID of the first: the controller refuses it, until it gives up.
        stack.run_compose("--profile", "second", "up", "-d", "--pull", "never", "broker-4")
        until(lambda: "DUPLICATE_BROKER_REGISTRATION" in stack.logs("broker-4"))
        report = read(stack)
        same(report)
        assert ("live-duplicate-registration", "broker-4") in rules(report)
        assert {rule for rule, _ in rules(report)} == {"live-duplicate-registration"}
        assert ("live-duplicate-registration", "broker-4") in live_rules(stack)
        stack.run_compose("--profile", "second", "rm", "-f", "-s", "broker-4")

        # A broker that the controller hears nothing of.
        stack.engine.docker("pause", stack.container("broker-2"))
        until(lambda: _fenced(read(stack)) == {2})
        report = read(stack)
        same(report, frozenset({2}))
        same_at_listeners(report.clusters[0])
        assert rules(report) == live_rules(stack) == [("live-broker-fenced", "broker-2")]
        compared.count += _same_in_snapshot(tmp_path / f"copy-{copied}", release)
        stack.engine.docker("unpause", stack.container("broker-2"))
        until(lambda: _fenced(read(stack)) == set())

        # The volume of another cluster.
        _stale(stack, "broker-3", tmp_path)
        stack.engine.docker("start", stack.container("broker-3"))
        until(lambda: not stack.state("broker-3").is_running and _fenced(read(stack)) == {3})
        report = read(stack)
        same(report, frozenset({3}))
        assert sorted(rules(report)) == [("live-broker-fenced", "broker-3"), ("live-cluster-id-differs", "broker-3")]

        # No controller.
        stack.engine.docker("stop", "-t", "5", stack.container("controller"))
        report = read(stack)
        assert ("live-controller-lost", None) in rules(report)
        assert ("live-controller-lost", None) in live_rules(stack)
        assert report.clusters[0].controller_id is None
        same(report, frozenset({3}))
    figure(
        f"endpoints of {release} compared with kafka-dump-log, kafka-metadata-shell and kafka-cluster", compared.count
    )


def _same_in_snapshot(folder: Path, release: str) -> int:
    """Hold what netdiag reads of the latest snapshot against kafka-metadata-shell; how many endpoints there are."""
    copied = folder / "__cluster_metadata-0"
    latest = sorted(copied.glob("*.checkpoint"))[-1]
    alone = folder / "snapshot" / copied.name
    alone.mkdir(parents=True)
    shutil.copy(latest, alone / latest.name)
    shutil.copy(copied / "partition.metadata", alone / "partition.metadata")
    (directory,) = read_storage(StorageQuery(names=(str(alone.parent),), topics=frozenset({METADATA_TOPIC})))
    found = from_stored_state(directory.state, "", None)
    expected = truth.in_snapshot(latest, release)
    assert endpoints(found) == expected.endpoints
    assert {broker.node_id for broker in found.brokers if broker.is_fenced} == expected.fenced
    assert len(expected.endpoints) == 3
    return sum(map(len, expected.endpoints.values()))


@BAR
def test_zookeeper_with_tls_and_sasl(lab: Lab, tmp_path: Path, figure: Report) -> None:
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    root, other = authority("Root of ZooKeeper"), authority("Somebody else")
    for name, host in (("server", "zookeeper"), ("elsewhere", "another-name"), ("client", "broker")):
        issue(host, by=root, names=[host]).write(secrets / f"{name}.pem").chmod(0o644)
    (secrets / "root.pem").write_bytes(root.pem)
    (secrets / "other.pem").write_bytes(other.pem)
    (secrets / "server.jaas").write_text(f'Server {{ {_DIGEST_MODULE} user_broker="broker-secret"; }};\n')
    (secrets / "client.jaas").write_text(_client_jaas("broker-secret"))
    file = tmp_path / "compose.yml"
    file.write_text(json.dumps(secured_stack(), indent=1))
    plain, tls = "zookeeper:2181", "zookeeper:2182"
    wrong = tmp_path / "wrong.jaas"
    wrong.write_text(_client_jaas("another"))
    right = secrets / "client.jaas"
    compared = Compared()
    with lab.up(file, project="registrytls") as stack:
        until(lambda: "started (kafka.server.KafkaServer)" in stack.logs("broker-1"))
        settings = {
            "right": _tls_file(tmp_path / "right", secrets / "root.pem", secrets / "client.pem"),
            "other": _tls_file(tmp_path / "other", secrets / "other.pem", secrets / "client.pem"),
            "nobody": _tls_file(tmp_path / "nobody", secrets / "root.pem", None),
        }

        def ask(properties: Path | None, jaas: Path | None) -> RegistryReport:
            return read_registry(
                RegistryOptions(
                    check=CheckOptions(read=ReadOptions(project_name=stack.project, environ={})),
                    host=stack.engine.docker_host,
                    zookeeper_jaas=str(jaas) if jaas else None,
                    zookeeper_properties=str(properties) if properties else None,
                )
            )

        report = ask(settings["right"], right)
        expected = truth.in_zookeeper(stack, "broker-1", tls, (1,), jaas=right, tls=settings["right"])
        compared.hold(endpoints(registry(report, RegistryKind.ZOOKEEPER)), expected, at_least=1)
        assert rules(report) == []
        assert "-secret" not in repr(report)

        # What zookeeper-shell does not get, netdiag does not get either, and says why.
        for properties, jaas, why in (
            ("right", None, "SessionClosedRequireSaslAuth"),
            ("right", wrong, "it refuses the login"),
            ("other", right, "its certificate is refused"),
            ("nobody", right, "TLS"),
            (None, right, "the brokers use TLS there"),
        ):
            chosen = settings[properties] if properties else None
            printed = truth.zookeeper_shell(stack, "broker-1", tls, ["get /cluster/id"], jaas=jaas, tls=chosen)
            assert '"id"' not in printed, printed[-2000:]
            (cluster,) = ask(chosen, jaas).clusters
            assert all(one.kind is not RegistryKind.ZOOKEEPER for one in cluster.registries)
            assert any(why in note for note in cluster.notes), (cluster.notes, printed[-2000:])
            figure(f"{properties or 'no TLS'}, {jaas.name if jaas else 'no login'}", cluster.notes[-1])

        # SASL without TLS, at the other port.
        shown = truth.zookeeper_shell(stack, "broker-1", plain, ["get /brokers/ids/1"], jaas=right)
        assert "EXTERNAL" in shown
        question = ZookeeperQuestion(
            servers=(Address(host="zookeeper", port=2181),),
            chroot="",
            vantages=tuple(_inside(stack, "broker-1")),
            sasl=SaslUser(username="broker", password="broker-secret"),
        )
        (answer,) = ask_registries(RegistryQuestions(zookeepers=(question,))).zookeepers
        assert isinstance(answer.outcome, ZookeeperRead), answer.outcome
        assert json.loads(answer.outcome.data("/brokers/ids/1") or b"")["endpoints"] == list(expected.endpoints[1])
    figure("endpoints behind TLS and SASL compared with zookeeper-shell", compared.count)


_DIGEST_MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule required"
_NETTY = "org.apache.zookeeper.ClientCnxnSocketNetty"


def _client_jaas(password: str) -> str:
    return f'Client {{ {_DIGEST_MODULE} username="broker" password="{password}"; }};\n'


def _tls_file(path: Path, trusted: Path, own: Path | None) -> Path:
    lines = ["zookeeper.ssl.client.enable=true", f"zookeeper.clientCnxnSocket={_NETTY}"]
    lines.append(f"zookeeper.ssl.truststore.location={trusted}")
    if own is not None:
        lines.append(f"zookeeper.ssl.keystore.location={own}")
    path.write_text("\n".join([*lines, ""]))
    return path


def _inside(stack: Stack, service: str) -> Iterator[LiveVantage]:
    seen = read_live(host=stack.engine.docker_host, project=stack.project)
    yield from (each for each in seen.vantages if each.vantage.member == service)


def secured_stack() -> dict[str, object]:
    """A ZooKeeper that takes only clients that log in, and clients with certificates at its port for TLS; a broker."""
    stores = "-Dzookeeper.ssl.keyStore.location=/secrets/{0}.pem -Dzookeeper.ssl.trustStore.location=/secrets/root.pem"
    server = [
        "-Djava.security.auth.login.config=/secrets/server.jaas",
        "-Dzookeeper.authProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
        "-Dzookeeper.sessionRequireClientSASLAuth=true",
        "-Dzookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
        stores.format("server"),
    ]
    client = [
        "-Djava.security.auth.login.config=/secrets/client.jaas",
        "-Dzookeeper.client.secure=true",
        f"-Dzookeeper.clientCnxnSocket={_NETTY}",
        stores.format("client"),
    ]
    return {
        "services": {
            "zookeeper": {
                "image": "${ZOOKEEPER_IMAGE:-confluentinc/cp-zookeeper:7.9.2}",
                "volumes": ["./secrets:/secrets:ro"],
                "environment": {
                    "ZOOKEEPER_CLIENT_PORT": 2181,
                    "ZOOKEEPER_SECURE_CLIENT_PORT": 2182,
                    "KAFKA_HEAP_OPTS": "-Xmx128m",
                    "KAFKA_OPTS": " ".join(server),
                },
            },
            "broker-1": {
                "image": "${KAFKA_ZK_IMAGE:-confluentinc/cp-kafka:7.9.2}",
                "volumes": ["./secrets:/secrets:ro"],
                "depends_on": ["zookeeper"],
                "environment": {
                    "KAFKA_ZOOKEEPER_CONNECT": "zookeeper:2182",
                    "KAFKA_ZOOKEEPER_SSL_CLIENT_ENABLE": "true",
                    "KAFKA_BROKER_ID": 1,
                    "KAFKA_LISTENERS": "INTERNAL://0.0.0.0:29092,EXTERNAL://0.0.0.0:9092",
                    "KAFKA_ADVERTISED_LISTENERS": "INTERNAL://broker-1:29092,EXTERNAL://localhost:9092",
                    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT",
                    "KAFKA_INTER_BROKER_LISTENER_NAME": "INTERNAL",
                    "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": 1,
                    "KAFKA_HEAP_OPTS": "-Xmx256m",
                    "KAFKA_OPTS": " ".join(client),
                },
            },
        }
    }


def _ready(stack: Stack, count: int) -> bool:
    (cluster,) = read(stack).clusters
    return (
        sum(node.now is not None for node in cluster.nodes) == count
        and len((cluster.registry or Registry(kind=RegistryKind.LISTENER, source="")).brokers) == count
        and not _fenced(RegistryReport(clusters=(cluster,)))
    )


def _fenced(report: RegistryReport) -> set[int]:
    registry = report.clusters[0].registry
    return {broker.node_id for broker in registry.brokers if broker.is_fenced} if registry else set()


def _stale(stack: Stack, service: str, folder: Path) -> None:
    """Stop a broker, and make its data directory one of another cluster."""
    container = stack.container(service)
    stack.engine.docker("stop", "-t", "20", container)
    copy = folder / "meta.properties"
    with suppress(FileNotFoundError):
        copy.unlink()
    stack.engine.docker("cp", f"{container}:{DATA}/meta.properties", str(copy))
    lines = copy.read_text().splitlines()
    changed = ["cluster.id=AAAAAAAAAAAAAAAAAAAAAA" if line.startswith("cluster.id=") else line for line in lines]
    copy.write_text("\n".join(changed) + "\n")
    stack.engine.docker("cp", str(copy), f"{container}:{DATA}/meta.properties")
