"""Packets for captures: sent between two namespaces, captured by an engine of ours, read by tshark."""

import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from netdiag.io.packets.engines import AUTO, Wanted, choose, open_sources
from netdiag.io.packets.filters import Filter, of_expression
from netdiag.io.packets.output import Output, Rotation
from netdiag.io.packets.places import Spot, open_places
from netdiag.io.packets.session import Interfaces, Limits, Progress, Session
from netdiag.io.packets.source import Source
from tests.tools import tool

# A sender that a namespace runs: UDP of growing sizes, then one TCP conversation with itself or the other end.
SENDER = """
import socket, sys, time
host, port, many = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(many):
    out.sendto(number.to_bytes(4, "big") + bytes(number * 7 % 1300), (host, port))
    if number % 50 == 49:
        time.sleep(0.005)
"""
# The same packet as often and as fast as it goes.
FLOOD = """
import socket, sys
host, port, many = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.connect((host, port))
sent = 0
while sent < many:
    try:
        out.send(bytes(1000))
        sent += 1
    except ConnectionRefusedError:
        pass
"""
# Sends large pieces over TCP: segments larger than any frame, as offloading makes them.
TALKER = """
import socket, sys, threading
host, port = sys.argv[1], int(sys.argv[2])
listener = socket.create_server((host, port))
def answer():
    peer, _ = listener.accept()
    while data := peer.recv(65536):
        peer.sendall(data)
    peer.close()
threading.Thread(target=answer, daemon=True).start()
with socket.create_connection((host, port)) as us:
    for size in (1, 100, 5000, 60000, 3):
        us.sendall(bytes(size))
        left = size
        while left:
            left -= len(us.recv(left))
"""
# Frames with a VLAN tag, as a switch would send them.
TAGGED = """
import socket, struct
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("eth0", 0))
for size in (0, 1, 60, 200, 1000):
    udp = struct.pack("!HHHH", 9092, 9092, 8 + size, 0) + bytes(size)
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, bytes(4), bytes(4))
    out.send(b"\\xff" * 6 + b"\\2" * 6 + struct.pack("!HHH", 0x8100, 7, 0x0800) + ip + udp)
"""
# Packets that come out of a tunnel: they begin with the IP header. Two of three belong to DNS.
TUNNEL = """
import fcntl, os, socket, struct, subprocess, time
tun = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH22x", b"tun7", 0x1001))
subprocess.run(["ip", "link", "set", "tun7", "up"], check=True)
time.sleep(0.1)
for port in (53, 9092, 53, 53, 80, 53):
    udp = struct.pack("!HHHH", 40000, port, 28, 0) + bytes(20)
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 48, 1, 0, 64, 17, 0) + socket.inet_aton("10.9.9.9")
    os.write(tun, ip + socket.inet_aton("10.77.0.2") + udp)
time.sleep(0.2)
"""


def needs(command: str) -> None:
    """Skip where a program is not there."""
    tool(command)


def inside(name: str, *words: str) -> list[str]:
    """The command line that runs a command in a namespace."""
    return ["ip", "netns", "exec", name, *words]


@contextmanager
def dwelling(name: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is in a namespace, and stays there."""
    with subprocess.Popen(["nsenter", f"--net=/run/netns/{name}", "sleep", "60"]) as process:
        while Path(f"/proc/{process.pid}/comm").read_text() != "sleep\n":
            time.sleep(0.01)
        try:
            yield process
        finally:
            process.kill()


def python(name: str, program: str, *words: object) -> None:
    """Run a program in a namespace to its end."""
    subprocess.run(inside(name, sys.executable, "-c", program, *map(str, words)), check=True, timeout=60)


def captured(
    spots: Sequence[Spot],
    path: Path,
    traffic: Callable[[], None],
    *,
    engine: str = AUTO,
    chosen: Filter | None = None,
    snaplen: int = 262144,
    links: tuple[str, ...] = (),
    rotation: Rotation | None = None,
    limits: Limits | None = None,
    megabytes: int = 16,
    tick: Callable[[Progress], None] = lambda progress: None,
) -> tuple[Progress, Output]:
    """Capture while `traffic` runs, and until it is over."""
    chosen = chosen or of_expression("")
    places = open_places(spots)
    sources: tuple[Source, ...] = ()
    try:
        picked = choose(engine, places, chosen.expression)
        interfaces = Interfaces(snaplen=snaplen, filter_text=chosen.expression)
        wanted = Wanted(filter=chosen, snaplen=snaplen, links=links, megabytes=megabytes, folder=str(path.parent))
        sources = open_sources(picked, places, wanted, interfaces.number)
        output = Output(str(path), interfaces.listed, application="netdiag tests", rotation=rotation)
        session = Session(sources, output, interfaces, limits or Limits())
        failed: list[BaseException] = []

        def work() -> None:
            try:
                traffic()
                time.sleep(0.2)
            except BaseException as error:  # noqa: BLE001 (told by the test's thread)
                failed.append(error)
            finally:
                session.stop()

        thread = threading.Thread(target=work)
        thread.start()
        progress = session.run(tick)
        thread.join()
        if failed:
            raise failed[0]
        return progress, output
    finally:
        for source in sources:
            source.close()
        for place in places:
            place.close()


def fields(path: Path, *names: str) -> list[tuple[str, ...]]:
    """What tshark reads of every packet."""
    needs("tshark")
    words = [word for name in names for word in ("-e", name)]
    done = subprocess.run(
        ["tshark", "-n", "-r", path, "-T", "fields", *words], check=True, capture_output=True, text=True, timeout=120
    )
    return [tuple(line.split("\t")) for line in done.stdout.splitlines()]


class Seen(NamedTuple):
    """A packet of a file; `time` in nanoseconds."""

    interface: str
    time: int
    length: int
    data: bytes


def packets_of(path: Path) -> list[Seen]:
    """The packets of a pcapng file as we write them: one section, little-endian, with nanoseconds."""
    data, at, names, found = path.read_bytes(), 0, [], []
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        body = data[at + 8 : at + size - 4]
        assert size == struct.unpack_from("<I", data, at + size - 4)[0]
        if kind == 1:
            names.append(_name(body[8:]))
        elif kind == 6:
            number, high, low, kept, length = struct.unpack_from("<IIIII", body)
            found.append(Seen(names[number], high << 32 | low, length, body[20 : 20 + kept]))
        at += size
    assert at == len(data)
    return found


def _name(options: bytes) -> str:
    """The name of an interface, out of its options."""
    found: dict[int, bytes] = {}
    while options and (code := struct.unpack_from("<H", options)[0]):
        (size,) = struct.unpack_from("<H", options, 2)
        found[code] = options[4 : 4 + size]
        options = options[4 + size + -size % 4 :]
    assert found[9] == b"\x09"
    return found[2].decode()


@contextmanager
def tcpdump(name: str, path: Path, *words: str) -> Iterator[None]:
    """The other witness: tcpdump in the namespace, until the block is left."""
    needs("tcpdump")
    command = inside(name, "tcpdump", "-n", "-p", "--nano", "-B", "32768", "-Z", "root", "-w", str(path), *words)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            while "listening on" not in process.stderr.readline():
                assert process.poll() is None
            yield
            # It throws away what is in its ring when it is interrupted.
            time.sleep(1.2)
        finally:
            process.send_signal(2)
