"""A finding is recognised when lines move, and two findings are never taken for one."""

import time
from dataclasses import replace

from netdiag.findings import FileLocation, Finding, Severity
from netdiag.render.findings.fingerprints import digest, fingerprints
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
