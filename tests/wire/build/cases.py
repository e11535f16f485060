"""A scene for each wire rule, with its repaired twin.

SECOND_HOP: what becomes of advertised addresses, and who speaks what to which port. GROUPS_AND_LEADERS: what should
stay where it is, and errors that are answered with the same request again. CLIENTS: how clients produce, ask, and
leave connections idle.
"""

from netdiag.traffic.facts import host_of
from tests.wire.build.kafka_connection import METADATA, PRODUCE, KafkaConnection, batch, old_batch
from tests.wire.build.packets import Tcp
from tests.wire.build.scenes import Case, Scene

_CLIENT_HELLO = bytes.fromhex("16030100050100000103")
_SERVER_HELLO = bytes.fromhex("160303007a020000760303") + bytes(116)
_ALERT = bytes.fromhex("15030300020250")


def told_loopback(scene: Scene) -> None:
    """Bad: localhost, and nothing more is heard of the client. Good: the broker's address, which it uses."""
    talk = scene.dial(0)
    if scene.good:
        talk.metadata(1, scene.itself)
        scene.work(2, scene.broker)
    else:
        talk.metadata(1, {1: ("localhost", 9092)})


def told_loopback_to_a_local_client(scene: Scene) -> None:
    """The docker host behind its gateway's address: it is told localhost and works, in both twins."""
    talk = scene.client(1).dial(0, scene.broker)
    talk.metadata(1, {1: ("localhost", 9092)})
    scene.client(1).dial(2, scene.broker).produce(3, batch())
    if not scene.good:
        scene.dial(4, last=9).metadata(5, {1: ("127.0.0.1", 9092)})


def unresolved(scene: Scene) -> None:
    """Bad: the name does not exist for the client. Good: it does."""
    talk = scene.dial(0)
    for number in range(4):
        at = 1 + 3 * number
        talk.metadata(at, {1: ("broker-1", 29092)})
        scene.network.look_up(at + 0.1, scene.address(9), "broker-1.example.net", "NXDOMAIN")
        if not scene.good:
            scene.network.look_up(at + 0.2, scene.address(9), "broker-1", "NXDOMAIN")
        elif number == 0:
            scene.network.look_up(at + 0.2, scene.address(9), "broker-1", [scene.address(2)])
            scene.work(at + 0.3, f"{scene.address(2)}:29092")


def refused(scene: Scene) -> None:
    """Bad: the advertised port refuses for ever. Good: it refuses twice while the broker starts."""
    told = f"{scene.address(2)}:9094"
    scene.dial(0).metadata(1, {1: (scene.address(2), 9094)})
    for number in range(2 if scene.good else 8):
        Tcp(scene.network, scene.address(9), told).refused(2 + number)
    if scene.good:
        scene.work(10, told)


def unanswered(scene: Scene) -> None:
    """Bad: the address swallows packets. Good: it answers."""
    told = f"172.30.{scene.number}.2:9092"
    scene.dial(0).metadata(1, {1: (host_of(told), 9092)})
    if scene.good:
        scene.work(2, told)
        return
    for at in (2, 20, 40):
        Tcp(scene.network, scene.address(9), told).unanswered(at)


def untried(scene: Scene) -> None:
    """Bad: the client asks for its coordinator ten times and never goes there. Good: it does."""
    talk = scene.dial(0)
    for number in range(1 if scene.good else 10):
        talk.coordinator(1 + 2 * number, "billing", 1, "kafka", 29092)
    if scene.good:
        member = scene.client().dial(2, f"{scene.address(2)}:29092")
        member.join(3, "untried-good", "m1", 1, "m1", ["m1"])


def untried_in_silence(scene: Scene) -> None:
    """Bad: the client is told its leader and says no more, as the Java client does. Good: it goes there."""
    scene.dial(0).metadata(1, {1: ("kafka", 29092)})
    if scene.good:
        scene.work(2, f"{scene.address(2)}:29092")
    # Whoever only lists topics says no more, either, and leaves.
    lister = scene.dial(3, last=8, suffix="-lister")
    lister.metadata(4, {1: ("kafka", 29092)})
    lister.tcp.close(5)


def foreign(scene: Scene) -> None:
    """Bad: another cluster answers at the advertised address. Good: the same one."""
    scene.dial(0).metadata(1, {1: (scene.address(3), 9092)}, cluster="cluster-a")
    there = scene.client().dial(2, f"{scene.address(3)}:9092")
    there.metadata(3, {1: (scene.address(3), 9092)}, cluster="cluster-a" if scene.good else "cluster-b")
    there.produce(4, batch())


def shared(scene: Scene) -> None:
    """Bad: two brokers at one address. Good: two ports."""
    port = 9093 if scene.good else 9092
    talk = scene.dial(0)
    talk.metadata(1, {1: (scene.address(2), 9092), 2: (scene.address(2), port)}, leaders=(1, 2))
    talk.produce(2, batch())


def tls_on_plaintext(scene: Scene) -> None:
    """Bad: TLS to the port where others speak Kafka. Good: to one that answers."""
    scene.dial(0, last=7, suffix="-plain").metadata(1, scene.itself)
    for number in range(3):
        tls = Tcp(scene.network, scene.address(9), f"{scene.address(2)}:{9093 if scene.good else 9092}")
        tls.open(2 + number)
        tls.send(2.1 + number, _CLIENT_HELLO)
        if scene.good:
            tls.answer(2.2 + number, _SERVER_HELLO)
        else:
            tls.close(2.2 + number, side=1)


def plaintext_on_tls(scene: Scene) -> None:
    """Bad: Kafka to the port where others are answered in TLS. Good: to another."""
    other = Tcp(scene.network, scene.address(7), f"{scene.address(2)}:9093")
    other.open(0)
    other.send(0.1, _CLIENT_HELLO)
    other.answer(0.2, _SERVER_HELLO)
    if scene.good:
        scene.dial(1).metadata(2, scene.itself)
        return
    for number in range(3):
        tcp = Tcp(scene.network, scene.address(9), f"{scene.address(2)}:9093")
        tcp.open(1 + number)
        tcp.send(1.1 + number, bytes.fromhex("000000180012000200000001000e") + b"plaintext-on-t")
        tcp.answer(1.2 + number, _ALERT)
        tcp.close(1.3 + number, side=1)


def stranger(scene: Scene) -> None:
    """Bad: HTTP to a port of Kafka. Good: to one of its own."""
    scene.dial(0, last=7, suffix="-kafka").metadata(1, scene.itself)
    for number in range(3):
        http = Tcp(scene.network, scene.address(9), f"{scene.address(2)}:{8081 if scene.good else 9092}")
        http.open(2 + number)
        http.send(2.1 + number, b"GET /subjects HTTP/1.1\r\nHost: registry\r\n\r\n")
        if scene.good:
            http.answer(2.2 + number, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
        http.close(2.3 + number, side=1)


SECOND_HOP = (
    Case(rule="wire-told-loopback", play=told_loopback),
    Case(rule="wire-told-loopback", play=told_loopback_to_a_local_client),
    Case(rule="wire-told-endpoint-unresolved", play=unresolved),
    Case(rule="wire-told-endpoint-refused", play=refused),
    Case(rule="wire-told-endpoint-unanswered", play=unanswered),
    Case(rule="wire-told-endpoint-untried", play=untried),
    Case(rule="wire-told-endpoint-untried", play=untried_in_silence),
    Case(rule="wire-told-endpoint-foreign", play=foreign),
    Case(rule="wire-told-endpoint-shared", play=shared),
    Case(rule="wire-tls-on-plaintext-port", play=tls_on_plaintext, culprit="10.{}.0.9"),
    Case(rule="wire-plaintext-on-tls-port", play=plaintext_on_tls, culprit="?"),
    Case(rule="wire-stranger-on-kafka-port", play=stranger, culprit="10.{}.0.9"),
)


def storm(scene: Scene) -> None:
    """Bad: a member does not poll, is out, and comes back, twice. Good: three members start one after the other."""
    group = f"{scene.name}-{'good' if scene.good else 'bad'}"
    steady = scene.dial(0, last=7, suffix="-steady")
    steady.metadata(0.5, scene.itself)
    steady.join(1, group, "m1", 1, "m1", ["m1"])
    slow = scene.dial(1, last=9)
    if scene.good:
        slow.join(3, group, "m2", 2, "m1", [])
        steady.join(4, group, "m1", 2, "m1", ["m1", "m2"])
        third = scene.dial(5, last=8, suffix="-third")
        for talk, member in ((third, "m3"), (steady, "m1"), (slow, "m2")):
            talk.join(6, group, member, 3, "m1", ["m1", "m2", "m3"])
        return
    generation = 1
    for number in range(3):
        at, member = 5 + 60 * number, f"m{2 + number}"
        slow.join(at, group, member, generation + 1, "m1", [])
        steady.join(at + 1, group, "m1", generation + 1, "m1", ["m1", member])
        slow.leave(at + 40, group, member, "consumer poll timeout has expired.")
        steady.join(at + 41, group, "m1", generation + 2, "m1", ["m1"])
        generation += 2


def coordinator(scene: Scene) -> None:
    """Bad: the coordinator moves six times. Good: once."""
    talk = scene.dial(0)
    nodes = (1, 1, 1, 2, 2, 2, 2) if scene.good else (1, 2, 1, 2, 1, 2, 1)
    for number, node in enumerate(nodes):
        talk.coordinator(1 + 10 * number, f"{scene.name}-group", node, scene.address(1 + node), 9092)
        talk.ask(2 + 10 * number, 12, {"group_id": f"{scene.name}-group"}, {"error_code": 0})


def leader(scene: Scene) -> None:
    """Bad: a partition has seven leaders in a minute. Good: two."""
    talk = scene.dial(0)
    brokers = {1: (scene.address(2), 9092), 2: (scene.address(3), 9092)}
    for number in range(8):
        node = 1 + (number % 2 if not scene.good else number >= 4)
        epoch = number if not scene.good else int(number >= 4)
        talk.metadata(1 + 8 * number, brokers, topic=scene.name, leaders=(node,), epoch=epoch)
        talk.produce(2 + 8 * number, batch(), scene.name)


def stale_leader(scene: Scene) -> None:
    """Bad: the broker is never the leader. Good: for a moment."""
    talk = scene.dial(0)
    talk.metadata(0.5, scene.itself)
    for number in range(30):
        talk.produce(1 + number, batch(), error=0 if scene.good and number > 2 else 6)


def unknown_topic(scene: Scene) -> None:
    """Bad: the topic never comes to be. Good: it does."""
    talk = scene.dial(0)
    for number in range(20):
        talk.metadata(1 + number / 2, scene.itself, topic="ordres", error=0 if scene.good and number > 1 else 3)


def authentication(scene: Scene) -> None:
    """Bad: no attempt succeeds. Good: the second one does."""
    for number in range(5):
        talk = scene.dial(number)
        talk.authenticate(number + 0.1, error=0 if scene.good and number else 58)
        if scene.good and number:
            continue
        talk.tcp.close(number + 0.2, side=1)


def denied(scene: Scene) -> None:
    """Bad: every Fetch is denied. Good: the first."""
    talk = scene.dial(0)
    talk.metadata(0.5, scene.itself)
    for number in range(10):
        talk.fetch(1 + number, error=0 if scene.good and number else 29)


def errors(scene: Scene) -> None:
    """Bad: there is no coordinator, for ever. Good: for two seconds."""
    talk = scene.dial(0)
    talk.metadata(0.5, scene.itself)
    for number in range(40):
        fails = not (scene.good and number > 4)
        group = f"{scene.name}-group"
        node, host, port = (-1, "", -1) if fails else (1, scene.address(2), 9092)
        talk.coordinator(1 + number / 2, group, node, host, port, error=15 if fails else 0)
    if scene.good:
        talk.ask(22, 12, {"group_id": f"{scene.name}-group"}, {"error_code": 0})


GROUPS_AND_LEADERS = (
    Case(rule="wire-rebalance-storm", play=storm),
    Case(rule="wire-coordinator-flapping", play=coordinator),
    Case(rule="wire-leader-flapping", play=leader),
    Case(rule="wire-stale-leader-loop", play=stale_leader),
    Case(rule="wire-unknown-topic-loop", play=unknown_topic),
    Case(rule="wire-authentication-failing", play=authentication),
    Case(rule="wire-access-denied", play=denied),
    Case(rule="wire-error-loop", play=errors),
)


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


def _ready(scene: Scene) -> KafkaConnection:
    """A client that knows where the leader is."""
    talk = scene.dial(0)
    talk.metadata(0.5, scene.itself)
    return talk


CLIENTS = (
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
