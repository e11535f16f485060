"""What every command has: its common options, and its end, one line for an error and one number for the shell.

Options that several commands have are declared here once.
"""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer
import typer.main
from typer import Option
from typer.core import TyperCommand, TyperOption

from netdiag.cli.console import Colour, Console, report_error, say
from netdiag.cli.exit_status import ExitStatus
from netdiag.errors import NetdiagError, UsageError, internal_error
from netdiag.findings import Severity

Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print each step to standard error.")]
Debug = Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")]
ColourOption = Annotated[
    Colour | None,
    typer.Option("--color", help="When to use colors; respects NO_COLOR and FORCE_COLOR.", show_default="auto"),
]


class Command(TyperCommand):
    """A command whose function returns an exit status; it finds the console in its context.

    One that takes `--host` takes `--context`, too; its function gets either as `host`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [one.name for one in self.params]
        if "host" in names:
            self.params.insert(names.index("host") + 1, _context())
        self.params += command_of(_common_options, TyperCommand).params

    def invoke(self, ctx: typer.Context) -> NoReturn:  # type: ignore[override]
        """Run the function and raise typer.Exit with its status."""
        verbose, debug, colour = (ctx.params.pop(name) for name in ("verbose", "debug", "colour"))
        before = console_of(ctx)
        console = ctx.obj = Console(
            verbose=before.verbose or verbose,
            debug=before.debug or debug,
            colour=before.colour if colour is None else Colour(colour),
        )
        if (context := ctx.params.pop("context", None)) is not None:
            from netdiag.io.engine.address import CONTEXT_URL

            if ctx.params["host"] is not None:
                raise typer.BadParameter("--host and --context exclude each other", ctx=ctx)
            ctx.params["host"] = CONTEXT_URL + context
        finish(console, lambda: self.run(ctx))

    def run(self, ctx: typer.Context) -> ExitStatus:
        """The status that the function returns."""
        return ExitStatus(super().invoke(ctx))


def _context() -> TyperOption:
    told = "The engine of this Docker context, as `docker --context` takes it."
    return TyperOption(param_decls=["--context"], type=str, metavar="NAME", help=told)


def command_of(function: Callable[..., Any], kind: type[TyperCommand], name: str | None = None) -> TyperCommand:
    """The command that Typer makes of a function."""
    single = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    single.command(name, cls=kind)(function)
    command = typer.main.get_command(single)
    assert isinstance(command, TyperCommand)
    return command


def console_of(context: typer.Context) -> Console:
    """The console under the options given so far."""
    return context.obj if isinstance(context.obj, Console) else Console()


def finish(console: Console, command: Callable[[], ExitStatus]) -> NoReturn:
    """Run a command to its exit status and raise typer.Exit with it; --debug adds the traceback of an error."""
    try:
        status = command()
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except KeyboardInterrupt as error:
        console.handled(error)
        say("netdiag: interrupted")
        status = ExitStatus.INTERRUPTED
    except UsageError as error:
        console.handled(error)
        report_error(error, console.error_screen)
        status = ExitStatus.USAGE
    except NetdiagError as error:
        console.handled(error)
        report_error(error, console.error_screen)
        status = ExitStatus.COULD_NOT_LOOK
    except Exception as error:  # noqa: BLE001 (the last door: a defect of ours becomes one line, too)
        console.handled(error)
        report_error(internal_error(error), console.error_screen)
        status = ExitStatus.COULD_NOT_LOOK
    raise typer.Exit(int(status))


def _common_options(verbose: Verbose = False, debug: Debug = False, colour: ColourOption = None) -> None:
    """Declares the options that every command has."""


if TYPE_CHECKING:
    from netdiag.app.captures import CaptureQuery
    from netdiag.app.progress import Listener
    from netdiag.io.files.projects import ReadOptions

T = TypeVar("T")

EngineHost = Annotated[
    str | None, Option("--host", metavar="URL", help="The Docker Engine. Default: the one that docker uses.")
]
NoEngine = Annotated[bool, Option("--no-engine", help="Do not ask the engine: read only the kernel.")]
FailOn = Annotated[Severity, Option("--fail-on", help="Exit with 1 for findings of this severity or higher.")]
ClientProperties = Annotated[
    str | None,
    Option("--client-properties", metavar="FILE", help="Connect with the TLS and SASL settings of this client."),
]
LiveClientProperties = Annotated[
    str | None,
    Option(
        "--client-properties",
        metavar="FILE",
        help="With --live: connect with the TLS and SASL settings of this client.",
    ),
]
ProjectChain = Annotated[
    list[str] | None,
    Option(
        "--file", "-f", metavar="FILE", help="A file of the project; repeatable, later files override earlier ones."
    ),
]
ProjectDirectory = Annotated[
    str | None, Option("--project-directory", metavar="DIR", help="The folder for relative paths and .env.")
]
ProjectName = Annotated[str | None, Option("--project-name", "-p", metavar="NAME", help="The name of the project.")]
EnvFiles = Annotated[
    list[str] | None,
    Option("--env-file", metavar="FILE", help="Read variables from this file instead of .env; repeatable."),
]
Profiles = Annotated[
    list[str] | None,
    Option("--profile", metavar="NAME", help="Include services of this profile, * for all; repeatable."),
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


def read_options(
    *,
    directory: str | None,
    name: str | None,
    env_files: Sequence[str] | None,
    profiles: Sequence[str] | None,
) -> "ReadOptions":
    """How the options of commands that read Compose files say to read them."""
    from netdiag.io.files.projects import ReadOptions

    return ReadOptions(
        environ=os.environ,
        env_files=tuple(env_files or ()),
        project_directory=directory,
        project_name=name,
        profiles=tuple(profiles) if profiles else None,
    )


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
    from netdiag.app.captures import CaptureQuery, time_span
    from netdiag.traffic.native import NO_NAMES
    from netdiag.traffic.native import ReadOptions as RowOptions

    if not live and (host or project):
        raise UsageError("--host, --context and --project require --live", hint="add --live")
    names = NO_NAMES
    if live:
        from netdiag.app.address_names import live_names

        names = live_names(host, project, listener)
    since_ns, until_ns = time_span(since, until)
    rows = RowOptions(
        clients=frozenset(clients or ()),
        brokers=frozenset(brokers or ()),
        topics=frozenset(topics or ()),
        ports=frozenset(ports or ()),
        all_sightings=all_sightings,
        address_names=names,
    )
    return CaptureQuery(files=tuple(files), rows=rows, since_ns=since_ns, until_ns=until_ns)
