"""`netdiag capture`: options in, packets into files, what was lost on standard error."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from netdiag.app.capture import (
    HEADERS,
    WHOLE,
    Capture,
    CaptureOptions,
    open_capture,
    parse_place,
    parse_rotation,
    parse_seconds,
    size_text,
    time_text,
)
from netdiag.cli.command import EngineHost, console_of, parsed, refuse
from netdiag.cli.console import Console, say
from netdiag.cli.exit_status import ExitStatus
from netdiag.errors import UsageError
from netdiag.render.wording import plural

if TYPE_CHECKING:
    from netdiag.io.packets.session import Session


class EngineName(StrEnum):
    """What takes the packets."""

    AUTO = "auto"
    SCAPY = "scapy"
    TCPDUMP = "tcpdump"
    DUMPCAP = "dumpcap"


def capture(
    context: typer.Context,
    places: Annotated[
        list[str] | None,
        Option(
            "--from",
            metavar="PLACE",
            help="host, container:NAME, brokers (all containers with one), netns:NAME or pid:N; repeatable.",
            show_default="host",
        ),
    ] = None,
    interface: Annotated[
        list[str] | None,
        Option(
            "--interface", "-i", metavar="NAME", help="Capture only on this interface; repeatable.", show_default="all"
        ),
    ] = None,
    out: Annotated[
        str | None,
        Option("--out", "-o", metavar="FILE", help="A pcapng file, a folder for it, or - for standard output."),
    ] = None,
    file: Annotated[
        list[str] | None,
        Option("--file", "-f", metavar="FILE", help="Capture the listener ports in this Compose file; repeatable."),
    ] = None,
    live: Annotated[bool, Option("--live", help="Capture the listener ports of the running brokers.")] = False,
    host: EngineHost = None,
    port: Annotated[
        list[int] | None,
        Option("--port", metavar="N", min=1, max=65535, help="Capture this port of brokers; repeatable."),
    ] = None,
    filter: Annotated[
        str | None, Option("--filter", metavar="BPF", help="Use a pcap-filter(7) instead; '' captures everything.")
    ] = None,
    duration: Annotated[
        str | None, Option("--duration", metavar="TIME", help="Stop after this time: 30s, 5min, 1h.")
    ] = None,
    count: Annotated[int | None, Option("--count", metavar="N", min=1, help="Stop after N packets.")] = None,
    rotate: Annotated[
        str | None,
        Option(
            "--rotate", metavar="SIZE|TIME", help="Start a new, numbered file at a size or after a time: 100MB, 60s."
        ),
    ] = None,
    ring: Annotated[
        int | None, Option("--ring", metavar="N", min=1, help="With --rotate: keep the last N files.")
    ] = None,
    headers: Annotated[bool, Option("--headers", help=f"Keep {HEADERS} bytes of each packet; the default.")] = False,
    full: Annotated[bool, Option("--full", help="Keep whole packets, including keys and values of records.")] = False,
    snaplen: Annotated[
        int | None, Option("--snaplen", metavar="N", min=64, max=WHOLE, help="Keep N bytes of each packet.")
    ] = None,
    engine: Annotated[
        EngineName,
        Option(
            "--engine",
            help="What captures: scapy loses nothing up to 200,000 packets/s, tcpdump and dumpcap at higher rates; "
            "auto measures the rate first.",
        ),
    ] = EngineName.AUTO,
    buffer: Annotated[
        int, Option("--buffer", metavar="MB", min=4, max=4096, help="Memory for packets that are not written yet.")
    ] = 64,
) -> ExitStatus:
    """Capture traffic of brokers and clients, on this machine, in containers or namespaces, to a pcapng file.

    By default, captures the brokers' listener ports, DNS, and ICMP messages about unreachable hosts. Ctrl-C stops it.
    """
    rotate_bytes, rotate_seconds = (None, None) if rotate is None else parsed(parse_rotation, rotate)
    refuse(
        (
            filter is not None and (file or live or port),
            "--filter excludes --file, --live and --port",
        ),
        (ring is not None and rotate is None, "--ring requires --rotate"),
        (rotate is not None and out == "-", "--rotate needs files: it excludes standard output"),
        (sum((headers, full, snaplen is not None)) > 1, "--headers, --full and --snaplen exclude each other"),
    )
    options = CaptureOptions(
        places=tuple(dict.fromkeys(parsed(parse_place, word) for word in places or ["host"])),
        links=tuple(name for name in interface or () if name != "any"),
        out=out,
        files=tuple(file or ()),
        live=live,
        host=host,
        ports=tuple(port or ()),
        filter=filter,
        seconds=None if duration is None else parsed(parse_seconds, duration),
        packets=count,
        rotate_bytes=rotate_bytes,
        rotate_seconds=rotate_seconds,
        keep=ring,
        snaplen=snaplen or (WHOLE if full else HEADERS),
        engine=engine.value,
        megabytes=buffer,
        argv=tuple(sys.argv),
    )
    if out == "-" and sys.stdout is not None and sys.stdout.isatty():
        raise UsageError(
            "packets cannot be written to a terminal", hint="use --out FILE, or pipe it: | wireshark -k -i -"
        )
    console = console_of(context)
    with open_capture(options) as opened:
        kept = "whole packets" if options.snaplen >= WHOLE else f"{options.snaplen} bytes of each packet"
        console.notice(f"capturing {opened.about} from {', '.join(opened.labels)}: {kept}")
        say(f"netdiag: engine {opened.engine.name}: {opened.engine.why}; press Ctrl-C to stop")
        console.detail(f"filter: {opened.expression or 'none'}")
        with _signals(opened.session):
            try:
                opened.run(console)
            finally:
                _show_outcome(opened, console)
        return ExitStatus.COULD_NOT_LOOK if opened.ended_early else ExitStatus.CLEAN


def _show_outcome(capture: Capture, console: Console) -> None:
    progress, output = capture.session.progress, capture.output
    packets, lost = f"{progress.packets:,} packets ({size_text(progress.bytes)})", f"{progress.dropped:,} lost"
    say(f"netdiag: {packets} in {time_text(progress.seconds)}, {lost}")
    if progress.dropped:
        say("  fix: use a larger --buffer, a narrower --filter, or --engine tcpdump")
    if not progress.packets:
        say("  no packet matched: check the ports, or capture everything with --filter ''")
    for path in output.files[-3:]:
        say(f"  {console.error_screen.visible(path)}")
    if len(output.files) > 3:
        say(f"  {plural(len(output.files), 'file')} in all")
    if output.removed:
        say(f"  {plural(output.removed, 'older file')} removed")


@contextmanager
def _signals(session: "Session") -> Iterator[None]:
    """The first signal ends the capture, a second one interrupts what is still being done for it."""

    def end(number: int, frame: object) -> None:
        del frame
        if session.stopped:
            raise KeyboardInterrupt
        session.stop()

    heard = [number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if _is_heard(number)]
    before = {number: signal.signal(number, end) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_heard(number: signal.Signals) -> bool:
    """Whoever ignores a signal for us (nohup, a shell for what runs behind) does so on purpose."""
    return signal.getsignal(number) is not signal.SIG_IGN
