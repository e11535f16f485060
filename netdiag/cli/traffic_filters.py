"""The options that choose what of a capture is looked at: the same for every command that reads captures."""

import re
from datetime import UTC, datetime
from typing import Annotated, TypedDict

import typer

from netdiag.errors import UsageError
from netdiag.traffic.engine.options import EngineOptions

Since = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="Only packets from then on: 2026-01-02T03:04:05Z, or 1767323045.5."),
]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Only packets before then.")]
Clients = Annotated[
    list[str] | None, typer.Option("--client", help="Only this client: client.id, address or address:port.")
]
Brokers = Annotated[list[str] | None, typer.Option("--broker", help="Only this broker: address or address:port.")]
Topics = Annotated[list[str] | None, typer.Option("--topic", help="Only what names this topic.")]
Ports = Annotated[
    list[int] | None,
    typer.Option("--port", min=1, max=65535, help="Only connections with this port; default: all that speak Kafka."),
]


class Span(TypedDict):
    """The time looked at, from `since_ns` on and before `until_ns`: nanoseconds since 1970 UTC."""

    since_ns: int | None
    until_ns: int | None


_SECONDS = re.compile(r"(\d{1,11})(?:\.(\d{1,9}))?")
_FRACTION = re.compile(r"(?<=:\d\d)\.(\d{1,9})")


def engine_options(
    tables: frozenset[str],
    *,
    clients: list[str] | None,
    brokers: list[str] | None,
    topics: list[str] | None,
    ports: list[int] | None,
) -> EngineOptions:
    """What the options ask of the engine."""
    return EngineOptions(
        tables=tables,
        clients=frozenset(clients or ()),
        brokers=frozenset(brokers or ()),
        topics=frozenset(topics or ()),
        ports=frozenset(ports or ()),
    )


def span(since: str | None, until: str | None) -> Span:
    """The times as nanoseconds since 1970 UTC; UsageError for what is no time, or a span that holds none."""
    first, last = (None if text is None else nanoseconds(text) for text in (since, until))
    if first is not None and last is not None and first >= last:
        raise UsageError(f"--since '{since}' is not before --until '{until}'")
    return Span(since_ns=first, until_ns=last)


def nanoseconds(text: str) -> int:
    """A time of ISO 8601 (without a zone: UTC) or seconds since 1970, as nanoseconds since 1970."""
    seconds = _SECONDS.fullmatch(text.strip())
    if seconds is not None:
        return int(seconds[1]) * 1_000_000_000 + int((seconds[2] or "0").ljust(9, "0"))
    fraction = _FRACTION.search(text)
    whole = text if fraction is None else text[: fraction.start()] + text[fraction.end() :]
    try:
        moment = datetime.fromisoformat(whole.strip())
    except ValueError:
        raise UsageError(f"'{text}' is no time", hint="write 2026-01-02T03:04:05Z, or seconds since 1970") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    rest = 0 if fraction is None else int(fraction[1].ljust(9, "0"))
    return int(moment.timestamp()) * 1_000_000_000 + rest
