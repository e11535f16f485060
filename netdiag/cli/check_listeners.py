"""`netdiag check-listeners`: options in, report out, files repaired if asked."""

import os
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from netdiag.cli.declared import STDIN, Settings, report_on
from netdiag.cli.exit_status import ExitStatus, status_of
from netdiag.cli.surface import ColourOption, Debug, Surface, Verbose, finish, surface_of
from netdiag.cli.terminal import say, write_bytes, write_text
from netdiag.compose.load import ALL_PROFILES
from netdiag.errors import NetdiagError
from netdiag.findings import Severity
from netdiag.io.files import COMPOSE_FILE_NAMES, find_compose_file, write_file
from netdiag.render import json, text
from netdiag.render.counts import plural
from netdiag.render.edits import Repair, repair, unified_diff
from netdiag.render.report import Report
from netdiag.render.screen import Screen


class Format(StrEnum):
    """How to print the result."""

    TEXT = "text"
    JSON = "json"


class FailOn(StrEnum):
    """The severity from which on the exit status is 1."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    files: tuple[str, ...]
    format: Format
    fail_on: Severity
    output: str | None
    fix: bool
    diff: bool
    settings: Settings
    require_all: bool


def check_listeners(
    context: typer.Context,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Compose files; - is standard input; none: the one in this folder."),
    ] = None,
    format: Annotated[Format, typer.Option("--format", help="What to print.")] = Format.TEXT,
    fail_on: Annotated[FailOn, typer.Option("--fail-on", help="Exit with 1 from this severity on.")] = FailOn.ERROR,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the result to a file.")
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Make the repairs that can be made, then check again.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print the repairs as a patch and change nothing.")] = False,
    matrix: Annotated[bool, typer.Option("--matrix/--no-matrix", help="Predict from where each address works.")] = True,
    env_file: Annotated[
        list[str] | None, typer.Option("--env-file", metavar="FILE", help="Variables, instead of .env; repeatable.")
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option("--profile", metavar="NAME", help="Only services of this profile and of none; default: all."),
    ] = None,
    docker_host_ip: Annotated[
        list[str] | None,
        typer.Option("--docker-host-ip", metavar="IP", help="An address of the docker host; repeatable."),
    ] = None,
    verbose: Verbose = False,
    debug: Debug = False,
    colour: ColourOption = None,
) -> None:
    """Check the Kafka listeners of compose files: what is wrong, and who can connect from where."""
    surface = surface_of(context).joined(verbose=verbose, debug=debug, colour=colour)
    options = _Options(
        files=tuple(files or ()),
        format=format,
        fail_on=Severity(fail_on.value),
        output=output,
        fix=fix,
        diff=diff,
        settings=Settings(
            environ=os.environ,
            env_files=tuple(env_file or ()),
            profiles=tuple(profile) if profile else ALL_PROFILES,
            host_addresses=tuple(docker_host_ip or ()),
            matrix=matrix and not diff,
        ),
        require_all=False,
    )
    _refuse_contradictions(options)
    finish(surface, lambda: _run(options, surface))


def _refuse_contradictions(options: _Options) -> None:
    if options.fix and options.diff:
        raise typer.BadParameter("--fix and --diff exclude each other")
    if options.diff and options.format is not Format.TEXT:
        raise typer.BadParameter("--diff prints a patch: it has no other format")
    if options.fix and STDIN in options.files:
        raise typer.BadParameter("standard input cannot be repaired in place; use --diff")
    if options.files.count(STDIN) > 1:
        raise typer.BadParameter("standard input can be read once only")


def _run(options: _Options, surface: Surface) -> ExitStatus:
    files = options.files or _discovered()
    if not files:
        say(f"netdiag: nothing to check: no {', '.join(COMPOSE_FILE_NAMES)} in this folder")
    report = report_on(files, options.settings, surface)
    if report.interrupted:
        say("netdiag: interrupted")
        if options.format is Format.JSON:
            _print(report, options, surface)
        return ExitStatus.INTERRUPTED
    if options.diff:
        _print_patch(repair(report.findings, report.sources), report, options)
    elif options.fix and _repaired(report):
        report = report_on(files, options.settings, surface)
    if not options.diff:
        _print(report, options, surface)
    return status_of(report, fail_on=options.fail_on, require_all=options.require_all)


def _discovered() -> tuple[str, ...]:
    found = find_compose_file("")
    return () if found is None else (found,)


def _print(report: Report, options: _Options, surface: Surface) -> None:
    if options.format is Format.JSON:
        result = json.render(report)
    else:
        screen = surface.screen if options.output is None else Screen()
        result = text.render(report, screen, matrix=options.settings.matrix, full=surface.verbose)
    if options.output is None:
        write_text(result)
    else:
        write_file(options.output, result.encode())


def _repaired(report: Report) -> bool:
    """Make the repairs; whether there were any."""
    made = repair(report.findings, report.sources)
    for path, data in made.files.items():
        write_file(path, data, expected=report.sources[path])
    if made.files:
        say(f"netdiag: repaired {plural(len(made.applied), 'finding')} in {', '.join(made.files)}")
    _tell_refused(made)
    return bool(made.files)


def _print_patch(made: Repair, report: Report, options: _Options) -> None:
    patch = b"".join(unified_diff(path, report.sources[path], data) for path, data in made.files.items())
    if options.output is None:
        write_bytes(patch)
    else:
        write_file(options.output, patch)
    for item in report.inputs:
        if item.error:
            say(f"netdiag: {NetdiagError(item.error.message, where=item.error.where or item.name)}")
    without = sum(not finding.edits for finding in report.findings)
    say(f"netdiag: {plural(len(made.applied), 'finding')} repaired by the patch, {without} need a decision of yours")
    _tell_refused(made)


def _tell_refused(made: Repair) -> None:
    for finding in made.refused:
        say(f"netdiag: not repaired, because two repairs touch the same text: {finding.rule}: {finding.message}")
