"""What editors are told about documents: what the command says of the same text, and more about each address."""

import os
from pathlib import Path

import pytest

from netdiag.app.check import Check
from netdiag.app.configuration import CheckOptions
from netdiag.app.editor import Action, ActionKind, Editor
from netdiag.app.repair import find_repairs
from netdiag.findings import FileLocation, Finding
from netdiag.io.files import LIMIT
from netdiag.io.files.projects import ReadOptions
from netdiag.render.findings.edits import apply
from netdiag.render.findings.finding_text import COULD_NOT_CHECK
from tests.app.checks import result_of
from tests.cli.shell import ROOT
from tests.lsp.edits import edits

LOCALHOST = ROOT / "compose" / "scenarios" / "S08-single-listener-localhost" / "kraft.broken.yml"
LOOPBACK = ROOT / "compose" / "scenarios" / "S02-inter-broker-loopback" / "kraft.broken.yml"
DEPENDENTS = ROOT / "compose" / "scenarios" / "S20-dependents" / "kraft.broken.yml"
RULE = "advertised-loopback-for-remote-clients"


def editor_of(folder: Path) -> Editor:
    return Editor([str(folder)], environ={})


def opened(folder: Path, name: str, data: bytes, *, on_disk: bytes | None = None) -> tuple[Editor, str]:
    """An editor with one document, which was saved as it is unless `on_disk` says otherwise."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if on_disk is None else on_disk)
    editor = editor_of(folder)
    editor.put(str(path), data)
    editor.refresh()
    return editor, str(path)


def rules(findings: tuple[Finding, ...]) -> list[str]:
    return [finding.rule for finding in findings]


def changed(editor: Editor, action: Action, path: str) -> bytes:
    """A document after the edits of an action."""
    data = editor.contents(path)
    assert data is not None
    mine = sorted((e for e in action.edits if e.path == path), key=lambda e: e.start)
    return apply(data, mine)


def place(finding: Finding) -> FileLocation:
    assert isinstance(finding.location, FileLocation)
    return finding.location


def test_findings_are_those_of_the_command_on_the_same_text_after_every_edit(tmp_path: Path) -> None:
    path = tmp_path / "compose.yml"
    path.write_bytes(DEPENDENTS.read_bytes())
    editor = editor_of(tmp_path)
    seen: set[str] = set()
    for text in edits(24, DEPENDENTS.read_text(), 60):
        editor.put(str(path), text.encode())
        editor.refresh()
        told = editor.findings(str(path))
        saved = tmp_path / "saved" / "compose.yml"
        saved.parent.mkdir(exist_ok=True)
        saved.write_bytes(text.encode())
        report = result_of(saved, read=ReadOptions(environ={})).report
        expected = [(f.rule, f.severity, f.message, place(f).start, place(f).end) for f in report.findings]
        if report.inputs[0].error:
            assert told[-1].rule == COULD_NOT_CHECK
            assert report.inputs[0].error.message in told[-1].message
            told = told[:-1]
        found = [(f.rule, f.severity, f.message, place(f).start, place(f).end) for f in told]
        assert found == expected
        seen.update(rule for rule, *_ in found)
    assert len(seen) > 5


def test_the_text_of_the_editor_counts_and_not_what_is_on_disk(tmp_path: Path) -> None:
    editor, path = opened(tmp_path, "compose.yml", LOCALHOST.read_bytes(), on_disk=b"services: {}\n")
    assert rules(editor.findings(path)) == [RULE]
    editor.close(path)
    editor.refresh()
    assert editor.findings(path) == ()


def test_a_document_that_was_never_saved_is_checked(tmp_path: Path) -> None:
    editor = editor_of(tmp_path)
    for name in ("compose.yml", "deploy.yml"):
        path = str(tmp_path / name)
        editor.put(path, LOCALHOST.read_bytes())
        editor.refresh()
        assert rules(editor.findings(path)) == [RULE]


def test_hints_say_from_where_each_address_works(tmp_path: Path) -> None:
    editor, path = opened(tmp_path, "compose.yml", DEPENDENTS.read_bytes())
    data = DEPENDENTS.read_bytes()
    found = {data[: hint.offset].rsplit(b" ", 1)[-1].rsplit(b",", 1)[-1]: hint.label for hint in editor.hints(path)}
    assert found == {
        b"INTERNAL://kafka:29092": "host ✗ unresolved · containers ✓",
        b"EXTERNAL://localhost:9092": "host ✓ · containers ✗ localhost",
        b"localhost:9092": "✗ localhost",
        b"kafka:9092": "✗ →refused",
        b"PLAINTEXT://kafka:9094": "✗ refused",
        b"broker:29092": "?",
        b"localhost:29092": "✗ localhost",
    }


def test_a_hover_tells_both_hops_from_everywhere(tmp_path: Path) -> None:
    editor, path = opened(tmp_path, "compose.yml", DEPENDENTS.read_bytes())
    offset = DEPENDENTS.read_bytes().index(b"EXTERNAL://localhost:9092")
    hover = editor.hover(path, offset)
    assert hover is not None
    assert (hover.start, hover.end) == (offset, offset + len(b"EXTERNAL://localhost:9092"))
    lines = hover.text.splitlines()
    assert lines[0] == "Listener `EXTERNAL` of `kafka` advertises `localhost:9092`. Who can connect there:"
    assert "- ✓ docker host: broker 1 answers on EXTERNAL and advertises localhost:9092: ok" in lines
    assert "- ✗ container on kafka: refused, localhost is the client container itself" in lines
    assert editor.hover(path, 0) is None


def test_a_place_leads_to_the_lines_that_belong_to_it(tmp_path: Path) -> None:
    editor, path = opened(tmp_path, "compose.yml", DEPENDENTS.read_bytes())
    data = DEPENDENTS.read_bytes()

    def texts(offset: int) -> list[bytes]:
        return [data[one.start : one.end] for one in editor.related(path, offset)]

    advertised = data.index(b"EXTERNAL://localhost:9092")
    assert texts(advertised) == [b'"9092:9092"', b"EXTERNAL://0.0.0.0:9092"]
    assert b"EXTERNAL://localhost:9092" in texts(data.index(b"kafka:9092", advertised + 30))


@pytest.mark.parametrize("source", [LOCALHOST, DEPENDENTS], ids=lambda path: path.parent.name)
def test_every_action_helps(tmp_path: Path, source: Path) -> None:
    editor, path = opened(tmp_path, "compose.yml", source.read_bytes())
    before = editor.findings(path)
    tried = 0
    for finding in before:
        own = [a for a in editor.actions(path, place(finding).start, place(finding).start) if a.finding == finding]
        assert ActionKind.IGNORE in [action.kind for action in own]
        assert [a.kind for a in own].count(ActionKind.FIX) == bool(finding.edits)
        for action in own:
            editor.put(path, changed(editor, action, path))
            editor.refresh()
            assert (finding.rule, finding.service) not in [(f.rule, f.service) for f in editor.findings(path)]
            assert COULD_NOT_CHECK not in rules(editor.findings(path))
            editor.put(path, source.read_bytes())
            editor.refresh()
            tried += 1
    assert tried > len(before)
    assert editor.findings(path) == before


def test_all_safe_repairs_are_those_of_the_command(tmp_path: Path) -> None:
    editor, path = opened(tmp_path, "compose.yml", LOOPBACK.read_bytes())
    action = editor.fix_all(path)
    assert action is not None
    check = Check(CheckOptions(files=(path,), read=ReadOptions(environ={})))
    repairs = find_repairs(check, check.run(), unsafe=False)
    assert repairs.changed
    assert changed(editor, action, path) == repairs.after[path]
    editor.put(path, repairs.after[path])
    editor.refresh()
    assert editor.fix_all(path) is None


PROJECT = """services:
  kafka:
    build: .
    ports: ["9092:9092"]
    env_file: config/kafka.env
    volumes: ["./server.properties:/opt/kafka/config/server.properties"]
"""
DOCKERFILE = "FROM confluentinc/cp-kafka:7.9.2\nENV KAFKA_ZOOKEEPER_CONNECT=zookeeper:2181\n"
VARIABLES = "KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://localhost:9093\n"


@pytest.mark.parametrize("name", ["config/kafka.env", "Dockerfile"])
def test_a_file_that_a_project_reads_is_checked_through_it(tmp_path: Path, name: str) -> None:
    files = {"compose.yml": PROJECT, "Dockerfile": DOCKERFILE, "config/kafka.env": "A=1\n"}
    for each, text in files.items():
        (tmp_path / each).parent.mkdir(exist_ok=True)
        (tmp_path / each).write_text(text)
    files[name] += "ENV " * (name == "Dockerfile") + VARIABLES
    editor = editor_of(tmp_path)
    editor.put(str(tmp_path / name), files[name].encode())
    assert str(tmp_path / "compose.yml") in editor.refresh()
    found = editor.findings(str(tmp_path / name))
    assert "advertised-port-not-published" in rules(found)
    assert all(place(f).path == str(tmp_path / name) for f in found)
    editor.put(str(tmp_path / name), files[name].replace("9093", "9092").encode())
    editor.refresh()
    assert "advertised-port-not-published" not in rules(editor.findings(str(tmp_path / name)))


def test_a_file_that_no_project_reads_has_no_findings(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_bytes(LOCALHOST.read_bytes())
    editor, path = opened(tmp_path, "src/application.yml", b"kafka: localhost:9092\n")
    assert editor.findings(path) == ()
    assert editor.hints(path) == ()


def test_a_project_above_the_folder_of_the_editor_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(PROJECT)
    (tmp_path / "Dockerfile").write_text(DOCKERFILE)
    editor, path = opened(tmp_path / "config", "kafka.env", VARIABLES.encode())
    assert editor.findings(path) == ()


def test_the_files_of_compose_file_are_one_project(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("COMPOSE_FILE=base.yml:more.yml\n")
    base = "services:\n  kafka:\n    image: confluentinc/cp-kafka:7.9.2\n"
    more = "services:\n  kafka:\n    environment:\n      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://0.0.0.0:9092\n"
    (tmp_path / "base.yml").write_text(base)
    editor, path = opened(tmp_path, "more.yml", more.encode())
    assert "advertised-wildcard" in rules(editor.findings(path))
    (tmp_path / ".env").write_text("")
    alone, path = opened(tmp_path, "more.yml", more.encode())
    assert rules(alone.findings(path)) != rules(editor.findings(path))


def test_a_change_of_one_file_is_seen_in_the_other(tmp_path: Path) -> None:
    override = tmp_path / "compose.override.yml"
    override.write_text("services:\n  kafka:\n    ports: !override ['9093:9092']\n")
    editor, path = opened(tmp_path, "compose.yml", LOCALHOST.read_bytes())
    first = rules(editor.findings(path))
    editor.put(str(override), b"services: {}\n")
    assert path in editor.refresh()
    assert rules(editor.findings(path)) != first


def test_jobs_of_workflows_and_manifests_are_checked_too(tmp_path: Path) -> None:
    workflow = """on: push
jobs:
  test:
    runs-on: ubuntu-latest
    services:
      kafka:
        image: apache/kafka:3.9.1
        env:
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    steps:
      - run: pytest
        env:
          BOOTSTRAP_SERVERS: localhost:9092
"""
    editor, path = opened(tmp_path, ".github/workflows/test.yml", workflow.encode())
    assert any(rule.startswith("ci-") for rule in rules(editor.findings(path)))
    assert [hint.label for hint in editor.hints(path)] == ["steps on the runner ✗ unresolved", "✗ refused"]
    editor, path = opened(tmp_path, "kafka.yaml", STRIMZI.encode())
    assert "strimzi-listener-port" in rules(editor.findings(path))
    # An empty text is a text.
    editor.put(path, b"")
    editor.refresh()
    assert editor.findings(path) == ()


STRIMZI = """apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    listeners:
      - name: plain
        port: 9091
        type: internal
        tls: false
"""


def test_a_configuration_file_counts_and_its_error_is_told(tmp_path: Path) -> None:
    (tmp_path / "netdiag.toml").write_text(f'ignore = ["{RULE}"]\n')
    editor, path = opened(tmp_path, "compose.yml", LOCALHOST.read_bytes())
    assert editor.findings(path) == ()
    (tmp_path / "netdiag.toml").write_text("ignore = 1\n")
    editor.touch(str(tmp_path / "netdiag.toml"))
    editor.refresh()
    assert rules(editor.findings(path)) == [COULD_NOT_CHECK]
    assert "netdiag.toml" in editor.findings(path)[0].message
    (tmp_path / "netdiag.toml").unlink()
    editor.touch(str(tmp_path / "netdiag.toml"))
    editor.refresh()
    assert rules(editor.findings(path)) == [RULE]


def test_a_comment_explains_the_rule_that_it_names(tmp_path: Path) -> None:
    text = LOCALHOST.read_bytes() + f"# netdiag: ignore[{RULE}, nonsense] why\n".encode()
    editor, path = opened(tmp_path, "compose.yml", text)
    hover = editor.hover(path, text.index(RULE.encode()) + 3)
    assert hover is not None
    assert "## Bad" in hover.text
    assert [rule for *_, rule in editor.mentions(path)] == [RULE, "nonsense"]


def test_a_document_beyond_the_limit_is_not_checked(tmp_path: Path) -> None:
    editor, path = opened(tmp_path, "compose.yml", b"#" * (LIMIT + 1), on_disk=b"")
    assert [f.message for f in editor.findings(path)] == ["larger than 16 MiB: not checked"]
    assert editor.actions(path, 0, 10) == ()


def test_bytes_that_are_no_text_are_one_error(tmp_path: Path) -> None:
    editor, path = opened(tmp_path, "compose.yml", os.urandom(4096))
    assert rules(editor.findings(path)) == [COULD_NOT_CHECK]
