"""The commands by name: where each stands and what it does, without importing any.

A run pays for the command that it runs, not for the others.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
import typer.main
from typer.core import TyperGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A command: `module` and `function`, its sentence in the list of commands, a class of its own."""

    module: str
    function: str
    help: str
    kind: str | None = None


COMMANDS = {
    "check-listeners": Entry(
        module="netdiag.cli.check_listeners",
        function="check_listeners",
        help="Check Kafka listeners, as declared or as they run: what is wrong, and who can connect from where.",
        kind="netdiag.cli.outputs:InOrder",
    ),
    "capture": Entry(
        module="netdiag.cli.capture",
        function="capture",
        help="Capture what brokers and clients say, on this machine, in containers or namespaces, into a pcapng file.",
    ),
    "analyze": Entry(
        module="netdiag.cli.analyze",
        function="analyze",
        help="Analyze packet captures with Spark: what is wrong, who talks how much to whom, how long it takes.",
    ),
    "exchanges": Entry(
        module="netdiag.cli.exchanges",
        function="exchanges",
        help="Print the Kafka requests and responses in packet captures, a row each, as they complete.",
    ),
    "topology": Entry(
        module="netdiag.cli.topology",
        function="topology",
        help="Show how this machine's network hangs together, from sockets to brokers, and who reaches which of them.",
        kind="netdiag.cli.via:ViaCommand",
    ),
    "lab": Entry(
        module="netdiag.cli.lab",
        function="lab",
        help="Build a small network to learn from, explained step by step, and remove it: needs root, touches nothing "
        "else.",
    ),
    "trace": Entry(
        module="netdiag.cli.trace",
        function="trace",
        help="Trace a connection through namespaces, bridges, NAT and packet filters: where does it end, and why?",
    ),
    "probe": Entry(
        module="netdiag.cli.probe",
        function="probe",
        help="Speak with brokers as a client does, step by step: name, connection, versions, metadata, each advertised "
        "address.",
        kind="netdiag.cli.via:ViaCommand",
    ),
    "diagnose": Entry(
        module="netdiag.cli.diagnose",
        function="diagnose",
        help="Recognise the symptom in lines of a log, and find its cause: in compose files, with --live in what runs.",
        kind="netdiag.cli.via:ViaCommand",
    ),
    "playbook": Entry(
        module="netdiag.cli.playbook",
        function="playbook",
        help="Run a runbook for a symptom: each step as it happens, then the cause, the evidence and the repair.",
        kind="netdiag.cli.via:ViaCommand",
    ),
    "doctor": Entry(
        module="netdiag.cli.doctor",
        function="doctor",
        help="Look at what this machine lets netdiag do: engine, rights, libraries, programs, room.",
    ),
    "rules": Entry(module="netdiag.cli.rules", function="rules", help="List the rules."),
    "explain": Entry(module="netdiag.cli.explain", function="explain", help="Explain a rule."),
}


class Commands(TyperGroup):
    """The group of all commands; a command is imported when it is asked for."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Their names, in the order of the list."""
        return list(COMMANDS)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        """The command of that name, None where there is none."""
        entry = COMMANDS.get(cmd_name)
        return None if entry is None else _command(cmd_name, entry)

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """The list of commands with their sentences."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


def _command(name: str, entry: Entry) -> Any:
    single = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    kind = {} if entry.kind is None else {"cls": _named(entry.kind)}
    single.command(name, **kind)(_named(f"{entry.module}:{entry.function}"))
    command = typer.main.get_command(single)
    command.name = name
    return command


def _named(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
