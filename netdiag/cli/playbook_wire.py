"""Playbooks on the wire: captures with bounds, kept for as long as a run takes, and what they show."""

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar

import typer

from netdiag.cli.console import Console, say
from netdiag.errors import InputError, NetdiagError
from netdiag.playbook.items import of_capture, of_connections, of_finding, of_traffic
from netdiag.playbook.outcome import Item, Outcome
from netdiag.render.wording import plural
from netdiag.traffic.native import AddressNames

SECONDS, PACKETS, MEGABYTES = 10, 100_000, 16
# Enough for what brokers say of themselves; the rest of a packet is keys and values.
_SNAPLEN = 2048
_MOST_FINDINGS = 500

T = TypeVar("T")


class Wire:
    """Takes captures and has them analysed; the files are gone when it is closed."""

    def __init__(self, host: str | None, console: Console) -> None:
        self._host = host
        self._console = console
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._taken: dict[str, str] = {}

    def close(self) -> None:
        """Remove the captures."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def capture(self, step: str, arguments: Mapping[str, str]) -> Outcome:
        """Packets of brokers for a while; kept under the id of the step."""
        from netdiag.cli.capture import place_of
        from netdiag.cli.capturing import Options, opened_capture

        seconds = int(arguments.get("seconds") or SECONDS)
        port = arguments.get("port") or ""
        path = os.path.join(self._made(), f"{step}.pcapng")
        options = Options(
            places=(understood(lambda: place_of(arguments.get("from") or "brokers")),),
            ports=(_port(port),) if port else (),
            out=path,
            host=self._host,
            seconds=seconds,
            packets=int(arguments.get("packets") or PACKETS),
            most_bytes=int(arguments.get("megabytes") or MEGABYTES) * 1_000_000,
            snaplen=_SNAPLEN,
            megabytes=32,
        )
        with opened_capture(options) as opened:
            labels = ", ".join(map(self._console.error_screen.visible, opened.labels))
            say(f"netdiag: capturing for {plural(seconds, 'second')} at {labels}: let the client try meanwhile")
            progress = opened.session.run(lambda seen: None)
            if not opened.output.files:
                raise NetdiagError("nothing was captured", where=labels)
        self._taken[step] = opened.output.files[0]
        notes = (f"{plural(progress.packets, 'packet')} at {', '.join(opened.labels)}", *progress.notes)
        return Outcome(items=(of_capture(opened.labels, progress.packets, progress.dropped, seconds),), notes=notes)

    def analyze(self, arguments: Mapping[str, str]) -> Outcome:
        """The findings of a capture that is named, or that an earlier step took."""
        from netdiag.cli.analyze import analysis_of

        step = arguments.get("capture") or ""
        named = [path for path in arguments.get("file", "").split("\n") if path]
        files = named or ([self._taken[step]] if step in self._taken else [])
        if not files:
            raise InputError(f"step '{step}' captured nothing" if step else "no capture is named")
        for path in files:
            # Nobody waits for what a document's author had in mind: a pipe may never say anything.
            if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
                raise InputError("is neither a file nor a folder", where=path)
        # A capture of somebody else's machine has nothing to do with what runs here.
        places = None if named else self._places()
        analysis = analysis_of(files, places, self._console)
        return Outcome(
            items=(
                *map(of_finding, analysis.findings[:_MOST_FINDINGS]),
                of_traffic(analysis.seen.packets, analysis.connections, analysis.exchanges),
                *connections(files),
            )
        )

    def _made(self) -> str:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="netdiag-playbook-")
        return self._folder.name

    def _places(self) -> AddressNames | None:
        """Names for addresses; without them findings name addresses."""
        from netdiag.cli.traffic_places import places_that_run

        with suppress(NetdiagError):
            return places_that_run(self._host, None, self._console)
        return None


def connections(files: Sequence[str]) -> tuple[Item, ...]:
    """The connections, those that went alike as one; the likes of them are bounded, not the connections."""
    from netdiag.cli.captured_rows import Wanted, batches
    from netdiag.traffic.facts import host_of
    from netdiag.traffic.native import ReadOptions

    options = ReadOptions(tables=frozenset({"connections", "losses"}))
    names = ("client", "broker", "protocol", "opening", "ending", "client_bytes", "broker_bytes")
    counts: Counter[tuple[str, ...]] = Counter()
    for batch in batches(files, options, Wanted(table="connections", columns=names)):
        for client, broker, protocol, opening, ending, said, answered in batch.rows():
            key = (host_of(client), broker, protocol, opening, ending, "yes" if answered or not said else "no")
            if key in counts or len(counts) < _MOST_FINDINGS:
                counts[key] += 1
    fields = ("client", "broker", "protocol", "opening", "ending", "answered")
    return tuple(of_connections(dict(zip(fields, key, strict=True)), times) for key, times in counts.most_common())


def understood(read: Callable[[], T]) -> T:
    """What the reader of an option makes of an argument; an InputError where that is nothing."""
    try:
        return read()
    except typer.BadParameter as error:
        raise InputError(error.message) from error


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:6]) < 65536):
        raise InputError(f"'{text[:40]}' is no port")
    return int(text)
