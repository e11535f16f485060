"""Places, paths, URIs and text for other programs."""

import json

import pytest

from netdiag.cli.outputs import Format
from netdiag.findings import ContainerLocation, FileLocation, Finding, Related, Severity, WireLocation
from netdiag.render.findings.finding_text import (
    clickable_place,
    clock_text,
    container_text,
    file_text,
    harmless,
    in_order,
    path_text,
    place_text,
    plain,
    uri,
    wire_text,
)
from netdiag.render.findings.fingerprints import fingerprints
from netdiag.render.formats import json as json_report
from netdiag.render.formats import text
from netdiag.render.report import Input, Problem, Report, file_of_error, place_of_error
from netdiag.render.screen import Screen
from tests.render.every_format import in_format
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


PLACE = WireLocation(
    file="app.pcap",
    packet=1234,
    time=1_700_000_000_123_456_789,
    client="172.18.0.5:40312",
    broker="172.18.0.2:9092",
)
FINDING = Finding(
    rule="wire-told-loopback",
    severity=Severity.ERROR,
    message="app is told localhost:9092",
    location=PLACE,
    hint="advertise a name",
    related=(Related(location=PLACE, message="here too"),),
)
REPORT = Report(findings=(FINDING,))
BETWEEN = "172.18.0.5:40312 > 172.18.0.2:9092"


def _text(report: Report) -> str:
    return text.render(report, Screen())


def test_a_place_names_packet_and_connection() -> None:
    assert clickable_place(PLACE) == f"app.pcap:1234 ({BETWEEN})"
    unnumbered = WireLocation(file="app.pcap", packet=None, time=0, client="", broker="")
    assert clickable_place(unnumbered) == "app.pcap"
    assert (wire_text(PLACE), wire_text(unnumbered)) == (f"packet 1234, {BETWEEN}", "the capture")


# These have the place of a file only, or its parts.
WITHOUT_CONNECTION = (Format.CHECKSTYLE, Format.GITLAB, Format.MARKDOWN, Format.JSON)


@pytest.mark.parametrize("form", Format)
def test_a_report_names_file_packet_and_connection(form: Format) -> None:
    told = in_format(form, REPORT).replace("&gt;", ">")
    assert "app.pcap" in told
    assert ("1234" in told and BETWEEN in told) or form in WITHOUT_CONNECTION


def test_json_holds_the_parts() -> None:
    (finding,) = json.loads(json_report.render(REPORT))["findings"]
    assert finding["location"] == {
        "file": "app.pcap",
        "packet": 1234,
        "time": 1_700_000_000_123_456_789,
        "client": "172.18.0.5:40312",
        "broker": "172.18.0.2:9092",
    }


def test_text_tells_when() -> None:
    assert "first seen: 2023-11-14 22:13:20.123456 UTC" in _text(REPORT)
    assert clock_text(-(10**30)) == f"{-(10**30)} ns"


def test_another_capture_of_the_same_defect_has_the_same_fingerprint() -> None:
    again = WireLocation(file="b.pcap", packet=9, time=1, client="172.18.0.5:50000", broker="172.18.0.2:9092")
    elsewhere = WireLocation(file="b.pcap", packet=9, time=1, client="172.18.0.6:50000", broker="172.18.0.2:9092")
    (first,) = fingerprints([FINDING], {})
    (second,) = fingerprints([Finding(rule=FINDING.rule, severity=Severity.ERROR, message="x", location=again)], {})
    (third,) = fingerprints([Finding(rule=FINDING.rule, severity=Severity.ERROR, message="x", location=elsewhere)], {})
    assert first == second != third


def test_hostile_names_do_not_reach_the_terminal() -> None:
    place = WireLocation(file="a\x1b[2J.pcap", packet=1, time=0, client="\x07", broker="\u202e")
    told = _text(Report(findings=(Finding(rule="r", severity=Severity.NOTE, message="m", location=place),)))
    assert not set("\x1b\x07\u202e") & set(told)


def test_a_place_in_a_capture_is_no_place_in_a_file() -> None:
    assert not isinstance(PLACE, FileLocation)
