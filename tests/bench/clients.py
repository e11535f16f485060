"""Clients and brokers that talk real Kafka, to be recorded: `python -m tests.bench.clients MIX SECONDS`.

The brokers are the mock cluster of librdkafka, the clients librdkafka, kafka-python and aiokafka, a process each. It
must run where nothing but the loopback interface is: `recording` sees to that. The ports of the brokers are printed.
"""

import asyncio
import contextlib
import multiprocessing
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.synchronize import Event

BROKERS = 3
TOPICS = tuple(f"{area}.{what}" for area in ("shop", "web", "stock") for what in ("orders", "events", "audit"))
GROUPS = (("billing", TOPICS[:4]), ("search", TOPICS[3:7]), ("reports", TOPICS[5:]))
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
_WORDS = ("order", "customer", "amount", "EUR", "created", "basket", "article", "street", "true", "null", "2024-05-17")
_POOL = 150
_GRACE = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """What a producer sends: records a second of a mean size, to some topics."""

    rate: int
    size: int
    topics: tuple[str, ...]
    codec: str
    acks: str
    linger_ms: int
    batch: int = 10_000
    idempotent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """A member of a group: when it comes and how long it stays, in parts of the whole time."""

    group: str
    topics: tuple[str, ...]
    arrival: float
    part: float


def bulk() -> Iterator[Flow]:
    """Producers that fill batches, with every codec and every acks."""
    shapes = ((600, 1100, 0), (900, 380, 10), (2500, 170, 25), (500, 2300, 5), (160, 9500, 60))
    for number in range(10):
        rate, size, linger = shapes[number % 5]
        yield Flow(
            rate=rate,
            size=size,
            linger_ms=linger,
            codec=CODECS[(number + number // 5) % 5],
            acks=("1", "all", "0", "all", "1")[number % 5],
            idempotent=number == 6,
            topics=TOPICS[number % 5 : number % 5 + 4],
        )


def chatty() -> Iterator[Flow]:
    """Producers that send every record, or every four, at once."""
    for flow, number in zip(bulk(), range(10), strict=True):
        yield Flow(
            rate=1100,
            size=230,
            linger_ms=0,
            batch=1 + 3 * (number % 2),
            codec=flow.codec,
            acks=flow.acks,
            topics=flow.topics,
            idempotent=flow.idempotent,
        )


MIXES: Mapping[str, Callable[[], Iterator[Flow]]] = {"bulk": bulk, "chatty": chatty}


def main(mix: str, seconds: int) -> int:
    """Let everybody talk for a while."""
    spawn = multiprocessing.get_context("spawn")
    ready, stop = spawn.SimpleQueue(), spawn.Event()
    everybody = [spawn.Process(target=_brokers, args=(ready, stop), daemon=True)]
    everybody[0].start()
    servers = str(ready.get())
    print(" ".join(address.rsplit(":", 1)[1] for address in servers.split(",")), flush=True)
    work: list[tuple[Callable[..., None], tuple[object, ...]]] = [
        (_producer, (servers, number, flow, stop)) for number, flow in enumerate(MIXES[mix]())
    ]
    for group, topics in GROUPS:
        for arrival, part in ((0.0, 1.0), (0.05, 0.6), (0.4, 0.3)):
            stay = Stay(group=group, topics=topics, arrival=arrival * seconds, part=part * seconds)
            work.append((_member, (servers, stay, stop)))
    work += [(_kafka_python, (servers, codec, stop)) for codec in (None, "gzip")]
    work += [(_kafka_python_member, (servers, stop)), (_aiokafka, (servers, stop)), (_exporter, (servers, stop))]
    for target, arguments in work:
        everybody.append(spawn.Process(target=target, args=arguments, daemon=True))
        everybody[-1].start()
    time.sleep(seconds)
    stop.set()
    until = time.monotonic() + _GRACE
    for process in everybody[1:]:
        process.join(max(0.1, until - time.monotonic()))
    for process in everybody:
        process.terminate()
        process.join()
    return 0


def _brokers(ready: "multiprocessing.queues.SimpleQueue[str]", stop: Event) -> None:
    from confluent_kafka import Producer

    owner = Producer({"bootstrap.servers": "unused", "test.mock.num.brokers": BROKERS, "client.id": "owner"})
    brokers = owner.list_topics(timeout=10).brokers.values()
    ready.put(",".join(f"{broker.host}:{broker.port}" for broker in brokers))
    while not stop.is_set():
        owner.poll(0.5)
    time.sleep(_GRACE)


def _payloads(seed: int, size: int) -> list[bytes]:
    """Records that compress as text does; their sizes vary."""
    chance = random.Random(seed)
    texts = []
    for _ in range(_POOL):
        length = max(16, int(chance.gauss(size, size / 4)))
        parts: list[str] = []
        while sum(map(len, parts)) < length:
            parts.append(f'"{chance.choice(_WORDS)}":"{chance.randrange(1_000_000)}",')
        texts.append("".join(parts)[:length].encode())
    return texts


def _ticks(stop: Event, pause: float) -> Iterator[None]:
    """Every so often until it is over; what was late is not made up for."""
    due = time.monotonic()
    while not stop.is_set():
        yield
        due = max(due + pause, time.monotonic() - pause)
        time.sleep(max(0.0, due - time.monotonic()))


def _producer(servers: str, number: int, flow: Flow, stop: Event) -> None:
    from confluent_kafka import Producer

    settings: dict[str, str | int | bool] = {
        "bootstrap.servers": servers,
        "client.id": f"{flow.topics[0].split('.')[0]}-writer-{number}",
        "compression.type": flow.codec,
        "linger.ms": flow.linger_ms,
        "batch.num.messages": flow.batch,
        "topic.metadata.refresh.interval.ms": 4000,
        "acks": "all" if flow.idempotent else flow.acks,
        "enable.idempotence": flow.idempotent,
    }
    producer = Producer(settings)
    chance, values = random.Random(number), _payloads(number, flow.size)
    for _ in _ticks(stop, 0.02):
        for _ in range(max(1, flow.rate // 50)):
            key = b"customer-%d" % chance.randrange(800)
            with contextlib.suppress(BufferError):
                producer.produce(chance.choice(flow.topics), chance.choice(values), key)
        producer.poll(0)
    producer.flush(2)


def _member(servers: str, stay: Stay, stop: Event) -> None:
    from confluent_kafka import Consumer

    if stop.wait(stay.arrival):
        return
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "client.id": f"{stay.group}-reader-{int(stay.arrival)}",
            "group.id": stay.group,
            "auto.offset.reset": "earliest",
            "session.timeout.ms": 7000,
            "heartbeat.interval.ms": 600,
            "auto.commit.interval.ms": 900,
            "fetch.wait.max.ms": 120,
        }
    )
    consumer.subscribe(list(stay.topics))
    until = time.monotonic() + stay.part
    while not stop.is_set() and time.monotonic() < until:
        consumer.consume(400, 0.1)
    consumer.close()


def _kafka_python(servers: str, codec: str | None, stop: Event) -> None:
    from kafka import KafkaProducer

    name = f"python-writer-{codec}"
    producer = KafkaProducer(
        bootstrap_servers=servers.split(","), client_id=name, acks=1, compression_type=codec, linger_ms=5
    )
    values = _payloads(50, 280)
    for _ in _ticks(stop, 0.05):
        for value in random.sample(values, 12):
            producer.send(random.choice(TOPICS[:3]), value)
    producer.close(timeout=3)


def _kafka_python_member(servers: str, stop: Event) -> None:
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(
        *TOPICS[1:4],
        bootstrap_servers=servers.split(","),
        client_id="python-reader",
        group_id="python",
        auto_offset_reset="earliest",
        session_timeout_ms=7000,
        heartbeat_interval_ms=800,
    )
    while not stop.is_set():
        consumer.poll(timeout_ms=200)
    consumer.close()


def _aiokafka(servers: str, stop: Event) -> None:
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

    async def both() -> None:
        values = _payloads(60, 190)
        reading = {"group_id": "asyncio", "auto_offset_reset": "earliest", "client_id": "asyncio-reader"}
        async with (
            AIOKafkaProducer(bootstrap_servers=servers, client_id="asyncio-writer") as producer,
            AIOKafkaConsumer(*TOPICS[:2], bootstrap_servers=servers, **reading) as consumer,
        ):
            while not stop.is_set():
                for value in random.sample(values, 15):
                    await producer.send(random.choice(TOPICS[:2]), value)
                await consumer.getmany(timeout_ms=60)

    asyncio.run(both())


def _exporter(servers: str, stop: Event) -> None:
    """What watches a cluster: metadata and groups, again and again."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": servers, "client.id": "exporter"})
    for _ in _ticks(stop, 0.4):
        with contextlib.suppress(KafkaException):
            admin.list_topics(timeout=2)
            admin.list_consumer_groups(request_timeout=2).result()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
