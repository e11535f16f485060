"""Edits touch what they name and nothing else; those that clash are refused."""

import subprocess
from pathlib import Path

import pytest

from netdiag.findings import Edit, Finding, Severity
from netdiag.render.findings.edits import apply, repair, unified_diff
from tests.render.literals import place

DATA = b"\xef\xbb\xbf# K\xc3\xa4se\r\nkey:  'old'   # why\r\nother: old\r\n"


def edit(start: int, end: int, replacement: str = "new", path: str = "a.yml") -> Edit:
    return Edit(path=path, start=start, end=end, replacement=replacement)


def finding(*edits: Edit, message: str = "m") -> Finding:
    return Finding(rule="r", severity=Severity.ERROR, message=message, location=place(b"xy", "x", "a.yml"), edits=edits)


def test_only_the_named_bytes_change() -> None:
    start = DATA.index(b"old")
    made = repair([finding(edit(start, start + 3))], {"a.yml": DATA})
    assert made.files == {"a.yml": DATA.replace(b"'old'", b"'new'")}
    assert len(made.applied) == 1


@pytest.mark.parametrize(
    ("edits", "result"),
    [
        ([edit(0, 1), edit(1, 2, "x")], b"newxcdef"),
        ([edit(2, 2, "+"), edit(4, 4, "-")], b"ab+cd-ef"),
        ([edit(3, 6, "")], b"abc"),
    ],
)
def test_edits_beside_one_another_are_made(edits: list[Edit], result: bytes) -> None:
    made = repair([finding(e, message=str(i)) for i, e in enumerate(edits)], {"a.yml": b"abcdef"})
    assert made.files == {"a.yml": result}
    assert not made.refused


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (edit(0, 3), edit(2, 5)),
        (edit(0, 6), edit(2, 3)),
        (edit(2, 2, "+"), edit(2, 2, "-")),
        (edit(2, 4, "x"), edit(2, 4, "y")),
        (edit(2, 2, "+"), edit(2, 4, "y")),
    ],
)
def test_of_overlapping_edits_the_first_is_made(first: Edit, second: Edit) -> None:
    ones = [finding(first, message="1"), finding(second, message="2"), finding(edit(6, 6, "!"), message="3")]
    made = repair(ones, {"a.yml": b"abcdef"})
    assert [f.message for f in made.refused] == ["2"]
    assert made.files == {"a.yml": apply(b"abcdef!", [first])}


def test_equal_edits_count_once() -> None:
    made = repair([finding(edit(0, 1), message="1"), finding(edit(0, 1), message="2")], {"a.yml": b"abc"})
    assert made.files == {"a.yml": b"newbc"}
    assert len(made.applied) == 2


def test_a_finding_is_repaired_as_a_whole_or_not_at_all() -> None:
    both = finding(edit(0, 1), edit(4, 5), message="both")
    made = repair([finding(edit(4, 6, "x"), message="one"), both], {"a.yml": b"abcdef"})
    assert made.files == {"a.yml": b"abcdx"}
    assert made.refused == (both,)


@pytest.mark.parametrize("bad", [edit(0, 99), edit(3, 2), edit(0, 1, path="elsewhere.yml")])
def test_an_edit_outside_what_was_read_is_refused(bad: Edit) -> None:
    made = repair([finding(bad)], {"a.yml": b"abc"})
    assert (made.files, len(made.refused)) == ({}, 1)


def test_apply_on_nothing() -> None:
    assert apply(b"abc", []) == b"abc"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\nb\nc\n", b"a\nB\nc\n"),
        (b"a\r\nb\r\n", b"a\r\nB\r\n"),
        (b"a\nb", b"a\nB"),
        (b"a\nb", b"a\nb\n"),
        (b"a\x0cb\x85\xff\n\xe2\x80\xa8x\n", b"a\x0cb\x85\xff\n\xe2\x80\xa8y\n"),
        (b"", b"x\n"),
    ],
)
def test_a_patch_applies(tmp_path: Path, before: bytes, after: bytes) -> None:
    (tmp_path / "c.yml").write_bytes(before)
    patch = unified_diff("./c.yml", before, after)
    done = subprocess.run(
        ["git", "apply", "--unsafe-paths", "-"], cwd=tmp_path, input=patch, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "c.yml").read_bytes() == after


def test_no_change_is_no_patch() -> None:
    assert unified_diff("c.yml", b"a\n", b"a\n") == b""
