"""Exchanges as lines for people; and what of their captures was not read, or was read twice."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from netdiag.kafka.error_codes import error_name
from netdiag.render.screen import Line, Run, Screen, Style
from netdiag.render.wording import plural
from netdiag.traffic.native import Copies
from netdiag.traffic.rows import ExchangeRow, LossRow
from netdiag.traffic.tables import Column

MAX_TOPICS = 4
# What a snap length cuts off was not wanted, and what is no TCP is no Kafka.
_EXPECTED_LOSSES = frozenset({"truncated", "not-tcp"})
_LOSS_WORDS = {
    "damage": "of damaged packets",
    "gap": "of packets that are missing",
    "resync": "before a message began",
    "fragment": "of IP fragments",
    "unsupported-link": "of unknown link layers",
    "other-protocol": "of other protocols",
    "tls": "of TLS",
    "sasl": "of SASL tokens",
    "limit": "beyond limits",
}


def exchange_line(row: ExchangeRow, screen: Screen) -> Line:
    """When, who asked whom, what, how large, how long it took and what came of it."""
    name = "response" if row.api_key is None else f"{row.api_name} v{row.api_version}"
    return (
        Run(time_text(row.time)[11:26], Style.DIM),
        Run("  "),
        *_ends(row, screen),
        Run("  "),
        Run(name, Style.BOLD),
        Run(f" #{row.correlation_id}"),
        *((Run("  "), screen.run(row.client_id)) if row.client_id else ()),
        *_about(row, screen),
        Run(f"  {_bytes(row.request_bytes)} > {_bytes(row.response_bytes)} B", Style.DIM),
        *_outcome(row),
        *((Run(f"  {row.decoded}", Style.DIM),) if row.decoded != "full" else ()),
    )


def csv_header(columns: Sequence[Column]) -> str:
    """The line of names."""
    return ",".join(column.name for column in columns) + "\n"


class UnreadCounter:
    """Adds up losses by reason, in any number of steps."""

    def __init__(self) -> None:
        self._lost: Counter[str] = Counter()
        self._dropped = 0

    def add(self, losses: Iterable[Sequence[Any]]) -> None:
        """Count rows of the table `losses`."""
        for loss in map(LossRow._make, losses):
            if loss.kind == "dropped":
                self._dropped += loss.times
            elif loss.kind not in _EXPECTED_LOSSES:
                self._lost[loss.kind] += loss.bytes

    @property
    def line(self) -> str | None:
        """How many bytes were not read, by reason, most first; None where nothing worth telling was lost."""
        parts = [f"{self._dropped:,} packets that were dropped while capturing"] if self._dropped else []
        parts += (f"{count:,} bytes {_LOSS_WORDS.get(kind, kind)}" for kind, count in self._lost.most_common())
        return f"not read: {', '.join(parts)}" if parts else None


def copies_line(copies: Copies) -> str | None:
    """How much was taken as seen before; None where nothing was."""
    if not copies.connections:
        return None
    connections, requests = plural(copies.connections, "connection"), plural(copies.requests, "request")
    line = f"left out as copies, captured at other addresses: {connections} with {requests}"
    if copies.like_copies:
        which = "each" if copies.like_copies == copies.connections else f"{copies.like_copies:,}"
        line += f"; {which} of them may instead be a copy or a replay in the file"
    return f"{line} (--all-sightings keeps them)"


def time_text(nanoseconds: int) -> str:
    """RFC 3339 in UTC with nine digits: `2026-01-02T03:04:05.000000006Z`; the plain number where no year holds it."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"
    except (OverflowError, ValueError, OSError):
        return f"{seconds}.{rest:09}"


def _ends(row: ExchangeRow, screen: Screen) -> Line:
    """Both ends, by name where they have one; the listener says more than the port."""
    listener = f" {row.listener}" if row.listener else ""
    return (
        screen.run(_end(row.client_name, row.client), Style.PLACE),
        Run(" > ", Style.PLACE),
        screen.run(_end(row.broker_name, row.broker) + listener, Style.PLACE),
    )


def _end(name: str | None, end: str) -> str:
    return end if name is None else f"{name}:{end.rpartition(':')[2]}"


def _about(row: ExchangeRow, screen: Screen) -> Line:
    parts: list[Run] = []
    if row.group:
        parts += [Run("  group "), screen.run(row.group)]
    if row.topics:
        more = len(row.topics) - MAX_TOPICS
        shown = ",".join(row.topics[:MAX_TOPICS]) + (f" and {more} more" if more > 0 else "")
        parts += [Run("  "), screen.run(shown)]
    if row.records is not None:
        parts += [Run(f"  {plural(row.records, 'record')}")]
    return tuple(parts)


def _outcome(row: ExchangeRow) -> Line:
    if row.outcome == "unanswered":
        return (Run("  no response in the capture", Style.HALF),)
    if row.outcome == "no-request":
        return (Run("  no request in the capture", Style.HALF),)
    if row.outcome == "no-response":
        return (Run("  no response is sent (acks=0)", Style.DIM),)
    parts: list[Run] = []
    if row.latency_ms is not None:
        parts.append(Run(f"  {row.latency_ms:.3f} ms"))
    if row.error_code:
        parts.append(Run(f"  {error_name(row.error_code)}", Style.BAD))
    return tuple(parts)


def _bytes(size: int | None) -> str:
    return "-" if size is None else str(size)
