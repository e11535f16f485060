"""Which formats go where: several in one run, each `--output` belonging to the `--format` before it.

A parser of options keeps the values of each option, and not which came after which; `InOrder` keeps that, too.
A renderer is imported when its format is asked for: nobody pays for the others.
"""

import os
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import assert_never

import typer

from netdiag.cli.console import Console, rule_pages, write_text
from netdiag.cli.via import ViaCommand
from netdiag.errors import NetdiagError
from netdiag.io.files import write_file
from netdiag.render.report import Report
from netdiag.render.screen import Screen
from netdiag.values import dataclass

_ORDER = "netdiag.cli.outputs.order"


class Format(StrEnum):
    """How to print the result."""

    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"
    CHECKSTYLE = "checkstyle"
    GITHUB = "github"
    GITLAB = "gitlab"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One format and its file; None is standard output."""

    format: Format = Format.TEXT
    path: str | None = None


class InOrder(ViaCommand):
    """A command that remembers the order in which its options were given."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse them as ever; the names of the parameters, one for each occurrence, are kept in the context."""
        args = spelled_out(args)
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        ctx.meta[_ORDER] = tuple(parameter.name for parameter in order)
        return super().parse_args(ctx, args)


def spelled_out(args: Sequence[str]) -> list[str]:
    """`--watch=SECONDS` as the two options that it stands for: an option has a value always, or never."""
    end = args.index("--") if "--" in args else len(args)
    found: list[str] = []
    for word in args[:end]:
        name, sign, value = word.partition("=")
        found += ["--watch", f"--every={value}"] if name == "--watch" and sign else [word]
    return [*found, *args[end:]]


def outputs_of(context: typer.Context, formats: Sequence[Format], paths: Sequence[str]) -> tuple[Output, ...]:
    """The outputs that were asked for, text on standard output when nothing was; typer.BadParameter when unclear."""
    told = paired(context.meta.get(_ORDER, ()), formats, paths)
    outputs = tuple(Output(format=one.format, path=None if one.path == "-" else one.path) for one in told)
    if sum(output.path is None for output in outputs) > 1:
        raise typer.BadParameter("only one format can go to standard output: give each other format an --output")
    files = [os.path.realpath(output.path) for output in outputs if output.path not in (None, os.devnull)]
    if len(set(files)) < len(files):
        raise typer.BadParameter("two formats cannot go to the same file")
    return outputs


def paired(order: Iterable[str], formats: Sequence[Format], paths: Sequence[str]) -> tuple[Output, ...]:
    """Formats with their files; a file named before any format belongs to the first one."""
    rest_of_formats, rest_of_paths = iter(formats), iter(paths)
    outputs: list[Output] = []
    early: str | None = None
    for name in order:
        if name == "format":
            outputs.append(Output(format=next(rest_of_formats), path=early))
            early = None
        elif name == "output":
            path = next(rest_of_paths)
            if not outputs and early is None:
                early = path
            elif outputs and outputs[-1].path is None:
                outputs[-1] = Output(format=outputs[-1].format, path=path)
            else:
                raise typer.BadParameter(f"{path!r} has no format: each --output belongs to the --format before it")
    return tuple(outputs) or (Output(path=early),)


def write_outputs(outputs: Iterable[Output], report: Report, console: Console, *, matrix: bool) -> None:
    """Write every one of them; where one cannot be written, the others are, and then the first error is raised."""
    failed: NetdiagError | None = None
    root = _folder()
    for output in outputs:
        result = rendered(output, report, console, root, matrix=matrix)
        try:
            if output.path is None:
                write_text(result)
            else:
                write_file(output.path, result.encode())
        except NetdiagError as error:
            failed = failed or error
    if failed is not None:
        raise failed


def rendered(output: Output, report: Report, console: Console, root: str, *, matrix: bool) -> str:
    """The report as this output shows it, with paths relative to the root."""
    match output.format:
        case Format.TEXT:
            from netdiag.render.formats import text

            screen = console.screen if output.path is None else Screen()
            return text.render(report, screen, matrix=matrix, full=console.verbose)
        case Format.CONCISE:
            from netdiag.render.formats import text

            return text.render_concise(report, root, console.screen.links if output.path is None else None)
        case Format.JSON:
            from netdiag.render.formats import json

            return json.render(report)
        case Format.SARIF:
            from netdiag.render.formats import sarif

            return sarif.render(report, root, rule_pages(os.environ))
        case Format.JUNIT:
            from netdiag.render.formats import xml

            return xml.junit(report, root)
        case Format.CHECKSTYLE:
            from netdiag.render.formats import xml

            return xml.checkstyle(report, root)
        case Format.GITHUB:
            from netdiag.render.formats import github

            return github.render(report, root)
        case Format.GITLAB:
            from netdiag.render.formats import gitlab

            return gitlab.render(report, root)
        case Format.MARKDOWN:
            from netdiag.render.formats import markdown

            return markdown.render(report, root)
        case _:
            assert_never(output.format)


def _folder() -> str:
    """The current folder, below which paths are relative; empty when it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""
