"""Scenes of the second hop: what becomes of advertised addresses, and who speaks what to which port."""

from netdiag.traffic.facts import host_of
from tests.wire.build.packets import Tcp
from tests.wire.build.scenes import Case, Scene
from tests.wire.build.talk import batch

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


CASES = (
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
