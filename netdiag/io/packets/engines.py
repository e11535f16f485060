"""Which engine captures, and why: our own ring where it keeps up, tcpdump or dumpcap for more.

tcpdump and dumpcap run in the namespace because the thread that starts them is there; they end with that thread's
process. They capture into a spool, which is read as it grows: what Python cannot take in time waits on the disk and not
in the kernel, so a rate that the tool holds loses nothing. The tool begins a new spool file when one is large; a file
that has been read is removed, so the spool holds what the reader is behind by. Both write in the byte order of this
machine; anything else is no file of theirs.
"""

import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from netdiag.errors import InputError, MissingRight, NetdiagError
from netdiag.io.packets.filters import Filter
from netdiag.io.packets.pcapng_writer import LINKTYPE_SLL2, PACKET_TIME, PACKET_TIME_AT, Packers, encode_packet
from netdiag.io.packets.places import Place
from netdiag.io.packets.source import Numbered, RingSource, Source
from netdiag.values import dataclass

_CHUNK = 1 << 20
_LARGEST = 1 << 20
_PCAP_HEADER = struct.Struct("=IHHiIII")
_PCAP_NANOSECONDS = 0xA1B23C4D
_RECORD = struct.Struct("=IIII")
_BLOCK = struct.Struct("=II")
_PACKET = struct.Struct("=IIIII")
_SECTION, _INTERFACE, _EPB = 0x0A0D0D0A, 1, 6
_IF_NAME, _IF_TSRESOL = 2, 9
_SLL2_INDEX = struct.Struct("!I")
_SLL2_INDEX_AT = 4

# The number in our file of a link: by index where the tool tells no name, by name else; None for one not wanted.
NumberOf = Callable[[int | str, int], int | None]
_SPOOL_MB = 64
_PATIENCE = 10.0
# libpcap hands packets to tcpdump a second late at most.
_UNREAD = 1.25
# Tools keep packets in a buffer of their own until they are asked, or it is full.
_BUFFERED_NS = 2_500_000_000
# Ends the tool when the process that started it ends, however that is.
_TIED = "import ctypes,os,sys; ctypes.CDLL(None).prctl(1, 15); os.execvp(sys.argv[1], sys.argv[1:])"
_STARTED = re.compile(r"listening on|^File: ")
_IDLE = re.compile(r"\d+ packets? |data link type|listening on|Capturing on|File: |Packets |\(")
_TCPDUMP_COUNTS = re.compile(r"(\d+) packets? (received by filter|dropped by kernel|dropped by interface)")
_DUMPCAP_COUNTS = re.compile(r"received/dropped on interface .*: (\d+)/(\d+) \(pcap")


class Decoder(Protocol):
    """Bytes of one spool file, in any pieces, to packet blocks."""

    def feed(self, data: bytes) -> list[bytes]:
        """The packets that are complete now."""


class PcapDecoder:
    """What tcpdump writes: pcap with nanoseconds; cooked v2 where it takes every link."""

    def __init__(self, number_of: NumberOf) -> None:
        self._number_of = number_of
        self._rest = b""
        self._linktype: int | None = None
        self._packers = Packers()
        self._known: dict[int, int | None] = {}

    def feed(self, data: bytes) -> list[bytes]:
        data = self._rest + data
        at, end, found = 0, len(data), []
        if self._linktype is None:
            if end < _PCAP_HEADER.size:
                self._rest = data
                return []
            magic, *_, self._linktype = _PCAP_HEADER.unpack_from(data)
            if magic != _PCAP_NANOSECONDS:
                raise NetdiagError("tcpdump does not write nanoseconds")
            at = _PCAP_HEADER.size
        cooked = self._linktype == LINKTYPE_SLL2
        while at + 16 <= end:
            seconds, nanoseconds, kept, length = _RECORD.unpack_from(data, at)
            _bounded(kept)
            if at + 16 + kept > end:
                break
            packet = data[at + 16 : at + 16 + kept]
            at += 16 + kept
            index = _SLL2_INDEX.unpack_from(packet, _SLL2_INDEX_AT)[0] if cooked and kept >= 8 else 0
            number = self._number(index)
            if number is not None:
                time = seconds * 1_000_000_000 + nanoseconds
                found.append(encode_packet(self._packers, number, time, packet, length))
        self._rest = data[at:]
        return found

    def _number(self, index: int) -> int | None:
        if index not in self._known:
            self._known[index] = self._number_of(index, self._linktype or 0)
        return self._known[index]


class PcapngDecoder:
    """What dumpcap writes: pcapng; its packet blocks stay as they are but for the number of the interface."""

    def __init__(self, number_of: NumberOf) -> None:
        self._number_of = number_of
        self._rest = b""
        self._interfaces: list[tuple[int | None, int]] = []
        self._packers = Packers()

    def feed(self, data: bytes) -> list[bytes]:
        data = self._rest + data
        at, end, found = 0, len(data), []
        while at + 12 <= end:
            kind, size = _BLOCK.unpack_from(data, at)
            _bounded(size)
            if size < 12:
                raise NetdiagError("dumpcap wrote something that is not a block")
            if at + size > end:
                break
            block = data[at : at + size]
            at += size
            if kind == _EPB and (packet := self._packet(block)):
                found.append(packet)
            elif kind == _INTERFACE:
                self._interfaces.append(self._interface(block))
        self._rest = data[at:]
        return found

    def _packet(self, block: bytes) -> bytes | None:
        source, high, low, kept, length = _PACKET.unpack_from(block, 8)
        number, per_second = self._interfaces[source]
        if number is None:
            return None
        time = ((high << 32) | low) * (1_000_000_000 // per_second)
        return encode_packet(self._packers, number, time, block[28 : 28 + kept], length)

    def _interface(self, block: bytes) -> tuple[int | None, int]:
        (linktype,) = struct.unpack_from("=H", block, 8)
        name, per_second = "", 1_000_000
        for code, value in _options(block[16:-4]):
            if code == _IF_NAME:
                name = os.fsdecode(value)
            elif code == _IF_TSRESOL and value and value[0] <= 9:
                per_second = 10 ** value[0]
        return self._number_of(name, linktype), per_second


class Spool:
    """A folder into which one tool writes files one after the other, and how far they have been read."""

    def __init__(self, folder: Path, decoder: Callable[[], Decoder], following: Callable[[Path], list[Path]]) -> None:
        self._folder = folder
        self._decoder = decoder
        self._following = following
        self._path: Path | None = None
        self._descriptor: int | None = None
        self._reading: Decoder = decoder()

    def read(self) -> list[bytes]:
        """A piece of what is new, as packets; empty when everything that is there has been read."""
        while True:
            if self._descriptor is None and not self._next():
                return []
            # Whether there is a next file must be known before this one is found to be at its end.
            left = [path for path in self._following(self._folder) if path != self._path]
            data = os.read(self._descriptor, _CHUNK) if self._descriptor is not None else b""
            if data:
                found = self._reading.feed(data)
                if found:
                    return found
            elif left:
                self._leave()
            else:
                return []

    def close(self) -> None:
        """Close the file that is being read."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _next(self) -> bool:
        paths = self._following(self._folder)
        if not paths:
            return False
        self._path = paths[0]
        self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        self._reading = self._decoder()
        return True

    def _leave(self) -> None:
        self.close()
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink()
            self._path = None


def _options(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        code, size = struct.unpack_from("=HH", data, at)
        if code == 0 or at + 4 + size > len(data):
            return
        yield code, data[at + 4 : at + 4 + size]
        at += 4 + size + (-size % 4)


def _bounded(size: int) -> None:
    if size > _LARGEST:
        raise NetdiagError(f"the capture tool wrote a packet of {size} bytes")


class Tool(StrEnum):
    """A program that captures."""

    TCPDUMP = "tcpdump"
    DUMPCAP = "dumpcap"


class ToolSource:
    """One place, captured by one process of the tool."""

    def __init__(
        self,
        tool: Tool,
        place: Place,
        chosen: Filter,
        numbered: Numbered,
        *,
        snaplen: int,
        links: Sequence[str],
        megabytes: int,
        folder: str,
    ) -> None:
        self.place = place
        self.dropped = 0
        self._tool = tool
        self._numbered = numbered
        self._links = place.indexes_of(links) if links else None
        self._said: deque[str] = deque(maxlen=200)
        self._taken = 0
        self._started = threading.Event()
        self._end: tuple[int, int] | None = None
        self._stopped_at: float | None = None
        self._empty_since = 0
        self._folder = Path(_spool_folder(folder))
        self._spool = Spool(self._folder, self._decoder(), in_order)
        names = _names(place, self._links, tool)
        command = _command(tool, names, chosen, snaplen=snaplen, megabytes=megabytes, folder=self._folder)
        try:
            self._process = self._run(command)
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise

    @property
    def received(self) -> int:
        """Packets that the tool got from the kernel."""
        return max(0, self._taken - self.dropped)

    def fileno(self) -> int | None:
        return None

    def read(self) -> list[bytes]:
        found = self._spool.read()
        if not found:
            self._empty_since = time.time_ns()
        elif self._end is not None:
            found = [block for block in found if PACKET_TIME.unpack_from(block, PACKET_TIME_AT) <= self._end]
        return found

    def settled(self) -> int:
        return self._empty_since - _BUFFERED_NS

    def count(self) -> None:
        if self._tool is Tool.TCPDUMP and self._process.poll() is None and self._end is None:
            # Not SIGUSR2, which makes it flush: done amid a write, as measured, packets are in the file twice.
            self._process.send_signal(signal.SIGUSR1)

    def notes(self) -> list[str]:
        return []

    def failure(self) -> NetdiagError | None:
        if self.place.is_gone:
            return NetdiagError("it is gone, and sends no more packets", where=self.place.what)
        if self._process.poll() is not None and self._end is None:
            return NetdiagError(f"{self._tool} has ended: {self._last_words()}", where=self.place.what)
        return None

    def stop(self) -> None:
        """From now on; but the tool throws away what it has not read when it is interrupted, so it goes on a while."""
        now = time.time_ns()
        self._end = (now >> 32, now & 0xFFFFFFFF)
        self._stopped_at = time.monotonic()

    def finished(self) -> bool:
        if self._process.poll() is not None:
            return True
        if self._stopped_at is not None and time.monotonic() - self._stopped_at > _UNREAD:
            self._stopped_at = None
            self._process.send_signal(signal.SIGINT)
        return False

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=_PATIENCE)
        if self._process.poll() is None:
            self._process.kill()
        self._spool.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _decoder(self) -> Callable[[], Decoder]:
        if self._tool is Tool.DUMPCAP:
            return lambda: PcapngDecoder(self._number_of)
        return lambda: PcapDecoder(self._number_of)

    def _number_of(self, link: int | str, linktype: int) -> int | None:
        wanted = self._links
        if isinstance(link, str):
            return self._numbered(self.place.label, link, linktype)
        if link == 0 and wanted is not None:
            (name,) = wanted.values()
            return self._numbered(self.place.label, name, linktype)
        if wanted is not None and link not in wanted:
            return None
        return self._numbered(self.place.label, self.place.name_of(link), linktype)

    def _hear(self, line: str) -> None:
        """A line that the tool says; called by the thread that listens."""
        self._said.append(line)
        for number, what in _TCPDUMP_COUNTS.findall(line):
            if what == "received by filter":
                self._taken = int(number)
            elif what == "dropped by kernel":
                self.dropped = int(number)
        for number, lost in _DUMPCAP_COUNTS.findall(line):
            self._taken += int(number) + int(lost)
            self.dropped += int(lost)
        if _STARTED.search(line):
            self._started.set()

    def _run(self, command: Sequence[str]) -> subprocess.Popen[str]:
        """Start the tool and wait until it captures; a thread of its own stays with it to its end."""
        running: list[subprocess.Popen[str]] = []
        errors: list[BaseException] = []

        def work() -> None:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _TIED, *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
                env={**os.environ, "LC_ALL": "C"},
            )
            running.append(process)
            assert process.stderr is not None
            for line in process.stderr:
                self._hear(line.rstrip())
            process.wait()
            self._started.set()

        def enter() -> None:
            try:
                self.place.namespace.run(work)
            except OSError as error:
                errors.append(error)
                self._started.set()

        threading.Thread(target=enter, name=str(self._tool), daemon=True).start()
        if not self._started.wait(_PATIENCE):
            raise NetdiagError(f"{self._tool} does not start", where=self.place.what)
        if errors or not running:
            raise NetdiagError(f"{self._tool} cannot be started", where=self.place.what)
        if running[0].poll() is not None or not self._is_capturing():
            running[0].wait(timeout=_PATIENCE)
            raise self._refused()
        return running[0]

    def _is_capturing(self) -> bool:
        return any(_STARTED.search(line) for line in list(self._said))

    def _refused(self) -> NetdiagError:
        words = self._last_words()
        if "permission" in words.lower() or "not permitted" in words.lower():
            return MissingRight("capturing needs CAP_NET_RAW", where=self.place.what)
        return NetdiagError(f"{self._tool} does not capture: {words or 'it says nothing'}", where=self.place.what)

    def _last_words(self) -> str:
        """The last line that says why it ended."""
        lines = [line.removeprefix(f"{self._tool}: ") for line in self._said]
        said = [line for line in lines if line.strip() and not _IDLE.match(line)]
        return " ".join(said[-1].split())[:200] if said else ""


def _command(
    tool: Tool, names: Sequence[str], chosen: Filter, *, snaplen: int, megabytes: int, folder: Path
) -> list[str]:
    if tool is Tool.DUMPCAP:
        interfaces = [word for name in names for word in ("-i", name)]
        taken = ["-f", chosen.expression] if chosen.expression else []
        size = ["-s", str(snaplen), "-B", str(max(2, megabytes // len(names)))]
        spool = ["-b", f"filesize:{_SPOOL_MB * 1000}", "-w", str(folder / "spool.pcapng")]
        return ["dumpcap", "-q", "-p", *size, *taken, *interfaces, *spool]
    (name,) = names
    cooked = ["-y", "LINUX_SLL2"] if name == "any" else []
    rights = ["-Z", "root"] if os.geteuid() == 0 else []
    size = ["-s", str(snaplen), "-B", str(megabytes * 1024)]
    spool = ["-C", str(_SPOOL_MB), "-w", str(folder / "spool.pcap")]
    taken = ["--", chosen.expression] if chosen.expression else []
    return ["tcpdump", "-n", "-p", "-U", "-i", name, *cooked, "--nano", *size, *spool, *rights, *taken]


def _names(place: Place, links: Mapping[int, str] | None, tool: Tool) -> tuple[str, ...]:
    """What the tool is told to capture: tcpdump takes one link, or all of which ours are chosen later."""
    if tool is Tool.TCPDUMP:
        return tuple(links.values()) if links is not None and len(links) == 1 else ("any",)
    names = tuple(links.values()) if links is not None else place.links_up()
    if not names:
        raise NetdiagError("no interface is up", where=place.what)
    return names


def in_order(folder: Path) -> list[Path]:
    """The files of a spool, oldest first; tcpdump and dumpcap number them differently."""

    def number(path: Path) -> tuple[int, str]:
        digits = re.search(r"(?:_(\d+)_\d+\.pcapng|\.pcap(\d+))$", path.name)
        return (int(digits[1] or digits[2]) if digits else 0, path.name)

    with suppress(OSError):
        return sorted(folder.iterdir(), key=number)
    return []


def _spool_folder(folder: str) -> str:
    try:
        return tempfile.mkdtemp(prefix=".netdiag-spool-", dir=folder)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise NetdiagError(f"no folder for the packets can be made: {reason}", where=folder or ".") from error


AUTO, SCAPY = "auto", "scapy"
# Measured by the bar capture-rate with 256 bytes of each packet: up to here nothing is lost.
SCAPY_RATE = 200_000
_SAMPLE = 0.25
_TAGS = re.compile(r"\bvlan\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """The one that was chosen; `tool` is None for our own."""

    name: str
    why: str
    tool: Tool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be taken of each place. `folder` is where a tool may keep what is not yet read."""

    filter: Filter
    snaplen: int
    links: tuple[str, ...] = ()
    megabytes: int = 64
    folder: str = ""


def choose(wanted: str, places: Sequence[Place], filter_text: str) -> Engine:
    """The engine of that name, or for `auto` the one that the traffic here asks for."""
    if wanted in list(Tool):
        tool = Tool(wanted)
        if shutil.which(tool) is None:
            raise InputError("is not installed", where=f"--engine {tool}", hint="install it, or use --engine scapy")
        return Engine(name=tool, why="as requested; it keeps up with what libpcap keeps up with", tool=tool)
    if wanted == SCAPY:
        if _TAGS.search(filter_text):
            hint = "use --engine tcpdump"
            raise InputError("the kernel hides VLAN tags from filters of scapy", where="--filter", hint=hint)
        return Engine(name=SCAPY, why=f"as requested; it keeps up with {SCAPY_RATE:,} packets/s")
    present = next((tool for tool in Tool if shutil.which(tool)), None)
    if _TAGS.search(filter_text):
        if present is None:
            raise InputError("filters for VLAN tags need tcpdump or dumpcap", where="--filter", hint="install tcpdump")
        return Engine(name=present, why="its filters see VLAN tags", tool=present)
    rate = _rate(places)
    if rate <= SCAPY_RATE:
        return Engine(name=SCAPY, why=f"there are {rate:,} packets/s; scapy keeps up with {SCAPY_RATE:,}")
    if present is None:
        why = f"there are {rate:,} packets/s; scapy keeps up with {SCAPY_RATE:,}, but tcpdump and dumpcap are missing"
        return Engine(name=SCAPY, why=why)
    return Engine(name=present, why=f"there are {rate:,} packets/s; scapy keeps up with {SCAPY_RATE:,}", tool=present)


def open_sources(engine: Engine, places: Sequence[Place], wanted: Wanted, numbered: Numbered) -> tuple[Source, ...]:
    """Start capturing at every place; all or none. The buffer is shared out among them."""
    megabytes = max(4, wanted.megabytes // max(1, len(places)))
    with ExitStack() as opened:
        sources: list[Source] = []
        for place in places:
            source = _source(engine, place, wanted, numbered, megabytes)
            opened.callback(source.close)
            sources.append(source)
        opened.pop_all()
    return tuple(sources)


def _source(engine: Engine, place: Place, wanted: Wanted, numbered: Numbered, megabytes: int) -> Source:
    if engine.tool is None:
        return RingSource(
            place, wanted.filter, numbered, snaplen=wanted.snaplen, links=wanted.links, megabytes=megabytes
        )
    return ToolSource(
        engine.tool,
        place,
        wanted.filter,
        numbered,
        snaplen=wanted.snaplen,
        links=wanted.links,
        megabytes=megabytes,
        folder=wanted.folder,
    )


def _rate(places: Sequence[Place]) -> int:
    """How many packets a second the links of all places carry now."""
    before = [place.packets_so_far() for place in places]
    start = time.monotonic()
    time.sleep(_SAMPLE)
    after = [place.packets_so_far() for place in places]
    passed = time.monotonic() - start
    grown = sum(
        now.get(name, then) - then for one, now in zip(before, after, strict=True) for name, then in one.items()
    )
    return max(0, round(grown / passed))
