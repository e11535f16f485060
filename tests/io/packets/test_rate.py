"""What each engine loses at which rate, beside tcpdump on the same kind of traffic, in turns."""

import os
import re
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.io.packets.engines import SCAPY_RATE
from tests.cli.shell import NETDIAG, environment
from tests.figures import Report
from tests.io.namespaces import NOBODY, Pair, ip, joined_namespaces
from tests.io.packets.traffic import inside
from tests.tools import tool

ENGINES = ("scapy", "tcpdump", "dumpcap")
PEER = "tcpdump itself"
RATES = (50_000, 100_000, SCAPY_RATE)
RUNS = 5
SECONDS = 2.0
SIZE = 300
FILTER = "udp port 9999"
MEGABYTES = 64
# One call hands the kernel 32 packets, which it cuts apart before anybody sees them.
SENDER = """
import socket, sys, time
host, rate, seconds, size = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.connect((host, 9999))
out.setsockopt(socket.SOL_UDP if hasattr(socket, "SOL_UDP") else 17, 103, size)
many, sent, start = 32, 0, time.monotonic()
data = bytes(size * many)
while (passed := time.monotonic() - start) < seconds:
    if sent > passed * rate:
        time.sleep(0.0003)
        continue
    out.send(data)
    sent += many
print(sent, time.monotonic() - start)
"""


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with joined_namespaces() as made:
        # Packets of their own, not one large one that would be cut apart elsewhere; the far end takes them for
        # another's, so that it costs nothing.
        ip("-n", made.near, "neighbour", "add", NOBODY, "lladdr", "02:00:00:00:00:99", "dev", "eth0")
        ip("-n", made.near, "link", "set", "eth0", "gso_max_segs", "1")
        yield made


def loss(pair: Pair, folder: Path, engine: str, rate: float, seconds: float) -> tuple[float, float]:
    """The share of the packets that is not in the file, and how many a second were sent."""
    path = folder / "rate.pcap"
    process = _begun(pair, path, engine)
    sent = subprocess.run(
        inside(pair.near, sys.executable, "-c", SENDER, NOBODY, str(rate), str(seconds), str(SIZE)),
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    # What tcpdump has not read when it is interrupted it throws away.
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    said = subprocess.run([tool("capinfos"), "-c", "-M", path], check=True, capture_output=True, text=True, timeout=60)
    many, took = sent.stdout.split()
    found = re.search(r"Number of packets:\s+(\d+)", said.stdout)
    path.unlink()
    assert found
    return 1 - int(found[1]) / int(many), int(many) / float(took)


def _begun(pair: Pair, path: Path, engine: str) -> "subprocess.Popen[str]":
    if engine == PEER:
        words = ("-i", "eth0", "-p", "-s", "256", "-B", str(MEGABYTES * 1024), "-Z", "root", "-w", str(path), FILTER)
        command, ready = inside(pair.near, tool("tcpdump"), *words), "listening on"
    else:
        places = ("--from", f"netns:{pair.near}", "-i", "eth0", "--filter", FILTER)
        how = ("--engine", engine, "--buffer", str(MEGABYTES), "-o", str(path))
        command, ready = [*NETDIAG, "capture", *places, *how], "Ctrl-C"
    process = subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while ready not in (line := process.stderr.readline()):
        assert line, "it ended"
    time.sleep(0.3)
    return process


@pytest.mark.bar("capture-rate")
@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_lost_at_a_modest_rate(pair: Pair, tmp_path: Path, engine: str, figure: Report) -> None:
    if engine != "scapy":
        tool(engine)
    lost, rate = loss(pair, tmp_path, engine, 20_000, 1.0)
    figure(f"loss of the engine {engine} at {round(rate, -3):,.0f} packets/s", round(100 * lost, 3), "%")
    assert lost == 0


@pytest.fixture
def undisturbed() -> Iterator[None]:
    """Before everything else that runs here, for all engines, the sender and tcpdump alike."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, -15)
    yield
    os.setpriority(os.PRIO_PROCESS, 0, before)


@pytest.mark.usefixtures("undisturbed")
@pytest.mark.bar("capture-rate", long=True)
def test_losses_at_rising_rates(pair: Pair, tmp_path: Path, figure: Report) -> None:
    """Five runs of each in turns; beyond our own maximum, as fast as this machine sends."""
    for rate in (*RATES, float("inf")):
        losses: dict[str, list[float]] = {name: [] for name in (*ENGINES, PEER)}
        rates: list[float] = []
        for _ in range(RUNS):
            for name, found in losses.items():
                lost, sent = loss(pair, tmp_path, name, rate, SECONDS)
                found.append(lost)
                rates.append(sent)
        medians = {name: statistics.median(found) for name, found in losses.items()}
        reached = statistics.median(rates)
        said = ", ".join(f"{name} {100 * median:.3f} %" for name, median in medians.items())
        figure(f"median loss at {round(reached, -3):,.0f} packets/s", said)
        assert min(min(found) for found in losses.values()) >= 0, "a packet is in the file twice"
        if rate == SCAPY_RATE:
            assert reached > 0.9 * SCAPY_RATE, "this machine does not send as many"
        if rate <= SCAPY_RATE:
            assert medians["scapy"] == 0
        for name in ("tcpdump", "dumpcap"):
            assert medians[name] <= medians[PEER] + 0.001
