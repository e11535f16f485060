"""Paths, URIs and text for other programs."""

import pytest

from netdiag.findings import ContainerLocation
from netdiag.render.findings.places import (
    container_text,
    file_text,
    harmless,
    in_order,
    path_text,
    place_text,
    plain,
    uri,
)
from netdiag.render.report import Input, Problem, file_of_error, place_of_error
from tests.render.reports import EVERYTHING, FOREIGN, RUNNING


@pytest.mark.parametrize(
    ("path", "root", "text", "reference"),
    [
        ("compose.yml", "", "compose.yml", "compose.yml"),
        ("./compose.yml", "", "compose.yml", "compose.yml"),
        (".//./a/b.yml", "", "a/b.yml", "a/b.yml"),
        ("../b.yml", "", "../b.yml", "../b.yml"),
        ("/r/a/b.yml", "/r", "a/b.yml", "a/b.yml"),
        ("/r/a/b.yml", "/r/", "a/b.yml", "a/b.yml"),
        ("/rr/b.yml", "/r", "/rr/b.yml", "file:///rr/b.yml"),
        ("a b#c?d%.yml", "", "a b#c?d%.yml", "a%20b%23c%3Fd%25.yml"),
        ("a:b.yml", "", "a:b.yml", "a%3Ab.yml"),
        ("C:\\x y\\b.yml", "", "C:/x y/b.yml", "file:///C:/x%20y/b.yml"),
        ("C:\\x\\b.yml", "C:\\x", "b.yml", "b.yml"),
        ("日.yml", "", "日.yml", "%E6%97%A5.yml"),
        ("\udcff.yml", "", "\udcff.yml", "%FF.yml"),
        ("\ud800.yml", "", "\ud800.yml", "%3F.yml"),
        ("<stdin>", "", "<stdin>", "%3Cstdin%3E"),
    ],
)
def test_paths(path: str, root: str, text: str, reference: str) -> None:
    assert path_text(path, root) == text
    assert uri(path, root) == reference


def test_text_is_one_line_without_secrets() -> None:
    assert plain("a\nb password=hunter2") == "a\\nb password=[hidden]"
    assert harmless("\x1b[2J\u202e\x00\ud800\ufffe") == "\\x1b[2J\\u202e\\x00\\ud800\\ufffe"
    assert harmless("日本 \U0001f600") == "日本 \U0001f600"


@pytest.mark.parametrize(
    ("where", "file"),
    [
        (None, ("/r/a:5", 1)),
        ("/r/a:5", ("/r/a:5", 1)),
        ("/r/b.yml:7:2", ("/r/b.yml", 7)),
        ("b.yml:7", ("b.yml", 7)),
        ("b:x.yml", ("b:x.yml", 1)),
    ],
)
def test_an_error_names_a_file_and_maybe_a_line(where: str | None, file: tuple[str, int]) -> None:
    item = Input(name="/r/a:5", error=Problem(message="m", where=where))
    assert file_of_error(item) == file
    assert file_of_error(item, "/r") == (file[0].removeprefix("/r/"), file[1])


def test_places_and_their_order() -> None:
    assert place_text(FOREIGN.location) == "compose.yml:4:13"
    assert place_text(RUNNING.location) == "kafka-9"
    assert container_text(ContainerLocation(container="k", part="A")) == "k (A)"
    assert file_text(FOREIGN.location) == "compose.yml"
    assert file_text(RUNNING.location) == "kafka-9"
    assert place_of_error(EVERYTHING.inputs[2]) == "gone.yml"
    ordered = in_order(EVERYTHING.findings)
    assert ordered == in_order(reversed(EVERYTHING.findings))
    assert [f.rule for f in ordered] == [
        "port-owner-differs",
        "listener-bound-to-loopback",
        "listener-bound-to-loopback",
        "broker-not-running",
    ]
