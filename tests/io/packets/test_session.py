"""Captures of every engine beside tcpdump on the same traffic; limits, rotation, what ends by itself."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from netdiag.io.packets.filters import of_expression, of_ports
from netdiag.io.packets.output import Rotation
from netdiag.io.packets.places import named, of_process
from netdiag.io.packets.session import Limits, Progress
from tests.io.namespaces import FAR, NEAR, Pair, ip
from tests.io.packets.traffic import (
    FLOOD,
    SENDER,
    TAGGED,
    TALKER,
    TUNNEL,
    captured,
    dwelling,
    fields,
    needs,
    packets_of,
    python,
    tcpdump,
)

pytestmark = pytest.mark.slow
ENGINES = ("scapy", "tcpdump", "dumpcap")
PACKET = ("frame.len", "frame.cap_len", "ip.id", "ip.src", "udp.dstport", "tcp.seq_raw", "tcp.ack_raw")


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_packets_as_tcpdump_in_the_same_order(pair: Pair, tmp_path: Path, engine: str) -> None:
    needs(engine if engine != "scapy" else "tcpdump")
    witness, ours = tmp_path / "witness.pcap", tmp_path / "ours.pcapng"

    def traffic() -> None:
        with tcpdump(pair.near, witness, "-i", "eth0", "-s", "256", "udp"):
            python(pair.near, SENDER, FAR, 9092, 700)
            python(pair.far, SENDER, NEAR, 9093, 300)

    progress, _ = captured(
        [named(pair.near)], ours, traffic, engine=engine, links=("eth0",), snaplen=256, chosen=of_expression("udp")
    )
    assert fields(ours, *PACKET) == fields(witness, *PACKET)
    assert (progress.packets, progress.dropped) == (1000, 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_loopback_is_seen_once(pair: Pair, tmp_path: Path, engine: str) -> None:
    """Segments larger than a frame among it; interfaces tell place and link."""
    needs(engine if engine != "scapy" else "tcpdump")
    witness, ours = tmp_path / "witness.pcap", tmp_path / "ours.pcapng"

    def traffic() -> None:
        with tcpdump(pair.near, witness, "-i", "lo", "-s", "96"):
            python(pair.near, TALKER, NEAR, 9092)

    captured([named(pair.near)], ours, traffic, engine=engine, snaplen=96, chosen=of_ports([9092]))
    sent = fields(ours, "frame.interface_name", *PACKET[2:])
    assert {row[0] for row in sent} == {f"{pair.near}:lo"}
    assert [row[1:] for row in sent] == fields(witness, *PACKET[2:])
    if engine != "tcpdump":
        # Of all links tcpdump writes cooked packets: another header, six bytes longer.
        assert fields(ours, *PACKET) == fields(witness, *PACKET)


def test_the_times_are_the_kernels(pair: Pair, tmp_path: Path) -> None:
    witness, ours = tmp_path / "witness.pcap", tmp_path / "ours.pcapng"

    def traffic() -> None:
        with tcpdump(pair.near, witness, "-i", "eth0", "udp"):
            python(pair.near, SENDER, FAR, 9092, 100)

    captured([named(pair.near)], ours, traffic, engine="scapy", links=("eth0",), chosen=of_expression("udp"))
    both = zip(fields(ours, "frame.time_epoch"), fields(witness, "frame.time_epoch"), strict=True)
    # Each socket takes the time by itself: microseconds apart, unless the machine is busy elsewhere.
    apart = sorted(abs(float(one) - float(other)) for (one,), (other,) in both)
    assert apart[len(apart) // 2] < 0.001
    assert any(not time.endswith("000") for (time,) in fields(ours, "frame.time_epoch"))


@pytest.mark.parametrize("engine", ENGINES)
def test_the_filter_takes_exactly_its_packets(pair: Pair, tmp_path: Path, engine: str) -> None:
    needs(engine if engine != "scapy" else "tcpdump")

    def traffic() -> None:
        for port in (53, 9092, 9999):
            python(pair.near, SENDER, FAR, port, 20)
        python(pair.near, TALKER, NEAR, 9092)
        python(pair.near, TALKER, NEAR, 9999)

    ours = tmp_path / "ours.pcapng"
    captured([named(pair.near)], ours, traffic, engine=engine, chosen=of_ports([9092]))
    rows = fields(ours, "tcp.port", "udp.dstport", "icmp.type")
    # Nobody listens on the far side: what it answers names ports inside the ICMP message.
    assert {row[2] for row in rows} == {"", "3"}
    assert [row[1] for row in rows if row[1] and not row[2]] == ["53"] * 20
    talk = [row[0] for row in rows if row[0]]
    assert all("9092" in ports for ports in talk)
    assert len(talk) > 10


def test_a_tag_that_the_kernel_takes_off_is_put_back(pair: Pair, tmp_path: Path) -> None:
    witness, ours = tmp_path / "witness.pcap", tmp_path / "ours.pcapng"

    def traffic() -> None:
        with tcpdump(pair.far, witness, "-i", "eth0", "-s", "128", "vlan"):
            python(pair.near, TAGGED)

    captured([named(pair.far)], ours, traffic, engine="scapy", links=("eth0",), snaplen=124)
    names = ("frame.len", "frame.cap_len", "vlan.id", "vlan.etype", "udp.dstport")
    taken = [row for row in fields(ours, *names) if row[2]]
    assert taken == fields(witness, *names)
    assert [row[2] for row in taken] == ["7"] * 5


def test_a_link_without_ethernet(pair: Pair, tmp_path: Path) -> None:
    """Both kinds of filter find the network header of a tunnel."""
    for chosen in (of_ports([9092]), of_expression("udp port 53")):
        ours = tmp_path / "ours.pcapng"
        captured([named(pair.near)], ours, lambda: python(pair.near, TUNNEL), engine="scapy", chosen=chosen)
        rows = fields(ours, "frame.interface_name", "udp.dstport", "ip.dst", "frame.len")
        assert [row for row in rows if row[0] == f"{pair.near}:tun7"] == [(f"{pair.near}:tun7", "53", FAR, "48")] * 4


@pytest.mark.parametrize("engine", ENGINES)
def test_several_places_in_one_file_in_order_of_time(pair: Pair, tmp_path: Path, engine: str) -> None:
    needs(engine if engine != "scapy" else "tcpdump")
    ours = tmp_path / "ours.pcapng"
    captured(
        [named(pair.near), named(pair.far)],
        ours,
        lambda: python(pair.near, SENDER, FAR, 9092, 200),
        engine=engine,
        links=("eth0",),
        chosen=of_expression("udp"),
    )
    seen = packets_of(ours)
    assert [packet.time for packet in seen] == sorted(packet.time for packet in seen)
    near = [packet.data for packet in seen if packet.interface == f"{pair.near}:eth0"]
    assert near == [packet.data for packet in seen if packet.interface == f"{pair.far}:eth0"]
    assert len(near) == 200


@pytest.mark.parametrize("engine", ENGINES)
def test_so_many_packets_and_no_more(pair: Pair, tmp_path: Path, engine: str) -> None:
    needs(engine if engine != "scapy" else "tcpdump")
    ours = tmp_path / "ours.pcapng"
    progress, _ = captured(
        [named(pair.near)],
        ours,
        lambda: python(pair.near, SENDER, FAR, 9092, 300),
        engine=engine,
        chosen=of_expression("udp"),
        limits=Limits(packets=37),
    )
    assert progress.packets == len(packets_of(ours)) == 37


@pytest.mark.parametrize("engine", ENGINES)
def test_rotation_keeps_the_last_files(pair: Pair, tmp_path: Path, engine: str) -> None:
    needs(engine if engine != "scapy" else "tcpdump")
    progress, output = captured(
        [named(pair.near)],
        tmp_path / "ours.pcapng",
        lambda: python(pair.near, SENDER, FAR, 9092, 400),
        engine=engine,
        chosen=of_expression("udp"),
        rotation=Rotation(size=50_000, keep=3),
    )
    files = sorted(path.name for path in tmp_path.iterdir())
    assert len(files) == 3
    assert [Path(path).name for path in output.files] == files
    assert all(path.stat().st_size <= 51_000 for path in tmp_path.iterdir())
    sizes = [packet.length for name in files for packet in packets_of(tmp_path / name)]
    sent = [14 + 20 + 8 + 4 + number * 7 % 1300 for number in range(400)]
    if engine == "tcpdump":
        # Cooked packets have a longer header.
        sent = [size + 6 for size in sent]
    assert sizes == sent[-len(sizes) :]
    assert progress.packets == 400
    assert output.removed > 2


def test_after_a_time(pair: Pair, tmp_path: Path) -> None:
    start = time.monotonic()
    progress, _ = captured([named(pair.near)], tmp_path / "x.pcapng", lambda: time.sleep(2), limits=Limits(seconds=0.6))
    assert 0.6 <= progress.seconds < 1.9
    assert time.monotonic() - start >= 2


def test_a_process_that_ends_ends_its_place(pair: Pair, tmp_path: Path) -> None:
    with dwelling(pair.far) as dweller:

        def traffic() -> None:
            python(pair.near, SENDER, FAR, 9092, 10)
            dweller.kill()
            dweller.wait()
            time.sleep(1.0)
            python(pair.near, SENDER, FAR, 9092, 10)

        ours = tmp_path / "ours.pcapng"
        progress, _ = captured([of_process(dweller.pid)], ours, traffic, engine="scapy", chosen=of_expression("udp"))
    assert [str(error) for error in progress.ended] == [f"process {dweller.pid}: it is gone, and sends no more packets"]
    assert len(packets_of(ours)) == 10


def test_links_that_go_and_come(pair: Pair, tmp_path: Path) -> None:
    def traffic() -> None:
        ip("-n", pair.near, "link", "add", "br7", "type", "bridge")
        ip("-n", pair.near, "link", "set", "br7", "up")
        ip("-n", pair.near, "address", "add", "10.44.0.1/24", "dev", "br7")
        python(pair.near, SENDER, "10.44.0.9", 9092, 1)
        ip("-n", pair.near, "neighbour", "replace", "10.44.0.9", "lladdr", "02:00:00:00:00:09", "dev", "br7")
        python(pair.near, SENDER, "10.44.0.9", 9092, 5)
        time.sleep(0.8)
        ip("-n", pair.near, "link", "set", "br7", "down")
        time.sleep(0.8)
        ip("-n", pair.near, "link", "delete", "br7")
        time.sleep(0.8)

    ours = tmp_path / "ours.pcapng"
    progress, _ = captured([named(pair.near)], ours, traffic, engine="scapy", chosen=of_expression("udp"))
    assert progress.notes == [f"{pair.near}:br7 went down", f"{pair.near}:br7 is gone"]
    assert {packet.interface for packet in packets_of(ours)} == {f"{pair.near}:br7"}


def test_what_is_lost_is_counted(pair: Pair, tmp_path: Path) -> None:
    """A reader that does not come: the ring is full, and every packet is either in the file or counted."""
    needs("tshark")
    ours = tmp_path / "ours.pcapng"
    sent = 60_000
    slow = threading.Event()

    def late(progress: Progress) -> None:
        # The reader is away while the packets come.
        if not slow.is_set():
            slow.wait(30)

    def traffic() -> None:
        python(pair.near, FLOOD, FAR, 9092, sent)
        slow.set()

    progress, _ = captured(
        [named(pair.near)], ours, traffic, engine="scapy", chosen=of_expression("udp"), megabytes=4, tick=late
    )
    assert progress.dropped > 1000
    assert progress.packets + progress.dropped == sent
    assert progress.packets == progress.received
    said = subprocess.run(["capinfos", "-c", "-M", ours], check=True, capture_output=True, text=True, timeout=60)
    assert said.stdout.split()[-1] == str(progress.packets)
    assert progress.dropped.to_bytes(8, sys.byteorder) in ours.read_bytes()[-300:]
