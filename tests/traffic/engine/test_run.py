"""The whole engine on small conversations: what a client and a broker said is what the rows say."""

from typing import Any

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.packet import Packet, Undecoded
from netdiag.traffic.engine.run import Engine
from netdiag.traffic.rows import ConnectionRow, ExchangeRow, LossRow
from tests.traffic.engine.packets import Talker, translated, udp_packet

METADATA, VERSIONS = 3, 18
ASK = wire.encode_request(METADATA, 12, 7, "app", {"topics": [{"name": "orders"}]})
TOLD = wire.encode_response(METADATA, 12, 7, {"brokers": [{"node_id": 1, "host": "kafka", "port": 9092}]})


def run(packets: list[Packet], **options: Any) -> dict[str, list[Any]]:
    engine = Engine(EngineOptions(**options), ["a.pcap"])
    for packet in sorted(packets, key=lambda packet: packet.time):
        engine.feed(packet)
    engine.finish()
    return engine.drain()


def talk() -> Talker:
    return Talker().open().ask(ASK).answer(TOLD).close()


def test_a_request_and_its_response_are_one_exchange() -> None:
    rows = run(talk().packets)
    (row,) = rows["exchanges"]
    assert isinstance(row, ExchangeRow)
    assert (row.client, row.broker) == ("10.0.0.1:40000", "10.0.0.2:9092")
    assert (row.api_key, row.api_name, row.api_version, row.correlation_id) == (3, "Metadata", 12, 7)
    assert (row.client_id, row.topics) == ("app", ("orders",))
    assert (row.request_bytes, row.response_bytes) == (len(ASK) - 4, len(TOLD) - 4)
    assert (row.latency_ms, row.time, row.request_packet, row.response_packet) == (1.0, 3_000_000, 4, 5)
    assert (row.outcome, row.decoded, row.error_code, row.file) == ("answered", "full", 0, "a.pcap")


def test_the_connection_has_a_row() -> None:
    (row,) = run(talk().packets)["connections"]
    assert isinstance(row, ConnectionRow)
    assert (row.opening, row.ending, row.protocol, row.handshake_ms) == ("complete", "fin", "kafka", 2.0)
    assert (row.requests, row.responses, row.client_id) == (1, 1, "app")
    assert (row.client_bytes, row.broker_bytes, row.lost_bytes) == (len(ASK), len(TOLD), 0)


def test_what_is_behind_address_translation_is_the_same_connection() -> None:
    published = Talker(broker="192.168.8.133:19092").open().ask(ASK).answer(TOLD).close().packets
    rows = run(published + translated(published, "192.168.8.133:19092", "172.18.0.2:9092"))
    (connection,) = rows["connections"]
    assert len(rows["exchanges"]) == 1
    assert connection.broker == "192.168.8.133:19092"
    assert connection.seen_as == ("10.0.0.1:40000>172.18.0.2:9092",)
    assert connection.duplicates == len(published)
    assert connection.retransmissions == 0


def test_one_view_makes_up_for_what_the_other_missed() -> None:
    published = Talker(broker="192.168.8.133:19092").open().ask(ASK).answer(TOLD).close().packets
    inside = translated(published, "192.168.8.133:19092", "172.18.0.2:9092")
    rows = run(published[:3] + published[4:] + inside)
    (exchange,) = rows["exchanges"]
    assert exchange.outcome == "answered"


def test_engines_of_all_classes_together_give_every_row_once() -> None:
    packets = [
        packet
        for port in range(40_000, 40_020)
        for packet in Talker(client=f"10.0.0.1:{port}").open().ask(ASK).answer(TOLD).close().packets
    ]
    whole = run(packets)
    parts = [run(packets, flow_class=(number, 3)) for number in range(3)]
    for name, rows in whole.items():
        assert sorted(row for part in parts for row in part[name]) == sorted(rows)
    assert all(part["exchanges"] for part in parts)


def test_a_port_that_is_used_again_is_another_connection() -> None:
    again = Talker(start=100)
    again.next = [77_000, 99_000]
    rows = run(talk().packets + again.open().ask(ASK).answer(TOLD).close().packets)
    assert len({row.connection for row in rows["connections"]}) == 2
    assert [row.outcome for row in rows["exchanges"]] == ["answered", "answered"]


def test_filters() -> None:
    other = Talker(client="10.0.0.9:5", broker="10.0.0.3:9092").open()
    other.ask(wire.encode_request(METADATA, 12, 1, "other", {"topics": [{"name": "clicks"}]}))
    packets = talk().packets + other.packets
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
        assert {row.client_id for row in run(packets, **options)["exchanges"]} == expected


def test_only_the_tables_asked_for() -> None:
    assert set(run(talk().packets, tables=frozenset({"exchanges"}))) == {"exchanges"}


def test_damage_of_a_file_is_a_loss() -> None:
    engine = Engine(EngineOptions(), ["a.pcap"])
    engine.lose(0, Undecoded("damage", "a record of 4 GB", 12))
    engine.finish()
    (row,) = engine.drain()["losses"]
    assert isinstance(row, LossRow)
    assert (row.file, row.kind, row.bytes, row.detail) == ("a.pcap", "damage", 12, "a record of 4 GB")


def test_too_many_connections_push_out_the_oldest() -> None:
    packets = [
        packet._replace(time=packet.time + port * 10_000_000)
        for port in range(1000, 1050)
        for packet in Talker(client=f"10.0.0.1:{port}").open().ask(ASK).packets
    ]
    rows = run(packets, max_connections=10)
    assert len(rows["connections"]) == 50
    assert [row.outcome for row in rows["exchanges"]] == ["unanswered"] * 50


QUESTION = b"\x00\x05\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x05kafka\x00\x00\x01\x00\x01"
NO_SUCH_NAME = QUESTION[:2] + b"\x81\x83" + QUESTION[4:]


def test_names_are_counted_by_the_first_engine_only() -> None:
    packets = [
        udp_packet("10.0.0.1:5000", "10.0.0.53:53", QUESTION),
        udp_packet("10.0.0.53:53", "10.0.0.1:5000", NO_SUCH_NAME, time=2),
    ]
    (row,) = run(packets, flow_class=(0, 2))["names"]
    assert (row.name, row.type, row.result, row.client, row.latency_ms) == (
        "kafka",
        "A",
        "NXDOMAIN",
        "10.0.0.1:5000",
        2.0,
    )
    assert run(packets, flow_class=(1, 2))["names"] == []
    assert [row.result for row in run(packets[:1])["names"]] == ["unanswered"]


def test_what_is_no_tcp_is_counted() -> None:
    packets = [udp_packet("10.0.0.1:5000", "10.0.0.2:9999", b"hello")]
    (row,) = run(packets)["losses"]
    assert (row.kind, row.detail, row.bytes) == ("not-tcp", "UDP", packets[0].length)
    assert run(packets, flow_class=(1, 2))["losses"] == []


def test_dropped_packets_are_counted() -> None:
    engine = Engine(EngineOptions(), ["a.pcap"])
    engine.dropped(0, 7)
    engine.finish()
    (row,) = (LossRow(*values) for values in engine.drain()["losses"])
    assert (row.kind, row.times, row.bytes) == ("dropped", 7, 0)
