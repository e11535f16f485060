"""A problem of the loader becomes a finding with the same words and places."""

from netdiag.findings import FileLocation, Severity
from netdiag.rules.problems import told, unset_images
from tests.deployment.stacks import project_of

TEXT = """\
services:
  app:
    image: example/app:1
    image: example/app:2
    command: echo $X
"""


def test_words_places_and_severity() -> None:
    project = project_of(TEXT)
    (twice,) = told(project, "one", frozenset({"duplicate-key"}), hint="remove it")
    assert (twice.rule, twice.severity, twice.hint) == ("one", Severity.ERROR, "remove it")
    assert twice.message == project.errors[0].message
    assert [place.line for place in (twice.location, twice.related[0].location) if isinstance(place, FileLocation)] == [
        4,
        3,
    ]
    (unset,) = told(project, "two", frozenset({"unset-variable"}), hint="")
    assert unset.severity is Severity.NOTE
    assert list(told(project, "three", frozenset(), hint="")) == []


def test_images_that_are_empty_for_want_of_variables() -> None:
    images = {"a": "${NOPE}", "b": "'${NO}${NEITHER}'", "c": "example/app:${NOPE}", "d": "''", "e": "${NOPE:-x}"}
    services = "".join(f"  {name}:\n    image: {image}\n" for name, image in images.items())
    project = project_of(f"services:\n{services}  f:\n    build: .\n")
    assert {name: text.unset for name, text in unset_images(project)} == {"a": ("NOPE",), "b": ("NO", "NEITHER")}
