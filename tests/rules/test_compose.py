"""Rules about compose files: the problems of the loader as findings."""

import re
from pathlib import Path

import pytest

import netdiag.compose
from netdiag.findings import FileLocation, Severity
from netdiag.rules.compose import COMPOSE, check_project
from netdiag.rules.compose_findings import from_problems, unset_images
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
    (twice,) = from_problems(project, "one", frozenset({"duplicate-key"}), hint="remove it")
    assert (twice.rule, twice.severity, twice.hint) == ("one", Severity.ERROR, "remove it")
    assert twice.message == project.errors[0].message
    assert [place.line for place in (twice.location, twice.related[0].location) if isinstance(place, FileLocation)] == [
        4,
        3,
    ]
    (unset,) = from_problems(project, "two", frozenset({"unset-variable"}), hint="")
    assert unset.severity is Severity.NOTE
    assert list(from_problems(project, "three", frozenset(), hint="")) == []


def test_images_that_are_empty_for_want_of_variables() -> None:
    images = {"a": "${NOPE}", "b": "'${NO}${NEITHER}'", "c": "example/app:${NOPE}", "d": "''", "e": "${NOPE:-x}"}
    services = "".join(f"  {name}:\n    image: {image}\n" for name, image in images.items())
    project = project_of(f"services:\n{services}  f:\n    build: .\n")
    assert {name: text.unset for name, text in unset_images(project)} == {"a": ("NOPE",), "b": ("NO", "NEITHER")}


# Said of every second file, and no listener depends on it.
BESIDE_THE_POINT = {"version"}
_CODE = re.compile(
    r'(?:problems\.(?:error|warning)\(\s*|code = |, error, |s": (?="undefined))"([a-z-]+)"(?: if .* else "([a-z-]+)")?'
)


def test_every_problem_of_the_loader_belongs_to_one_rule() -> None:
    sources = "\n".join(path.read_text() for path in Path(netdiag.compose.__path__[0]).glob("*.py"))
    used = {code for match in _CODE.findall(sources) for code in match if code}
    claimed = [code for rule in COMPOSE for code in rule.CODES]
    assert len(claimed) == len(set(claimed))
    assert used - BESIDE_THE_POINT == set(claimed)


def found(text: str) -> dict[str, Severity]:
    return {finding.rule: finding.severity for finding in check_project(project_of(text))}


SERVICE = """\
services:
  job:
    image: {image}
    environment:
      TOPIC: orders
      KAFKA_TOPIC: orders
    {field}: {command}
"""


@pytest.mark.parametrize(
    ("image", "field", "command", "expected"),
    [
        ("apache/kafka", "command", 'sh -c "echo $TOPIC"', {"compose-variable-unescaped": Severity.WARNING}),
        (
            "apache/kafka",
            "command",
            '["bash", "-c", "echo ${TOPIC}"]',
            {"compose-variable-unescaped": Severity.WARNING},
        ),
        ("busybox", "command", 'sh -c "echo $KAFKA_TOPIC"', {"compose-variable-unescaped": Severity.WARNING}),
        # nothing of ours: from_problems, but not loudly
        ("busybox", "command", 'sh -c "echo $TOPIC"', {"compose-variable-unescaped": Severity.NOTE}),
        # set by the script itself
        (
            "apache/kafka",
            "command",
            'sh -c "for t in a b; do echo $t; done"',
            {"compose-variable-unescaped": Severity.WARNING},
        ),
        ("apache/kafka", "command", 'sh -c "t=a; echo $t"', {"compose-variable-unescaped": Severity.WARNING}),
        # a shell takes care of a healthcheck given as one text
        ("apache/kafka", "healthcheck", '{test: "echo $TOPIC"}', {"compose-variable-unescaped": Severity.WARNING}),
        ("apache/kafka", "healthcheck", '{test: [CMD, "echo", "$TOPIC"]}', {"compose-variable-unset": Severity.NOTE}),
        # without a shell nobody in the container would expand it either
        ("apache/kafka", "command", "kafka-topics --topic $TOPIC", {"compose-variable-unset": Severity.NOTE}),
        # nobody in the container sets it: it can only come from outside
        ("apache/kafka", "command", 'sh -c "echo $OTHER"', {"compose-variable-unset": Severity.NOTE}),
        ("apache/kafka", "command", 'sh -c "echo $$TOPIC"', {}),
        ("apache/kafka", "command", 'sh -c "echo ${TOPIC:-x}"', {}),
    ],
)
def test_a_variable_meant_for_the_container(
    image: str, field: str, command: str, expected: dict[str, Severity]
) -> None:
    assert found(SERVICE.format(image=image, field=field, command=command)) == expected


def test_the_repair_writes_the_dollar_sign_twice() -> None:
    text = SERVICE.format(image="apache/kafka", field="command", command='sh -c "echo ${TOPIC} $KAFKA_TOPIC"')
    edits = [edit for finding in check_project(project_of(text)) for edit in finding.edits]
    for edit in sorted(edits, key=lambda e: -e.start):
        text = text[: edit.start] + edit.replacement + text[edit.end :]
    assert "echo $${TOPIC} $$KAFKA_TOPIC" in text
    assert found(text) == {}


@pytest.mark.parametrize(
    ("service", "expected"),
    [
        ("{image: '${NOPE}'}", {"compose-variable-unset": Severity.NOTE}),
        ("{image: ''}", {"compose-schema": Severity.ERROR}),
        ("{command: echo}", {"compose-schema": Severity.ERROR}),
        ("{extends: {service: absent}}", {"compose-extends": Severity.ERROR}),
    ],
)
def test_why_a_service_has_no_image(service: str, expected: dict[str, Severity]) -> None:
    assert found(f"services: {{app: {service}}}\n") == expected


def test_an_image_of_unset_variables_names_its_service_and_the_variables() -> None:
    messages = [
        finding.message for finding in check_project(project_of("services: {app: {image: '${A}${B}', command: $C}}\n"))
    ]
    assert messages == [
        "app has no image, because A and B are not set",
        "variable 'C' is not set, so Compose uses an empty string",
    ]


def test_unset_variables_are_one_note_but_for_those_of_addresses() -> None:
    text = """\
services:
  kafka:
    image: apache/kafka:${TAG}
    ports: ["${PORT}:9092"]
    environment:
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://${HOST}:9092
  db: {image: "db:${TAG}", environment: {A: "${A}", B: "${B}"}}
  app: {image: "${APP}"}
  web: {image: "${WEB}"}
"""
    found = [f for f in check_project(project_of(text)) if f.rule == "compose-variable-unset"]
    assert [f.message for f in found] == [
        "3 variables are not set, so Compose uses empty strings: TAG, A and B",
        "variable 'PORT' is not set, so Compose uses an empty string",
        "variable 'HOST' is not set, so Compose uses an empty string",
        "app and web have no image, because APP and WEB are not set",
    ]


def test_a_variable_that_is_unset_in_several_places_is_one_note() -> None:
    (one,) = check_project(project_of("services: {app: {image: 'a:$V', user: $V, hostname: $V}}\n"))
    assert (one.message, len(one.related)) == ("variable 'V' is not set, so Compose uses an empty string", 2)
