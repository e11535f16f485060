"""Repairs are tried in memory and kept only where they help."""

from collections.abc import Mapping

from netdiag.cli.repairing import MOST_LOOKS, Settled, settled
from netdiag.findings import Applicability, Edit, Finding, Severity
from netdiag.render.report import Input, Problem, Report
from tests.render.literals import place

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE


def look(instead: Mapping[str, bytes], start: bytes = b"") -> Report:
    """Small letters are defects with a repair; `w` is a warning, `e` an error, others say what they become."""
    data = instead.get("f", start)
    found = tuple(finding(data, index) for index in range(len(data)) if data[index : index + 1].islower())
    error = Problem(message="broken") if b"!" in data else None
    return Report(inputs=(Input(name="f", error=error),), findings=found, sources={"f": data})


BECOMES = {"a": "A", "b": "e", "c": "!", "e": "E", "w": "W", "x": "x", "y": "w", "s": "e", "k": "k2"}


def finding(data: bytes, index: int) -> Finding:
    letter = chr(data[index])
    applicability = SAFE if letter in "as" else UNSAFE
    made = Edit(path="f", start=index, end=index + 1, replacement=BECOMES[letter], applicability=applicability)
    severity = Severity.WARNING if letter in "wb" else Severity.ERROR
    return Finding(rule=letter, severity=severity, message="m", location=place(data, letter, "f"), edits=(made,))


def made(start: bytes, *, unsafe: bool = True, writable: bool = True) -> Settled:
    return settled(lambda instead: look(instead, start), {}, lambda path: writable, unsafe=unsafe)


def test_all_that_helps_is_made() -> None:
    result = made(b"a-w-e")
    assert result.changed == {"f": (b"a-w-e", b"A-W-E")}
    assert len(result.repaired) == 3
    assert not result.left


def test_unsafe_repairs_are_counted_and_not_made() -> None:
    result = made(b"a-w-e", unsafe=False)
    assert result.after["f"] == b"A-w-e"
    assert (len(result.repaired), result.unsafe) == (1, 2)


def test_what_makes_it_no_better_is_left_and_the_rest_is_made() -> None:
    for bad in ("b", "c", "x"):
        result = made(f"a-{bad}-w".encode())
        assert result.after["f"] == f"A-{bad}-W".encode()
        assert [(f.rule, reason) for f, reason in result.refused] == [(bad, "another defect would take its place")]


def test_one_step_may_lead_to_a_milder_one() -> None:
    result = made(b"y")
    assert result.after["f"] == b"W"
    assert len(result.repaired) == 2


def test_a_safe_repair_may_bring_to_light_what_was_hidden() -> None:
    assert made(b"s", unsafe=False).after["f"] == b"e"
    assert made(b"s").after["f"] == b"E"


def test_files_outside_are_not_touched() -> None:
    result = made(b"a", writable=False)
    assert result.changed == {}
    assert [reason for _, reason in result.refused] == ["f lies outside of the project"]


def test_what_never_ends_is_bounded() -> None:
    looks = 0

    def counted(instead: Mapping[str, bytes]) -> Report:
        nonlocal looks
        looks += 1
        return look(instead, b"-".join([b"x"] * 400))

    settled(counted, {}, lambda path: True, unsafe=True)
    assert looks <= MOST_LOOKS + 1


def test_what_an_earlier_input_made_of_a_file_is_the_start() -> None:
    result = settled(look, {"f": b"e"}, lambda path: True, unsafe=True)
    assert (result.before["f"], result.after["f"]) == (b"e", b"E")
