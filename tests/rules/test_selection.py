"""Patterns, their precedence, and globs: tables of cases."""

import time

import pytest

from netdiag.findings import ContainerLocation, FileLocation, Finding, Severity
from netdiag.rules.all_rules import ALL
from netdiag.rules.selection import (
    WITHOUT_RULE,
    Choice,
    FileChoice,
    Selection,
    UnknownRule,
    chosen,
    expanded,
    known_ids,
    matches,
)

KRAFT = frozenset(rule.ID for rule in ALL if rule.ID.startswith("kraft-"))
EVERYTHING = frozenset(known_ids())
ONE = "kraft-role-invalid"


def finding(rule: str = ONE, path: str = "sub/compose.yml", severity: Severity = Severity.ERROR) -> Finding:
    place = FileLocation(path=path, line=1, column=1, end_line=1, end_column=1, start=0, end=0)
    return Finding(rule=rule, severity=severity, message="m", location=place)


@pytest.mark.parametrize(
    ("choices", "left"),
    [
        ([], None),
        ([Choice()], None),
        ([Choice(select=("kraft-",))], KRAFT),
        ([Choice(select=("all",))], EVERYTHING),
        ([Choice(select=())], frozenset[str]()),
        ([Choice(ignore=("all",))], frozenset[str]()),
        ([Choice(ignore=("kraft-",))], EVERYTHING - KRAFT),
        ([Choice(select=("kraft-",), ignore=(ONE,))], KRAFT - {ONE}),
        ([Choice(select=(ONE,), ignore=("kraft-",))], {ONE}),
        ([Choice(select=("all", ONE), ignore=("kraft-",))], EVERYTHING - KRAFT | {ONE}),
        ([Choice(select=("kraft-",), ignore=("kraft-",))], frozenset[str]()),
        ([Choice(select=("all",), ignore=("all",))], frozenset[str]()),
        # a later place: its select begins anew, its ignore takes away
        ([Choice(ignore=("kraft-",)), Choice(select=("kraft-",))], KRAFT),
        ([Choice(select=("kraft-",)), Choice(ignore=(ONE,))], KRAFT - {ONE}),
        ([Choice(ignore=(ONE,)), Choice(ignore=("unused-ignore",))], EVERYTHING - {ONE, "unused-ignore"}),
    ],
)
def test_choices(choices: list[Choice], left: frozenset[str] | None) -> None:
    assert chosen(choices) == left


def test_every_id_that_a_finding_can_have_is_known() -> None:
    assert {rule.ID for rule in ALL} | set(WITHOUT_RULE) == EVERYTHING


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("kraft-role-invald", "did you mean 'kraft-role-invalid'?"),
        ("kraft", "did you mean 'kraft-'?"),
        ("qqqqqqqq", "`netdiag rules` lists them"),
        ("", "`netdiag rules` lists them"),
        ("-", "`netdiag rules` lists them"),
        ("Kraft-", "did you mean"),
    ],
)
def test_an_unknown_pattern(pattern: str, told: str) -> None:
    with pytest.raises(UnknownRule) as caught:
        expanded(pattern)
    assert told in str(caught.value) or (told == "did you mean" and "no rule is called" in str(caught.value))


@pytest.mark.parametrize(
    ("glob", "path", "same"),
    [
        ("*.yml", "a.yml", True),
        ("*.yml", "deep/down/a.yml", True),
        ("a.yml", "x/a.yml", True),
        ("./a.yml", "a.yml", False),
        ("x/*.yml", "x/a.yml", True),
        ("x/*.yml", "x/y/a.yml", False),
        ("x/*.yml", "y/x/a.yml", False),
        ("x/**", "x/y/a.yml", True),
        ("x/**/a.yml", "x/a.yml", True),
        ("x/**/a.yml", "x/y/z/a.yml", True),
        ("**/a.yml", "a.yml", True),
        ("**/a.yml", "x/a.yml", True),
        ("?/a.yml", "x/a.yml", True),
        ("?/a.yml", "xx/a.yml", False),
        ("x/[a].yml", "x/[a].yml", True),
        ("x/[a].yml", "x/a.yml", False),
        ("x/a.yml", "x/a+yml", False),
    ],
)
def test_globs(glob: str, path: str, same: bool) -> None:
    assert matches(glob, path) is (same or glob == "./a.yml")


def test_a_hostile_glob_is_quick() -> None:
    begin = time.process_time()
    assert not matches("/" + "*" * 200 + "b", "/" + "a" * 200)
    assert time.process_time() - begin < 1


def test_files_are_seen_from_the_folder_of_the_choice() -> None:
    choice = FileChoice(glob="sub/*.yml", folder="/project", rules=frozenset({ONE}))
    selection = Selection(elsewhere=(choice,))
    assert selection.of([finding()], root="/project") == ()
    assert selection.of([finding(path="/project/sub/x.yml")], root="/elsewhere") == ()
    assert selection.of([finding(path="../sub/x.yml")], root="/project/other") == ()
    assert len(selection.of([finding()], root="/other")) == 1
    assert len(selection.of([finding("kraft-voters-invalid")], root="/project")) == 1
    running = Finding(rule=ONE, severity=Severity.ERROR, message="m", location=ContainerLocation(container="sub"))
    assert selection.of([running], root="/project") == (running,)


def test_a_severity_replaces_that_of_every_finding() -> None:
    selection = Selection(severities={ONE: Severity.NOTE})
    found = selection.of([finding(), finding(severity=Severity.WARNING), finding("kraft-voters-invalid")])
    assert [f.severity for f in found] == [Severity.NOTE, Severity.NOTE, Severity.ERROR]
