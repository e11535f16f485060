"""Capture packets: where, what, and by which engine, from the options to an open capture that can run."""

import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from netdiag import __version__
from netdiag.app.progress import SILENT, Listener
from netdiag.app.rerun import DEFAULT_SOCKET, sudo_line
from netdiag.deployment.prediction.listener_access import listener_ports
from netdiag.deployment.sources.compose import from_compose
from netdiag.errors import InputError, MissingRight, NetdiagError, UsageError, cannot_import
from netdiag.io.files.projects import ProjectFiles, ProjectReader, ReadOptions, find_project, project_at, project_of
from netdiag.values import dataclass

if TYPE_CHECKING:
    from netdiag.io.packets.engines import Engine as PacketEngine
    from netdiag.io.packets.filters import Filter
    from netdiag.io.packets.output import Output
    from netdiag.io.packets.places import Place as OpenPlace
    from netdiag.io.packets.places import Running, Spot
    from netdiag.io.packets.session import Progress, Session

# Bytes kept of a packet: all of it, or its headers.
WHOLE, HEADERS = 262_144, 256
_KINDS = ("container", "netns", "pid")
_SECONDS = {"": 1, "s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600}
_BYTES = {"kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": 1024, "mib": 1024**2, "gib": 1024**3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where to capture: `host`, `brokers`, or a container, a namespace or a process by name."""

    kind: str
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureOptions:
    """What to capture, and into which file; times in seconds, sizes in bytes.

    `argv` is the command line that is proposed again with the rights that capturing takes.
    """

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
    snaplen: int = HEADERS
    engine: str = "auto"
    megabytes: int = 64
    argv: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """A capture that can begin: of what (`about`), at which places, by which engine, and its file."""

    session: "Session"
    output: "Output"
    about: str
    labels: tuple[str, ...]
    engine: "PacketEngine"
    expression: str

    def run(self, listener: Listener = SILENT) -> "Progress":
        """Capture until a limit is reached, the session is stopped, or no place is left."""
        notes, ended = 0, 0

        def tick(progress: "Progress") -> None:
            nonlocal notes, ended
            for note in progress.notes[notes:]:
                listener.notice(note)
            for error in progress.ended[ended:]:
                listener.warning(error)
            notes, ended = len(progress.notes), len(progress.ended)
            listener.progress(progress_text(progress))

        try:
            return self.session.run(tick)
        finally:
            listener.progress("")

    @property
    def ended_early(self) -> bool:
        """Whether it ended because no place was left."""
        session = self.session
        return bool(session.progress.ended) and not session.stopped and session.is_deserted


@contextmanager
def open_capture(options: CaptureOptions) -> Iterator[Capture]:
    """The places entered and the sources open, for a block."""
    if not sys.platform.startswith("linux"):
        raise NetdiagError(
            "capturing needs Linux", hint="capture with Wireshark here; netdiag reads its files anywhere"
        )
    try:
        with ExitStack() as opened:
            yield _opened(options, opened)
    except MissingRight as error:
        line = sudo_line(options.argv, options.host or DEFAULT_SOCKET)
        hint = f"run it as root: {line}" if line else "run it as root"
        raise MissingRight(error.message, where=error.where, hint=hint) from error


def parse_place(word: str) -> Place:
    """What a word names as a place; UsageError where it names nothing."""
    if word in ("host", "brokers"):
        return Place(kind=word)
    kind, colon, name = word.partition(":")
    if not colon or kind not in _KINDS or not name:
        raise UsageError(f"{word!r} is not a place to capture: use host, brokers, container:NAME, netns:NAME or pid:N")
    if kind == "pid" and not re.fullmatch(r"[1-9][0-9]{0,6}", name):
        raise UsageError(f"{name!r} is not a process ID")
    return Place(kind=kind, name=name)


def parse_seconds(text: str) -> float:
    """30, 30s, 1.5min or 2h in seconds; UsageError for others."""
    found = _amount(text)
    if found is None or found[1] not in _SECONDS or found[0] <= 0:
        raise UsageError(f"{text!r} is not a duration: write 30s, 5min or 1h")
    return found[0] * _SECONDS[found[1]]


def parse_rotation(text: str) -> tuple[int | None, float | None]:
    """A size in bytes or a time in seconds; a bare number could be either and is refused."""
    found = _amount(text)
    if found is not None and found[0] > 0:
        number, unit = found
        if unit in _BYTES:
            size = round(number * _BYTES[unit])
            if size >= _BYTES["kb"]:
                return size, None
        elif unit:
            return None, parse_seconds(text)
    raise UsageError(f"{text!r} is neither a size nor a duration: write 100MB or 60s")


def progress_text(progress: "Progress") -> str:
    """Packets, bytes, losses, time."""
    packets, lost = f"{progress.packets:,} packets", f"{progress.dropped:,} lost"
    return f"{time_text(progress.seconds)}  {packets}  {size_text(progress.bytes)}  {lost}"


def size_text(number: int) -> str:
    """Bytes as people read them."""
    size, units = float(number), ["bytes", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{number} bytes" if units[0] == "bytes" else f"{size:.1f} {units[0]}"


def time_text(seconds: float) -> str:
    """A length of time as people read it."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _opened(options: CaptureOptions, opened: ExitStack) -> Capture:
    from netdiag.io.packets.engines import Wanted, choose, open_sources
    from netdiag.io.packets.output import Output, Rotation
    from netdiag.io.packets.places import open_places
    from netdiag.io.packets.session import Interfaces, Limits, Session

    running = _RunningBrokers(options.host)
    spots = _spots(options.places, running)
    chosen, about = _filter(options, running)
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
    return Capture(
        session=Session(sources, output, interfaces, limits),
        output=output,
        about=about,
        labels=tuple(place.label for place in places),
        engine=engine,
        expression=chosen.expression,
    )


class _RunningBrokers:
    """The engine, asked when the first question comes."""

    def __init__(self, host: str | None) -> None:
        self.host = host
        self._running: Running | None = None

    def look(self) -> "Running":
        if self._running is None:
            try:
                from netdiag.io.packets.places import read_containers
            except ImportError as error:
                raise cannot_import("asking the engine", error, extra="live") from error
            self._running = read_containers(self.host)
        return self._running


def _spots(places: Sequence[Place], running: _RunningBrokers) -> tuple["Spot", ...]:
    from netdiag.io.packets.places import HOST, named, of_process

    found: list[Spot] = []
    for place in places:
        if place.kind == "host":
            found.append(HOST)
        elif place.kind == "container":
            found.append(running.look().spot(place.name))
        elif place.kind == "brokers":
            found += running.look().brokers()
        elif place.kind == "netns":
            found.append(named(place.name))
        else:
            found.append(of_process(int(place.name)))
    return tuple(found)


def _filter(options: CaptureOptions, running: _RunningBrokers) -> tuple["Filter", str]:
    """What to take, and its name in a sentence; UsageError where nothing says which ports are Kafka's."""
    from netdiag.io.packets.filters import of_expression, of_ports

    if options.filter is not None:
        return of_expression(options.filter), "what the filter takes" if options.filter.strip() else "everything"
    ports = _ports(options, running)
    if not ports:
        raise UsageError(
            "the ports of the brokers are unknown", hint="add --port, --file compose.yml, --live or --filter"
        )
    shown = ", ".join(map(str, ports[:8])) + (f" and {len(ports) - 8} more" if len(ports) > 8 else "")
    return of_ports(ports), f"TCP {shown}, DNS and ICMP unreachable"


def _ports(options: CaptureOptions, running: _RunningBrokers) -> tuple[int, ...]:
    """Those that are named; else those of the containers to look at, of the compose file here, of what runs."""
    ports = set(options.ports)
    if options.files:
        files = options.files
        ports |= _declared(project_at(files[0]) if len(files) == 1 else project_of(files))
        if not ports:
            raise InputError("declares no broker with a port", where=files[0], hint="add --port or --live")
    if options.live:
        ports |= set(running.look().ports())
    if options.files or options.live or options.ports:
        return tuple(sorted(ports))
    names = [place.name for place in options.places if place.kind == "container"]
    if names or any(place.kind == "brokers" for place in options.places):
        return running.look().ports(names=names)
    here = find_project(ReadOptions(environ=os.environ))
    if here is not None and (declared := _declared(here)):
        return tuple(sorted(declared))
    try:
        return running.look().ports()
    except NetdiagError:
        return ()


def _declared(files: ProjectFiles) -> set[int]:
    project = ProjectReader(files, ReadOptions(environ=os.environ)).read()
    return set(listener_ports(from_compose(project)))


def _path(out: str | None, places: Sequence["OpenPlace"]) -> str:
    """The file that is asked for, or one in this folder named after the place and the time."""
    if out is not None and not os.path.isdir(out):
        if out.endswith(os.sep):
            raise InputError("the folder does not exist", where=out, hint="create it, or name a file")
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


def _amount(text: str) -> tuple[float, str] | None:
    match = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([A-Za-z]*)", text.strip())
    if match is None:
        return None
    # M alone is a size, m alone are minutes.
    unit = f"{match[2]}b" if match[2] in ("k", "K", "M", "G") else match[2]
    return float(match[1]), unit.lower()
