"""A capture of many small conversations, as a file."""

from pathlib import Path

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.packet import Packet
from tests.traffic.engine.packets import Talker, pcap_file

METADATA = 3
# Milliseconds since 1970.
START = 1_700_000_000_000
EVERY = 50


def conversation(number: int, *, asks: int = 3, port: int = 9092) -> list[Packet]:
    """A client of its own that asks a few times."""
    talker = Talker(f"10.0.0.{number + 1}:{40000 + number}", f"10.0.1.1:{port}", start=START + number * EVERY)
    # What begins at the same sequence numbers is the same connection seen behind address translation.
    talker.next = [1000 * number + port, 70_000_000 * number + port]
    talker.open()
    for ask in range(asks):
        request = {"topics": [{"name": f"topic-{number % 3}"}]}
        talker.ask(wire.encode_request(METADATA, 12, ask, f"app-{number % 2}", request))
        broker = {"node_id": 1, "host": "kafka", "port": port}
        talker.answer(wire.encode_response(METADATA, 12, ask, {"brokers": [broker]}))
    return talker.close().packets


def capture(path: Path, conversations: int = 12, **more: int) -> str:
    """A file with so many of them."""
    packets = [packet for number in range(conversations) for packet in conversation(number, **more)]
    path.write_bytes(pcap_file(sorted(packets, key=lambda packet: packet.time)))
    return str(path)
