"""Causes of failing connections: as lines under a matrix or a trace, and as JSON values."""

from collections.abc import Iterator, Sequence
from typing import Any

from netdiag.render.redact import redacted
from netdiag.render.screen import Line, Run, Screen, Style
from netdiag.render.wording import first_names
from netdiag.topology.causes.failed_connection import Cause, Certainty, Explanation, Repair

_STYLES = {Certainty.PROVEN: Style.BAD, Certainty.FOUND: Style.BAD}
_MOST_EVIDENCE = 3
_MOST_REPAIRS = 3
# More groups of connections with the same causes are counted; JSON has them all.
_MOST_GROUPS = 12
_MOST_NAMES = 6


def cause_lines(causes: Sequence[Cause], screen: Screen, *, indent: str = "  ") -> Iterator[Line]:
    """The likeliest cause with its evidence and repairs, then the others in a line each."""
    for number, cause in enumerate(causes):
        word = f"{cause.certainty.value}: " if cause.certainty is not Certainty.FOUND else ""
        yield (
            Run(indent),
            Run(cause.mechanism.value, _STYLES.get(cause.certainty, Style.HALF)),
            screen.run(f", {word}{redacted(cause.because)}"),
        )
        if number:
            continue
        for line in cause.evidence[:_MOST_EVIDENCE]:
            yield (screen.run(f"{indent}  evidence: {redacted(line)}", Style.DIM),)
        for repair in cause.repairs[:_MOST_REPAIRS]:
            yield from _repair(repair, screen, indent)


def explained_lines(explained: Sequence[Explanation], screen: Screen) -> list[Line]:
    """A block for every different explanation, with the connections that it is of."""
    groups: dict[tuple[Cause, ...], list[Explanation]] = {}
    for one in explained:
        groups.setdefault(one.causes, []).append(one)
    lines: list[Line] = []
    for causes, members in list(groups.items())[:_MOST_GROUPS]:
        addresses = list(dict.fromkeys(str(one.address) for one in members))
        vantages = list(dict.fromkeys(one.vantage for one in members))
        who = f"{first_names(vantages, _MOST_NAMES)} {screen.glyphs.arrow} {first_names(addresses, _MOST_NAMES)}"
        lines += [(Run("why ", Style.BOLD), screen.run(who, Style.BOLD)), *cause_lines(causes, screen)]
    if len(groups) > _MOST_GROUPS:
        lines.append((Run(f"why: {len(groups) - _MOST_GROUPS} more; --format json has all", Style.DIM),))
    return lines


def cause_value(cause: Cause) -> dict[str, Any]:
    """One cause as JSON."""
    return {
        "mechanism": cause.mechanism.value,
        "certainty": cause.certainty.value,
        "because": redacted(cause.because),
        "evidence": [redacted(line) for line in cause.evidence],
        "repairs": [
            {"text": redacted(one.text), "confirmed": one.confirmed, "because": redacted(one.because)}
            for one in cause.repairs
        ],
    }


def explained_value(input_name: str, explained: Explanation) -> dict[str, Any]:
    """One explained connection as JSON; the likeliest cause stands first."""
    return {
        "input": input_name,
        "vantage": explained.vantage,
        "host": explained.address.host,
        "port": explained.address.port,
        "causes": [cause_value(cause) for cause in explained.causes],
    }


def _repair(repair: Repair, screen: Screen, indent: str) -> Iterator[Line]:
    said = "tested in the model" if repair.confirmed else repair.because
    style = Style.GOOD if repair.confirmed else Style.HALF
    yield (
        Run(f"{indent}  repair: "),
        screen.run(redacted(repair.text)),
        screen.run(f" ({redacted(said)})", style),
    )
