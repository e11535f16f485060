"""Options that several commands have, declared once, and how their values are refused."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from typer import Option

from netdiag.errors import UsageError
from netdiag.findings import Severity

if TYPE_CHECKING:
    from netdiag.app.captures import CaptureQuery
    from netdiag.app.progress import Listener

T = TypeVar("T")

EngineHost = Annotated[
    str | None, Option("--host", metavar="URL", help="The Docker Engine. Default: the one that docker uses.")
]
NoEngine = Annotated[bool, Option("--no-engine", help="Do not ask the engine: read only the kernel.")]
FailOn = Annotated[Severity, Option("--fail-on", help="Exit with 1 for findings of this severity or higher.")]
ClientProperties = Annotated[
    str | None,
    Option(
        "--client-properties",
        metavar="FILE",
        help="With --live: connect with the TLS and SASL settings of this client.",
    ),
]
Since = Annotated[
    str | None,
    Option("--since", metavar="TIME", help="Only packets from this time: 2026-01-02T03:04:05Z, or 1767323045.5."),
]
Until = Annotated[str | None, Option("--until", metavar="TIME", help="Only packets before this time.")]
CaptureClients = Annotated[
    list[str] | None, Option("--client", help="Only this client: client.id, address or address:port.")
]
CaptureBrokers = Annotated[list[str] | None, Option("--broker", help="Only this broker: address or address:port.")]
CaptureTopics = Annotated[list[str] | None, Option("--topic", help="Only exchanges with this topic.")]
CapturePorts = Annotated[
    list[int] | None,
    Option("--port", min=1, max=65535, help="Only connections to this port. Default: all Kafka connections."),
]
CaptureLive = Annotated[bool, Option("--live", help="Ask the engine for the names of containers and listeners.")]
CaptureHost = Annotated[str | None, Option("--host", help="The engine: unix://..., tcp://... Default: DOCKER_HOST.")]
CaptureProject = Annotated[str | None, Option("--project", help="Only the containers of this Compose project.")]


def refuse(*contradictions: tuple[object, str]) -> None:
    """typer.BadParameter with the message of the first condition that holds."""
    for holds, message in contradictions:
        if holds:
            raise typer.BadParameter(message)


def parsed(parse: Callable[[str], T], text: str) -> T:
    """What a parser makes of the value of an option; typer.BadParameter where it refuses it."""
    try:
        return parse(text)
    except UsageError as error:
        raise typer.BadParameter(error.message) from error


def words(given: Sequence[str] | None) -> tuple[str, ...]:
    """The values of a repeatable option, each of which may be a list with commas."""
    return tuple(word.strip() for item in given or () for word in item.split(",") if word.strip())


def capture_query(
    files: Sequence[str],
    *,
    since: str | None,
    until: str | None,
    clients: Sequence[str] | None,
    brokers: Sequence[str] | None,
    ports: Sequence[int] | None,
    live: bool,
    host: str | None,
    project: str | None,
    listener: "Listener",
    topics: Sequence[str] | None = None,
    all_sightings: bool = False,
) -> "CaptureQuery":
    """What the options of commands that read captures ask for; with --live the engine is asked for names."""
    from netdiag.app.captures import CaptureQuery, live_names, time_span
    from netdiag.traffic.native import NO_NAMES, ReadOptions

    if not live and (host or project):
        raise UsageError("--host and --project require --live", hint="add --live")
    since_ns, until_ns = time_span(since, until)
    rows = ReadOptions(
        clients=frozenset(clients or ()),
        brokers=frozenset(brokers or ()),
        topics=frozenset(topics or ()),
        ports=frozenset(ports or ()),
        all_sightings=all_sightings,
        address_names=live_names(host, project, listener) if live else NO_NAMES,
    )
    return CaptureQuery(files=tuple(files), rows=rows, since_ns=since_ns, until_ns=until_ns)
