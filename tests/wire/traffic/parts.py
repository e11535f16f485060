"""The parts of a scenario: each makes one kind of traffic and leaves what is true of it in the facts."""

import contextlib
import signal
import time

from tests.lab.errors import LabError
from tests.wire.traffic.clients import Client
from tests.wire.traffic.cluster import AUTH, EXTERNAL, INTERNAL, LAN, SECURE
from tests.wire.traffic.hands import AIOKAFKA, JAVA, KAFKA_PYTHON, LIBRDKAFKA, Hands, consumed

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
            started.append((client, name, acks != "0"))
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
        started.append((client, name, acks != "0"))
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
        started.append((client, name, acks != "0"))
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
    hands.perf(hands.cluster.client(3), "java-idempotent", "codecs-java", count=count, compression_type="lz4")


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


def triggers(hands: Hands, library: str, strategy: str, *, kill: bool = True, stall: bool = True) -> None:
    """A group that rebalances for each reason there is: join, leave, session timeout, poll interval, new partitions."""
    group = f"{library.replace('_', '-')}-{strategy}"
    topic = f"t-{group}"
    hands.make_topics({topic: 4})
    maker = hands.produce(hands.cluster.client(1), LIBRDKAFKA, f"p-{group}", topic, config={}, count=80, partitions=4)
    hands.note_produced(maker, f"p-{group}")
    places = [hands.cluster.client(number) for number in (1, 2, 3)]
    first_id, second_id = f"{group}-m1", f"{group}-m2"
    first = hands.member(places[0], library, group, first_id, [topic], strategy=strategy)
    first.wait_for("80 records", lambda _: consumed(first) >= 80, 40)
    count = len(first.events)
    second = hands.member(places[1], library, group, second_id, [topic], strategy=strategy)
    second.wait_event("assigned", 40)
    _wait_turn(first, count)
    count = len(first.events)
    hands.note_consumed(second, second_id, group)
    _wait_turn(first, count)
    if kill:
        # A member of the new protocol is missed after the broker's session timeout of 45 s: only where it is short.
        third = hands.member(places[2], library, group, f"{group}-m3", [topic], strategy=strategy)
        third.wait_event("assigned", 40)
        count = len(first.events)
        third.kill()
        _wait_turn(first, count)
    if stall:
        _stall(hands, library, group, topic, strategy)
    if library == JAVA:
        count = len(first.events)
        first.tell("enforce")
        if strategy == "range":
            _wait_turn(first, count)
    count = len(first.events)
    hands.make_topics({topic: 6}, more=True)
    _wait_turn(first, count)
    hands.note_consumed(first, first_id, group)


def _stall(hands: Hands, library: str, group: str, topic: str, strategy: str) -> None:
    """A member that stops polling for longer than it may."""
    key = "max_poll_interval_ms" if library in (KAFKA_PYTHON, AIOKAFKA) else "max.poll.interval.ms"
    name = f"{group}-stalled"
    client = hands.member(hands.cluster.client(2), library, group, name, [topic], strategy=strategy, config={key: 4000})
    client.wait_event("assigned", 40)
    time.sleep(1)
    client.tell("stall 7")
    time.sleep(7.5)
    hands.note_consumed(client, name, group)


def static_member(hands: Hands, library: str = LIBRDKAFKA) -> None:
    """A static member that dies and comes back within its session: no rebalance; then another takes its name."""
    group, topic = f"static-{library.replace('_', '-')}", "codecs"
    key = "group_instance_id" if library in (KAFKA_PYTHON, AIOKAFKA) else "group.instance.id"
    place = hands.cluster.client(3)
    other = hands.member(place, library, group, f"{group}-b", [topic], config={key: "instance-b"})
    other.wait_event("assigned", 40)
    first = hands.member(place, library, group, f"{group}-a", [topic], config={key: "instance-a"})
    first.wait_event("assigned", 40)
    first.kill()
    again = hands.member(place, library, group, f"{group}-a2", [topic], config={key: "instance-a"})
    again.wait_event("assigned", 40)
    time.sleep(1)
    hands.note_consumed(again, f"{group}-a2", group)
    hands.note_consumed(other, f"{group}-b", group)


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
    hands.note_produced(client, "rd-tls", acked=False)
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


def frozen_member(hands: Hands) -> None:
    """A member that is stopped for longer than its session and then goes on: it is told that it is not known."""
    group = "frozen"
    first = hands.member(hands.cluster.client(1), LIBRDKAFKA, group, "frozen-m1", ["codecs"])
    first.wait_event("assigned", 40)
    second = hands.member(hands.cluster.client(2), LIBRDKAFKA, group, "frozen-m2", ["codecs"])
    second.wait_event("assigned", 40)
    count = len(first.events)
    second.signal(signal.SIGSTOP)
    _wait_turn(first, count)
    count = len(second.events)
    second.signal(signal.SIGCONT)
    _wait_turn(second, count)
    hands.note_consumed(second, "frozen-m2", group)
    hands.note_consumed(first, "frozen-m1", group)


def _wait_turn(client: Client, after: int) -> None:
    """Until a member is given or has to give up something."""
    told = ("assigned", "revoked", "lost")
    client.wait_for("turn", lambda events: any(event["event"] in told for event in events[after:]), 60)
    time.sleep(0.3)


def _note_all(hands: Hands, started: list[tuple[Client, str, bool]]) -> None:
    for client, name, acked in started:
        hands.note_produced(client, name, acked=acked)
    started.clear()
