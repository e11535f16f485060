"""Workloads: each makes one kind of traffic and leaves what is true of it in the facts.

Those about groups come last: members that join, leave, die, stall, come back under their name.
"""

import contextlib
import json
import signal
import time

from tests.lab.errors import LabError
from tests.lab.jars import KAFKA_4
from tests.wire.traffic.client_actions import AIOKAFKA, JAVA, KAFKA_PYTHON, LIBRDKAFKA, ClientActions, consumed
from tests.wire.traffic.clients import Client
from tests.wire.traffic.cluster import AUTH, EXTERNAL, INTERNAL, LAN, SECURE

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
_ACKS = {"acks0": "0", "acks1": "1", "acksall": "all"}


def produce_librdkafka(actions: ClientActions, codecs: tuple[str, ...] = CODECS, count: int = 120) -> None:
    """Every codec with every acks, and idempotent."""
    place = actions.cluster.client(1)
    started = []
    for codec in codecs:
        for word, acks in _ACKS.items():
            name = f"rd-{codec}-{word}"
            config = {"compression.type": codec, "acks": acks, "linger.ms": 20}
            client = actions.produce(place, LIBRDKAFKA, name, "codecs", config=config, count=count, partitions=3)
            started.append((client, name))
        _note_all(actions, started)
    name = "rd-idempotent"
    config = {"enable.idempotence": True, "compression.type": "zstd", "batch.num.messages": 10}
    client = actions.produce(place, LIBRDKAFKA, name, "codecs", config=config, count=count, partitions=3)
    actions.note_produced(client, name)


def produce_python(actions: ClientActions, codecs: tuple[str, ...] = CODECS, count: int = 60) -> None:
    """kafka-python with every codec and every acks in turn."""
    place = actions.cluster.client(2)
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
        client = actions.produce(place, KAFKA_PYTHON, name, "codecs", config=config, count=count, partitions=3)
        started.append((client, name))
        if len(started) == 3:
            _note_all(actions, started)
    _note_all(actions, started)


def produce_aiokafka(actions: ClientActions, codecs: tuple[str, ...] = CODECS, count: int = 60) -> None:
    """aiokafka with every codec and every acks in turn."""
    place = actions.cluster.client(3)
    started = []
    for number, codec in enumerate(codecs):
        word, acks = list(_ACKS.items())[(number + 1) % 3]
        name = f"aio-{codec}-{word}"
        config = {
            "compression_type": None if codec == "none" else codec,
            "acks": acks if acks == "all" else int(acks),
            "linger_ms": 10,
        }
        client = actions.produce(place, AIOKAFKA, name, "codecs", config=config, count=count, partitions=3)
        started.append((client, name))
        if len(started) == 3:
            _note_all(actions, started)
    _note_all(actions, started)


def produce_java(actions: ClientActions, codecs: tuple[str, ...] = CODECS, count: int = 500) -> None:
    """Kafka's producer-perf-test with every codec, every acks in turn."""
    for number, codec in enumerate(codecs):
        word, acks = list(_ACKS.items())[number % 3]
        name = f"java-{codec}-{word}"
        actions.perf(
            actions.cluster.client(3),
            name,
            "codecs-java",
            count=count,
            compression_type=codec,
            acks=acks,
            enable_idempotence="false",
            linger_ms=5,
        )
    actions.perf(actions.cluster.client(3), "java-idempotent", "codecs-java", count=count, compression_type="zstd")


def transactions(actions: ClientActions) -> None:
    """Committed and aborted transactions of librdkafka and aiokafka; read by a consumer of committed records."""
    place = actions.cluster.client(1)
    config = {"bootstrap.servers": INTERNAL, "client.id": "rd-tx", "transactional.id": "tx-rd"}
    ends = ["commit", "abort", "commit"]
    base = {"do": "transact", "topic": "tx", "partitions": 2, "count": 10, "ends": ends}
    first = actions.run(place, LIBRDKAFKA, **base, config=config, group="tx-offsets")
    second = actions.run(
        actions.cluster.client(2),
        AIOKAFKA,
        **base,
        config={"bootstrap_servers": INTERNAL, "client_id": "aio-tx", "transactional_id": "tx-aio"},
    )
    first.end()
    second.end()
    reader = actions.member(
        place, LIBRDKAFKA, "tx-readers", "rd-tx-reader", ["tx"], config={"isolation.level": "read_committed"}
    )
    reader.wait_for("40 committed records", lambda _: consumed(reader) == 40)
    actions.note_consumed(reader, "rd-tx-reader", "tx-readers")


def transactions_java(actions: ClientActions) -> None:
    """Kafka's producer-perf-test in transactions."""
    actions.java(
        actions.cluster.client(2),
        "org.apache.kafka.tools.ProducerPerformance",
        *("--topic", "tx-java", "--num-records", "300", "--record-size", "100", "--throughput", "300"),
        *("--transaction-duration-ms", "200", "--transactional-id", "tx-java"),
        *("--producer-props", f"bootstrap.servers={INTERNAL}", "client.id=java-tx"),
    )


def console(actions: ClientActions) -> None:
    """Kafka's console and perf consumers."""
    actions.java(
        actions.cluster.client(1),
        "org.apache.kafka.tools.ConsumerPerformance",
        *("--bootstrap-server", INTERNAL, "--topic", "codecs-java", "--messages", "1000"),
        *("--timeout", "15000", "--group", "perf-group", "--print-metrics"),
    )
    actions.java(
        actions.cluster.client(2),
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--bootstrap-server", INTERNAL, "--topic", "codecs", "--max-messages", "50", "--from-beginning"),
        *("--consumer-property", "client.id=java-console", "--group", "console-group"),
    )


def administration(actions: ClientActions) -> None:
    """The admin clients of librdkafka and kafka-python."""
    first = actions.run(
        actions.cluster.client(1),
        LIBRDKAFKA,
        do="admin",
        topic="made-by-rd",
        config={"bootstrap.servers": INTERNAL, "client.id": "rd-admin"},
    )
    second = actions.run(
        actions.cluster.client(2),
        KAFKA_PYTHON,
        do="admin",
        topic="made-by-py",
        config={"bootstrap_servers": INTERNAL, "client_id": "py-admin"},
    )
    first.end()
    second.end()


def administration_java(actions: ClientActions) -> None:
    """Kafka's own console tools: topics, configurations, ACLs, groups, offsets, transactions, log folders, quorum."""
    server = ("--bootstrap-server", INTERNAL)
    tools, name = "org.apache.kafka.tools", "made-by-java"
    moved = tools if actions.cluster.version == KAFKA_4 else "kafka.admin"
    acls = f"{moved}.AclCommand"
    rule = ("--allow-principal", "User:somebody", "--operation", "Read", "--topic", name)
    topic, group = ("--topic", name), f"{tools}.consumer.group.ConsumerGroupCommand"
    configs = ("kafka.admin.ConfigCommand", *server, "--entity-type", "topics", "--entity-name", name)
    folder = actions.folder / "administration"
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
    printed = actions.tools(actions.cluster.client(3), calls)
    (folder / "tools.txt").write_text("\n".join(printed), encoding="utf-8")


def scram(actions: ClientActions) -> None:
    """A user made with SCRAM, and a producer that is this user; nobody forbids it anything but its topic."""
    words = ("--alter", "--entity-type", "users", "--entity-name", "admin", "--add-config")
    secret = "SCRAM-SHA-256=[iterations=4096,password=only-for-tests]"
    call = ("kafka.admin.ConfigCommand", "--bootstrap-server", INTERNAL, *words, secret)
    actions.tools(actions.cluster.client(1), [call])
    config = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.username": "admin",
        "sasl.password": "only-for-tests",
    }
    place = actions.cluster.client(2)
    client = actions.produce(place, LIBRDKAFKA, "rd-scram", "codecs", config=config, count=20, bootstrap=AUTH)
    actions.note_produced(client, "rd-scram")


def share_group(actions: ClientActions) -> None:
    """A share group of one member: Kafka's console share consumer."""
    name = "shared"
    actions.make_topics({name: 2})
    server = ("--bootstrap-server", INTERNAL)
    settings = ("--entity-type", "groups", "--entity-name", "share", "--alter")
    earliest = ("--add-config", "share.auto.offset.reset=earliest")
    actions.tools(actions.cluster.client(1), [("kafka.admin.ConfigCommand", *server, *settings, *earliest)])
    maker = actions.produce(
        actions.cluster.client(1), LIBRDKAFKA, "share-maker", name, config={}, count=40, partitions=2
    )
    actions.note_produced(maker, "share-maker")
    actions.java(
        actions.cluster.client(2),
        "org.apache.kafka.tools.consumer.ConsoleShareConsumer",
        *(*server, "--topic", name, "--group", "share", "--max-messages", "40", "--timeout-ms", "20000"),
    )


def sasl(actions: ClientActions) -> None:
    """PLAIN with the right and with a wrong password, from librdkafka and kafka-python."""
    plain = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "admin"}
    good = {**plain, "sasl.password": "only-for-tests"}
    place = actions.cluster.client(1)
    client = actions.produce(place, LIBRDKAFKA, "rd-sasl", "codecs", config=good, count=20, bootstrap=AUTH)
    actions.note_produced(client, "rd-sasl")
    refused = actions.member(
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
    client = actions.produce(place, KAFKA_PYTHON, "py-sasl", "codecs", config=python, count=20, bootstrap=AUTH)
    actions.note_produced(client, "py-sasl")
    refused.kill()


def tls(actions: ClientActions) -> None:
    """A TLS listener, used well; then a plaintext listener asked with TLS, and one asked with HTTP."""
    secure = {"security.protocol": "SSL", "enable.ssl.certificate.verification": False}
    place = actions.cluster.client(1)
    client = actions.produce(place, LIBRDKAFKA, "rd-tls", "codecs", config=secure, count=20, bootstrap=SECURE)
    actions.note_produced(client, "rd-tls", is_hidden=True)
    mistaken = actions.member(place, LIBRDKAFKA, "never", "rd-mistaken", ["codecs"], config=secure)
    ask = "import urllib.request; urllib.request.urlopen('http://broker-1:29092/', timeout=5)"
    with contextlib.suppress(LabError):
        actions.cluster.clients.start(place, ["python3", "-c", ask]).wait_exit(10)
    time.sleep(1)
    mistaken.kill()


def published(actions: ClientActions) -> None:
    """The same brokers through published ports: from the docker host and from another machine of its network."""
    cluster = actions.cluster
    for place, bootstrap, name in ((cluster.host, EXTERNAL, "rd-host"), (cluster.lan, LAN, "rd-lan")):
        client = actions.produce(
            place, LIBRDKAFKA, name, "doors", config={}, partitions=2, count=50, bootstrap=bootstrap
        )
        actions.note_produced(client, name)


def _note_all(actions: ClientActions, started: list[tuple[Client, str]]) -> None:
    for client, name in started:
        actions.note_produced(client, name)
    started.clear()


def triggers(actions: ClientActions, library: str, strategy: str, *, kill: bool = True, stall: bool = True) -> None:
    """A group that rebalances for each reason there is: join, leave, session timeout, poll interval, new partitions."""
    group = f"{library.replace('_', '-')}-{strategy}"
    topic = f"t-{group}"
    actions.make_topics({topic: 4})
    maker = actions.produce(
        actions.cluster.client(1), LIBRDKAFKA, f"p-{group}", topic, config={}, count=80, partitions=4
    )
    actions.note_produced(maker, f"p-{group}")
    places = [actions.cluster.client(number) for number in (1, 2, 3)]
    first_id, second_id = f"{group}-m1", f"{group}-m2"
    first = actions.member(places[0], library, group, first_id, [topic], strategy=strategy)
    first.wait_for("80 records", lambda _: consumed(first) >= 80)
    count = len(first.events)
    second = actions.member(places[1], library, group, second_id, [topic], strategy=strategy)
    second.wait_event("assigned")
    _wait_turn(first, count)
    count = len(first.events)
    actions.note_consumed(second, second_id, group, is_all=True)
    _wait_turn(first, count)
    if kill:
        # A member of the new protocol is missed after the broker's session timeout of 45 s: only where it is short.
        third = actions.member(places[2], library, group, f"{group}-m3", [topic], strategy=strategy)
        third.wait_event("assigned")
        count = len(first.events)
        third.kill()
        _wait_turn(first, count)
    if stall:
        _stall(actions, library, group, topic, strategy)
    if library == JAVA:
        count = len(first.events)
        first.tell("enforce")
        if strategy == "range":
            _wait_turn(first, count)
    count = len(first.events)
    actions.make_topics({topic: 6}, more=True)
    _wait_turn(first, count)
    actions.note_consumed(first, first_id, group, is_all=True)


def _stall(actions: ClientActions, library: str, group: str, topic: str, strategy: str) -> None:
    """A member that stops polling for longer than it may."""
    key = "max_poll_interval_ms" if library in (KAFKA_PYTHON, AIOKAFKA) else "max.poll.interval.ms"
    name = f"{group}-stalled"
    client = actions.member(
        actions.cluster.client(2), library, group, name, [topic], strategy=strategy, config={key: 4000}
    )
    client.wait_event("assigned")
    time.sleep(1)
    client.tell("stall 7")
    time.sleep(7.5)
    actions.note_consumed(client, name, group)


def static_member(actions: ClientActions, library: str = LIBRDKAFKA) -> None:
    """A static member that dies and comes back within its session: no rebalance; then another takes its name."""
    group, topic = f"static-{library.replace('_', '-')}", "codecs"
    key = "group_instance_id" if library in (KAFKA_PYTHON, AIOKAFKA) else "group.instance.id"
    place = actions.cluster.client(3)
    other = actions.member(place, library, group, f"{group}-b", [topic], config={key: "instance-b"})
    other.wait_event("assigned")
    first = actions.member(place, library, group, f"{group}-a", [topic], config={key: "instance-a"})
    first.wait_event("assigned")
    first.kill()
    again = actions.member(place, library, group, f"{group}-a2", [topic], config={key: "instance-a"})
    again.wait_event("assigned")
    time.sleep(1)
    actions.note_consumed(again, f"{group}-a2", group)
    actions.note_consumed(other, f"{group}-b", group)


def frozen_member(actions: ClientActions) -> None:
    """A member that is stopped for longer than its session and then goes on: it is told that it is not known."""
    group = "frozen"
    first = actions.member(actions.cluster.client(1), LIBRDKAFKA, group, "frozen-m1", ["codecs"])
    first.wait_event("assigned")
    count = len(first.events)
    second = actions.member(actions.cluster.client(2), LIBRDKAFKA, group, "frozen-m2", ["codecs"])
    second.wait_event("assigned")
    _wait_turn(first, count)
    time.sleep(1)
    # What the first hears from here on is that the second is missed, no longer that it came.
    count = len(first.events)
    second.signal(signal.SIGSTOP)
    _wait_turn(first, count)
    count = len(second.events)
    second.signal(signal.SIGCONT)
    _wait_turn(second, count)
    actions.note_consumed(second, "frozen-m2", group)
    actions.note_consumed(first, "frozen-m1", group)


def _wait_turn(client: Client, after: int) -> None:
    """Until a member is given or has to give up something."""
    told = ("assigned", "revoked", "lost")
    client.wait_for(
        "turn",
        lambda events: any(event["event"] in told for event in events[after:]),
    )
    time.sleep(0.3)
