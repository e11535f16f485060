"""An engine that is stored and made again at any packet gives the same rows; foreign bytes give one clear error."""

import pickle
import random
import struct
from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import Any

import pytest

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.message import Spoken
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.packet import Packet
from netdiag.traffic.engine.records import CaptureReader
from netdiag.traffic.engine.run import Engine
from netdiag.traffic.engine.state import MAGIC, DamagedState, decode, encode
from netdiag.traffic.rows import ExchangeRow
from tests.io.spark.captures import conversation
from tests.traffic.engine.packets import Talker, pcap_file, translated, udp_packet

OPTIONS = EngineOptions(lasting=True)
PRODUCE, FETCH = 0, 1
DNS = bytes.fromhex("123401000001000000000000056b61666b6100 00010001".replace(" ", ""))


def rows_of(packets: Sequence[Packet], cuts: Collection[int] = ()) -> dict[str, list[str]]:
    """The rows, sorted; the engine is stored and made again before the packets at `cuts`."""
    engine = Engine(OPTIONS, ["one.pcap"])
    rows: dict[str, list[str]] = {}

    def take() -> None:
        for name, ready in engine.drain().items():
            rows.setdefault(name, []).extend(map(repr, ready))

    for number, packet in enumerate(packets):
        if number in cuts:
            take()
            engine = Engine.restored(OPTIONS, engine.save([0]))
        engine.feed(packet)
    engine.finish()
    take()
    return {name: sorted(each) for name, each in rows.items()}


def mixed() -> list[Packet]:
    """Conversations side by side, seen twice, with holes, swapped packets, a large message and an open question."""
    chance = random.Random(7)
    packets = [packet for number in range(6) for packet in conversation(number, asks=4)]
    packets += translated(conversation(2, asks=4), "10.0.1.1:9092", "172.18.0.2:9092")
    packets += large()
    packets.append(udp_packet("10.0.0.9:5000", "10.0.0.10:53", DNS, time=1_700_000_000_001))
    packets.sort(key=lambda packet: packet.time)
    for place in chance.sample(range(len(packets) - 1), 6):
        packets[place], packets[place + 1] = packets[place + 1], packets[place]
    for place in sorted(chance.sample(range(len(packets)), 5), reverse=True):
        del packets[place]
    return packets


def batch() -> bytes:
    """Three records of some bytes."""
    head = struct.pack(">qiibIhiqqqhii", 10, 49 + 1000, 0, 2, 0, 4, 2, 1000, 3000, 7, 1, 0, 3)
    return head + bytes(1000)


def large(*, lost: int | None = None) -> list[Packet]:
    """A Produce request of 400 kB, which is read while it passes by, and its answer."""
    talker = Talker("10.0.9.1:41000", "10.0.9.2:9092", start=1_700_000_000_000).open()
    partitions = [{"index": index, "records": batch() * 40} for index in range(10)]
    request = {"acks": 1, "timeout_ms": 1000, "topic_data": [{"name": "big", "partition_data": partitions}]}
    data = wire.encode_request(PRODUCE, 9, 1, "producer", request)
    for number, begin in enumerate(range(0, len(data), 1448)):
        talker.ask(data[begin : begin + 1448])
        if number == lost:
            del talker.packets[-1]
    answer = {"responses": [{"name": "big", "partition_responses": [{"index": 0, "error_code": 0}]}]}
    return talker.answer(wire.encode_response(PRODUCE, 9, 1, answer)).packets


def test_stored_before_every_packet_it_gives_the_same_rows() -> None:
    packets = mixed()
    whole = rows_of(packets)
    assert {name for name, rows in whole.items() if rows} >= {"exchanges", "connections", "names", "endpoints"}
    assert any("10.0.9.1" in row for row in whole["exchanges"])
    assert rows_of(packets, range(len(packets))) == whole


@pytest.mark.parametrize("lost", [None, 3, 150])
def test_a_large_message_goes_on_in_the_middle(lost: int | None) -> None:
    packets = large(lost=lost)
    whole = rows_of(packets)
    assert len(whole["exchanges"]) == 1
    assert len(whole["partitions"]) == (10 if lost is None or lost == 150 else len(whole["partitions"]))
    for cut in (1, 4, 100, 151, 200, len(packets) - 1):
        assert rows_of(packets, {cut}) == whole


def test_the_names_of_files_are_kept_as_long_as_rows_may_name_them() -> None:
    engine = Engine(OPTIONS, [])
    talk = conversation(1, asks=1)
    kept = []
    for number, packet in enumerate(talk[:4]):
        assert engine.add_file(f"{number}.pcap") == number
        engine.feed(packet._replace(file=number))
        engine.drain()
        engine = Engine.restored(OPTIONS, engine.save([number]))
        kept.append(sorted(engine._files.values()))
    # the handshake of each side is remembered by its first file, the request waits since the fourth
    assert kept[3] == ["0.pcap", "1.pcap", "3.pcap"]
    engine.finish()
    (row,) = engine.drain()["exchanges"]
    assert ExchangeRow(*row).file == "3.pcap"


def test_what_is_no_part_of_a_state_is_refused() -> None:
    engine = Engine(EngineOptions(), ["a"])
    with pytest.raises(ValueError, match="no part"):
        engine.save()
    fed = Engine(OPTIONS, ["a"])
    for packet in conversation(1):
        fed.feed(packet)
    with pytest.raises(ValueError, match="no part"):
        fed.save()


@pytest.mark.parametrize("pieces", [1, 7, 100, 5000])
def test_a_reader_of_captures_goes_on_anywhere(pieces: int) -> None:
    data = pcap_file(mixed()[:60])
    whole = CaptureReader()
    expected = [(p.number, p.time, bytes(p.data)) for p in (*whole.feed(data), *whole.finish())]
    reader, found = CaptureReader(), []
    for at in range(0, len(data), pieces * 10):
        found += [(p.number, p.time, bytes(p.data)) for p in reader.feed(data[at : at + pieces * 10])]
        reader = decode(encode(reader))
    found += [(p.number, p.time, bytes(p.data)) for p in reader.finish()]
    assert found == expected
    assert vars(reader.account) == vars(whole.account)


class Evil:
    """What a forged file would like to have done."""

    def __reduce__(self) -> Any:
        return print, ("done",)


def forged(content: bytes) -> bytes:
    """A state whose hashes are right."""
    return encode(None)[: len(MAGIC) + 32] + sha256(content).digest() + content


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is no state"),
        (b"netdiag state 0\n", "is no state"),
        (MAGIC + bytes(64), "another version"),
        (encode([1, 2])[:-1], "is damaged"),
        (encode([1, 2])[:-3] + b"abc", "is damaged"),
        (forged(pickle.dumps(Evil())), "no part of a state"),
        (forged(pickle.dumps(Evil(), protocol=0)), "no part of a state"),
        (forged(b"garbage"), "contradicts itself"),
        (forged(pickle.dumps(5)[:-1]), "contradicts itself"),
        (forged(b"\x80\x04\x95"), "contradicts itself"),
    ],
)
def test_foreign_bytes_are_told(data: bytes, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DamagedState, match=said):
        decode(data)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("value", [None, 5, [], {}, {"files": 3}, {"flows": {"live": [1]}}])
def test_a_state_with_strange_content_is_told(value: Any) -> None:
    with pytest.raises(DamagedState, match="contradicts itself"):
        Engine.restored(OPTIONS, encode(value))


def test_a_member_of_an_enumeration_is_stored_by_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian 12's Python 3.11.2 names `getattr` for one, which no state may hold."""
    by_name = lambda self, _protocol: (getattr, (type(self), self.name))  # noqa: E731
    monkeypatch.setattr(Spoken, "__reduce_ex__", by_name)
    assert decode(encode([Spoken.KAFKA])) == [Spoken.KAFKA]
