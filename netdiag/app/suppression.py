"""Findings that the user does not want to hear of: rules not chosen, comments in the files, and a baseline."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from netdiag.app.configuration import CheckOptions
from netdiag.app.progress import Listener
from netdiag.app.reports import merged
from netdiag.errors import NetdiagError
from netdiag.findings import Finding, Overlooked, Suppressed
from netdiag.io.files import read_file, write_file
from netdiag.render.report import Report
from netdiag.render.wording import plural
from netdiag.rules.compose import COMPOSE
from netdiag.rules.declared import DECLARED
from netdiag.rules.selection import WITHOUT_RULE, Selection, known_ids
from netdiag.rules.suppression import Ignore, covering, read_ignores, unused
from netdiag.values import dataclass

STALE = "stale-baseline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The report on one input, and the rules that its configuration chooses."""

    report: Report
    selection: Selection


def suppressed_report(
    parts: Sequence[Part], options: CheckOptions, listener: Listener, *, live: bool = False
) -> Report:
    """The parts as one report, without what is not chosen, what comments ignore, and what the baseline holds."""
    root = _current_folder()
    parts = [
        replace(part, report=replace(part.report, findings=part.selection.of(part.report.findings, root)))
        for part in parts
    ]
    if options.ignore_comments:
        parts = _without_ignored(parts, root, live=live)
    whole = merged(part.report for part in parts)
    if options.baseline is not None:
        return _beyond_baseline(whole, options.baseline, parts, root, live=live)
    if options.write_baseline is not None and not whole.interrupted:
        known = write_baseline(whole, options.write_baseline)
        listener.notice(f"{plural(len(whole.findings), 'finding')} written to {options.write_baseline}")
        return known
    return whole


def write_baseline(report: Report, path: str) -> Report:
    """Keep the findings in a file; the report says that they are known from now on."""
    from netdiag.render.findings.fingerprints import baseline_entries, render_baseline

    if any(item.error for item in report.inputs):
        raise NetdiagError("not written: not every input could be checked", where=path)
    found = baseline_entries(report.findings, report.sources, _relative_to(path))
    write_file(path, render_baseline(entry for _, entry in found).encode())
    overlooked = (Suppressed(finding=finding, by=Overlooked.BASELINE) for finding, _ in found)
    return replace(report, findings=(), suppressed=(*report.suppressed, *overlooked))


def _without_ignored(parts: Sequence[Part], root: str, *, live: bool) -> list[Part]:
    """The parts without the findings that comments cover, and with those comments that cover nothing."""
    found: list[tuple[Part, tuple[Ignore, ...]]] = []
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
        found.append((replace(part, report=report), ignores))
    reported: set[Finding] = set()
    return [
        _with_unused(part, unused(ignores, used, _ran(part, root, live=live)), reported, root)
        for part, ignores in found
    ]


def _with_unused(part: Part, found: Iterable[Finding], reported: set[Finding], root: str) -> Part:
    """The part with these findings, but for those that an earlier part has."""
    fresh = [finding for finding in part.selection.of(found, root) if finding not in reported]
    reported.update(fresh)
    return replace(part, report=replace(part.report, findings=(*part.report.findings, *fresh)))


def _ran(part: Part, root: str, *, live: bool) -> Callable[[str, str], bool]:
    """Whether a rule was looked for in a file."""
    looked_for = {*WITHOUT_RULE, *(rule.ID for rule in (*COMPOSE, *DECLARED))}
    if live:
        from netdiag.rules.observed import OBSERVED  # loads what a live check knows

        looked_for.update(rule.ID for rule in OBSERVED)
    return lambda rule, path: rule in looked_for and part.selection.includes(rule, path, root)


def _beyond_baseline(whole: Report, path: str, parts: Sequence[Part], root: str, *, live: bool) -> Report:
    """The report without what the baseline holds, and with a note for each of its entries that matches nothing."""
    from netdiag.render.findings.fingerprints import (
        baseline_entries,
        parse_baseline,
        stale_entries,
        unmatched_entries,
    )

    def ran(rule: str, file: str) -> bool:
        readers = (part for part in parts if file in part.report.sources)
        return rule not in known_ids() or any(_ran(part, root, live=live)(rule, file) for part in readers)

    data = read_file(path)
    entries = parse_baseline(path, data)
    relative = _relative_to(path)
    known = {entry.fingerprint for entry in entries}
    found = baseline_entries(whole.findings, whole.sources, relative)
    checked = {relative(name): name for name in whole.sources}
    old = stale_entries(
        path,
        data,
        unmatched_entries(entries, (entry for _, entry in found)),
        lambda entry: entry.path in checked and ran(entry.rule, checked[entry.path]),
    )
    shown = old if any(part.selection.includes(STALE, path, root) for part in parts) else ()
    overlooked = (
        Suppressed(finding=finding, by=Overlooked.BASELINE) for finding, entry in found if entry.fingerprint in known
    )
    return replace(
        whole,
        findings=(*(finding for finding, entry in found if entry.fingerprint not in known), *shown),
        suppressed=(*whole.suppressed, *overlooked),
        sources={**whole.sources, path: data} if old else whole.sources,
    )


def _relative_to(baseline: str) -> Callable[[str], str]:
    """Gives paths as seen from the folder of the baseline, with slashes: they are the same on every machine."""
    folder = os.path.dirname(os.path.abspath(baseline))

    def relative(path: str) -> str:
        try:
            return os.path.relpath(os.path.abspath(path), folder).replace("\\", "/")
        except ValueError:
            # Another drive.
            return os.path.abspath(path).replace("\\", "/")

    return relative


def _current_folder() -> str:
    """Empty when it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""
