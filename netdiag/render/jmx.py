"""What JMX clients get, as text and as JSON, version 1: a line for each vantage under each registry's address."""

from collections.abc import Iterator, Sequence
from typing import Any

from netdiag import __version__
from netdiag.deployment.model.jmx import JmxCell, JmxVerdict
from netdiag.deployment.model.verdict import Address, Answered, Contact, Failed, Unknown
from netdiag.deployment.observation.live_view import SkippedVantage
from netdiag.render.screen import Line, Run, Screen, Style, hanging, paint, width

FORMAT = "netdiag-jmx"
VERSION = 1
Value = dict[str, Any]
_NEXT = (
    "let the registry name a host and a port that these clients reach: set java.rmi.server.hostname "
    "(KAFKA_JMX_HOSTNAME) and com.sun.management.jmxremote.rmi.port, and publish that port under the same number"
)


def jmx_text(cells: Sequence[JmxCell], skipped: Sequence[SkippedVantage], notes: Sequence[str], screen: Screen) -> str:
    """The text."""
    lines: list[Line] = []
    room = max((width(screen.visible(cell.vantage)) for cell in cells), default=0)
    for address in dict.fromkeys(cell.registry for cell in cells):
        lines.append((screen.run(str(address), Style.BOLD),))
        for cell in cells:
            if cell.registry == address:
                lines += _cell(cell, room, screen)
        lines.append(())
    if any(cell.observed is not None and str(cell.observed).startswith("stub:") for cell in cells):
        lines += [*hanging((Run("next: ", Style.BOLD),), _NEXT, screen), ()]
    lines += [
        (screen.run(f"note: {item.vantage.label} could not be taken: {item.because}", Style.DIM),) for item in skipped
    ]
    lines += [(screen.run(f"note: {note}", Style.DIM),) for note in notes]
    return paint(lines[:-1] if lines and not lines[-1] else lines, screen)


def jmx_document(
    cells: Sequence[JmxCell], skipped: Sequence[SkippedVantage], notes: Sequence[str], *, works: bool
) -> Value:
    """The document."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "netdiag": __version__,
        "works": works,
        "cells": [
            {
                "vantage": cell.vantage,
                "registry": _address(cell.registry),
                "predicted": None if cell.predicted is None else _verdict(cell.predicted),
                "observed": None if cell.observed is None else _verdict(cell.observed),
                "agrees": cell.agrees,
            }
            for cell in cells
        ],
        "notes": [*(f"{item.vantage.label} could not be taken: {item.because}" for item in skipped), *notes],
    }


def _cell(cell: JmxCell, room: int, screen: Screen) -> Iterator[Line]:
    verdict = cell.observed or cell.predicted
    if verdict is None:
        return
    place = screen.run(f"  {cell.vantage}  ", Style.PLACE)
    gap = Run(" " * (room - width(place.text) + 4))
    style = Style.GOOD if verdict.usable else Style.HALF if str(verdict) == "unknown" else Style.BAD
    said = verdict.because
    if verdict.stub is not None:
        said = f"the registry names {verdict.stub}; {said}"
    if cell.agrees is False:
        said = f"{said} (predicted: {cell.predicted})"
    yield from hanging((place, gap, Run(f"{verdict!s:<22}", style)), said, screen)


def _verdict(verdict: JmxVerdict) -> Value:
    stub = verdict.stub
    return {
        "outcome": str(verdict),
        "stub": None if stub is None else {"host": stub.host, "port": stub.port},
        "registry": _contact(verdict.registry),
        "rmi": None if verdict.rmi is None else _contact(verdict.rmi),
    }


def _contact(contact: Contact) -> Value:
    failed = contact if isinstance(contact, Failed) else None
    word = "answered" if isinstance(contact, Answered) else "unknown"
    if failed is not None:
        word = "not-jmx" if failed.reason.value == "not-kafka" else failed.reason.value
    return {"outcome": word, "because": contact.because, "ip": None if isinstance(contact, Unknown) else contact.ip}


def _address(address: Address) -> Value:
    return {"host": address.host, "port": address.port}
