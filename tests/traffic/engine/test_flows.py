"""Which connection a segment belongs to."""

from netdiag.traffic.engine.connection import Connection
from netdiag.traffic.engine.flows import Flows, number_of
from netdiag.traffic.engine.packet import ACK, FIN, RST, SYN, Segment, Unreachable
from tests.traffic.engine.segments import segment

CLIENT, BROKER, TRANSLATED = "10.0.0.1:40000", "10.0.0.2:9092", "172.18.0.2:9092"


class Opened:
    """Remembers the connections that were made, and those that ended."""

    def __init__(self, max_connections: int = 100) -> None:
        self.made: list[Connection] = []
        self.ended: list[Connection] = []
        self.flows = Flows(self._make, self.ended.append, max_connections)

    def _make(self, number: int, first: Segment) -> Connection:
        self.made.append(Connection(number, first, "a"))
        return self.made[-1]


def test_both_directions_are_one_connection() -> None:
    opened = Opened()
    opened.flows.push(segment(CLIENT, BROKER, flags=SYN))
    opened.flows.push(segment(BROKER, CLIENT, flags=SYN | ACK, acknowledgement=1))
    (made,) = opened.made
    assert (made.client, made.broker) == (CLIENT, BROKER)


def test_a_syn_ack_seen_first_comes_from_the_broker() -> None:
    opened = Opened()
    opened.flows.push(segment(BROKER, CLIENT, flags=SYN | ACK, acknowledgement=1))
    (made,) = opened.made
    assert (made.client, made.broker) == (CLIENT, BROKER)


def test_a_syn_with_other_numbers_is_another_connection() -> None:
    opened = Opened()
    opened.flows.push(segment(flags=SYN, sequence=5))
    opened.flows.push(segment(flags=SYN, sequence=5, time=1000))
    assert len(opened.made) == 1
    opened.flows.push(segment(flags=SYN, sequence=9, time=2000))
    assert len(opened.made) == 2
    assert opened.ended == opened.made[:1]


def test_an_old_connection_whose_port_is_used_again() -> None:
    opened = Opened()
    opened.flows.push(segment(payload=b"x"))
    opened.flows.push(segment(flags=SYN, sequence=77, time=5))
    assert len(opened.made) == 2


def test_one_that_is_let_go_as_it_begins_ends_once() -> None:
    """Where packets are out of order, the latest connection can be the one that was silent longest."""
    opened = Opened(max_connections=1)
    opened.flows.push(segment(flags=SYN, sequence=5, time=1000))
    opened.flows.push(segment("10.0.0.3:40000", BROKER, flags=SYN, sequence=7, time=10))
    opened.flows.push(segment("10.0.0.3:40000", BROKER, flags=SYN, sequence=9, time=2000))
    assert len(opened.made) == 3
    assert opened.ended == [opened.made[1], opened.made[0]]


def test_under_other_addresses_it_is_the_same() -> None:
    opened = Opened()
    opened.flows.push(segment(CLIENT, BROKER, flags=SYN, sequence=5))
    opened.flows.push(segment(CLIENT, TRANSLATED, flags=SYN, sequence=5, time=1))
    opened.flows.push(segment(TRANSLATED, CLIENT, flags=SYN | ACK, sequence=9, acknowledgement=6, time=2))
    opened.flows.push(segment(BROKER, CLIENT, flags=SYN | ACK, sequence=9, acknowledgement=6, time=3))
    assert len(opened.made) == 1


def test_in_mid_stream_numbers_tell() -> None:
    opened = Opened()
    opened.flows.push(segment(CLIENT, BROKER, sequence=50, acknowledgement=60, payload=b"abc"))
    opened.flows.push(segment(CLIENT, TRANSLATED, sequence=50, acknowledgement=60, payload=b"abc", time=1))
    opened.flows.push(segment(TRANSLATED, CLIENT, sequence=60, acknowledgement=53, payload=b"d", time=2))
    assert len(opened.made) == 1


def test_an_icmp_error_finds_its_connection() -> None:
    opened = Opened()
    first = segment(flags=SYN)
    opened.flows.push(first)
    error = Unreachable(
        time=1,
        reporter=first.destination,
        source=first.source,
        destination=first.destination,
        source_port=first.source_port,
        destination_port=first.destination_port,
        type=3,
        code=1,
        number=2,
        file=0,
    )
    assert opened.flows.unreachable(error)
    assert opened.made[0].handshake.opening == "unreachable"
    assert not opened.flows.unreachable(error._replace(source_port=1))


def test_what_is_closed_is_let_go_after_a_while() -> None:
    opened = Opened()
    opened.flows.push(segment(flags=SYN))
    opened.flows.push(segment(BROKER, CLIENT, flags=RST | ACK, time=1))
    opened.flows.push(segment("10.0.0.7:1", BROKER, flags=SYN, sequence=8, time=60_000))
    assert opened.ended == opened.made[:1]
    opened.flows.finish()
    assert opened.ended == opened.made


def test_a_fin_from_both_sides_closes() -> None:
    opened = Opened()
    opened.flows.push(segment(flags=ACK | FIN))
    assert not opened.made[0].is_closed
    opened.flows.push(segment(BROKER, CLIENT, flags=ACK | FIN))
    assert opened.made[0].is_closed


def test_the_number_depends_on_time_and_ends_only() -> None:
    key = (b"\x0a\x00\x00\x01", b"\x0a\x00\x00\x02", 1, 2, b"")
    assert number_of(key, 5) == number_of(key, 5)
    assert len({number_of(key, 5), number_of(key, 6), number_of((*key[:3], 3, b""), 5)}) == 3
    assert -(2**63) <= number_of(key, 5) < 2**63
