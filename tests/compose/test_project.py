"""The model's own answers."""

import pytest

from netdiag.compose.positions import Source
from netdiag.compose.problems import Problems
from netdiag.compose.project import Project, Service


@pytest.mark.parametrize(
    ("own", "active", "starts"),
    [((), (), True), ((), ("p",), True), (("p",), (), False), (("p", "q"), ("q",), True), (("p",), ("*",), True)],
)
def test_profiles(own: tuple[str, ...], active: tuple[str, ...], starts: bool) -> None:
    span = Source("f", b"a").span(0, 1)
    assert Service(name="a", span=span, profiles=own).active(active) == starts


def test_errors_and_warnings_are_told_apart() -> None:
    span = Source("f", b"a").span(0, 1)
    problems = Problems()
    problems.error("e", "bad", span)
    problems.warning("w", "odd", span)
    project = Project(name=None, path="f", services={}, networks={}, problems=problems.all())
    assert [problem.code for problem in project.errors] == ["e"]
    assert [problem.code for problem in project.warnings] == ["w"]
