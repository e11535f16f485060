"""The command line of playbook."""

import json
import zipfile
from pathlib import Path

import pytest

from netdiag.io.files.playbooks import shipped
from tests.cli.shell import BROKEN, CLEAN, netdiag
from tests.playbook.examples import TEXT


def test_list_and_show(tmp_path: Path) -> None:
    listed = netdiag("playbook", "list", cwd=tmp_path)
    assert listed.returncode == 0
    assert [line.split()[0] for line in listed.stdout.decode().splitlines()] == [book.name for book in shipped()]
    shown = netdiag("playbook", "show", "cannot-bind", cwd=tmp_path)
    assert shown.returncode == 0
    assert b"Lines that lead here" in shown.stdout


def test_run(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(BROKEN)
    found = netdiag("playbook", "run", "cannot-bind", "--format", "json", cwd=tmp_path)
    assert found.returncode == 1
    document = json.loads(found.stdout)
    assert document["symptoms"] == []
    assert document["runs"][0]["conclusions"][0]["name"] == "foreign-address"
    (tmp_path / "compose.yml").write_text(CLEAN)
    assert netdiag("playbook", "run", "image-gone", cwd=tmp_path).returncode == 0


def test_a_stranger_s_playbook(tmp_path: Path) -> None:
    (tmp_path / "closed.yml").write_text(TEXT)
    (tmp_path / "compose.yml").write_text(BROKEN)
    found = netdiag("playbook", "run", "closed.yml", "--var", "other=x", cwd=tmp_path)
    assert found.returncode == 3, found
    (tmp_path / "closed.yml").write_text(TEXT.replace("action: matrix", "action: shell"))
    refused = netdiag("playbook", "run", "closed.yml", cwd=tmp_path)
    assert refused.returncode == 3
    assert refused.stderr.count(b"\n") == 2
    assert b"closed.yml:18:" in refused.stderr


def test_nothing_of_a_stranger_s_playbook_gets_to_the_terminal(tmp_path: Path) -> None:
    evil = TEXT.replace("title: A port is closed", 'title: "A port \\e[2J"').replace(
        "title: what runs", 'title: "x \\e[2J"'
    )
    (tmp_path / "evil.yml").write_text(evil)
    for what in ("run", "show"):
        assert b"\x1b" not in netdiag("playbook", what, "evil.yml", cwd=tmp_path, env={"NO_COLOR": "1"}).stdout


def test_a_bundle_is_judged_alike_elsewhere(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    secret = BROKEN + '      KAFKA_LISTENER_NAME_X_PLAIN_SASL_JAAS_CONFIG: x password="hunter2";\n'
    (here / "compose.yml").write_text(secret)
    bundle = tmp_path / "b.zip"
    made = netdiag("playbook", "run", "cannot-bind", "--bundle", bundle, "--format", "json", cwd=here)
    again = netdiag("playbook", "run", "--replay", bundle, "--format", "json", cwd=there)
    assert (made.returncode, again.returncode) == (1, 1)
    assert json.loads(again.stdout)["runs"] == json.loads(made.stdout)["runs"]
    with zipfile.ZipFile(bundle) as archive:
        assert not any(b"hunter2" in archive.read(name) for name in archive.namelist())
    assert netdiag("playbook", "run", "x", "--replay", bundle, cwd=there).returncode == 2
    assert netdiag("playbook", "run", "--replay", there / "none.zip", cwd=there).returncode == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run"], b"no playbook: name one, or --bundle FILE"),
        (["show"], b"no playbook: name one, or --bundle FILE"),
        (["list", "x"], b"playbook list takes no name"),
        (["run", "cannot-bind", "--var", "x"], b"'x' is not NAME=VALUE"),
        (["run", "cannot-bind", "--var", "x=1"], b"playbook cannot-bind has no variable 'x'"),
    ],
)
def test_usage(words: list[str], said: bytes, tmp_path: Path) -> None:
    found = netdiag("playbook", *words, cwd=tmp_path)
    assert found.returncode == 2
    assert said in found.stderr
    assert b"Traceback" not in found.stderr


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
