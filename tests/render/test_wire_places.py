"""Findings in captures, in every format: which packet, which connection, and when."""

import json
from collections.abc import Callable

import pytest

from netdiag.findings import FileLocation, Finding, Related, Severity, WireLocation
from netdiag.render.findings.finding_text import clickable_place, clock_text
from netdiag.render.findings.fingerprints import fingerprints
from netdiag.render.findings.places import wire_text
from netdiag.render.formats import concise, github, gitlab, markdown, sarif, text, xml
from netdiag.render.formats import json as json_report
from netdiag.render.report import Report
from netdiag.render.screen import Screen

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


@pytest.mark.parametrize("render", [_text, concise.render, github.render, xml.junit, sarif.render])
def test_a_report_names_file_packet_and_connection(render: Callable[[Report], str]) -> None:
    told = render(REPORT).replace("&gt;", ">")
    assert "app.pcap" in told
    assert "1234" in told
    assert BETWEEN in told


@pytest.mark.parametrize("render", [xml.checkstyle, gitlab.render, markdown.render])
def test_a_report_for_files_names_the_capture(render: Callable[[Report], str]) -> None:
    assert "app.pcap" in render(REPORT)


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
