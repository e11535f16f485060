"""Bar: a capture of 100 MB from the command line to the answer, Spark's start included, in local[2] under 60 s.

The capture is made here: producers and brokers of small batches, 640 bytes a packet as in captures of real clients.
NETDIAG_CAPTURE names another one, which is measured as it is.
"""

import os
import random
import resource
import struct
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from netdiag.kafka import protocol as wire
from tests.bars.measuring import report
from tests.native.files import pcap_file
from tests.native.packets import Packet, TcpConnection

MOST_SECONDS = 60
SIZE = 100_000_000
PRODUCE, VERSION, LZ4 = 0, 9, 3
CONNECTIONS = 200
START = 1_700_000_000_000


def main() -> int:
    """0 when it was fast enough and found every exchange."""
    with TemporaryDirectory() as folder:
        path, exchanges = os.environ.get("NETDIAG_CAPTURE"), None
        if path is None:
            path, exchanges = made(Path(folder) / "made.pcap")
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "netdiag", "analyze", path, "--master", "local[2]"],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        seconds = time.monotonic() - began
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        report("size of the capture", round(Path(path).stat().st_size / 1e6, 1), "MB")
        report("end to end", round(seconds, 1), "s")
        report("CPU", round(spent.ru_utime + spent.ru_stime, 1), "s")
        report("load of the machine afterwards", round(os.getloadavg()[0], 1))
        print(done.stdout[:3000])
        complete = exchanges is None or f"exchanges   {exchanges:,}, 100.0 % decoded in full" in done.stdout
        return 0 if done.returncode in (0, 1) and complete and seconds < MOST_SECONDS else 1


def made(path: Path) -> tuple[str, int]:
    """A capture of about SIZE bytes, and how many exchanges are in it."""
    chance = random.Random(0)
    packets: list[Packet] = []
    count = 0
    while sum_of(packets) < SIZE:
        number = len(packets)
        client, broker = (
            f"10.{number % 200}.0.{count % 200 + 1}:{40000 + count % 20000}",
            f"10.200.0.{count % 3 + 1}:9092",
        )
        talker = TcpConnection(client, broker, start=START + count % 60_000)
        talker.next = [chance.randrange(2**31), chance.randrange(2**31)]
        talker.open()
        for correlation in range(SIZE // CONNECTIONS // 1300):
            topic = f"topic-{count % 8}"
            partition = {"index": correlation % 4, "records": batch(chance)}
            request = {"acks": -1, "timeout_ms": 1000, "topic_data": [{"name": topic, "partition_data": [partition]}]}
            talker.ask(wire.encode_request(PRODUCE, VERSION, correlation, f"app-{count % 12}", request))
            answer = {"index": correlation % 4, "error_code": 0, "base_offset": correlation}
            response = {"responses": [{"name": topic, "partition_responses": [answer]}]}
            talker.answer(wire.encode_response(PRODUCE, VERSION, correlation, response))
            count += 1
        packets += talker.close().packets
    packets.sort(key=lambda packet: packet.time)
    path.write_bytes(pcap_file(packets))
    return str(path), count


def sum_of(packets: list[Packet]) -> int:
    """The bytes of a capture file with these packets, from the mean of the last ones."""
    last = packets[-1000:]
    return len(packets) * sum(16 + len(packet.data) for packet in last) // max(1, len(last))


def batch(chance: random.Random) -> bytes:
    """A record batch: nobody looks into compressed records."""
    records = chance.randbytes(chance.randrange(600, 1400))
    head = struct.pack(">bIhiqqqhii", 2, 0, LZ4, 9, START, START + 5, -1, -1, -1, 10)
    return struct.pack(">qii", 0, len(head) + len(records) + 4, -1) + head + records


if __name__ == "__main__":
    sys.exit(main())
