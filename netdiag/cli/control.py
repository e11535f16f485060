"""What the user wants to hear of: which rules, how severe, and which findings are known and overlooked."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Annotated

import typer

from netdiag.cli.baselines import STALE, against, write
from netdiag.cli.configured import Configurations, Configured
from netdiag.cli.console import Console, say
from netdiag.cli.declared import could_not_read, joined, name_of_input, report_on
from netdiag.cli.projects import Asked
from netdiag.errors import NetdiagError
from netdiag.findings import FileLocation, Finding, Overlooked, Suppressed
from netdiag.io.config_files import read_config
from netdiag.render.report import Input, Report
from netdiag.render.wording import plural
from netdiag.rules.compose import COMPOSE
from netdiag.rules.declared import DECLARED
from netdiag.rules.selection import WITHOUT_RULE, Choice, Selection, UnknownRule, expanded, known_ids
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
    configurations: Configurations = field(default_factory=Configurations)
    baseline: str | None = None
    write_baseline: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The report on one input, and what its configuration chooses."""

    report: Report
    selection: Selection


def choice_of(select: Sequence[str] | None, ignore: Sequence[str] | None) -> Choice:
    """The options as a value; typer.BadParameter where no rule has the name."""
    choice = Choice(select=_words(select) if select else None, ignore=_words(ignore or ()))
    for pattern in (*(choice.select or ()), *choice.ignore):
        try:
            expanded(pattern)
        except UnknownRule as error:
            raise typer.BadParameter(str(error)) from error
    return choice


def control_of(
    choice: Choice,
    configurations: Configurations,
    *,
    baselines: tuple[str | None, str | None],
    exit_zero: bool,
    comments: bool,
) -> Control:
    """The options as a value, `baselines` being the one to read and the one to write.

    typer.BadParameter where two contradict each other.
    """
    baseline, write_baseline = baselines
    if configurations.file is not None and configurations.isolated:
        raise typer.BadParameter("--config and --isolated exclude each other")
    if baseline is not None and write_baseline is not None:
        raise typer.BadParameter("--baseline and --write-baseline exclude each other")
    return Control(
        choice=choice,
        exit_zero=exit_zero,
        comments=comments,
        configurations=configurations,
        baseline=baseline,
        write_baseline=write_baseline,
    )


def controlled_report(
    paths: Sequence[str | Asked], control: Control, found: Mapping[str | Asked, Configured], console: Console
) -> Report:
    """The report on these projects, each under its configuration, of what was asked to hear."""
    parts: list[Part] = []
    for index, path in enumerate(paths):
        if found[path].configuration.path:
            console.detail(f"{name_of_input(path)} is configured by {found[path].configuration.path}")
        report = _with_source(report_on((path,), found[path].settings, console), found[path].configuration.path)
        parts.append(Part(report=report, selection=found[path].selection))
        if report.interrupted:
            stopped = NetdiagError("interrupted")
            parts += [
                Part(
                    report=could_not_read(Input(name=name_of_input(rest)), stopped),
                    selection=found[rest].selection,
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
    whole = replace(whole, interrupted=any(part.report.interrupted for part in parts))
    if control.baseline is not None:
        return _beyond_baseline(whole, control.baseline, parts, root, live=live)
    if control.write_baseline is not None and not whole.interrupted:
        known = write(whole, control.write_baseline)
        say(f"netdiag: {plural(len(whole.findings), 'finding')} written to {control.write_baseline}")
        return known
    return whole


def _beyond_baseline(whole: Report, path: str, parts: Sequence[Part], root: str, *, live: bool) -> Report:
    """The report without what the baseline knows, and with those of its entries that match nothing."""

    def ran(rule: str, file: str) -> bool:
        readers = (part for part in parts if file in part.report.sources)
        return rule not in known_ids() or any(_ran(part, root, live=live)(rule, file) for part in readers)

    report = against(whole, path, ran)
    told = any(part.selection.includes(STALE, path, root) for part in parts)
    return report if told else replace(report, findings=tuple(f for f in report.findings if f.rule != STALE))


def _with_source(report: Report, configuration: str) -> Report:
    """The report with the bytes of the configuration where a finding points into it."""
    places = (p for f in report.findings for p in (f.location, *(r.location for r in f.related)))
    if not any(isinstance(place, FileLocation) and place.path == configuration for place in places):
        return report
    return replace(report, sources={**report.sources, configuration: read_config(configuration)})


def _chosen(part: Part, root: str) -> Report:
    return replace(part.report, findings=part.selection.of(part.report.findings, root))


def _overlooked(parts: Sequence[Part], root: str, *, live: bool) -> list[Part]:
    """The parts without the findings that comments cover, and with those comments that cover nothing."""
    asked: list[tuple[Part, tuple[Ignore, ...]]] = []
    used: list[Ignore] = []
    for part in parts:
        ignores = read_ignores({p: data for p, data in part.report.sources.items() if not p.endswith(".toml")})
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
    looked_for = {*WITHOUT_RULE, *(rule.ID for rule in (*COMPOSE, *DECLARED))}
    if live:
        from netdiag.rules.observed import OBSERVED  # loads what a live check knows

        looked_for.update(rule.ID for rule in OBSERVED)
    return lambda rule, path: rule in looked_for and part.selection.includes(rule, path, root)


def _words(given: Iterable[str]) -> tuple[str, ...]:
    """Repeated options and lists with commas as one list."""
    return tuple(word.strip() for item in given for word in item.split(",") if word.strip())


def _folder() -> str:
    """The current folder; empty when it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""
