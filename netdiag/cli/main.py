"""The `netdiag` command: its common options, and its commands by name, each imported when it is asked for."""

import gc
import os
import signal
import sys
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from netdiag import __version__
from netdiag.cli.command import ColourOption, Debug, Verbose, command_of
from netdiag.cli.console import Colour, Console, silence, write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.values import dataclass

_COLLECTED_AFTER = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A command: where its function is, its sentence in the list of commands, the class that it is an instance of."""

    function: str
    help: str
    kind: str = "netdiag.cli.command:Command"


_VIA = "netdiag.cli.via:ViaCommand"
COMMANDS = {
    "check-listeners": Entry(
        function="netdiag.cli.check_listeners:check_listeners",
        help="Check Kafka listeners, in Compose files or running containers: what is wrong, and who can connect.",
        kind="netdiag.cli.outputs:InOrder",
    ),
    "capture": Entry(
        function="netdiag.cli.capture:capture",
        help="Capture traffic of brokers and clients, on this machine, in containers or namespaces, to a pcapng file.",
    ),
    "analyze": Entry(
        function="netdiag.cli.analyze:analyze",
        help="Analyze packet captures with Spark: what is wrong, who sends how much to whom, how long it takes.",
    ),
    "exchanges": Entry(
        function="netdiag.cli.exchanges:exchanges",
        help="Print the Kafka requests and responses in packet captures, one row each.",
    ),
    "topology": Entry(
        function="netdiag.cli.topology:topology",
        help="Show the network of this machine, from sockets to brokers, and who can reach which broker.",
        kind=_VIA,
    ),
    "lab": Entry(
        function="netdiag.cli.lab:lab",
        help="Build a small network to learn from, explained step by step, or remove it; needs root.",
    ),
    "trace": Entry(
        function="netdiag.cli.trace:trace",
        help="Trace a connection through namespaces, bridges, NAT and packet filters: where it ends, and why.",
    ),
    "probe": Entry(
        function="netdiag.cli.probe:probe",
        help="Connect to brokers as a client does, step by step: name, connection, versions, metadata, advertised "
        "addresses.",
        kind=_VIA,
    ),
    "jmx": Entry(
        function="netdiag.cli.jmx:jmx",
        help="Connect as a JMX client does: to a broker's JMX port, then to the host and port that it names.",
    ),
    "wait": Entry(
        function="netdiag.cli.wait:wait",
        help="Wait until every client that a Compose file declares can work.",
    ),
    "diagnose": Entry(
        function="netdiag.cli.playbook:diagnose",
        help="Recognise the symptom in log lines, and find its cause in Compose files or, with --live, in what runs.",
        kind=_VIA,
    ),
    "playbook": Entry(
        function="netdiag.cli.playbook:playbook",
        help="Run the playbook for a symptom: show each step, then the cause, the evidence and the repair.",
        kind=_VIA,
    ),
    "registry": Entry(
        function="netdiag.cli.registry:registry",
        help="Show what brokers have registered with ZooKeeper or KRaft, beside what they declare and tell clients.",
    ),
    "storage": Entry(
        function="netdiag.cli.storage:storage",
        help="Show which cluster and node wrote a broker's data directory, and what it holds.",
    ),
    "doctor": Entry(
        function="netdiag.cli.doctor:doctor",
        help="Show what netdiag can do on this machine: engine, rights, libraries, programs, disk space.",
    ),
    "lsp": Entry(
        function="netdiag.cli.lsp:lsp",
        help="Serve an editor: findings as you type, from where each address works, repairs.",
    ),
    "mcp": Entry(
        function="netdiag.cli.mcp:mcp",
        help="Serve an agent: checks, predictions and diagnoses as tools, read-only.",
    ),
    "rules": Entry(function="netdiag.cli.rules:rules", help="List the rules."),
    "explain": Entry(function="netdiag.cli.rules:explain", help="Explain a rule."),
}


class Names(TyperGroup):
    """The commands by name and sentence, for the completion of a shell: none of them is imported."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Their names, in the order of the list."""
        return list(COMMANDS)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        """What stands for the command of that name."""
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name].help)


class Commands(Names):
    """The group of all commands; a run pays for the command that it runs, not for the others."""

    def shell_complete(self, ctx: typer.Context, incomplete: str) -> list[Any]:  # type: ignore[override]
        """What can stand in the place of a command."""
        names = Names(params=self.params)
        return list(names.shell_complete(typer.Context(names, info_name=ctx.info_name), incomplete))

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        """The command of that name, None where there is none."""
        entry = COMMANDS.get(cmd_name)
        return None if entry is None else command_of(attribute_at(entry.function), attribute_at(entry.kind), cmd_name)

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """The list of commands with their sentences."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


def _show_version(wanted: bool) -> None:
    if wanted:
        write_text(f"netdiag {__version__}\n")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)]

# Rich would cost every run its import; colours of ours do not need it.
app = typer.Typer(cls=Commands, rich_markup_mode=None, pretty_exceptions_enable=False, no_args_is_help=True)


@app.callback()
def main(
    context: typer.Context,
    version: Version = False,
    verbose: Verbose = False,
    debug: Debug = False,
    colour: ColourOption = None,
) -> None:
    """Find out why Kafka in Docker connects but does not work."""
    del version
    context.obj = Console(verbose=verbose, debug=debug, colour=colour or Colour.AUTO)


def run() -> None:
    """Run the command line and end the process with its exit status."""
    # Imports make objects by the hundred thousand, and none of them is garbage.
    gc.set_threshold(_COLLECTED_AFTER, 10, 20)
    # The threads that numpy starts for matrices have nothing to do here but to wait, which costs time and memory.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What Arrow gives back others can use.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    signal.signal(signal.SIGTERM, _end)
    try:
        app(prog_name="netdiag")
    except KeyboardInterrupt:
        sys.exit(ExitStatus.INTERRUPTED)
    except BrokenPipeError:
        silence(sys.stdout)
        sys.exit(ExitStatus.COULD_NOT_LOOK)
    finally:
        # The process ends: nothing is looked through for garbage once more.
        gc.freeze()


def _end(number: int, frame: object) -> NoReturn:
    # An exception, so that temporary folders are removed and sessions closed on the way out.
    sys.exit(ExitStatus.TERMINATED)


def attribute_at(place: str) -> Any:
    """What `module:name` names."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
