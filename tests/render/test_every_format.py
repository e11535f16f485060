"""What `netdiag.render.formats` promises of every format."""

import unicodedata
from dataclasses import replace

import pytest

from netdiag.cli.outputs import Format
from netdiag.findings import Severity
from netdiag.render.report import Report
from tests.render.every_format import RELATIVE, in_format
from tests.render.literals import place
from tests.render.reports import COMPOSE, EVERYTHING, FOREIGN, HOSTILE, SECRET, hostile

# What GitLab calls a code quality report, and checkstyle, have a place for findings and nothing else.
WITHOUT_SKIPPED = (Format.CONCISE, Format.CHECKSTYLE, Format.GITLAB, Format.SARIF)
every_format = pytest.mark.parametrize("form", Format)


@every_format
def test_findings_in_any_order_give_the_same_bytes(form: Format) -> None:
    text = in_format(form, EVERYTHING)
    assert in_format(form, EVERYTHING) == text
    if form is not Format.JSON:
        assert in_format(form, replace(EVERYTHING, findings=EVERYTHING.findings[::-1])) == text


@every_format
def test_every_finding_and_every_unread_file_is_in_it(form: Format) -> None:
    text = in_format(form, EVERYTHING)
    for word in ("gone.yml", *(finding.rule for finding in EVERYTHING.findings)):
        assert word in text, word
    assert "CAP" in text or form in WITHOUT_SKIPPED


@every_format
def test_a_note_is_in_it(form: Format) -> None:
    note = replace(FOREIGN, severity=Severity.NOTE)
    assert note.rule in in_format(form, Report(findings=(note,)))


@every_format
@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_foreign_controls_anything(form: Format, text: str) -> None:
    shown = in_format(form, hostile(text))
    assert not {c for c in shown if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")}


@every_format
def test_secrets_are_hidden(form: Format) -> None:
    assert "hunter2" not in in_format(form, SECRET)


@pytest.mark.parametrize("form", RELATIVE)
def test_paths_are_relative_to_the_root(form: Format) -> None:
    finding = replace(FOREIGN, location=place(COMPOSE, '"9091:9091"', "/a/b/c.yml"), related=())
    text = in_format(form, Report(findings=(finding,)), "/a/b")
    assert "c.yml" in text
    assert "/a/b" not in text
