"""An exchange as a line for people."""

from netdiag.kafka.error_codes import error_name
from netdiag.render.row_values import time_text
from netdiag.render.screen import Line, Run, Screen, Style
from netdiag.traffic.rows import ExchangeRow

MAX_TOPICS = 4


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
        parts += [Run(f"  {row.records} record{'' if row.records == 1 else 's'}")]
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
