"""What a comment covers, and what is said of one that covers nothing: from literals."""

from dataclasses import replace

import pytest

from netdiag.app.suppression import covering, read_ignores, unused
from netdiag.findings import ContainerLocation, FileLocation, Finding, Related, Severity

A, B = "kraft-role-invalid", "kraft-voters-invalid"


def at(line: int, path: str = "c.yml") -> FileLocation:
    return FileLocation(path=path, line=line, column=1, end_line=line, end_column=2, start=0, end=0)


def finding(line: int = 1, rule: str = A, service: str | None = None) -> Finding:
    return Finding(rule=rule, severity=Severity.ERROR, message="m", location=at(line), service=service)


def covered(text: str, *findings: Finding) -> list[bool]:
    ignores = read_ignores({"c.yml": text.encode()})
    return [bool(covering(item, ignores)) for item in findings]


def told(text: str, used: tuple[Finding, ...] = (), ran: tuple[str, ...] = (A, B)) -> list[str]:
    ignores = read_ignores({"c.yml": text.encode()})
    hit = [ignore for item in used for ignore in covering(item, ignores)]
    return [found.message for found in unused(ignores, hit, lambda rule, path: rule in ran)]


@pytest.mark.parametrize(
    ("text", "findings", "expected"),
    [
        (f"a: b # netdiag: ignore[{A}]\nc: d\n", (finding(1), finding(2), finding(1, B)), [True, False, False]),
        (f"a: b # netdiag:ignore[{A},{B}]\n", (finding(1), finding(1, B)), [True, True]),
        (f"a: b # why # netdiag: ignore[ {A} {B} ] because\n", (finding(1), finding(1, B)), [True, True]),
        ("a: b # netdiag: ignore[kraft-]\n", (finding(1), finding(1, "listener-unparsable")), [True, False]),
        ("a: b # netdiag: ignore[all]\n", (finding(1), finding(1, "listener-unparsable")), [True, True]),
        (
            f"x: 1\n# netdiag: ignore[{A}]\na:\n  b: c\nd: e\n",
            (finding(3), finding(4), finding(5)),
            [True, True, False],
        ),
        (f"# netdiag: ignore-file[{A}]\na: b\nc: d\n", (finding(2), finding(3), finding(3, B)), [True, True, False]),
        (f"a: b\n# netdiag: ignore-file[{A}]\nc: d\n", (finding(1), finding(3)), [False, False]),
        ("a: b # netdiag: ignore\n", (finding(1),), [False]),
        ("a: b # netdiag: ignore[]\n", (finding(1),), [False]),
        (f'a: "b # netdiag: ignore[{A}]"\n', (finding(1),), [False]),
    ],
)
def test_covering(text: str, findings: tuple[Finding, ...], expected: list[bool]) -> None:
    assert covered(text, *findings) == expected


def test_a_second_place_counts_where_the_comment_stands_on_its_line() -> None:
    elsewhere = replace(finding(9), related=(Related(location=at(1), message="here"),))
    assert covered(f"a: b # netdiag: ignore[{A}]\n", elsewhere) == [True]
    assert covered(f"x: 1\n# netdiag: ignore[{A}]\na: b\n", replace(elsewhere, related=())) == [False]
    below = replace(finding(9), related=(Related(location=at(3), message="here"),))
    assert covered(f"x: 1\n# netdiag: ignore[{A}]\na: b\n", below) == [False]


def test_a_comment_above_a_service_covers_what_is_found_of_it_in_other_files() -> None:
    text = f"services:\n  # netdiag: ignore[{A}] why\n  kafka:\n    a: b\n"
    there = replace(finding(7, service="kafka"), location=at(7, "override.yml"))
    other = replace(there, service="other")
    running = replace(there, location=ContainerLocation(container="kafka"))
    assert covered(text, there, other, running) == [True, False, True]


def test_the_reason_is_kept() -> None:
    (ignore,) = read_ignores({"c.yml": f"a: b # netdiag: ignore[{A}]  set by the proxy \n".encode()})
    assert ignore.reason == "set by the proxy"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"a: b # netdiag: ignore[{A}]\n", [f"{A} ignores nothing on this line"]),
        (f"x: 1\n# netdiag: ignore[{A}]\na: b\n", [f"{A} ignores nothing in the block below"]),
        (f"# netdiag: ignore-file[{A}]\na: b\n", [f"{A} ignores nothing in this file"]),
        (f"a: b\n# netdiag: ignore-file[{A}]\n", ["ignore-file must come before the first key of a file"]),
        ("a: b # netdiag: ignore[nonsense]\n", ["no rule is called 'nonsense'; `netdiag rules` lists them"]),
        ("a: b # netdiag: ignore\n", ["the comment names no rules: write ignore[rule]"]),
        (f"a: b # netdiag: disable[{A}]\n", ["unknown comment 'disable': write ignore or ignore-file"]),
        ("a: b # see netdiag: a tool\n", []),
    ],
)
def test_comments_that_cover_nothing_are_told(text: str, said: list[str]) -> None:
    assert told(text) == said


def test_only_the_id_that_covers_nothing_is_told() -> None:
    text = f"a: b # netdiag: ignore[{A}, {B}]\n"
    assert told(text, (finding(1),)) == [f"{B} ignores nothing on this line"]
    assert told(text, (finding(1), finding(1, B))) == []


def test_rules_that_were_not_looked_for_are_not_told() -> None:
    assert told(f"a: b # netdiag: ignore[{A}, {B}]\n", ran=(B,)) == [f"{B} ignores nothing on this line"]
    assert told("a: b # netdiag: ignore[kraft-]\n", ran=(A,)) == []


def test_the_place_is_that_of_the_id() -> None:
    text = f"ä: ö # ü netdiag # netdiag: ignore[{A}, {B}]\n"
    ignores = read_ignores({"c.yml": text.encode()})
    places = [found.location for found in unused(ignores, (), lambda rule, path: True)]
    assert all(isinstance(place, FileLocation) for place in places)
    named = [text.encode()[p.start : p.end].decode() for p in places if isinstance(p, FileLocation)]
    seen = [text[p.column - 1 : p.end_column - 1] for p in places if isinstance(p, FileLocation)]
    assert named == seen == [A, B]


def test_more_comments_than_anybody_writes_are_left() -> None:
    text = "".join(f"k{n}: v # netdiag: ignore[nonsense{n}]\n" for n in range(3000))
    assert len(read_ignores({"c.yml": text.encode()})) == 500
