"""A finding is recognised when lines move; a baseline holds those that are known."""

import json
import time
from dataclasses import replace

import pytest

from netdiag.errors import UsageError
from netdiag.findings import ContainerLocation, FileLocation, Finding, Severity
from netdiag.render.findings.fingerprints import (
    BaselineEntry,
    baseline_entries,
    digest,
    fingerprints,
    parse_baseline,
    render_baseline,
    stale_entries,
    unmatched_entries,
)
from tests.render.reports import COMPOSE, EVERYTHING, FOREIGN, RUNNING, loopback


def moved(finding: Finding, lines: int) -> Finding:
    assert isinstance(finding.location, FileLocation)
    place = replace(finding.location, line=finding.location.line + lines, end_line=finding.location.end_line + lines)
    return replace(finding, location=place)


def test_lines_may_move_and_words_may_change() -> None:
    findings = [FOREIGN, loopback("broker-1"), loopback("broker-2")]
    before = fingerprints(findings, EVERYTHING.sources)
    shifted = [replace(moved(f, 2), message="in other words") for f in findings]
    assert fingerprints(shifted, {"compose.yml": b"# one\n# two\n" + COMPOSE.replace(b"    ", b"      ")}) == before


def test_no_two_are_alike() -> None:
    found = fingerprints([FOREIGN, FOREIGN, RUNNING, RUNNING, loopback("broker-1")], EVERYTHING.sources)
    assert len(set(found)) == 5


def test_a_secret_on_the_line_is_not_hashed() -> None:
    def of(secret: bytes) -> list[str]:
        place = FileLocation(path="c.yml", line=1, column=1, end_line=1, end_column=2, start=0, end=1)
        return fingerprints([replace(RUNNING, location=place)], {"c.yml": b"  KAFKA_PASSWORD: " + secret + b"\n"})

    assert of(b"one") == of(b"two")


def test_any_text_has_a_digest() -> None:
    assert digest("a", "b") != digest("ab", "")
    assert len(digest("\ud800")) == 40
    place = FileLocation(path="gone", line=9, column=1, end_line=9, end_column=2, start=0, end=1)
    assert len(fingerprints([replace(RUNNING, location=place)], {})) == 1


def test_a_long_line_with_many_findings_is_looked_through_once() -> None:
    line = b"# netdiag: ignore[" + b"compose-," * 40_000 + b"]\n"
    place = FileLocation(path="a.yml", line=1, column=1, end_line=1, end_column=2, start=0, end=1)
    found = [Finding(rule=f"r{n}", severity=Severity.ERROR, message="m", location=place) for n in range(1000)]
    begin = time.process_time()
    assert len(set(fingerprints(found, {"a.yml": line}))) == 1000
    assert time.process_time() - begin < 8


DATA = b"a: 1\nb: 2\nb: 2\n"


def finding(line: int, rule: str = "r", path: str = "/p/c.yml", service: str | None = "kafka") -> Finding:
    place = FileLocation(path=path, line=line, column=1, end_line=line, end_column=2, start=0, end=1)
    return Finding(rule=rule, severity=Severity.ERROR, message="m", location=place, service=service)


def home(path: str) -> str:
    return path.removeprefix("/p/")


def entries(*findings: Finding, data: bytes = DATA) -> list[BaselineEntry]:
    return [entry for _, entry in baseline_entries(findings, {"/p/c.yml": data}, home)]


def test_what_is_written_is_read() -> None:
    written = entries(finding(1), finding(2), finding(3), finding(1, "s", service=None))
    assert len({entry.fingerprint for entry in written}) == 4
    text = render_baseline(written)
    assert list(parse_baseline("b.json", text.encode())) == sorted(written)
    assert json.loads(text)["findings"][0].keys() == {"path", "rule", "service", "fingerprint"}
    assert json.loads(render_baseline([])) == {"version": 1, "findings": []}


def test_the_order_of_findings_is_nothing() -> None:
    first, second = finding(1), finding(2, "s")
    assert render_baseline(entries(first, second)) == render_baseline(entries(second, first))


def test_lines_and_messages_may_change_the_text_may_not() -> None:
    before = entries(finding(2))
    moved = entries(replace(finding(3), message="other"), data=b"# new\n\n  b: 2\n")
    changed = entries(finding(2), data=b"a: 1\nb: 3\n")
    assert moved == before
    assert unmatched_entries(before, moved) == []
    assert unmatched_entries(before, changed) == before


def test_a_container_is_in_no_file() -> None:
    running = replace(finding(1), location=ContainerLocation(container="k", part="log"))
    assert [entry.path for entry in entries(running)] == [""]


def test_stale_entries_are_shown_at_their_line() -> None:
    written = entries(finding(1), finding(2, "s"))
    data = render_baseline(written).encode()
    found = stale_entries("b.json", data, written, lambda entry: entry.rule == "s")
    assert [f.message for f in found] == ["s no longer occurs in c.yml (kafka)"]
    (place,) = (f.location for f in found)
    assert isinstance(place, FileLocation)
    assert data[place.start : place.end].decode() == written[1].fingerprint
    assert data.decode().split("\n")[place.line - 1][place.column - 1 : place.end_column - 1] == written[1].fingerprint


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "b.json:1: not a baseline: not JSON"),
        (b'{\n"a"', "b.json:2: not a baseline: not JSON"),
        (b"\xff", "b.json: not a baseline: not JSON"),
        (b"[" * 100_000, "not a baseline: not JSON"),
        (b"[]", "b.json: not a baseline"),
        (b'{"version": 2, "findings": []}', "b.json: the baseline has another version"),
        (b'{"version": 1, "findings": [{"rule": "r"}]}', "b.json: not a baseline: an entry lacks a field"),
        (b'{"version": 1, "findings": [1]}', "b.json: not a baseline: an entry lacks a field"),
    ],
)
def test_what_is_no_baseline(data: bytes, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_baseline("b.json", data)
    assert said in str(caught.value)


def test_a_baseline_of_many_stale_entries_is_gone_through_once() -> None:
    known = [
        BaselineEntry(path="a.yml", rule="compose-extends", service="", fingerprint=f"{n:040x}") for n in range(20_000)
    ]
    data = render_baseline(known).encode()
    begin = time.process_time()
    found = stale_entries("b.json", data, known, lambda entry: True)
    assert time.process_time() - begin < 20
    for finding in (found[0], found[19_999]):
        place = finding.location
        assert isinstance(place, FileLocation)
        text = data[place.start : place.end].decode()
        assert text in {entry.fingerprint for entry in known}
        assert data.decode().splitlines()[place.line - 1][place.column - 1 : place.end_column - 1] == text
