"""`netdiag diagnose`: lines of a log in, what they mean and what is behind them out."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, assert_never

import typer

from netdiag.cli.command import console_of
from netdiag.cli.console import Console, say, write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.cli.options import ClientProperties
from netdiag.cli.playbook_actions import Looks, Where
from netdiag.cli.telling import told_run, told_step, told_symptom
from netdiag.errors import InputError, UsageError
from netdiag.playbook.bundle import recorded, to_json
from netdiag.playbook.document import Playbook
from netdiag.playbook.recognise import Recognised, recognised
from netdiag.playbook.runner import End, Perform, Run, Taken, run, variables_of
from netdiag.render.playbooks import (
    diagnosis_html,
    diagnosis_json,
    diagnosis_markdown,
    end_text,
    recognised_text,
    step_text,
)

_LARGEST = 8 * 1024 * 1024
_LIMIT = 3
_CAPTURE = re.compile(r"\.(?:p?cap|pcapng)(?:\.(?:gz|zst|xz|bz2|lz4))?$", re.IGNORECASE)


class DiagnosisFormat(StrEnum):
    """How it is told."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"


LineOrFile = Annotated[
    list[str] | None,
    typer.Argument(metavar="[LINE|FILE|-]...", help="Lines of a log, files of lines, - for standard input."),
]
Form = Annotated[DiagnosisFormat, typer.Option("--format", "-f", help="text, json, markdown or html (docs/output.md).")]
Live = Annotated[bool, typer.Option("--live", help="Look at what runs, too: asks the engine, contacts its brokers.")]
Files = Annotated[
    list[str] | None,
    typer.Option(
        "--file", metavar="FILE", help="Compose files; those of this folder otherwise. Or captures (.pcap, .pcapng)."
    ),
]
Host = Annotated[str | None, typer.Option("--host", metavar="URL", help="The engine; default as docker finds it.")]
Bundled = Annotated[
    str | None, typer.Option("--bundle", metavar="FILE.zip", help="Save what was seen, secrets hidden, to be replayed.")
]
Timeout = Annotated[float, typer.Option("--timeout", metavar="SECONDS", min=0.1, max=60, help="For each connection.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What was asked for."""

    form: DiagnosisFormat = DiagnosisFormat.TEXT
    live: bool = False
    files: tuple[str, ...] = ()
    host: str | None = None
    timeout: float = 4.0
    bundle: str | None = None
    client_properties: str | None = None

    @property
    def told(self) -> dict[str, str]:
        """The variables that the options tell; a file is a capture by its name, else a compose file."""
        told: dict[str, list[str]] = {"files": [], "capture": []}
        for file in self.files:
            told["capture" if _CAPTURE.search(file) else "files"].append(file)
        return {name: "\n".join(files) for name, files in told.items() if files}

    def looks(self, console: Console) -> Looks:
        """The actions."""
        declared = tuple(file for file in self.files if not _CAPTURE.search(file))
        where = Where(files=declared, host=self.host, timeout=self.timeout, client_properties=self.client_properties)
        return Looks(where, console)


def diagnose(
    context: typer.Context,
    lines: LineOrFile = None,
    live: Live = False,
    files: Files = None,
    form: Form = DiagnosisFormat.TEXT,
    host: Host = None,
    timeout: Timeout = 4.0,
    client_properties: ClientProperties = None,
    bundle: Bundled = None,
) -> ExitStatus:
    """Recognise the symptom in lines of a log, and find its cause: in compose files, with --live in what runs."""
    console = console_of(context)
    order = Order(
        form=form,
        live=live,
        files=tuple(files or ()),
        host=host,
        timeout=timeout,
        bundle=bundle,
        client_properties=client_properties,
    )
    return _diagnosed(_lines(lines or []), order, console)


def _diagnosed(lines: Sequence[str], order: Order, console: Console) -> ExitStatus:
    from netdiag.io.playbooks import shipped

    text = order.form is DiagnosisFormat.TEXT
    found = recognised(lines, shipped())
    best = found[:_LIMIT]
    if text and best:
        write_text(recognised_text([told_symptom(one) for one in best], console.screen))
    runs: list[Run] = []
    with order.looks(console) as looks:
        for one in best:
            variables = variables_of(one.playbook, one.values, order.told)
            runs.append(taken(one.playbook, variables, looks.perform, order, console))
            if runs[-1].end is End.CAUSE:
                break
    if not text:
        write_text(document(order.form, found, runs))
    if order.bundle is not None and runs:
        save(order.bundle, found, [(made, made.playbook.name) for made in runs], order)
    if not found:
        say("netdiag: no symptom is recognised in these lines; netdiag playbook list names those that are known")
        return ExitStatus.NOTHING_TO_CHECK
    return status_of(runs)


def taken(playbook: Playbook, variables: Mapping[str, str], perform: Perform, order: Order, console: Console) -> Run:
    """Run a playbook; where people read, each step is told as it is over, and the end."""
    text = order.form is DiagnosisFormat.TEXT

    def tell(each: Taken) -> None:
        if text:
            write_text(step_text(told_step(each), console.screen))

    if text:
        write_text(f"\n{playbook.name}: {console.screen.visible(playbook.title)}\n")
    made = run(playbook, variables, perform, live=order.live, tell=tell)
    if text:
        write_text(end_text(told_run(made), console.screen))
    return made


def save(path: str, found: Sequence[Recognised], runs: Sequence[tuple[Run, str]], order: Order) -> None:
    """Write a bundle of runs, each with the name that its playbook was found by."""
    from netdiag.io.bundles import write_bundle
    from netdiag.io.playbooks import text_of

    records = [recorded(made, text_of(name, made.playbook), live=order.live) for made, name in runs]
    page = diagnosis_markdown([told_symptom(one) for one in found], [told_run(made) for made, _ in runs])
    write_bundle(path, to_json(found, records), page)
    say(f"netdiag: what was seen is in '{path}', without secrets: netdiag playbook run --replay judges it again")


def status_of(runs: Sequence[Run]) -> ExitStatus:
    """A cause is a finding; where none was found, not having looked outweighs that nothing is wrong."""
    if any(made.end is End.CAUSE for made in runs):
        return ExitStatus.FINDINGS
    if any(made.end is End.COULD_NOT_LOOK for made in runs):
        return ExitStatus.COULD_NOT_LOOK
    return ExitStatus.CLEAN


def document(form: DiagnosisFormat, found: Sequence[Recognised], runs: Sequence[Run]) -> str:
    """What was recognised and what came of it, in a format that is a whole document."""
    symptoms, told = [told_symptom(one) for one in found], [told_run(made) for made in runs]
    match form:
        case DiagnosisFormat.JSON | DiagnosisFormat.TEXT:
            return diagnosis_json(symptoms, told)
        case DiagnosisFormat.MARKDOWN:
            return diagnosis_markdown(symptoms, told)
        case DiagnosisFormat.HTML:
            return diagnosis_html(symptoms, told)
        case _:
            assert_never(form)


def _lines(words: list[str]) -> list[str]:
    """The lines that were pasted, or are in the files that were named, or on standard input."""
    from netdiag.io.files import read_file, read_stdin

    if not words:
        if sys.stdin is None or sys.stdin.isatty():
            raise UsageError("there is nothing to recognise", hint="give a line in quotes, a file, or pipe a log in")
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
                hint = "give a file, or a line of a log in quotes"
                raise InputError(error.message, where=error.where, hint=hint) from error
    return found
