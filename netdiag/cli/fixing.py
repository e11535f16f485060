"""`--fix` and `--diff`: the repairs of all files found together, written or shown, and what is said about them."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from netdiag.cli.configured import Configured
from netdiag.cli.console import say, write_bytes
from netdiag.cli.projects import STDIN, STDIN_NAME, Asked, asked_for
from netdiag.cli.repairing import Settled, settled
from netdiag.errors import NetdiagError
from netdiag.io.files import is_within, write_changes, write_file
from netdiag.render.findings.edits import unified_diff
from netdiag.render.findings.places import harmless, plain
from netdiag.render.report import Report
from netdiag.render.wording import plural

LookAt = Callable[[str | Asked, Mapping[str, bytes]], Report]


def settle(projects: Sequence[str | Asked], look: LookAt, *, named: Sequence[str], unsafe: bool) -> Settled:
    """The repairs of every project, one after the other, so that what they share is repaired once.

    `look` reports on one project with some bytes in the place of what is on disk. Files outside of the folders of
    the project and its compose files are left alone, but for those that the user `named`.
    """
    whole = Settled()
    for project in projects:
        folders = _folders(project)

        def look_here(instead: Mapping[str, bytes], project: str | Asked = project) -> Report:
            return look(project, instead)

        def may_write(path: str, folders: tuple[str, ...] = folders) -> bool:
            return path in named or any(
                path == STDIN_NAME if folder == STDIN else is_within(path, folder) for folder in folders
            )

        one = settled(look_here, whole.after, may_write, unsafe=unsafe)
        whole = Settled(
            before={**one.before, **whole.before},
            after={**whole.after, **one.after},
            repaired=whole.repaired + one.repaired,
            refused=whole.refused + one.refused,
            left=whole.left + one.left,
            unsafe=whole.unsafe + one.unsafe,
        )
    return whole


def _folders(project: str | Asked) -> tuple[str, ...]:
    """Where the files of a project may lie; `-` stands for standard input, beside which nothing is written."""
    try:
        asked = asked_for(project) if isinstance(project, str) else project
    except NetdiagError:
        # Nothing can be read there, and nothing repaired.
        return ()
    if STDIN in asked.files:
        return (STDIN,)
    return (asked.folder, *(os.path.dirname(path) for path in asked.files))


def reading(
    setups: Mapping[str | Asked, Configured], instead: Mapping[str, bytes], *, matrix: bool = True
) -> dict[str | Asked, Configured]:
    """What is said about the inputs, with other bytes in the place of what some files hold."""
    return {
        project: replace(
            setup, settings=replace(setup.settings, instead=instead, matrix=matrix and setup.settings.matrix)
        )
        for project, setup in setups.items()
    }


def standard_input(report: Report) -> dict[str, bytes]:
    """What standard input held: it cannot be read a second time."""
    return {name: data for name, data in report.sources.items() if name == STDIN_NAME}


def write_repairs(made: Settled, report: Report) -> None:
    """Put the repaired bytes where the old ones are, and say so; standard input goes to standard output."""
    if STDIN_NAME in report.sources:
        write_bytes(made.after.get(STDIN_NAME, report.sources[STDIN_NAME]))
    else:
        write_changes(made.changed)
    if made.changed:
        say(f"netdiag: repaired {plural(len(made.repaired), 'finding')} in {harmless(', '.join(made.changed))}")
    _tell_the_rest(made)


def print_patch(made: Settled, report: Report, path: str | None) -> None:
    """The repairs as one patch, to a file or to standard output, and a count on standard error."""
    patch = b"".join(unified_diff(name, before, after) for name, (before, after) in made.changed.items())
    if path is None:
        write_bytes(patch)
    else:
        write_file(path, patch)
    for item in report.inputs:
        if item.error:
            say(f"netdiag: {plain(str(NetdiagError(item.error.message, where=item.error.where or item.name)))}")
    without = sum(not finding.edits for finding in made.left)
    say(f"netdiag: {plural(len(made.repaired), 'finding')} repaired by the patch, {without} need a decision of yours")
    _tell_the_rest(made)


def _tell_the_rest(made: Settled) -> None:
    if made.unsafe:
        say(f"netdiag: --unsafe-fixes would repair {plural(made.unsafe, 'finding')} more")
    for finding, reason in made.refused:
        say(f"netdiag: not repaired, because {plain(reason)}: {finding.rule}: {plain(finding.message)}")
