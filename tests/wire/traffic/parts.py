"""The parts of a scenario: each makes one kind of traffic and leaves what is true of it in the facts."""

import contextlib
import json
import time

from tests.lab.errors import LabError
from tests.lab.jars import KAFKA_4
from tests.wire.traffic.clients import Client
from tests.wire.traffic.cluster import AUTH, EXTERNAL, INTERNAL, LAN, SECURE
from tests.wire.traffic.hands import AIOKAFKA, KAFKA_PYTHON, LIBRDKAFKA, Hands, consumed

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
_ACKS = {"acks0": "0", "acks1": "1", "acksall": "all"}


def produce_librdkafka(hands: Hands, codecs: tuple[str, ...] = CODECS, count: int = 120) -> None:
    """Every codec with every acks, and idempotent."""
    place = hands.cluster.client(1)
    started = []
    for codec in codecs:
        for word, acks in _ACKS.items():
            name = f"rd-{codec}-{word}"
            config = {"compression.type": codec, "acks": acks, "linger.ms": 20}
            client = hands.produce(place, LIBRDKAFKA, name, "codecs", config=config, count=count, partitions=3)
            started.append((client, name))
        _note_all(hands, started)
    name = "rd-idempotent"
    config = {"enable.idempotence": True, "compression.type": "zstd", "batch.num.messages": 10}
    client = hands.produce(place, LIBRDKAFKA, name, "codecs", config=config, count=count, partitions=3)
    hands.note_produced(client, name)


def produce_python(hands: Hands, codecs: tuple[str, ...] = CODECS, count: int = 60) -> None:
    """kafka-python with every codec and every acks in turn."""
    place = hands.cluster.client(2)
    started = []
    for number, codec in enumerate(codecs):
        word, acks = list(_ACKS.items())[number % 3]
        name = f"py-{codec}-{word}"
        config = {
            "compression_type": None if codec == "none" else codec,
            "acks": acks if acks == "all" else int(acks),
            "enable_idempotence": False,
            "linger_ms": 10,
        }
        client = hands.produce(place, KAFKA_PYTHON, name, "codecs", config=config, count=count, partitions=3)
        started.append((client, name))
        if len(started) == 3:
            _note_all(hands, started)
    _note_all(hands, started)


def produce_aiokafka(hands: Hands, codecs: tuple[str, ...] = CODECS, count: int = 60) -> None:
    """aiokafka with every codec and every acks in turn."""
    place = hands.cluster.client(3)
    started = []
    for number, codec in enumerate(codecs):
        word, acks = list(_ACKS.items())[(number + 1) % 3]
        name = f"aio-{codec}-{word}"
        config = {
            "compression_type": None if codec == "none" else codec,
            "acks": acks if acks == "all" else int(acks),
            "linger_ms": 10,
        }
        client = hands.produce(place, AIOKAFKA, name, "codecs", config=config, count=count, partitions=3)
        started.append((client, name))
        if len(started) == 3:
            _note_all(hands, started)
    _note_all(hands, started)


def produce_java(hands: Hands, codecs: tuple[str, ...] = CODECS, count: int = 500) -> None:
    """Kafka's producer-perf-test with every codec, every acks in turn."""
    for number, codec in enumerate(codecs):
        word, acks = list(_ACKS.items())[number % 3]
        name = f"java-{codec}-{word}"
        hands.perf(
            hands.cluster.client(3),
            name,
            "codecs-java",
            count=count,
            compression_type=codec,
            acks=acks,
            enable_idempotence="false",
            linger_ms=5,
        )
    hands.perf(hands.cluster.client(3), "java-idempotent", "codecs-java", count=count, compression_type="zstd")


def transactions(hands: Hands) -> None:
    """Committed and aborted transactions of librdkafka and aiokafka; read by a consumer of committed records."""
    place = hands.cluster.client(1)
    config = {"bootstrap.servers": INTERNAL, "client.id": "rd-tx", "transactional.id": "tx-rd"}
    ends = ["commit", "abort", "commit"]
    base = {"do": "transact", "topic": "tx", "partitions": 2, "count": 10, "ends": ends}
    first = hands.run(place, LIBRDKAFKA, **base, config=config, group="tx-offsets")
    second = hands.run(
        hands.cluster.client(2),
        AIOKAFKA,
        **base,
        config={"bootstrap_servers": INTERNAL, "client_id": "aio-tx", "transactional_id": "tx-aio"},
    )
    first.end()
    second.end()
    reader = hands.member(
        place, LIBRDKAFKA, "tx-readers", "rd-tx-reader", ["tx"], config={"isolation.level": "read_committed"}
    )
    reader.wait_for("40 committed records", lambda _: consumed(reader) == 40)
    hands.note_consumed(reader, "rd-tx-reader", "tx-readers")


def transactions_java(hands: Hands) -> None:
    """Kafka's producer-perf-test in transactions."""
    hands.java(
        hands.cluster.client(2),
        "org.apache.kafka.tools.ProducerPerformance",
        *("--topic", "tx-java", "--num-records", "300", "--record-size", "100", "--throughput", "300"),
        *("--transaction-duration-ms", "200", "--transactional-id", "tx-java"),
        *("--producer-props", f"bootstrap.servers={INTERNAL}", "client.id=java-tx"),
    )


def console(hands: Hands) -> None:
    """Kafka's console and perf consumers."""
    hands.java(
        hands.cluster.client(1),
        "org.apache.kafka.tools.ConsumerPerformance",
        *("--bootstrap-server", INTERNAL, "--topic", "codecs-java", "--messages", "1000"),
        *("--timeout", "15000", "--group", "perf-group", "--print-metrics"),
    )
    hands.java(
        hands.cluster.client(2),
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--bootstrap-server", INTERNAL, "--topic", "codecs", "--max-messages", "50", "--from-beginning"),
        *("--consumer-property", "client.id=java-console", "--group", "console-group"),
    )


def administration(hands: Hands) -> None:
    """The admin clients of librdkafka and kafka-python."""
    first = hands.run(
        hands.cluster.client(1),
        LIBRDKAFKA,
        do="admin",
        topic="made-by-rd",
        config={"bootstrap.servers": INTERNAL, "client.id": "rd-admin"},
    )
    second = hands.run(
        hands.cluster.client(2),
        KAFKA_PYTHON,
        do="admin",
        topic="made-by-py",
        config={"bootstrap_servers": INTERNAL, "client_id": "py-admin"},
    )
    first.end()
    second.end()


def administration_java(hands: Hands) -> None:
    """Kafka's own console tools: topics, configurations, ACLs, groups, offsets, transactions, log folders, quorum."""
    server = ("--bootstrap-server", INTERNAL)
    tools, name = "org.apache.kafka.tools", "made-by-java"
    moved = tools if hands.cluster.version == KAFKA_4 else "kafka.admin"
    acls = f"{moved}.AclCommand"
    rule = ("--allow-principal", "User:somebody", "--operation", "Read", "--topic", name)
    topic, group = ("--topic", name), f"{tools}.consumer.group.ConsumerGroupCommand"
    configs = ("kafka.admin.ConfigCommand", *server, "--entity-type", "topics", "--entity-name", name)
    folder = hands.folder / "administration"
    folder.mkdir(exist_ok=True)
    records = folder / "delete.json"
    asked = {"partitions": [{"topic": name, "partition": 0, "offset": 0}], "version": 1}
    records.write_text(json.dumps(asked), encoding="utf-8")
    calls: list[tuple[str, ...]] = [
        (f"{tools}.TopicCommand", *server, "--create", *topic, "--partitions", "2"),
        (f"{tools}.TopicCommand", *server, "--describe"),
        (f"{tools}.TopicCommand", *server, "--alter", *topic, "--partitions", "3"),
        (*configs, "--alter", "--add-config", "retention.ms=3600000"),
        (*configs, "--describe"),
        (acls, *server, "--add", *rule),
        (acls, *server, "--list"),
        (acls, *server, "--remove", "--force", *rule),
        (group, *server, "--list"),
        (group, *server, "--reset-offsets", "--to-earliest", "--group", "made-group", *topic, "--execute"),
        (group, *server, "--describe", "--group", "made-group"),
        (group, *server, "--delete", "--group", "made-group"),
        (f"{tools}.GetOffsetShell", *server, *topic),
        (f"{tools}.TransactionsCommand", *server, "list"),
        (f"{tools}.LogDirsCommand", *server, "--describe"),
        (f"{tools}.MetadataQuorumCommand", *server, "describe", "--status"),
        (f"{tools}.DeleteRecordsCommand", *server, "--offset-json-file", str(records)),
        (f"{moved}.BrokerApiVersionsCommand", *server),
        (f"{tools}.TopicCommand", *server, "--delete", *topic),
    ]
    printed = hands.tools(hands.cluster.client(3), calls)
    (folder / "tools.txt").write_text("\n".join(printed), encoding="utf-8")


def scram(hands: Hands) -> None:
    """A user made with SCRAM, and a producer that is this user; nobody forbids it anything but its topic."""
    words = ("--alter", "--entity-type", "users", "--entity-name", "admin", "--add-config")
    secret = "SCRAM-SHA-256=[iterations=4096,password=only-for-tests]"
    call = ("kafka.admin.ConfigCommand", "--bootstrap-server", INTERNAL, *words, secret)
    hands.tools(hands.cluster.client(1), [call])
    config = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.username": "admin",
        "sasl.password": "only-for-tests",
    }
    place = hands.cluster.client(2)
    client = hands.produce(place, LIBRDKAFKA, "rd-scram", "codecs", config=config, count=20, bootstrap=AUTH)
    hands.note_produced(client, "rd-scram")


def share_group(hands: Hands) -> None:
    """A share group of one member: Kafka's console share consumer."""
    name = "shared"
    hands.make_topics({name: 2})
    server = ("--bootstrap-server", INTERNAL)
    settings = ("--entity-type", "groups", "--entity-name", "share", "--alter")
    earliest = ("--add-config", "share.auto.offset.reset=earliest")
    hands.tools(hands.cluster.client(1), [("kafka.admin.ConfigCommand", *server, *settings, *earliest)])
    maker = hands.produce(hands.cluster.client(1), LIBRDKAFKA, "share-maker", name, config={}, count=40, partitions=2)
    hands.note_produced(maker, "share-maker")
    hands.java(
        hands.cluster.client(2),
        "org.apache.kafka.tools.consumer.ConsoleShareConsumer",
        *(*server, "--topic", name, "--group", "share", "--max-messages", "40", "--timeout-ms", "20000"),
    )


def sasl(hands: Hands) -> None:
    """PLAIN with the right and with a wrong password, from librdkafka and kafka-python."""
    plain = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "admin"}
    good = {**plain, "sasl.password": "only-for-tests"}
    place = hands.cluster.client(1)
    client = hands.produce(place, LIBRDKAFKA, "rd-sasl", "codecs", config=good, count=20, bootstrap=AUTH)
    hands.note_produced(client, "rd-sasl")
    refused = hands.member(
        place,
        LIBRDKAFKA,
        "never",
        "rd-refused",
        ["codecs"],
        config={**plain, "sasl.password": "wrong", "bootstrap.servers": AUTH},
    )
    python = {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "admin",
        "sasl_plain_password": "only-for-tests",
    }
    client = hands.produce(place, KAFKA_PYTHON, "py-sasl", "codecs", config=python, count=20, bootstrap=AUTH)
    hands.note_produced(client, "py-sasl")
    refused.kill()


def tls(hands: Hands) -> None:
    """A TLS listener, used well; then a plaintext listener asked with TLS, and one asked with HTTP."""
    secure = {"security.protocol": "SSL", "enable.ssl.certificate.verification": False}
    place = hands.cluster.client(1)
    client = hands.produce(place, LIBRDKAFKA, "rd-tls", "codecs", config=secure, count=20, bootstrap=SECURE)
    hands.note_produced(client, "rd-tls", is_hidden=True)
    mistaken = hands.member(place, LIBRDKAFKA, "never", "rd-mistaken", ["codecs"], config=secure)
    ask = "import urllib.request; urllib.request.urlopen('http://broker-1:29092/', timeout=5)"
    with contextlib.suppress(LabError):
        hands.cluster.clients.start(place, ["python3", "-c", ask]).wait_exit(10)
    time.sleep(1)
    mistaken.kill()


def published(hands: Hands) -> None:
    """The same brokers through published ports: from the docker host and from another machine of its network."""
    cluster = hands.cluster
    for place, bootstrap, name in ((cluster.host, EXTERNAL, "rd-host"), (cluster.lan, LAN, "rd-lan")):
        client = hands.produce(place, LIBRDKAFKA, name, "doors", config={}, partitions=2, count=50, bootstrap=bootstrap)
        hands.note_produced(client, name)


def _note_all(hands: Hands, started: list[tuple[Client, str]]) -> None:
    for client, name in started:
        hands.note_produced(client, name)
    started.clear()
