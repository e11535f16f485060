"""The options that choose what of a capture is looked at: the same for every command that reads captures."""

from typing import Annotated, TypedDict

import typer

from netdiag.errors import UsageError
from netdiag.traffic.moments import nanoseconds
from netdiag.traffic.native import ReadOptions

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
AllSightings = Annotated[
    bool,
    typer.Option(
        "--all-sightings", help="Tell a connection that is seen under several addresses once for each of them."
    ),
]

Live = Annotated[
    bool, typer.Option("--live", help="Ask the engine what runs, and call containers and listeners by name.")
]
Host = Annotated[
    str | None, typer.Option("--host", help="The engine to ask: unix://..., tcp://... (default: DOCKER_HOST).")
]
Project = Annotated[str | None, typer.Option("--project", help="Only the containers of this compose project.")]


class Span(TypedDict):
    """The time looked at, from `since_ns` on and before `until_ns`: nanoseconds since 1970 UTC."""

    since_ns: int | None
    until_ns: int | None


def engine_options(
    tables: frozenset[str],
    *,
    clients: list[str] | None,
    brokers: list[str] | None,
    topics: list[str] | None,
    ports: list[int] | None,
) -> ReadOptions:
    """What the options ask of the engine."""
    return ReadOptions(
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
