"""Which connection a packet belongs to: openings, endings, ports used again, the same one at several places."""

from collections.abc import Sequence
from typing import Any

import pytest

from netdiag.kafka import protocol as wire
from tests.native.conversations import ASK, TOLD
from tests.native.packets import ACK, FIN, RST, SECOND, SYN, Packet, TcpConnection, translated, udp_packet
from tests.native.reading import rows_of_packets

PUBLISHED, INSIDE = "192.168.8.133:19092", "172.18.0.2:9092"
CONNECTIONS = frozenset({"connections"})


def connections(packets: Sequence[Packet], **options: Any) -> Sequence[Any]:
    """Their rows."""
    return rows_of_packets(packets, **options)["connections"]


def in_order(*several: Sequence[Packet]) -> list[Packet]:
    """Packets by their times."""
    return sorted((packet for packets in several for packet in packets), key=lambda packet: packet.time)


def talk(**where: Any) -> TcpConnection:
    """A request and its response."""
    return TcpConnection(**where).open().ask(ASK).answer(TOLD).close()


SYN_SENT, SYN_ACK, ACKED = (0, SYN, 0), (1, SYN | ACK, 2), (0, ACK, 5)
SYN_AGAIN, RESET, GIVEN_UP = (0, SYN, 1000), (1, RST | ACK, 1), (0, RST, 3)
DATA, ANSWER = (0, ACK, 9, b"x"), (1, ACK, 9, b"x")


@pytest.mark.parametrize(
    ("steps", "opening", "milliseconds", "ending"),
    [
        ([SYN_SENT, SYN_ACK, ACKED], "complete", 5.0, "open"),
        ([SYN_SENT, SYN_AGAIN, SYN_ACK, ACKED], "complete", 5.0, "open"),
        ([SYN_SENT, SYN_ACK], "half", None, "open"),
        ([SYN_SENT, RESET], "refused", None, "reset-by-broker"),
        ([SYN_SENT], "unanswered", None, "open"),
        ([SYN_SENT, SYN_AGAIN], "unanswered", None, "open"),
        ([SYN_ACK, ACKED], "complete", None, "open"),
        ([SYN_SENT, DATA], "complete", None, "open"),
        ([DATA, ANSWER], "unseen", None, "open"),
        ([ACKED], "unseen", None, "open"),
        ([SYN_SENT, SYN_ACK, GIVEN_UP], "half", None, "reset-by-client"),
        ([SYN_SENT, SYN_ACK, ACKED, (0, RST, 6)], "complete", 5.0, "reset-by-client"),
        ([SYN_SENT, SYN_ACK, ACKED, (0, ACK | FIN, 6), (1, ACK | FIN, 7)], "complete", 5.0, "fin"),
    ],
)
def test_how_a_connection_opens_and_ends(
    steps: Sequence[Any], opening: str, milliseconds: float | None, ending: str
) -> None:
    """Steps are a side, flags, milliseconds and maybe a payload; both sides begin at their first number."""
    made = TcpConnection()
    for side, flags, time, *payload in steps:
        made.time = time * 1_000_000
        first = made.packet(side, *payload, flags=flags, sequence=(1000, 5000)[side] + (not flags & SYN))
        made.packets.append(first)
    (row,) = connections(made.packets)
    assert (row.opening, row.handshake_ms, row.ending) == (opening, milliseconds, ending)
    assert (row.client, row.broker) == made.ends
    assert (row.client_packets, row.broker_packets) == tuple(sum(side == one for side, *_ in steps) for one in range(2))


def test_a_connection_has_a_row() -> None:
    (row,) = connections(talk().packets)
    assert (row.opening, row.ending, row.protocol, row.handshake_ms) == ("complete", "fin", "kafka", 2.0)
    assert (row.requests, row.responses, row.client_id, row.file) == (1, 1, "app", "a.pcap")
    assert (row.client_bytes, row.broker_bytes, row.lost_bytes) == (len(ASK), len(TOLD), 0)
    assert (row.first_time, row.last_time) == (0, 7_000_000)


def test_the_number_depends_on_time_and_ends_only() -> None:
    (one,), (same,) = (connections(talk().packets), connections(talk(sequences=(7, 8)).packets))
    (later,), (other,) = connections(talk(start=5).packets), connections(talk(client="10.0.0.1:40001").packets)
    assert one.connection == same.connection
    assert len({one.connection, later.connection, other.connection}) == 3


def test_a_syn_with_other_numbers_is_another_connection() -> None:
    first, again = TcpConnection().send(0, flags=SYN), TcpConnection(start=2000).send(0, flags=SYN)
    assert len(connections([*first.packets, *again.packets])) == 1
    other = TcpConnection(start=2000, sequences=(9, 9)).send(0, flags=SYN)
    assert len(connections([*first.packets, *other.packets])) == 2


@pytest.mark.parametrize("first", [talk(), TcpConnection().ask(b"x")])
def test_a_port_that_is_used_again_is_another_connection(first: TcpConnection) -> None:
    again = talk(start=100, sequences=(77_000, 99_000))
    rows = rows_of_packets([*first.packets, *again.packets])
    assert len({row.connection for row in rows["connections"]}) == 2
    assert {row.outcome for row in rows["exchanges"]} == {"answered"}


def test_what_is_closed_is_let_go_after_a_while() -> None:
    """Half a minute later the same ends are another connection, also without a handshake."""
    late = TcpConnection(start=60_000, sequences=(2000, 6000)).ask(ASK).answer(TOLD)
    soon = TcpConnection(start=1000, sequences=(2000, 6000)).ask(ASK).answer(TOLD)
    assert len(connections(in_order(talk().packets, late.packets))) == 2
    assert len(connections(in_order(talk().packets, soon.packets))) == 1


def test_too_many_connections_push_out_the_oldest() -> None:
    packets = [
        packet
        for number in range(50)
        for packet in TcpConnection(
            client=f"10.0.0.1:{1000 + number}", start=10 * number, sequences=(1000 * number, 9_000_000 * number)
        )
        .open()
        .ask(ASK)
        .packets
    ]
    rows = rows_of_packets(packets, max_connections=10)
    assert len(rows["connections"]) == 50
    assert [row.outcome for row in rows["exchanges"]] == ["unanswered"] * 50
    # The first one is let go before its response.
    late = TcpConnection(client="10.0.0.1:1000", start=1000)
    late.packets.append(late.packet(1, TOLD, sequence=1, acknowledgement=1 + len(ASK)))
    for most, expected in ((10, 51), (50, 50)):
        assert len(connections([*packets, *late.packets], max_connections=most)) == expected


def test_what_is_behind_address_translation_is_the_same_connection() -> None:
    published = talk(broker=PUBLISHED).packets
    packets = in_order(published, translated(published, PUBLISHED, INSIDE))
    rows = rows_of_packets(packets)
    (row,) = rows["connections"]
    assert len(rows["exchanges"]) == 1
    assert row.broker == PUBLISHED
    assert row.seen_as == (f"10.0.0.1:40000>{INSIDE}",)
    assert (row.duplicates, row.retransmissions) == (len(published), 0)
    both = rows_of_packets(packets, all_sightings=True)
    assert sorted(row.broker for row in both["connections"]) == [INSIDE, PUBLISHED]
    assert len(both["exchanges"]) == 2


def test_in_mid_stream_numbers_and_lengths_tell_that_it_is_the_same() -> None:
    published = TcpConnection(broker=PUBLISHED).ask(ASK).answer(TOLD).packets
    rows = rows_of_packets(in_order(published, translated(published, PUBLISHED, INSIDE)))
    assert [row.seen_as for row in rows["connections"]] == [(f"10.0.0.1:40000>{INSIDE}",)]
    assert len(rows["exchanges"]) == 1


def test_one_view_makes_up_for_what_the_other_missed() -> None:
    published = talk(broker=PUBLISHED).packets
    inside = translated(published, PUBLISHED, INSIDE)
    rows = rows_of_packets(in_order(published[:3], published[4:], inside))
    assert [row.outcome for row in rows["exchanges"]] == ["answered"]


@pytest.mark.parametrize(
    "other",
    [
        # Another port of the client, other numbers, or the same ones too late.
        TcpConnection(client="10.0.0.1:40001", broker=INSIDE).open(),
        TcpConnection(broker=INSIDE, sequences=(1001, 5000)).open(),
        TcpConnection(broker=INSIDE, start=5000).open(),
    ],
)
def test_what_is_not_the_same_connection_elsewhere_is_another_one(other: TcpConnection) -> None:
    assert len(connections(in_order(TcpConnection(broker=PUBLISHED).open().packets, other.packets))) == 2


def test_many_open_connections_change_nothing_of_the_others() -> None:
    """Of more connections than a cache holds, the next ones are looked up ahead of their packets."""
    crowd = [
        TcpConnection(client=f"10.1.{number // 200}.{number % 200}:5000", sequences=(number << 16, number << 17)).open()
        for number in range(1500)
    ]
    published = talk(broker=PUBLISHED, start=100).packets
    again = talk(broker=PUBLISHED, start=105, sequences=(77_000, 99_000)).packets
    packets = [
        *in_order(published, translated(published, PUBLISHED, INSIDE)),
        *in_order(again, translated(again, PUBLISHED, INSIDE)),
        *TcpConnection(client="[fd00::1]:40000", broker="[fd00::2]:9092", start=200).ask(ASK).answer(TOLD).packets,
    ]
    few = rows_of_packets(packets)
    assert len(few["connections"]) == 3
    assert [row.outcome for row in few["exchanges"]] == ["answered"] * 3
    many = rows_of_packets([*in_order(*(each.packets for each in crowd)), *packets])
    before = sum(len(each.packets) for each in crowd)
    assert [row for row in many["connections"] if ".1." not in row.client] == few["connections"]
    numbers = [(row.connection, row.request_packet - before, row.response_packet - before) for row in many["exchanges"]]
    assert numbers == [(row.connection, row.request_packet, row.response_packet) for row in few["exchanges"]]


def test_the_places_of_a_connection_are_told_from_client_to_broker_and_bounded() -> None:
    published = TcpConnection(broker=PUBLISHED).open().packets
    seen = [
        packet._replace(interface=f"veth{number}")
        for number in range(40)
        for packet in translated(published, PUBLISHED, f"172.18.0.{number + 2}:9092")
    ]
    (row,) = connections(in_order(published, seen))
    assert row.seen_as[0] == f"10.0.0.1:40000>{INSIDE} on veth0"
    assert len(row.seen_as) == 16


def test_readings_of_all_classes_together_give_every_row_once() -> None:
    packets = [
        packet
        for port in range(40_000, 40_020)
        for packet in talk(client=f"10.0.0.1:{port}", sequences=(port, 1000 * port)).packets
    ]
    packets += [udp_packet("10.0.0.1:5000", "10.0.0.2:9999", b"hello")]
    whole = rows_of_packets(packets)
    parts = [rows_of_packets(packets, flow_class=(number, 3)) for number in range(3)]
    for name, rows in whole.items():
        assert sorted(row for part in parts for row in part[name]) == sorted(rows)
    assert all(part["exchanges"] for part in parts)
    assert [len(part["losses"]) for part in parts] == [1, 0, 0]


def test_filters() -> None:
    other = TcpConnection(client="10.0.0.9:5", broker="10.0.0.3:9092", sequences=(7, 8)).open()
    other.ask(wire.encode_request(3, 12, 1, "other", {"topics": [{"name": "clicks"}]}))
    packets = in_order(talk().packets, other.packets)
    for options, expected in (
        ({"clients": frozenset({"app"})}, {"app"}),
        ({"clients": frozenset({"10.0.0.9"})}, {"other"}),
        ({"clients": frozenset({"10.0.0.9:5"})}, {"other"}),
        ({"brokers": frozenset({"10.0.0.3"})}, {"other"}),
        ({"brokers": frozenset({"10.0.0.2:9092"})}, {"app"}),
        ({"topics": frozenset({"clicks"})}, {"other"}),
        ({"ports": frozenset({9092})}, {"app", "other"}),
        ({"ports": frozenset({40_000})}, {"app"}),
        ({"ports": frozenset({1})}, set()),
    ):
        assert {row.client_id for row in rows_of_packets(packets, **options)["exchanges"]} == expected


def test_only_the_tables_asked_for_are_filled() -> None:
    assert set(rows_of_packets(talk().packets, tables=CONNECTIONS)) == {"connections"}
    assert connections(talk().packets, tables=CONNECTIONS) == connections(talk().packets)


def test_a_time_window_counts_as_if_nothing_else_was_there() -> None:
    (row,) = connections(talk().packets, since_ns=SECOND // 1000 * 3, until_ns=SECOND // 1000 * 5)
    assert (row.client_packets, row.broker_packets, row.opening, row.requests) == (1, 1, "unseen", 1)
