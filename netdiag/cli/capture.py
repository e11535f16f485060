"""`netdiag capture`: options in, packets into files, what was lost told."""

import re
from enum import StrEnum
from typing import Annotated

import typer

from netdiag.cli.capturing import WHOLE, Options, Place, capture_packets
from netdiag.cli.command import console_of
from netdiag.cli.exit_status import ExitStatus

HEADERS = 256
_SECONDS = {"": 1, "s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600}
_BYTES = {"kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": 1024, "mib": 1024**2, "gib": 1024**3}
_KINDS = ("container", "netns", "pid")


class EngineName(StrEnum):
    """What takes the packets."""

    AUTO = "auto"
    SCAPY = "scapy"
    TCPDUMP = "tcpdump"
    DUMPCAP = "dumpcap"


_From = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="PLACE",
        help="host, container:NAME, brokers (every container that runs one), netns:NAME or pid:N; repeatable.",
        show_default="host",
    ),
]
_Interface = Annotated[
    list[str] | None,
    typer.Option("--interface", "-i", metavar="NAME", help="Only this interface; repeatable.", show_default="all"),
]
_Out = Annotated[
    str | None,
    typer.Option("--out", "-o", metavar="FILE", help="The pcapng file, a folder for it, or - for standard output."),
]
_Files = Annotated[
    list[str] | None,
    typer.Option("--file", "-f", metavar="FILE", help="Take the listener ports of this compose file; repeatable."),
]
_Live = Annotated[bool, typer.Option("--live", help="Take the listener ports of the brokers that run.")]
_Host = Annotated[str | None, typer.Option("--host", metavar="URL", help="The engine; default as docker finds it.")]
_Port = Annotated[
    list[int] | None, typer.Option("--port", metavar="N", min=1, max=65535, help="A port of brokers; repeatable.")
]
_Filter = Annotated[
    str | None,
    typer.Option("--filter", metavar="BPF", help="Packets by pcap-filter(7) instead; '' takes everything."),
]
_Duration = Annotated[str | None, typer.Option("--duration", metavar="TIME", help="Stop after it: 30s, 5min, 1h.")]
_Count = Annotated[int | None, typer.Option("--count", metavar="N", min=1, help="Stop after so many packets.")]
_Rotate = Annotated[
    str | None,
    typer.Option("--rotate", metavar="SIZE|TIME", help="Begin a new file at 100MB, or after 60s; files get numbers."),
]
_Ring = Annotated[int | None, typer.Option("--ring", metavar="N", min=1, help="With --rotate: keep the last N files.")]
_Headers = Annotated[bool, typer.Option("--headers", help=f"Keep {HEADERS} bytes of each packet; the default.")]
_Full = Annotated[bool, typer.Option("--full", help="Keep whole packets, with the keys and values in them.")]
_Snaplen = Annotated[
    int | None, typer.Option("--snaplen", metavar="N", min=64, max=WHOLE, help="Keep so many bytes of each packet.")
]
_Engine = Annotated[
    EngineName,
    typer.Option(
        "--engine",
        help="What takes the packets: scapy loses nothing up to 200,000 packets/s, tcpdump and dumpcap hold more; "
        "auto looks how many there are.",
    ),
]
_Buffer = Annotated[
    int, typer.Option("--buffer", metavar="MB", min=4, max=4096, help="Memory for packets that wait to be written.")
]


def capture(
    context: typer.Context,
    places: _From = None,
    interface: _Interface = None,
    out: _Out = None,
    file: _Files = None,
    live: _Live = False,
    host: _Host = None,
    port: _Port = None,
    filter: _Filter = None,
    duration: _Duration = None,
    count: _Count = None,
    rotate: _Rotate = None,
    ring: _Ring = None,
    headers: _Headers = False,
    full: _Full = False,
    snaplen: _Snaplen = None,
    engine: _Engine = EngineName.AUTO,
    buffer: _Buffer = 64,
) -> ExitStatus:
    """Capture what brokers and clients say, on this machine, in containers or namespaces, into a pcapng file.

    Taken are the brokers' listener ports, DNS, and what says that somebody cannot be reached. Ctrl-C ends it.
    """
    console = console_of(context)
    size, seconds = rotation_of(rotate) if rotate is not None else (None, None)
    if filter is not None and (file or live or port):
        raise typer.BadParameter("--filter says it all: leave out --file, --live and --port")
    if ring is not None and rotate is None:
        raise typer.BadParameter("--ring goes with --rotate")
    if rotate is not None and out == "-":
        raise typer.BadParameter("standard output is one file: leave out --rotate")
    options = Options(
        places=tuple(dict.fromkeys(place_of(word) for word in places or ["host"])),
        links=tuple(name for name in interface or () if name != "any"),
        out=out,
        files=tuple(file or ()),
        live=live,
        host=host,
        ports=tuple(port or ()),
        filter=filter,
        seconds=None if duration is None else seconds_of(duration),
        packets=count,
        rotate_bytes=size,
        rotate_seconds=seconds,
        keep=ring,
        snaplen=snaplen_of(headers, full, snaplen),
        engine=engine.value,
        megabytes=buffer,
    )
    return capture_packets(options, console)


def place_of(word: str) -> Place:
    """What --from names; typer.BadParameter where it names nothing."""
    if word in ("host", "brokers"):
        return Place(kind=word)
    kind, colon, name = word.partition(":")
    if not colon or kind not in _KINDS or not name:
        raise typer.BadParameter(f"{word!r} is no place: host, brokers, container:NAME, netns:NAME or pid:N")
    if kind == "pid" and not re.fullmatch(r"[1-9][0-9]{0,6}", name):
        raise typer.BadParameter(f"{name!r} is no number of a process")
    return Place(kind=kind, name=name)


def seconds_of(text: str) -> float:
    """30, 30s, 1.5min or 2h in seconds; typer.BadParameter for others."""
    found = _amount(text)
    if found is None or found[1] not in _SECONDS or found[0] <= 0:
        raise typer.BadParameter(f"{text!r} is no time: write 30s, 5min or 1h")
    return found[0] * _SECONDS[found[1]]


def rotation_of(text: str) -> tuple[int | None, float | None]:
    """A size in bytes or a time in seconds; a bare number could be either and is refused."""
    found = _amount(text)
    if found is not None and found[0] > 0:
        number, unit = found
        if unit in _BYTES:
            size = round(number * _BYTES[unit])
            if size >= _BYTES["kb"]:
                return size, None
        elif unit:
            return None, seconds_of(text)
    raise typer.BadParameter(f"{text!r} is neither a size nor a time: write 100MB or 60s")


def snaplen_of(headers: bool, full: bool, snaplen: int | None) -> int:
    """How many bytes are kept; typer.BadParameter where two options disagree."""
    if sum((headers, full, snaplen is not None)) > 1:
        raise typer.BadParameter("--headers, --full and --snaplen exclude each other")
    if snaplen is not None:
        return snaplen
    return WHOLE if full else HEADERS


def _amount(text: str) -> tuple[float, str] | None:
    match = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([A-Za-z]*)", text.strip())
    if match is None:
        return None
    # M alone is a size, m alone are minutes.
    unit = f"{match[2]}b" if match[2] in ("k", "K", "M", "G") else match[2]
    return float(match[1]), unit.lower()
