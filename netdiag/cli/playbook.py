"""`netdiag playbook list|show|run` and `netdiag diagnose`: symptoms in, runs as they happen, cause and repair out."""

import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, assert_never

import typer
from typer import Argument, Option

from netdiag.app.playbook import (
    PlaybookOptions,
    RunListener,
    playbook_named,
    playbook_view,
    playbooks,
    replay_bundle,
    run_playbook,
    run_view,
    save_bundle,
    step_view,
    symptom_view,
)
from netdiag.app.playbook import diagnose as diagnose_lines
from netdiag.cli.command import EngineHost, LiveClientProperties, console_of
from netdiag.cli.console import Console, say, write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.errors import InputError, UsageError
from netdiag.io.files import read_file, read_stdin
from netdiag.playbook.document import Playbook, Recognised
from netdiag.playbook.runner import End, Run, Taken
from netdiag.render.playbooks import (
    diagnosis_html,
    diagnosis_json,
    diagnosis_markdown,
    end_text,
    playbook_list,
    playbook_page,
    recognised_text,
    step_text,
)

_LARGEST = 8 * 1024 * 1024


class DiagnosisFormat(StrEnum):
    """How it is shown."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"


class What(StrEnum):
    """What is to be done."""

    LIST = "list"
    SHOW = "show"
    RUN = "run"


_Form = Annotated[DiagnosisFormat, Option("--format", "-f", help="text, json, markdown or html (docs/output.md).")]
_Live = Annotated[bool, Option("--live", help="Also check what runs: ask the engine and connect to its brokers.")]
_Files = Annotated[
    list[str] | None,
    Option(
        "--file", metavar="FILE", help="Compose files (default: those of this folder) or captures (.pcap, .pcapng)."
    ),
]
_Timeout = Annotated[float, Option("--timeout", metavar="SECONDS", min=0.1, max=60, help="Timeout of each connection.")]
_Bundle = Annotated[
    str | None,
    Option("--bundle", metavar="FILE.zip", help="Save the results without secrets, for playbook run --replay."),
]


def diagnose(
    context: typer.Context,
    lines: Annotated[
        list[str] | None,
        Argument(metavar="[LINE|FILE|-]...", help="Log lines, log files, or - for standard input."),
    ] = None,
    live: _Live = False,
    files: _Files = None,
    form: _Form = DiagnosisFormat.TEXT,
    host: EngineHost = None,
    timeout: _Timeout = 4.0,
    client_properties: LiveClientProperties = None,
    bundle: _Bundle = None,
) -> ExitStatus:
    """Recognise the symptom in log lines, and find its cause in Compose files or, with --live, in what runs."""
    console = console_of(context)
    options = PlaybookOptions(
        live=live,
        files=tuple(files or ()),
        host=host,
        timeout=timeout,
        client_properties=client_properties,
    )
    text = form is DiagnosisFormat.TEXT

    def show_symptoms(symptoms: Sequence[Recognised]) -> None:
        if text and symptoms:
            write_text(recognised_text([symptom_view(one) for one in symptoms], console.screen))

    found = diagnose_lines(_log_lines(lines or []), options, console, _runs(form, console), show_symptoms)
    if not text:
        write_text(document(form, found.symptoms, found.runs))
    if bundle is not None and found.runs:
        _save(bundle, found.symptoms, [(made, made.playbook.name) for made in found.runs], live=live)
    if not found.symptoms:
        say("netdiag: no known symptom in these lines; netdiag playbook list shows the known ones")
        return ExitStatus.NOTHING_TO_CHECK
    return status_of(found.runs)


def playbook(
    context: typer.Context,
    what: Annotated[What, Argument(metavar="list|show|run", help="List the playbooks, show one, or run one.")],
    name: Annotated[
        str | None, Argument(metavar="[NAME|FILE]", help="The name of a playbook, or a file with one.")
    ] = None,
    told: Annotated[
        list[str] | None, Option("--var", metavar="NAME=VALUE", help="Set a variable of the playbook; repeatable.")
    ] = None,
    live: _Live = False,
    files: _Files = None,
    form: _Form = DiagnosisFormat.TEXT,
    host: EngineHost = None,
    timeout: _Timeout = 4.0,
    client_properties: LiveClientProperties = None,
    bundle: _Bundle = None,
    replay: Annotated[
        str | None,
        Option("--replay", metavar="FILE.zip", help="Evaluate the results that --bundle saved, and nothing else."),
    ] = None,
) -> ExitStatus:
    """Run the playbook for a symptom: show each step, then the cause, the evidence and the repair."""
    console = console_of(context)
    match what:
        case What.LIST:
            if name is not None:
                raise UsageError("playbook list takes no name", hint=f"netdiag playbook show {name} shows one")
            write_text(playbook_list([(each.name, each.title) for each in playbooks()], console.screen))
            return ExitStatus.CLEAN
        case What.SHOW:
            write_text(playbook_page(playbook_view(playbook_named(_required(name))), console.screen))
            return ExitStatus.CLEAN
        case What.RUN if replay is not None:
            if name is not None or live or bundle is not None:
                raise UsageError("--replay takes these from the bundle", hint="leave out NAME, --live and --bundle")
            runs = replay_bundle(replay, _runs(form, console))
        case What.RUN:
            name = _required(name)
            options = PlaybookOptions(
                live=live,
                files=tuple(files or ()),
                host=host,
                timeout=timeout,
                client_properties=client_properties,
            )
            runs = (run_playbook(name, _variables(told), options, console, _runs(form, console)),)
        case _:
            assert_never(what)
    if form is not DiagnosisFormat.TEXT:
        write_text(document(form, (), runs))
    if bundle is not None:
        _save(bundle, (), [(made, name or "") for made in runs], live=live)
    return status_of(runs)


def status_of(runs: Sequence[Run]) -> ExitStatus:
    """A cause is a finding; where none was found, not having looked outweighs that nothing is wrong."""
    if any(made.end is End.CAUSE for made in runs):
        return ExitStatus.FINDINGS
    if any(made.end is End.INCOMPLETE for made in runs):
        return ExitStatus.COULD_NOT_LOOK
    return ExitStatus.CLEAN


def document(form: DiagnosisFormat, found: Sequence[Recognised], runs: Sequence[Run]) -> str:
    """What was recognised and what came of it, in a format that is a whole document."""
    symptoms, views = [symptom_view(one) for one in found], [run_view(made) for made in runs]
    match form:
        case DiagnosisFormat.JSON | DiagnosisFormat.TEXT:
            return diagnosis_json(symptoms, views)
        case DiagnosisFormat.MARKDOWN:
            return diagnosis_markdown(symptoms, views)
        case DiagnosisFormat.HTML:
            return diagnosis_html(symptoms, views)
        case _:
            assert_never(form)


class _TextRuns(RunListener):
    """Where people read, each step is shown as it is over, and the end."""

    def __init__(self, console: Console) -> None:
        self._screen = console.screen

    def begun(self, playbook: Playbook) -> None:
        write_text(f"\n{playbook.name}: {self._screen.visible(playbook.title)}\n")

    def step(self, taken: Taken) -> None:
        write_text(step_text(step_view(taken), self._screen))

    def ended(self, run: Run) -> None:
        write_text(end_text(run_view(run), self._screen))


def _runs(form: DiagnosisFormat, console: Console) -> RunListener:
    return _TextRuns(console) if form is DiagnosisFormat.TEXT else RunListener()


def _save(path: str, found: Sequence[Recognised], runs: Sequence[tuple[Run, str]], *, live: bool) -> None:
    save_bundle(path, found, runs, live=live)
    say(f"netdiag: the results are in '{path}', without secrets; netdiag playbook run --replay evaluates them again")


def _required(name: str | None) -> str:
    if name is None:
        raise UsageError("no playbook: name one, or --bundle FILE", hint="netdiag playbook list shows the names")
    return name


def _variables(pairs: list[str] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs or ():
        name, sign, value = pair.partition("=")
        if not sign or not name.isidentifier():
            raise UsageError(f"'{pair}' is not NAME=VALUE", hint="write --var NAME=VALUE")
        found[name] = value
    return found


def _log_lines(words: list[str]) -> list[str]:
    """The lines that were pasted, or are in the files that were named, or on standard input."""
    if not words:
        if sys.stdin is None or sys.stdin.isatty():
            raise UsageError("no log lines to read", hint="pass a line in quotes or a file, or pipe a log in")
        words = ["-"]
    found: list[str] = []
    for word in words:
        if word == "-":
            found += read_stdin(limit=_LARGEST).decode("utf-8", "replace").splitlines()
        elif " " in word.strip():
            found += word.splitlines()
        else:
            try:
                found += read_file(word, limit=_LARGEST).decode("utf-8", "replace").splitlines()
            except InputError as error:
                hint = "pass a file, or a log line in quotes"
                raise InputError(error.message, where=error.where, hint=hint) from error
    return found
