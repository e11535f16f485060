"""What the user wants to hear of: which rules, how severe, and which findings are known and overlooked."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Annotated

import typer

from netdiag.cli.declared import Settings, could_not_read, joined, name_of_input, report_on
from netdiag.cli.projects import Asked
from netdiag.cli.surface import Surface
from netdiag.errors import NetdiagError
from netdiag.findings import Finding, Overlooked, Suppressed
from netdiag.render.report import Input, Report
from netdiag.rules.all_rules import OBSERVED
from netdiag.rules.selection import Choice, Selection, UnknownRule, chosen, everything, expanded, known_ids
from netdiag.rules.suppression import Ignore, covering, read_ignores, unused


def _complete(incomplete: str) -> list[str]:
    """The ids that a word may become; of a list the last one."""
    done, comma, word = incomplete.rpartition(",")
    return [f"{done}{comma}{name}" for name in known_ids() if name.startswith(word)]


Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select", metavar="RULES", help="Only these rules: ids, or prefixes like kraft-.", autocompletion=_complete
    ),
]
IgnoreRules = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="RULES", help="Not these rules; repeatable.", autocompletion=_complete),
]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 although there are findings.")]
NoIgnores = Annotated[bool, typer.Option("--no-ignores", help="Do not hear the ignore comments of the files.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What the options say."""

    choice: Choice = field(default_factory=Choice)
    exit_zero: bool = False
    comments: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The report on one input, and what its configuration chooses."""

    report: Report
    selection: Selection


def control_of(
    select: Sequence[str] | None, ignore: Sequence[str] | None, *, exit_zero: bool, no_ignores: bool
) -> Control:
    """The options as a value; typer.BadParameter where no rule has the name."""
    choice = Choice(select=_words(select) if select else None, ignore=_words(ignore or ()))
    for pattern in (*(choice.select or ()), *choice.ignore):
        try:
            expanded(pattern)
        except UnknownRule as error:
            raise typer.BadParameter(str(error)) from error
    return Control(choice=choice, exit_zero=exit_zero, comments=not no_ignores)


def selection_of(control: Control) -> Selection:
    """The choice that the options make."""
    return replace(everything(), rules=chosen((control.choice,)))


def controlled_report(paths: Sequence[str | Asked], control: Control, settings: Settings, surface: Surface) -> Report:
    """The report on these files, of what was asked to hear."""
    selection = selection_of(control)
    parts: list[Part] = []
    for index, path in enumerate(paths):
        report = report_on((path,), settings, surface)
        parts.append(Part(report=report, selection=selection))
        if report.interrupted:
            stopped = NetdiagError("interrupted")
            parts += [
                Part(
                    report=could_not_read(Input(name=name_of_input(rest)), stopped),
                    selection=selection,
                )
                for rest in paths[index + 1 :]
            ]
            break
    return controlled(parts, control)


def controlled(parts: Sequence[Part], control: Control, *, live: bool = False) -> Report:
    """The parts as one report, without what is not chosen and what comments ask to overlook."""
    root = _folder()
    parts = [replace(part, report=_chosen(part, root)) for part in parts]
    if control.comments:
        parts = _overlooked(parts, root, live=live)
    whole = reduce(joined, (part.report for part in parts), Report())
    return replace(whole, interrupted=any(part.report.interrupted for part in parts))


def _chosen(part: Part, root: str) -> Report:
    return replace(part.report, findings=part.selection.of(part.report.findings, root))


def _overlooked(parts: Sequence[Part], root: str, *, live: bool) -> list[Part]:
    """The parts without the findings that comments cover, and with those comments that cover nothing."""
    asked: list[tuple[Part, tuple[Ignore, ...]]] = []
    used: list[Ignore] = []
    for part in parts:
        ignores = read_ignores(part.report.sources)
        kept: list[Finding] = []
        suppressed: list[Suppressed] = []
        for finding in part.report.findings:
            covers = covering(finding, ignores)
            used += covers
            if covers:
                suppressed.append(Suppressed(finding=finding, by=Overlooked.COMMENT, reason=covers[0].reason))
            else:
                kept.append(finding)
        report = replace(part.report, findings=tuple(kept), suppressed=tuple(suppressed))
        asked.append((replace(part, report=report), ignores))
    told: set[Finding] = set()
    return [
        _with_unused(part, unused(ignores, used, _ran(part, root, live=live)), told, root) for part, ignores in asked
    ]


def _with_unused(part: Part, found: Iterable[Finding], told: set[Finding], root: str) -> Part:
    """The part with these findings, but for those that an earlier part has told."""
    fresh = [finding for finding in part.selection.of(found, root) if finding not in told]
    told.update(fresh)
    return replace(part, report=replace(part.report, findings=(*part.report.findings, *fresh)))


def _ran(part: Part, root: str, *, live: bool) -> Callable[[str, str], bool]:
    """Whether a rule was looked for in a file."""
    observed = frozenset(rule.ID for rule in OBSERVED)
    return lambda rule, path: (live or rule not in observed) and part.selection.includes(rule, path, root)


def _words(given: Iterable[str]) -> tuple[str, ...]:
    """Repeated options and lists with commas as one list."""
    return tuple(word.strip() for item in given for word in item.split(",") if word.strip())


def _folder() -> str:
    """The current folder; empty when it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""
