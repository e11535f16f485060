"""A defect of every rule in every stack it fits: its own rule says so at its line, and little else speaks."""

import pytest

from netdiag.findings import FileLocation, Finding, Severity
from netdiag.rules.declared import DECLARED, check_deployment
from tests.deployment.stacks import deployment_of
from tests.each import each
from tests.figures import Report
from tests.mutations import redpanda
from tests.mutations.bases import BASES
from tests.mutations.defect import Defect
from tests.mutations.defects import DEFECTS
from tests.mutations.stack import Stack

ALL_BASES = {**BASES, **redpanda.BASES}


def _fitting(bases: dict[str, Stack], defects: tuple[Defect, ...]) -> list[tuple[Stack, Defect]]:
    return [(base, defect) for defect in defects for base in bases.values() if defect.where(base)]


MUTANTS = [*_fitting(BASES, DEFECTS), *_fitting(redpanda.BASES, redpanda.DEFECTS)]


def _findings(text: str) -> tuple[Finding, ...]:
    return check_deployment(deployment_of(text))


def _missed(base_name: str, defect: Defect) -> str | None:
    """What is wrong with what netdiag says of a mutant; None where nothing is."""
    stack = ALL_BASES[base_name].copy()
    marks = list(defect.make(stack))
    text, places = stack.render()
    found = _findings(text)
    wanted = {places[mark] for mark in marks}
    lines = {f.location.line for f in found if f.rule == defect.rule and isinstance(f.location, FileLocation)}
    if lines != wanted:
        others = sorted({f.rule for f in found})
        return f"{defect.rule} spoke at {sorted(lines)} instead of {sorted(wanted)}; rules that spoke: {others}"
    beside = sorted(
        {
            f"{f.rule}: {f.message}"
            for f in found
            if f.rule != defect.rule and f.rule not in defect.also and f.severity is not Severity.NOTE
        }
    )
    return f"not consequences: {beside}" if beside else None


@pytest.mark.parametrize("name", ALL_BASES)
def test_correct_stacks_are_silent(name: str) -> None:
    found = _findings(ALL_BASES[name].render()[0])
    # An image that gets no releases makes the stack no worse than it was.
    assert [f for f in found if not (f.rule == "image-gone" and name.startswith("wurstmeister"))] == []


@pytest.mark.bar("mutants")
@each(("base", "defect"), [pytest.param(b.name, d, id=f"{d.rule}-{d.name}-{b.name}") for b, d in MUTANTS])
def test_a_mutant_is_caught_by_its_own_rule(base: str, defect: Defect) -> None:
    assert _missed(base, defect) is None


@pytest.mark.bar("mutants")
def test_there_are_mutants(figure: Report) -> None:
    figure("mutants", len(MUTANTS))
    assert {defect.rule for _, defect in MUTANTS} == {rule.ID for rule in DECLARED}
