"""Data directories that real brokers left, and Kafka's own tool that tells what is in them.

`python -m tests.bars.data_directories VERSION FOLDER [CAPTURE]` fills one, inside a network namespace of its own, and
records what clients and the broker say to one another.
"""

import inspect
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.lab.cache import cache_root, digest, entry
from tests.lab.jars import KAFKA_3, KAFKA_4, kafka_jars
from tests.native.conversations import TIME
from tests.native.log_files import messages

VERSIONS = (KAFKA_3, KAFKA_4)
CLUSTER = "MkU3OEVBNTcwNTJENDM2Qg"
_TOOLS = {KAFKA_3: "kafka.tools.DumpLogSegments", KAFKA_4: "org.apache.kafka.tools.DumpLogSegments"}
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:9093
listeners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093,EXTERNAL://127.0.0.1:9094
advertised.listeners=PLAINTEXT://127.0.0.1:9092,EXTERNAL://localhost:9094
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,EXTERNAL:PLAINTEXT
controller.listener.names=CONTROLLER
log.dirs={folder}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=3
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=2
log.segment.bytes=1048576
log.index.interval.bytes=512
metadata.log.max.record.bytes.between.snapshots=4096
num.partitions=2
"""
_READY = 90


def data_directory(version: str) -> Path:
    """What a broker of this version leaves: every codec, transactions, compaction, groups. Made once."""
    cache = cache_root()
    jars = kafka_jars(cache, version)

    return entry(
        cache,
        "data-directories",
        f"{version}-{digest(jars.name, _PROPERTIES, inspect.getsource(_load))}",
        lambda folder: fill(version, folder),
    )


def fill(version: str, folder: Path, capture: Path | None = None) -> None:
    """Have a broker of this version fill a folder, and record its traffic if there is to be a capture."""
    command = ("unshare", "--net", sys.executable, "-m", __name__, version, str(folder))
    subprocess.run((*command, *([capture] if capture else [])), check=True, cwd=Path(__file__).parents[2])


def old_formats(folder: Path) -> Path:
    """A log of message formats 0 and 1, with and without compression, which brokers of today still read."""
    values = [(b"k%d" % number, b"v" * number) for number in range(5)]
    kinds = [(magic, codec) for magic in (0, 1) for codec in range(4)]
    data = b"".join(
        messages(values, magic=magic, codec=codec, base=5 * number, time=TIME)
        for number, (magic, codec) in enumerate(kinds)
    )
    log = folder / "old-0" / f"{0:020}.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(data)
    return log


def dump_command(version: str, *arguments: str | Path) -> tuple[str, ...]:
    """kafka-dump-log of a version."""
    jars = kafka_jars(cache_root(), version)
    return ("java", "-cp", f"{jars}/*", _TOOLS[version], *map(str, arguments))


def dumped(version: str, *arguments: str | Path) -> str:
    """What kafka-dump-log prints."""
    done = subprocess.run(dump_command(version, *arguments), capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace")


def main(arguments: Sequence[str]) -> int:
    """0 when the broker started, took everything and shut down cleanly."""
    version, folder = arguments[0], Path(arguments[1])
    jars = kafka_jars(cache_root(), version)
    properties = folder.with_name(f"{folder.name}.properties")
    properties.write_text(_PROPERTIES.format(folder=folder), encoding="utf-8")
    java = ("java", "-Xmx400m", "-cp", f"{jars}/*")
    subprocess.run(("ip", "link", "set", "lo", "up"), check=True)
    with ExitStack() as stack:
        if arguments[2:]:
            stack.enter_context(_recorded(arguments[2]))
        return _filled(folder, properties, java)


@contextmanager
def _recorded(capture: str) -> Iterator[None]:
    words = ("tcpdump", "-i", "lo", "-U", "-B", "65536", "-w", capture, "tcp", "port", "9092")
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as recorder:
        assert recorder.stderr is not None
        assert "listening on lo" in recorder.stderr.readline()
        try:
            yield
        finally:
            recorder.send_signal(signal.SIGINT)


def _filled(folder: Path, properties: Path, java: Sequence[str]) -> int:
    try:
        shutil.rmtree(folder)
        formatting = (*java, "kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", str(properties))
        subprocess.run(formatting, check=True, stdout=subprocess.DEVNULL)
        # What it logs goes where nobody looks: it must not fill a pipe.
        with subprocess.Popen((*java, "kafka.Kafka", str(properties)), stdout=subprocess.DEVNULL) as broker:
            try:
                _load()
                time.sleep(3)
            finally:
                broker.send_signal(signal.SIGTERM)
                broker.wait(60)
    finally:
        properties.unlink()
    return 0 if (folder / ".kafka_cleanshutdown").exists() else 1


def _load() -> None:
    from confluent_kafka import Consumer, KafkaException, Producer
    from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

    server: dict[str, str | int | float | bool] = {"bootstrap.servers": "127.0.0.1:9092"}
    admin = AdminClient(server)
    ends = time.monotonic() + _READY
    while time.monotonic() < ends:
        try:
            admin.list_topics(timeout=2)
            break
        except KafkaException:
            time.sleep(1)
    compacted = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "segment.ms": "1000"}
    topics = [NewTopic("orders", 2, 1), NewTopic("compacted", 2, 1, config=compacted)]
    topics.append(NewTopic("appended", 1, 1, config={"message.timestamp.type": "LogAppendTime"}))
    for future in admin.create_topics(topics).values():
        future.result()
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        producer = Producer(
            {**server, "compression.codec": codec, "linger.ms": 5, "enable.idempotence": codec == "lz4"}
        )
        for number in range(3000):
            headers: dict[str, str | bytes | None] | None = {"h": b"x", "empty": None} if number % 7 == 0 else None
            producer.produce("orders", key=f"k{number}", value=f"{codec}-{number}-" * 10, headers=headers)
            producer.poll(0)
        for number in range(1000):
            value = f"v{codec}{number}" if number % 97 else None
            producer.produce("compacted", key=f"k{number % 10}", value=value)
            producer.poll(0)
        producer.produce("appended", value=f"{codec}", timestamp=1)
        producer.flush()
    producer = Producer({**server, "transactional.id": "tx-1"})
    producer.init_transactions()
    for transaction in range(4):
        producer.begin_transaction()
        for number in range(50):
            producer.produce("orders", value=f"tx{transaction}-{number}")
        producer.flush()
        (producer.commit_transaction if transaction % 2 == 0 else producer.abort_transaction)()
    for group, protocol in (("billing", "classic"), ("shipping", "consumer")):
        options = {**server, "group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False}
        consumer = Consumer(options | ({"group.protocol": protocol} if protocol != "classic" else {}))
        consumer.subscribe(["orders"])
        count, ends = 0, time.monotonic() + 30
        while count < 2000 and time.monotonic() < ends:
            message = consumer.poll(1.0)
            count += message is not None and not message.error()
        if count:
            consumer.commit(asynchronous=False)
        consumer.close()


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    sys.exit(main(sys.argv[1:]))
