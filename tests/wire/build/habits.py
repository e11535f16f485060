"""Scenes of how clients produce, ask, and leave connections idle."""

from tests.wire.build.scenes import Case, Scene
from tests.wire.build.talk import METADATA, PRODUCE, Talk, batch, old_batch

_LZ4 = 3


def tiny_batches(scene: Scene) -> None:
    """Bad: a thousand batches of a record. Good: a dozen of a hundred."""
    talk = _ready(scene)
    count, records = (12, 100) if scene.good else (1200, 1)
    for number in range(count):
        talk.produce(1 + number * 12 / count, batch(records, 80 * records, codec=_LZ4))


def uncompressed(scene: Scene) -> None:
    """Bad: 11 MB as they are. Good: compressed."""
    talk = _ready(scene)
    for number in range(220):
        talk.produce(1 + number / 10, batch(100, 50_000, codec=_LZ4 if scene.good else 0))


def weak_acks(scene: Scene) -> None:
    """Bad: acks=0 to three replicas. Good: all."""
    talk = scene.dial(0)
    talk.metadata(0.5, scene.itself, topic=scene.name, replicas=3)
    for number in range(15):
        talk.produce(1 + number, batch(codec=_LZ4), scene.name, acks=-1 if scene.good else 0)


def hot_partition(scene: Scene) -> None:
    """Bad: nearly everything to one of four partitions. Good: the same to each."""
    talk = scene.dial(0)
    talk.metadata(0.5, scene.itself, topic=scene.name, leaders=(1, 1, 1, 1))
    for number in range(160):
        partition = number % 4 if scene.good or number % 8 == 0 else 2
        talk.produce(1 + number / 4, batch(50, 10_000, codec=_LZ4), scene.name, partition)


def throttled(scene: Scene) -> None:
    """Bad: the broker asks for patience. Good: it does not."""
    talk = _ready(scene)
    for number in range(10):
        talk.produce(1 + number, batch(), throttle=0 if scene.good else 300)


def resent(scene: Scene) -> None:
    """Bad: one batch eight times. Good: eight batches."""
    talk = _ready(scene)
    for number in range(8):
        sequence = 10 * number if scene.good else 0
        talk.produce(
            1 + number,
            batch(producer=4000 + scene.number, epoch=0, sequence=sequence),
            error=0 if scene.good else 7,
        )


def metadata_storm(scene: Scene) -> None:
    """Bad: ten requests a second. Good: one in five seconds."""
    talk = scene.dial(0)
    for number in range(200):
        talk.metadata(1 + number / (0.2 if scene.good else 10), scene.itself)


def idle_closed(scene: Scene) -> None:
    """Bad: the broker closes after ten minutes. Good: the client does after nine."""
    for number in range(2):
        talk = scene.dial(number)
        talk.metadata(number + 0.5, scene.itself)
        talk.tcp.close(number + 0.5 + (540.2 if scene.good else 600.4), side=0 if scene.good else 1)


def idle_dead(scene: Scene) -> None:
    """Bad: after six minutes the connection is gone when it is used. Good: it is not."""
    for number in range(2):
        talk = scene.dial(number)
        talk.metadata(number + 0.5, scene.itself)
        if scene.good:
            talk.metadata(number + 360, scene.itself)
        else:
            talk.ask(number + 360, METADATA, {"topics": []}, None)
            talk.tcp.reset(number + 360.1)


def too_large(scene: Scene) -> None:
    """Bad: the batch is refused. Good: a smaller one is not."""
    talk = _ready(scene)
    for number in range(3):
        size = 100_000 if scene.good else 2_000_000
        talk.produce(1 + number, batch(10, size, codec=_LZ4), error=0 if scene.good else 10)


def removed_versions(scene: Scene) -> None:
    """Bad: Produce as of Kafka 0.10. Good: as of 2.4."""
    talk = _ready(scene)
    for number in range(3):
        if scene.good:
            talk.produce(1 + number, batch())
        else:
            data = [{"name": "orders", "partition_data": [{"index": 0, "records": old_batch()}]}]
            told = [{"name": "orders", "partition_responses": [{"index": 0, "error_code": 0, "base_offset": 0}]}]
            body = {"acks": -1, "timeout_ms": 1000, "topic_data": data}
            talk.ask(1 + number, PRODUCE, body, {"responses": told}, version=2)


def _ready(scene: Scene) -> Talk:
    """A client that knows where the leader is."""
    talk = scene.dial(0)
    talk.metadata(0.5, scene.itself)
    return talk


CASES = (
    Case(rule="wire-tiny-batches", play=tiny_batches),
    Case(rule="wire-uncompressed-bulk", play=uncompressed),
    Case(rule="wire-weak-acks", play=weak_acks),
    Case(rule="wire-hot-partition", play=hot_partition),
    Case(rule="wire-throttled", play=throttled),
    Case(rule="wire-resent-batches", play=resent),
    Case(rule="wire-metadata-storm", play=metadata_storm),
    Case(rule="wire-idle-closed", play=idle_closed),
    Case(rule="wire-idle-dead", play=idle_dead),
    Case(rule="wire-request-too-large", play=too_large),
    Case(rule="wire-removed-versions", play=removed_versions),
)
