"""Dockerfiles: the image of the stage that is built, its ENV values and what it starts."""

import pytest

from netdiag.compose.positions import Source
from netdiag.deployment.sources.images import BuildStage, read_dockerfile


def read(text: str, *, target: str | None = None, **args: str | None) -> BuildStage:
    made = read_dockerfile(Source("Dockerfile", text), args, target)
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM a/b:1", "a/b:1"),
        ("# syntax=x\nfrom a/b:1\n", "a/b:1"),
        ("FROM --platform=linux/amd64 a/b:1 AS x", "a/b:1"),
        ("ARG T=1\nFROM a/b:$T", "a/b:1"),
        ("ARG T=1\nFROM a/b:${T}", "a/b:1"),
        ("FROM a/b:${T:-9}", "a/b:9"),
        ("FROM a/b:$T", None),
        ("ARG T\nFROM a/b:$T", None),
        ("ARG T=1\nARG I=a/b:$T\nFROM $I", "a/b:$T"),
        ("FROM a/b:1 AS one\nFROM c/d:2\nCOPY --from=one /x /y", "c/d:2"),
        ("FROM a/b:1 AS one\nFROM one", "a/b:1"),
        ("FROM \\\n  a/b:1\n", "a/b:1"),
    ],
)
def test_the_image_below(text: str, expected: str | None) -> None:
    image = read(text).image
    assert (image.value if image else None) == expected


def test_build_arguments_win_over_defaults() -> None:
    image = read("ARG T=1\nFROM a/b:$T", T="2").image
    assert image is not None
    assert image.value == "a/b:2"


def test_a_target_is_the_stage_that_is_built() -> None:
    text = "FROM a/b:1 AS one\nENV A=1\nFROM c/d:2 AS two\n"
    made = read(text, target="one")
    assert made.image is not None
    assert (made.image.value, made.environment["A"].value) == ("a/b:1", "1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ENV A=b", {"A": "b"}),
        ("ENV A b c", {"A": "b c"}),
        ('ENV A="b c" D=e', {"A": "b c", "D": "e"}),
        ("ENV A='b' \\\n  # note\n  D=e\\ f", {"A": "b", "D": "e f"}),
        ("ARG X=1\nENV A=$X B=${Y:-2}", {"A": "1", "B": "2"}),
        ("ENV A=1\nENV B=$A", {"A": "1", "B": "1"}),
        ("ENV A=$NOBODY", {}),
        ("ENV A=1\nENV A=$A$NOBODY", {"A": "1"}),
    ],
)
def test_environment(text: str, expected: dict[str, str]) -> None:
    assert {name: value.value for name, value in read(f"FROM a\n{text}\n").environment.items()} == expected


def test_a_value_that_doubles_itself_is_given_up() -> None:
    value = read("FROM a\nENV A=xx\n" + "ENV A=$A$A\n" * 900).environment["A"].value
    assert set(value) == {"x"}
    assert len(value) <= 16 * 1024


def test_a_value_knows_its_place() -> None:
    value = read("FROM a\nENV A=1 \\\n    B=kafka:9092\n").environment["B"]
    span = value.span_of(0, 5)
    assert (span.path, span.line, span.column) == ("Dockerfile", 3, 7)
    assert value.edit_span(6, 10) is not None


def test_what_is_started() -> None:
    made = read('FROM a\nCMD ["old"]\nENTRYPOINT ["run", "x"]\n')
    assert (made.entrypoint, made.command) == (("run", "x"), ())
    assert read("FROM a\nCMD run x").command == ("/bin/sh", "-c", "run x")
    assert read("FROM a").command is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("COPY server.properties /opt/x", True),
        ("RUN sed -i s/a/b/ /etc/kafka/kafka.properties", True),
        ("ADD redpanda.yaml /etc/redpanda/", True),
        ("COPY entrypoint.sh /", True),
        ("RUN apt-get install -y jq", False),
        ("COPY plugins /usr/share/java", False),
    ],
)
def test_changes_of_the_brokers_files(line: str, expected: bool) -> None:
    assert read(f"FROM a\n{line}").is_changed is expected


@pytest.mark.parametrize("data", [b"FROM \xff", b"x" * 300_000])
def test_what_is_no_dockerfile(data: bytes) -> None:
    assert read_dockerfile(Source("Dockerfile", data), {}) is None


def test_nothing_is_built_without_a_stage() -> None:
    assert read_dockerfile(Source("Dockerfile", "RUN x"), {}) is None
