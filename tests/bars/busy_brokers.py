"""Two brokers that write all the time, and what becomes of their logs: rolled, deleted, compacted, cut and made anew.

`python -m tests.bars.busy_brokers VERSION FOLDER` runs them in a network namespace of its own until its input ends.
Their data directories are FOLDER/1 (the controller, too) and FOLDER/2. It answers lines with a line of JSON: `ends`
with the high watermarks by TOPIC-PARTITION, `stop` when the brokers stand still, `go` when they go on; and the first
when clients write.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from tests.bars.data_directories import CLUSTER
from tests.lab.cache import cache_root
from tests.lab.jars import kafka_jars

_PROPERTIES = """\
process.roles={roles}
node.id={node}
controller.quorum.voters=1@127.0.0.1:9093
listeners={listeners}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
log.dirs={folder}
offsets.topic.replication.factor=2
offsets.topic.num.partitions=2
offsets.topic.segment.bytes=1048576
transaction.state.log.replication.factor=2
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
log.index.interval.bytes=256
log.retention.check.interval.ms=200
log.initial.task.delay.ms=100
log.cleaner.backoff.ms=100
log.cleaner.delete.retention.ms=100
log.flush.offset.checkpoint.interval.ms=100
log.flush.start.offset.checkpoint.interval.ms=100
replica.high.watermark.checkpoint.interval.ms=100
group.initial.rebalance.delay.ms=0
leader.imbalance.check.interval.seconds=1
broker.session.timeout.ms=3000
metadata.log.max.record.bytes.between.snapshots=2000
metadata.max.idle.interval.ms=50
metadata.log.segment.ms=500
metadata.max.retention.bytes=20000
"""
_JAVA = ("-Xmx300m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dkafka.logs.dir=/tmp")
_QUICK = {"segment.ms": "300", "file.delete.delay.ms": "0", "index.interval.bytes": "256"}
_TOPICS = {
    "rolled": {**_QUICK, "retention.bytes": "300000"},
    "large": {"segment.bytes": "4194304", "retention.bytes": "8000000", "file.delete.delay.ms": "0"},
    "compacted": {
        **_QUICK,
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.01",
        "delete.retention.ms": "0",
    },
    "ended": {**_QUICK, "retention.bytes": "200000"},
    "anew": {**_QUICK},
}
PARTITIONS = 2
# The others are made anew.
_MEASURED = ("rolled", "large", "compacted", "ended")
_PORTS = {1: 9092, 2: 9094}
_READY = 90


class Brokers:
    """The brokers of a folder."""

    def __init__(self, version: str, folder: Path) -> None:
        self._java = ("java", *_JAVA, "-cp", f"{kafka_jars(cache_root(), version)}/*")
        self._folder = folder
        self.running: dict[int, subprocess.Popen[bytes]] = {}
        # Whoever sends signals to them.
        self.signals = Lock()

    def format(self) -> None:
        """Makes the data directories."""
        for node, port in _PORTS.items():
            listeners = f"PLAINTEXT://127.0.0.1:{port}" + (",CONTROLLER://127.0.0.1:9093" if node == 1 else "")
            roles = "broker,controller" if node == 1 else "broker"
            text = _PROPERTIES.format(
                roles=roles, node=node, listeners=listeners, port=port, folder=self._folder / str(node)
            )
            self._properties(node).write_text(text, encoding="utf-8")
            words = ("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", str(self._properties(node)))
            subprocess.run((*self._java, *words), check=True, stdout=subprocess.DEVNULL)

    def _properties(self, node: int) -> Path:
        return self._folder / f"{node}.properties"

    def start(self, node: int) -> None:
        """Does not wait until it takes requests."""
        log = (self._folder / f"{node}.out").open("ab")
        with log:
            self.running[node] = subprocess.Popen(
                (*self._java, "kafka.Kafka", str(self._properties(node))), stdout=log, stderr=log
            )

    def end(self, node: int, with_signal: signal.Signals) -> None:
        """Returns when it has ended."""
        broker = self.running.pop(node)
        broker.send_signal(with_signal)
        broker.wait(60)

    def stop(self) -> None:
        """Returns when all stand still."""
        self.signals.acquire()
        for broker in self.running.values():
            broker.send_signal(signal.SIGSTOP)
        for broker in self.running.values():
            while any(_state(thread) != "T" for thread in Path(f"/proc/{broker.pid}/task").iterdir()):
                time.sleep(0.01)

    def go_on(self) -> None:
        """After `stop`."""
        for broker in self.running.values():
            broker.send_signal(signal.SIGCONT)
        self.signals.release()

    def end_all(self) -> None:
        """All that run."""
        for node in tuple(self.running):
            self.end(node, signal.SIGKILL)


@contextmanager
def busy_brokers(version: str, folder: Path) -> Iterator["Busy"]:
    """Brokers that are written to for the block."""
    command = ("unshare", "--net", sys.executable, "-m", __name__, version, str(folder))
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=Path(__file__).parents[2],
    ) as process:
        try:
            yield Busy(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(60)


class Busy:
    """Asks the brokers from outside of their namespace."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the brokers have ended"
        return json.loads(line)

    def ends(self) -> dict[str, int]:
        """The high watermarks, by TOPIC-PARTITION."""
        found: dict[str, int] = self._ask("ends")
        return found

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """The brokers stand still for the block, wherever they are."""
        self._ask("stop")
        try:
            yield
        finally:
            self._ask("go")

    def _ask(self, what: str) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{what}\n")
        self._process.stdin.flush()
        return self._answer()


def main(arguments: Sequence[str]) -> int:
    """0 when standard input has ended."""
    version, folder = arguments[0], Path(arguments[1])
    subprocess.run(("ip", "link", "set", "lo", "up"), check=True)
    brokers, over = Brokers(version, folder), Event()
    brokers.format()
    for node in _PORTS:
        brokers.start(node)
    with ExitStack() as stack:
        stack.callback(brokers.end_all)
        stack.callback(over.set)
        _make_topics()
        for work in (_write, _write_transactions, _write_large, _commit, _end_records, _make_anew):
            Thread(target=_repeated, args=(work, over), daemon=True).start()
        Thread(target=_led_by_others, args=(brokers, over), daemon=True).start()
        asked = {"ends": _ends, "stop": brokers.stop, "go": brokers.go_on}
        print(json.dumps(None), flush=True)
        for line in sys.stdin:
            print(json.dumps(asked[line.strip()]()), flush=True)
    return 0


def _state(process: Path) -> str:
    """T: it stands still."""
    return (process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]


def _server() -> dict[str, str | int | float | bool]:
    return {
        "bootstrap.servers": ",".join(f"127.0.0.1:{port}" for port in _PORTS.values()),
        "log_level": 0,
        "reconnect.backoff.max.ms": 500,
    }


def _make_topics() -> None:
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

    admin = AdminClient(_server())
    ends = time.monotonic() + _READY
    while time.monotonic() < ends:
        with contextlib.suppress(KafkaException):
            if len(admin.list_topics(timeout=2).brokers) == len(_PORTS):
                break
        time.sleep(1)
    for future in admin.create_topics(
        [NewTopic(name, PARTITIONS, len(_PORTS), config=config) for name, config in _TOPICS.items()]
    ).values():
        future.result()
    while len(_ends()) < PARTITIONS * len(_MEASURED) and time.monotonic() < ends:
        time.sleep(1)


def _repeated(work: Callable[[Event, random.Random], None], over: Event) -> None:
    """A broker that ends, or a topic that is being made anew, is no reason to stop."""
    from confluent_kafka import KafkaException

    chance = random.Random(work.__name__)
    while not over.wait(0.2):
        with contextlib.suppress(KafkaException, BufferError):
            work(over, chance)


def _write(over: Event, chance: random.Random) -> None:
    from confluent_kafka import Producer

    codecs = ("none", "gzip", "snappy", "lz4", "zstd")
    for acks, codec in zip((1, "all", 1, 0, "all"), codecs, strict=True):
        producer = Producer({**_server(), "compression.codec": codec, "linger.ms": chance.choice((0, 5)), "acks": acks})
        ends = time.monotonic() + 2
        while time.monotonic() < ends and not over.wait(0.02):
            for number in range(chance.choice((1, 20, 100))):
                value = f"{codec}-{number}-" * chance.choice((1, 10, 100))
                for topic in ("rolled", "compacted", "ended", "anew"):
                    producer.produce(topic, key=f"k{number % 10}", value=value)
                producer.poll(0)
        producer.flush(5)


def _write_large(over: Event, chance: random.Random) -> None:
    from confluent_kafka import Producer

    producer = Producer({**_server(), "linger.ms": 50, "acks": 1})
    while not over.wait(0.2):
        producer.produce("large", value=chance.randbytes(900_000))
        producer.poll(0)


def _write_transactions(over: Event, chance: random.Random) -> None:
    from confluent_kafka import Producer

    producer = Producer({**_server(), "transactional.id": f"tx-{chance.random()}", "transaction.timeout.ms": 5000})
    producer.init_transactions(20)
    while not over.wait(0.05):
        producer.begin_transaction()
        for number in range(20):
            producer.produce("rolled", value=f"tx-{number}" * 10)
        producer.flush(5)
        (producer.commit_transaction if chance.random() < 0.5 else producer.abort_transaction)(10)


def _commit(over: Event, chance: random.Random) -> None:
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({**_server(), "group.id": chance.choice("abc"), "enable.auto.commit": False})
    try:
        ends = time.monotonic() + 3
        while time.monotonic() < ends and not over.wait(0.01):
            places = [TopicPartition("rolled", number, chance.randrange(1000)) for number in range(PARTITIONS)]
            consumer.commit(offsets=places, asynchronous=False)
    finally:
        consumer.close()


def _end_records(over: Event, chance: random.Random) -> None:
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient

    admin = AdminClient(_server())
    while not over.wait(0.5):
        for future in admin.delete_records(
            [TopicPartition("ended", number, -1) for number in range(PARTITIONS)]
        ).values():
            future.result()


def _make_anew(over: Event, chance: random.Random) -> None:
    from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

    admin = AdminClient(_server())
    while not over.wait(2):
        for future in admin.delete_topics(["anew"]).values():
            future.result()
        over.wait(chance.random())
        for future in admin.create_topics([NewTopic("anew", PARTITIONS, 2, config=_TOPICS["anew"])]).values():
            future.result()


def _led_by_others(brokers: Brokers, over: Event) -> None:
    """The second broker starts again, or stands still until the first one leads and has what it has not."""
    while not over.wait(10):
        with brokers.signals:
            brokers.running[2].send_signal(signal.SIGSTOP)
            over.wait(5)
            brokers.running[2].send_signal(signal.SIGCONT)
        if over.wait(10):
            return
        with brokers.signals:
            brokers.end(2, signal.SIGTERM)
            brokers.start(2)


def _ends() -> dict[str, int]:
    from confluent_kafka import Consumer, KafkaException, TopicPartition

    consumer = Consumer({**_server(), "group.id": "none"})
    found = {}
    try:
        for topic in _MEASURED:
            for number in range(PARTITIONS):
                with contextlib.suppress(KafkaException):
                    found[f"{topic}-{number}"] = consumer.get_watermark_offsets(
                        TopicPartition(topic, number), timeout=1, cached=False
                    )[1]
    finally:
        consumer.close()
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
