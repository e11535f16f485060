"""The command line of diagnose."""

import json
from pathlib import Path

import pytest

from tests.cli.shell import BROKEN, CLEAN, netdiag

LINE = (
    "org.apache.kafka.common.KafkaException: "
    "Socket server failed to bind to 1.2.3.4:9092: Cannot assign requested address."
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "compose.yml").write_text(BROKEN)
    return tmp_path


def test_a_pasted_line_leads_to_the_cause(folder: Path) -> None:
    found = netdiag("diagnose", LINE, cwd=folder)
    assert found.returncode == 1, found
    text = found.stdout.decode()
    for part in (
        "cannot-bind",
        "proven",
        "no network gives this container the address 1.2.3.4",
        "compose.yml:8",
        "bind all addresses: EXTERNAL://0.0.0.0:9092",
    ):
        assert part in text


def test_a_log_on_standard_input_or_in_a_file(folder: Path) -> None:
    log = f"[2026] INFO starting\n{LINE}\n[2026] INFO shutting down\n\x1b[2J"
    (folder / "kafka.log").write_text(log)
    piped = netdiag("diagnose", "--format", "json", cwd=folder, stdin=log.encode())
    named = netdiag("diagnose", "kafka.log", "--format", "json", cwd=folder)
    assert (piped.returncode, named.returncode) == (1, 1)
    documents = [json.loads(done.stdout) for done in (piped, named)]
    for document in documents:
        assert [(one["playbook"], one["number"]) for one in document["symptoms"]] == [("cannot-bind", 2)]
        assert document["runs"][0]["conclusions"][0]["confidence"] == "proven"


def test_what_cannot_be_concluded_without_looking_at_what_runs(folder: Path) -> None:
    (folder / "compose.yml").write_text(CLEAN.replace("localhost", "kafka"))
    found = netdiag("diagnose", LINE, cwd=folder)
    assert found.returncode == 3, found
    assert b"run again with --live" in found.stdout


@pytest.mark.parametrize("form", ["text", "json", "markdown", "html"])
def test_lines_that_are_no_symptom(form: str, tmp_path: Path) -> None:
    found = netdiag("diagnose", "all is well here", "--format", form, cwd=tmp_path)
    assert found.returncode == 4
    assert b"no known symptom" in found.stderr
    assert (found.stdout == b"") is (form == "text")


def test_what_is_no_log(tmp_path: Path) -> None:
    missing = netdiag("diagnose", "no-such-file", cwd=tmp_path)
    assert missing.returncode == 3
    assert b"pass a file, or a log line in quotes" in missing.stderr
    binary = netdiag("diagnose", "-", cwd=tmp_path, stdin=bytes(range(256)) * 100)
    assert binary.returncode == 4


def test_markdown_and_html(folder: Path) -> None:
    for form, sign in [("markdown", b"| | Step |"), ("html", b"<!doctype html>")]:
        found = netdiag("diagnose", LINE, "--format", form, cwd=folder)
        assert found.returncode == 1
        assert sign in found.stdout
