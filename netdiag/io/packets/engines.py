"""Which engine captures, and why: our own ring where it keeps up, tcpdump or dumpcap for more."""

import re
import shutil
import time
from collections.abc import Sequence
from contextlib import ExitStack

from netdiag.errors import InputError
from netdiag.io.packets.filters import Filter
from netdiag.io.packets.places import Place
from netdiag.io.packets.source import Numbered, RingSource, Source
from netdiag.io.packets.tools import Tool, ToolSource
from netdiag.values import dataclass

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
        return Engine(name=tool, why="as asked for; it holds what libpcap holds", tool=tool)
    if wanted == SCAPY:
        if _TAGS.search(filter_text):
            hint = "use --engine tcpdump"
            raise InputError("the kernel hides VLAN tags from filters of scapy", where="--filter", hint=hint)
        return Engine(name=SCAPY, why=f"as asked for; it holds {SCAPY_RATE:,} packets/s")
    present = next((tool for tool in Tool if shutil.which(tool)), None)
    if _TAGS.search(filter_text):
        if present is None:
            raise InputError("VLAN tags take tcpdump or dumpcap", where="--filter", hint="install tcpdump")
        return Engine(name=present, why="its filters see VLAN tags", tool=present)
    rate = _rate(places)
    if rate <= SCAPY_RATE:
        return Engine(name=SCAPY, why=f"there are {rate:,} packets/s, it holds {SCAPY_RATE:,}")
    if present is None:
        why = f"there are {rate:,} packets/s, it holds {SCAPY_RATE:,}, but neither tcpdump nor dumpcap is installed"
        return Engine(name=SCAPY, why=why)
    return Engine(name=present, why=f"there are {rate:,} packets/s, scapy holds {SCAPY_RATE:,}", tool=present)


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
