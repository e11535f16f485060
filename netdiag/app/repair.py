"""Repairs tried out before anything is written: made in memory, checked again, kept only where that helps.

A pass makes every repair that touches no text of an earlier one and checks the files anew with the changed bytes.
It is kept when each repaired finding is gone and nothing as bad has come up; else the repairs of each rule, then
each single one, are tried on their own. Passes go on until nothing is left to repair, and are bounded.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field

from netdiag.app.check import Check, CheckResult, CiTarget, Target
from netdiag.app.progress import Listener
from netdiag.findings import Applicability, Finding, Severity
from netdiag.io.files import is_within, write_changes
from netdiag.io.files.projects import STDIN, STDIN_NAME, NoProject
from netdiag.render.findings.edits import Repair, repair
from netdiag.render.findings.finding_text import harmless, plain
from netdiag.render.report import Report
from netdiag.render.wording import plural
from netdiag.values import dataclass

CheckWith = Callable[[Mapping[str, bytes]], Report]
MOST_PASSES = 20
MOST_CHECKS = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairs:
    """What repairs came to: the files as they were read and as they would be, and what could not be repaired.

    `unsafe` counts the findings that unsafe repairs would repair besides.
    """

    before: Mapping[str, bytes] = field(default_factory=dict)
    after: Mapping[str, bytes] = field(default_factory=dict)
    repaired: tuple[Finding, ...] = ()
    refused: tuple[tuple[Finding, str], ...] = ()
    left: tuple[Finding, ...] = ()
    unsafe: int = 0

    @property
    def changed(self) -> Mapping[str, tuple[bytes, bytes]]:
        """Path to the bytes before and after, of the files that differ."""
        pairs = {path: (self.before[path], data) for path, data in self.after.items()}
        return {path: pair for path, pair in pairs.items() if pair[0] != pair[1]}


def fix(check: Check, result: CheckResult, *, unsafe: bool) -> tuple[CheckResult, Repairs]:
    """Make the repairs of what a check found, and check again; standard input is left to the caller to write."""
    repairs = find_repairs(check, result, unsafe=unsafe)
    given = _standard_input(result.report)
    if not given:
        write_changes(repairs.changed)
    if repairs.changed:
        count, names = plural(len(repairs.repaired), "finding"), harmless(", ".join(repairs.changed))
        check.listener.notice(f"repaired {count} in {names}")
    report_rest(repairs, check.listener)
    return (check.run({**given, **repairs.after}) if repairs.changed else result), repairs


def find_repairs(check: Check, result: CheckResult, *, unsafe: bool) -> Repairs:
    """The repairs of every project, one after the other, so that what they share is repaired once.

    Files outside of the folders of the project and its compose files are left alone, but for the --env-file.
    """
    given = _standard_input(result.report)
    whole = Repairs()
    for target in check.targets:

        def check_with(replaced: Mapping[str, bytes], target: Target | CiTarget = target) -> Report:
            return check.report((target,), {**given, **replaced}, matrix=False)

        def may_write(path: str, target: Target | CiTarget = target) -> bool:
            return _may_write(path, target, check.options.read.env_files)

        one = tried(check_with, whole.after, may_write, unsafe=unsafe)
        whole = Repairs(
            before={**one.before, **whole.before},
            after={**whole.after, **one.after},
            repaired=whole.repaired + one.repaired,
            refused=whole.refused + one.refused,
            left=whole.left + one.left,
            unsafe=whole.unsafe + one.unsafe,
        )
    return whole


def report_rest(repairs: Repairs, listener: Listener) -> None:
    """Say what was not repaired, and why."""
    if repairs.unsafe:
        listener.notice(f"--unsafe-fixes would repair {plural(repairs.unsafe, 'finding')} more")
    for finding, reason in repairs.refused:
        message = plain(finding.message)
        listener.notice(f"not repaired, because {plain(reason)}: {finding.rule}: {message}")


def tried(
    check: CheckWith, replaced: Mapping[str, bytes], may_write: Callable[[str], bool], *, unsafe: bool
) -> Repairs:
    """The repairs of one input; `replaced` holds what repairs of earlier inputs have made of files."""
    trial = _Trial(check, replaced, may_write, unsafe=unsafe)
    trial.run()
    more = 0
    if not unsafe and any(f.applicability is Applicability.UNSAFE for f in trial.report.findings):
        further = _Trial(check, trial.files, may_write, unsafe=True)
        further.run()
        more = len(further.repaired)
    return Repairs(
        before=trial.before,
        after=trial.files,
        repaired=tuple(trial.repaired),
        refused=tuple(trial.refused),
        left=trial.report.findings,
        unsafe=more,
    )


class _Trial:
    def __init__(
        self, check: CheckWith, replaced: Mapping[str, bytes], may_write: Callable[[str], bool], *, unsafe: bool
    ) -> None:
        self.check = check
        self.files = dict(replaced)
        self.may_write = may_write
        self.unsafe = unsafe
        self.checks = 0
        self.report = self._checked({})
        self.before = {**self.report.sources, **replaced}
        self.repaired: list[Finding] = []
        self.refused: list[tuple[Finding, str]] = []
        self._hopeless: set[Finding] = set()

    def run(self) -> None:
        for _ in range(MOST_PASSES):
            wanted = [finding for finding in self.report.findings if self._is_wanted(finding)]
            if not wanted or not any(self._helps(group) for group in _groups(wanted)):
                break

    def _is_wanted(self, finding: Finding) -> bool:
        if not finding.edits or finding in self._hopeless:
            return False
        if finding.applicability is Applicability.UNSAFE and not self.unsafe:
            return False
        outside = next((edit.path for edit in finding.edits if not self.may_write(edit.path)), None)
        if outside is not None:
            self._give_up(finding, f"{outside} is outside of the project")
        return outside is None

    def _helps(self, group: Sequence[Finding]) -> bool:
        """Make the repairs of a group; whether they are kept."""
        made = repair(group, self.report.sources)
        if not made.applied or self.checks >= MOST_CHECKS:
            return False
        after = self._checked(made.files)
        if not _is_better(self.report, after, made):
            if len(group) == 1:
                self._give_up(group[0], "another defect would take its place")
            return False
        self.files |= made.files
        self.before = {**after.sources, **self.before}
        self.repaired += made.applied
        self.report = after
        return True

    def _checked(self, changed: Mapping[str, bytes]) -> Report:
        self.checks += 1
        return self.check({**self.files, **changed})

    def _give_up(self, finding: Finding, reason: str) -> None:
        self._hopeless.add(finding)
        self.refused.append((finding, reason))


def _groups(wanted: Sequence[Finding]) -> Iterator[Sequence[Finding]]:
    """All of them, those of each rule, each alone."""
    yield wanted
    rules = list(dict.fromkeys(finding.rule for finding in wanted))
    if len(rules) > 1:
        for rule in rules:
            yield [finding for finding in wanted if finding.rule == rule]
    if len(wanted) > 1:
        for finding in wanted:
            yield [finding]


def _is_better(before: Report, after: Report, made: Repair) -> bool:
    """Whether what was repaired is gone and nothing as bad is there instead."""
    if any(item.error for item in after.inputs):
        return False
    had, has = (Counter(map(_key, report.findings)) for report in (before, after))
    if any(has[_key(finding)] >= had[_key(finding)] for finding in made.applied):
        return False
    new = [finding for finding in after.findings if _key(finding) in has - had]
    if not new:
        return True
    if any(finding.rule.startswith("compose-") and finding.severity is Severity.ERROR for finding in new):
        return False
    if all(finding.applicability is Applicability.SAFE for finding in made.applied):
        # What is told for the first time was there before, and could not be read.
        return True
    alike = len({finding.rule for finding in made.applied}) == 1
    return alike and max(f.severity.rank for f in new) < max(f.severity.rank for f in made.applied)


def _key(finding: Finding) -> tuple[str, str | None, str | None]:
    return (finding.rule, finding.service, finding.listener)


def _may_write(path: str, target: Target | CiTarget, env_files: Sequence[str]) -> bool:
    project = target.project
    if path in env_files:
        return True
    if isinstance(project, NoProject):
        return False
    if STDIN in project.files:
        return path == STDIN_NAME
    return any(is_within(path, folder) for folder in (project.folder, *map(os.path.dirname, project.files)))


def _standard_input(report: Report) -> dict[str, bytes]:
    """What standard input held: it cannot be read a second time."""
    return {name: data for name, data in report.sources.items() if name == STDIN_NAME}
