"""The way from a value to the service in which it counts."""

from netdiag.compose.load import load
from netdiag.compose.positions import Source, literal
from netdiag.compose.problems import Origin, steps_to_service, within
from netdiag.compose.project import Project

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
    steps = steps_to_service(span, loaded.origins, loaded.homes.get(service, ()) or loaded.files)
    return [(step.how, step.by.path, step.by.line) for step in steps]


def test_every_step_is_told_in_order() -> None:
    assert way("a") == [("alias", "compose.yaml", 4), ("alias", "compose.yaml", 9)]
    assert way("a", "hostname") == [("alias", "compose.yaml", 9)]
    assert way("c", "hostname") == [("alias", "compose.yaml", 14)]
    assert way("b") == [("extends", "base.yaml", 2), ("extends", "compose.yaml", 13)]
    assert way("d") == [("include", "compose.yaml", 6)]
    assert way("a", "E") == [("env_file", "compose.yaml", 11)]


def test_a_variable_has_its_value_from_elsewhere_and_a_default_has_not() -> None:
    given = [(o.name, o.area.line, o.by.path, o.by.line) for o in project().origins if o.how == "variable"]
    assert given == [("V", 10, ".env", 3)]


def test_homes_are_the_places_in_the_projects_own_files() -> None:
    loaded = project()
    assert {name: [(s.path, s.line) for s in spans] for name, spans in loaded.homes.items()} == {
        "a": [("compose.yaml", 8)],
        "b": [("compose.yaml", 12)],
        "c": [("compose.yaml", 14)],
    }
    assert [file.path for file in loaded.files] == ["compose.yaml"]


def test_a_circle_of_steps_ends() -> None:
    source = Source("f", "abcdef")
    here, there = source.span(0, 2), source.span(3, 5)
    steps = (Origin(area=here, by=there, how="alias"), Origin(area=there, by=here, how="alias"))
    assert steps_to_service(here, steps, (source.span(5, 6),)) == ()
    assert within(here, source.span(0, 6))
    assert not within(here, there)
