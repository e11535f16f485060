"""Errors and problems with their places, and the way from a value to the service in which it counts."""

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source, literal
from netdiag.compose.problems import ComposeError, Origin, Problems, decoded, steps_to_service, within
from netdiag.compose.project import Project
from netdiag.errors import NetdiagError


def test_each_problem_once_and_in_order() -> None:
    first, second = Source("a", b"xy"), Source("b", b"xy")
    problems = Problems()
    problems.warning("w", "later file", second.span(0, 1))
    problems.error("e", "later place", first.span(1, 2), first.span(0, 1), service="s")
    problems.error("e", "first", first.span(0, 1))
    problems.error("e", "first", first.span(0, 1))
    assert [(problem.message, problem.severity) for problem in problems.all()] == [
        ("first", "error"),
        ("later place", "error"),
        ("later file", "warning"),
    ]
    assert problems.all()[1].related == (first.span(0, 1),)
    assert problems.all()[1].service == "s"


def test_a_value_of_the_wrong_kind_is_told_by_the_first_who_meets_it() -> None:
    problems = Problems()
    place = Source("a", b"xy").span(0, 1)
    problems.error("schema", "must be this", place)
    problems.error("schema", "must be that", place)
    assert [problem.message for problem in problems.all()] == ["must be this"]


def test_where() -> None:
    span = Source("f.yaml", b"a\nbc").span(3, 4)
    error = ComposeError("bad", span=span, hint="do this")
    assert isinstance(error, NetdiagError)
    assert (str(error), error.where, error.hint) == ("f.yaml:2:2: bad", "f.yaml:2:2", "do this")
    assert ComposeError("bad").span is None


def test_bytes_that_are_no_text() -> None:
    assert decoded(Source("f", "\ufeff\u00e9".encode())) == "\u00e9"
    for data in (b"ab\xff", "\ufeff".encode() + b"\xff"):
        with pytest.raises(ComposeError, match="byte 0xff") as caught:
            decoded(Source("f", data))
        assert caught.value.span is not None
        assert caught.value.span.start == len(data) - 1


COMPOSE = """x-image: &image
  image: x
x-kafka: &kafka
  <<: *image
  hostname: h
include: [more.yaml]
services:
  a:
    <<: *kafka
    environment: {V: "$V", W: "${W:-inside}"}
    env_file: v.env
  b:
    extends: {file: base.yaml, service: base}
  c: *kafka
"""
FILES = {
    "base.yaml": "services:\n  base: {extends: root}\n  root: {image: y}\n",
    "more.yaml": "services:\n  d: {image: z}\n",
    "v.env": "E=1\n",
}


def project() -> Project:
    dotenv = {"V": literal("value", path=".env", line=3, column=3, start=9)}
    return load(
        Source("compose.yaml", COMPOSE),
        dotenv=dotenv,
        read=lambda path: FILES[path].encode() if path in FILES else None,
    )


def way(service: str, field: str = "image") -> list[tuple[str, str, int]]:
    loaded = project()
    held = loaded.services[service]
    span = held.environment["E"].entry_span if field == "E" else getattr(held, field).span
    steps = steps_to_service(span, loaded.origins, loaded.service_spans.get(service, ()) or loaded.files)
    return [(step.kind, step.by.path, step.by.line) for step in steps]


def test_every_step_is_told_in_order() -> None:
    assert way("a") == [("alias", "compose.yaml", 4), ("alias", "compose.yaml", 9)]
    assert way("a", "hostname") == [("alias", "compose.yaml", 9)]
    assert way("c", "hostname") == [("alias", "compose.yaml", 14)]
    assert way("b") == [("extends", "base.yaml", 2), ("extends", "compose.yaml", 13)]
    assert way("d") == [("include", "compose.yaml", 6)]
    assert way("a", "E") == [("env_file", "compose.yaml", 11)]


def test_a_variable_has_its_value_from_elsewhere_and_a_default_has_not() -> None:
    given = [(o.name, o.area.line, o.by.path, o.by.line) for o in project().origins if o.kind == "variable"]
    assert given == [("V", 10, ".env", 3)]


def test_homes_are_the_places_in_the_projects_own_files() -> None:
    loaded = project()
    assert {name: [(s.path, s.line) for s in spans] for name, spans in loaded.service_spans.items()} == {
        "a": [("compose.yaml", 8)],
        "b": [("compose.yaml", 12)],
        "c": [("compose.yaml", 14)],
    }
    assert [file.path for file in loaded.files] == ["compose.yaml"]


def test_a_circle_of_steps_ends() -> None:
    source = Source("f", "abcdef")
    here, there = source.span(0, 2), source.span(3, 5)
    steps = (Origin(area=here, by=there, kind="alias"), Origin(area=there, by=here, kind="alias"))
    assert steps_to_service(here, steps, (source.span(5, 6),)) == ()
    assert within(here, source.span(0, 6))
    assert not within(here, there)
