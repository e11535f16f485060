"""What a connection tells of itself."""

from netdiag.traffic.engine.bodies import Bodies
from netdiag.traffic.engine.connection import MAX_PLACES, Connection
from netdiag.traffic.engine.packet import ACK, RST, SYN
from netdiag.traffic.engine.pairing import Pairing
from netdiag.traffic.places import NOBODY
from tests.traffic.engine.segments import segment

CLIENT, BROKER = "10.0.0.1:40000", "10.0.0.2:9092"


def opened() -> Connection:
    connection = Connection(7, segment(flags=SYN), "a.pcap")
    connection.listen(Pairing(lambda asked, answer, outcome: None, Bodies()))
    connection.push(0, segment(flags=SYN))
    return connection


def test_a_refused_attempt() -> None:
    connection = opened()
    connection.push(1, segment(BROKER, CLIENT, flags=RST | ACK, acknowledgement=1, time=2))
    connection.finish()
    row = connection.row(NOBODY)
    assert (row.opening, row.ending, row.protocol) == ("refused", "reset-by-broker", "none")
    assert (row.first_time, row.last_time, row.client_packets, row.broker_packets) == (0, 2_000_000, 1, 1)
    assert (row.connection, row.file, row.interfaces) == (7, "a.pcap", ("eth0",))


def test_a_client_that_gives_up() -> None:
    connection = opened()
    connection.push(1, segment(BROKER, CLIENT, flags=SYN | ACK, acknowledgement=1, time=2))
    connection.push(0, segment(sequence=1, time=3))
    connection.push(0, segment(sequence=1, flags=RST, time=4))
    connection.finish()
    assert (connection.row(NOBODY).opening, connection.row(NOBODY).ending) == ("complete", "reset-by-client")


def test_places_are_told_from_client_to_broker_and_bounded() -> None:
    connection = opened()
    connection.also_seen(1, segment("172.18.0.2:9092", CLIENT, interface="veth1"))
    for number in range(3 * MAX_PLACES):
        connection.also_seen(0, segment(CLIENT, "172.18.0.3:9092", interface=f"veth{number}"))
    connection.finish()
    seen = connection.row(NOBODY).seen_as
    assert seen is not None
    assert seen[0] == f"{CLIENT}>172.18.0.2:9092 on veth1"
    assert len(seen) == MAX_PLACES


def test_without_ears_it_only_counts() -> None:
    connection = Connection(7, segment(flags=SYN), "a.pcap")
    connection.push(0, segment(flags=SYN))
    connection.push(0, segment(payload=b"x"))
    connection.finish()
    assert not connection.is_listened_to
    assert connection.losses() == []
