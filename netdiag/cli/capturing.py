"""A capture from its options to its end: where, what, by which engine; how it goes; what became of it."""

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netdiag import __version__
from netdiag.app.rerun import DEFAULT_SOCKET, sudo_line
from netdiag.cli.console import Console, say
from netdiag.cli.exit_status import ExitStatus
from netdiag.deployment.prediction.listener_access import listener_ports
from netdiag.deployment.sources.compose import from_compose
from netdiag.errors import InputError, MissingRight, NetdiagError, UsageError, cannot_import
from netdiag.io.projects import ProjectFiles, ProjectReader, ReadOptions, find_project, project_at, project_of
from netdiag.render.wording import plural

if TYPE_CHECKING:
    from netdiag.io.packets.containers import Running
    from netdiag.io.packets.engines import Engine as PacketEngine
    from netdiag.io.packets.filters import Filter
    from netdiag.io.packets.output import Output
    from netdiag.io.packets.places import Place as OpenPlace
    from netdiag.io.packets.places import Spot
    from netdiag.io.packets.session import Progress, Session

WHOLE = 262_144


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One --from."""

    kind: str
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line says; times in seconds, sizes in bytes."""

    places: tuple[Place, ...] = (Place(kind="host"),)
    links: tuple[str, ...] = ()
    out: str | None = None
    files: tuple[str, ...] = ()
    live: bool = False
    host: str | None = None
    ports: tuple[int, ...] = ()
    filter: str | None = None
    seconds: float | None = None
    packets: int | None = None
    most_bytes: int | None = None
    rotate_bytes: int | None = None
    rotate_seconds: float | None = None
    keep: int | None = None
    snaplen: int = 256
    engine: str = "auto"
    megabytes: int = 64


def capture_packets(options: Options, console: Console) -> ExitStatus:
    """Capture until it ends; one line at its beginning, its outcome at its end."""
    if options.out == "-" and sys.stdout is not None and sys.stdout.isatty():
        raise UsageError("packets on a terminal are of no use", hint="use --out FILE, or pipe it: | wireshark -k -i -")
    with opened_capture(options) as opened:
        visible = console.error_screen.visible
        kept = "whole packets" if options.snaplen >= WHOLE else f"{options.snaplen} bytes of each packet"
        say(f"netdiag: capturing {opened.about} from {visible(', '.join(opened.labels))}: {kept}")
        say(f"netdiag: engine {opened.engine.name}: {opened.engine.why}; Ctrl-C ends the capture")
        console.detail(f"filter: {opened.expression or 'none'}")
        return _run(opened.session, opened.output, console)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A capture that can begin: of what (`about`), at which places, by which engine, and its file."""

    session: "Session"
    output: "Output"
    about: str
    labels: tuple[str, ...]
    engine: "PacketEngine"
    expression: str


@contextmanager
def opened_capture(options: Options) -> Iterator[Opened]:
    """The places entered and the sources open, for a block."""
    if not sys.platform.startswith("linux"):
        raise NetdiagError(
            "capturing needs Linux", hint="capture with Wireshark here; netdiag reads its files anywhere"
        )
    try:
        with ExitStack() as opened:
            yield _opened(options, opened)
    except MissingRight as error:
        hint = f"run it as root: {sudo_line(sys.argv, options.host or DEFAULT_SOCKET)}"
        raise MissingRight(error.message, where=error.where, hint=hint) from error


def _opened(options: Options, opened: ExitStack) -> Opened:
    from netdiag.io.packets.engines import Wanted, choose, open_sources
    from netdiag.io.packets.output import Output, Rotation
    from netdiag.io.packets.places import open_places
    from netdiag.io.packets.session import Interfaces, Limits, Session

    engine_view = _Engine(options.host)
    spots = _spots(options.places, engine_view)
    chosen, about = _filter(options, engine_view)
    places = open_places(spots)
    for place in places:
        opened.callback(place.close)
    path = _path(options.out, places)
    engine = choose(options.engine, places, options.filter or "")
    interfaces = Interfaces(snaplen=options.snaplen, filter_text=chosen.expression)
    wanted = Wanted(
        filter=chosen,
        snaplen=options.snaplen,
        links=options.links,
        megabytes=options.megabytes,
        folder=_folder(path),
    )
    sources = open_sources(engine, places, wanted, interfaces.number)
    for source in sources:
        opened.callback(source.close)
    rotation = None
    if options.rotate_bytes or options.rotate_seconds:
        rotation = Rotation(size=options.rotate_bytes, seconds=options.rotate_seconds, keep=options.keep)
    output = Output(path, interfaces.listed, application=f"netdiag {__version__}", rotation=rotation)
    limits = Limits(seconds=options.seconds, packets=options.packets, bytes=options.most_bytes)
    return Opened(
        session=Session(sources, output, interfaces, limits),
        output=output,
        about=about,
        labels=tuple(place.label for place in places),
        engine=engine,
        expression=chosen.expression,
    )


def _run(session: "Session", output: "Output", console: Console) -> ExitStatus:
    told = [0, 0]

    def tick(progress: "Progress") -> None:
        for note in progress.notes[told[0] :]:
            console.notice(note)
        for error in progress.ended[told[1] :]:
            console.warning(error)
        told[:] = len(progress.notes), len(progress.ended)
        console.progress(progress_text(progress))

    failed: NetdiagError | None = None
    with _signals(session):
        try:
            session.run(tick)
        except NetdiagError as error:
            failed = error
        finally:
            console.progress("")
            _tell_outcome(session.progress, output, console)
    if failed is not None:
        raise failed
    over_early = session.progress.ended and not session.stopped and session.is_deserted
    return ExitStatus.COULD_NOT_LOOK if over_early else ExitStatus.CLEAN


def progress_text(progress: "Progress") -> str:
    """Packets, bytes, losses, time."""
    return (
        f"{clock(progress.seconds)}  {progress.packets:,} packets  {amount(progress.bytes)}  {progress.dropped:,} lost"
    )


def amount(number: int) -> str:
    """Bytes as people read them."""
    size, units = float(number), ["bytes", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{number} bytes" if units[0] == "bytes" else f"{size:.1f} {units[0]}"


def clock(seconds: float) -> str:
    """A length of time as people read it."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _tell_outcome(progress: "Progress", output: "Output", console: Console) -> None:
    visible = console.error_screen.visible
    lost = f"{progress.dropped:,} lost"
    say(f"netdiag: {progress.packets:,} packets ({amount(progress.bytes)}) in {clock(progress.seconds)}, {lost}")
    if progress.dropped:
        say("  fix: give more --buffer, a narrower --filter, or --engine tcpdump")
    if not progress.packets:
        say("  none matched: look whether the ports are right, or take everything with --filter ''")
    for path in output.files[-3:]:
        say(f"  {visible(path)}")
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


class _Engine:
    """The engine, asked when the first question comes."""

    def __init__(self, host: str | None) -> None:
        self.host = host
        self._running: Running | None = None

    def look(self) -> "Running":
        if self._running is None:
            try:
                from netdiag.io.packets.containers import look
            except ImportError as error:
                raise cannot_import("asking the engine", error, extra="live") from error
            self._running = look(self.host)
        return self._running


def _spots(places: Sequence[Place], engine: _Engine) -> tuple["Spot", ...]:
    from netdiag.io.packets.places import HOST, named, of_process

    found: list[Spot] = []
    for place in places:
        if place.kind == "host":
            found.append(HOST)
        elif place.kind == "container":
            found.append(engine.look().spot(place.name))
        elif place.kind == "brokers":
            found += engine.look().brokers()
        elif place.kind == "netns":
            found.append(named(place.name))
        else:
            found.append(of_process(int(place.name)))
    return tuple(found)


def _filter(options: Options, engine: _Engine) -> tuple["Filter", str]:
    """What to take, and its name in a sentence; UsageError where nothing says which ports are Kafka's."""
    from netdiag.io.packets.filters import of_expression, of_ports

    if options.filter is not None:
        return of_expression(options.filter), "what the filter takes" if options.filter.strip() else "everything"
    ports = _ports(options, engine)
    if not ports:
        raise UsageError(
            "nothing says which ports the brokers have", hint="name --port, --file compose.yml, --live or --filter"
        )
    shown = ", ".join(map(str, ports[:8])) + (f" and {len(ports) - 8} more" if len(ports) > 8 else "")
    return of_ports(ports), f"TCP {shown}, DNS and ICMP unreachable"


def _ports(options: Options, engine: _Engine) -> tuple[int, ...]:
    """Those that are named; else those of the containers to look at, of the compose file here, of what runs."""
    ports = set(options.ports)
    if options.files:
        files = options.files
        ports |= _declared(project_at(files[0]) if len(files) == 1 else project_of(files))
        if not ports:
            raise InputError("declares no broker with a port", where=files[0], hint="name --port or --live")
    if options.live:
        ports |= set(engine.look().ports())
    if options.files or options.live or options.ports:
        return tuple(sorted(ports))
    names = [place.name for place in options.places if place.kind == "container"]
    if names or any(place.kind == "brokers" for place in options.places):
        return engine.look().ports(names=names)
    here = find_project(ReadOptions(environ=os.environ))
    if here is not None and (declared := _declared(here)):
        return tuple(sorted(declared))
    try:
        return engine.look().ports()
    except NetdiagError:
        return ()


def _declared(files: ProjectFiles) -> set[int]:
    project = ProjectReader(files, ReadOptions(environ=os.environ)).read()
    return set(listener_ports(from_compose(project)))


def _path(out: str | None, places: Sequence["OpenPlace"]) -> str:
    """The file that is asked for, or one in this folder named after the place and the time."""
    if out is not None and not os.path.isdir(out):
        return out
    place = places[0].label if len(places) == 1 else f"{len(places)}-places"
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in place)[:60]
    name = f"netdiag-{safe}-{time.strftime('%Y%m%d-%H%M%S')}.pcapng"
    return os.path.join(out, name) if out else name


def _folder(path: str) -> str:
    """Where a tool may keep what is not yet read: beside the file, if that is one."""
    import tempfile

    special = path == "-" or (os.path.exists(path) and not os.path.isfile(path))
    return tempfile.gettempdir() if special else os.path.dirname(path) or os.curdir
