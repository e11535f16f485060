"""CI files and command lines through the whole check: which files are taken as what, reports, repairs, exit status."""

from pathlib import Path

import pytest

from netdiag.app.check import Check, check
from netdiag.app.configuration import CheckOptions
from netdiag.app.repair import find_repairs
from netdiag.findings import Severity
from netdiag.io.files.projects import ci_files, single_file_at
from netdiag.render.report import Report
from tests.app.checks import Recorder
from tests.ci.test_command_lines import run
from tests.ci.test_gitlab import pipeline
from tests.ci.workflows import workflow

BY_NAME = "PLAINTEXT://kafka:9092"
LOCALHOST = "PLAINTEXT://localhost:9092"
PLAIN = "on: push\njobs:\n  lint: {runs-on: ubuntu-latest, steps: [{run: make}]}\n"


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(path: str, text: str) -> str:
    Path(path).write_text(text, encoding="utf-8")
    return path


def errors(report: Report) -> list[tuple[str, str]]:
    """What is found above a note, by rule and service."""
    return [(f.rule, f.service or "") for f in report.findings if f.severity is not Severity.NOTE]


def test_each_job_is_an_input_with_its_matrix() -> None:
    second = workflow(LOCALHOST).partition("jobs:\n")[2].replace("test:", "b:")
    path = put(".github/workflows/ci.yml", workflow(BY_NAME) + second)
    report = check(CheckOptions(files=(path,))).report
    assert [(item.name, item.kind, item.brokers) for item in report.inputs] == [
        (f"{path}: job test", "job", ("kafka",)),
        (f"{path}: job b", "job", ("kafka",)),
    ]
    assert [matrix.input for matrix in report.matrices] == [item.name for item in report.inputs]
    assert [place.label for place in report.matrices[0].vantages] == ["steps on the runner", "inside kafka"]
    assert errors(report) == [("ci-steps-cannot-connect", "kafka")]


def test_ci_files_are_found_from_a_folder_below(monkeypatch: pytest.MonkeyPatch) -> None:
    put(".github/workflows/a.yml", workflow(BY_NAME))
    put(".github/workflows/b.yaml", PLAIN)
    put(".github/workflows/README.md", "docker run -p 9092:9092 apache/kafka")
    put(".gitlab-ci.yml", pipeline("PLAINTEXT://broker:9092"))
    Path("src").mkdir()
    monkeypatch.chdir("src")
    assert [file.kind for file in ci_files()] == ["gitlab", "github", "github"]
    report = check(CheckOptions(ci=True)).report
    assert errors(report) == [("ci-steps-cannot-connect", "kafka")] * 2
    assert not any(item.error for item in report.inputs)


def test_nothing_to_find() -> None:
    recorder = Recorder()
    assert check(CheckOptions(ci=True), recorder).report.inputs == ()
    assert any("nothing to check" in text for text in recorder.notices)


@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        ("ci/kafka.yml", PLAIN, "github"),
        ("ci/kafka.yml", "'on':\n  push:\njobs: {}\n", "github"),
        ("ci/jobs.yml", "test:\n  script: [x]\n", "gitlab"),
        ("ci/stack.yml", "services:\n  kafka: {image: x}\n", None),
        ("ci/my-compose.yml", "jobs: {}\non: x\n", None),
        ("a.gitlab-ci.yml", "", "gitlab"),
        ("run.sh", "", "commands"),
        ("README.MD", "", "commands"),
        ("Makefile", "", "commands"),
        ("ci/values.json", PLAIN, None),
        ("missing.yml", None, None),
    ],
)
def test_which_file_is_what(path: str, text: str | None, kind: str | None) -> None:
    if text is not None:
        Path(path).parent.mkdir(exist_ok=True)
        put(path, text)
    found = single_file_at(path)
    assert (found.kind if found else None) == kind


HEALTHY = """\
        ports: ["9092:9092"]
        options: --health-cmd true
"""


def test_repairs_write_the_workflow() -> None:
    def text(advertised: str, client: str) -> str:
        return workflow(advertised, job=f"    env:\n      KAFKA_BROKERS: {client}\n", service=HEALTHY)

    path = put(".github/workflows/ci.yml", text(BY_NAME, "kafka:9092"))
    work = Check(CheckOptions(files=(path,)))
    repairs = find_repairs(work, work.run(), unsafe=True)
    (after,) = [new for _, new in repairs.changed.values()]
    assert after.decode() == text(LOCALHOST, "localhost:9092")


def test_repairs_add_a_port_and_a_second_listener() -> None:
    path = put(".github/workflows/ci.yml", workflow(LOCALHOST, service=""))
    work = Check(CheckOptions(files=(path,)))
    (after,) = [new for _, new in find_repairs(work, work.run(), unsafe=True).changed.values()]
    assert '        ports: ["9092:9092"]\n' in after.decode()
    app = "      app: {image: app, env: {KAFKA_BROKERS: 'kafka:9092'}}\n"
    two = workflow(BY_NAME).replace("      kafka:\n", f"{app}      kafka:\n")
    path = put(".github/workflows/ci.yml", two)
    work = Check(CheckOptions(files=(path,)))
    (after,) = [new for _, new in find_repairs(work, work.run(), unsafe=True).changed.values()]
    assert "PLAINTEXT://kafka:9092,EXTERNAL://localhost:9092" in after.decode()
    path = put(".github/workflows/ci.yml", after.decode())
    assert errors(check(CheckOptions(files=(path,))).report) == []


def test_a_repair_adds_a_health_check() -> None:
    path = put(".github/workflows/ci.yml", workflow(LOCALHOST))
    work = Check(CheckOptions(files=(path,)))
    assert [f.rule for f in work.run().report.findings] == ["ci-service-not-awaited"]
    (after,) = [new for _, new in find_repairs(work, work.run(), unsafe=True).changed.values()]
    assert "\n        options: '--health-cmd \"/opt/kafka/bin/kafka-broker-api-versions.sh --boot" in after.decode()
    put(".github/workflows/ci.yml", after.decode())
    assert check(CheckOptions(files=(path,))).report.findings == ()


def test_lines_of_a_readme() -> None:
    path = put("README.md", f"# Start\n\n```sh\n{run(BY_NAME)}```\n")
    report = check(CheckOptions(files=(path,))).report
    assert errors(report) == [("default-bridge-no-dns", "kafka")]
    assert [item.name for item in report.inputs] == ["README.md"]
    assert report.matrices


def test_an_unreadable_file_is_one_error_and_the_others_are_checked() -> None:
    bad, good = put(".github/workflows/a.yml", "a: ["), put(".github/workflows/b.yml", workflow(BY_NAME))
    report = check(CheckOptions(files=(bad, good))).report
    assert [item.name for item, _ in report.unread] == [bad]
    assert errors(report) == [("ci-steps-cannot-connect", "kafka")]


def test_ignore_comments_and_selections_count() -> None:
    text = workflow(BY_NAME).replace(BY_NAME, f"{BY_NAME}  # netdiag: ignore[ci-] on purpose")
    report = check(CheckOptions(files=(put(".github/workflows/a.yml", text),))).report
    assert errors(report) == []
    assert len(report.suppressed) == 1


FOLLOWED = """\
on: push
jobs:
  test:
    runs-on: ubuntu-latest
    env:
      KAFKA_BROKERS: {client}
    steps:
      - run: {command}
      - run: make test
"""
COMPOSE = """\
services:
  kafka:
    image: apache/kafka:3.9.1
    ports: ["9092:9092"]
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@localhost:9093
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
"""


@pytest.mark.parametrize(
    ("command", "client", "rule"),
    [
        ("docker compose -f ci/kafka.yml up -d --wait", "localhost:9092", "ci-steps-cannot-connect"),
        ("cd ci && docker-compose --file=kafka.yml up -d", "localhost:9092", "ci-steps-cannot-connect"),
        ("docker compose -f ci/kafka.yml up -d", "kafka:9092", "ci-steps-wrong-address"),
        ("docker compose -f ci/kafka.yml up -d", "elsewhere:1", None),
        ("docker compose -f ci/kafka.yml build", "localhost:9092", None),
        ("docker compose -f $FILE up -d", "localhost:9092", None),
        ("docker compose -f ../../etc/passwd up -d", "localhost:9092", None),
        ("cd $X && docker compose -f ci/kafka.yml up", "localhost:9092", None),
    ],
)
def test_projects_that_steps_start(command: str, client: str, rule: str | None) -> None:
    Path("ci").mkdir()
    put("ci/kafka.yml", COMPOSE)
    path = put(".github/workflows/a.yml", FOLLOWED.format(command=command, client=client))
    report = check(CheckOptions(files=(path,))).report
    assert {found for found, _ in errors(report)} == ({rule} if rule else set())
    assert not report.unread


@pytest.mark.parametrize(("text", "because"), [("services: [", "not YAML"), ("services: *nowhere", "nowhere")])
def test_a_project_that_cannot_be_loaded_is_told(text: str, because: str) -> None:
    put("kafka.yml", text)
    command = "docker compose -f kafka.yml up -d"
    path = put(".github/workflows/a.yml", FOLLOWED.format(command=command, client="localhost:9092"))
    report = check(CheckOptions(files=(path,))).report
    (note,) = report.notes
    assert note.startswith(f"{path}: job test: the Compose project that it starts was not checked: ")
    assert "kafka.yml" in note
    assert because in note


def test_containers_that_steps_start() -> None:
    command = run(BY_NAME).replace("\\\n", "").strip()
    path = put(".github/workflows/a.yml", FOLLOWED.format(command=command, client="localhost:9092"))
    assert errors(check(CheckOptions(files=(path,))).report) == [("ci-steps-cannot-connect", "kafka")]
    command = command.replace("//kafka", "//localhost")
    path = put(".github/workflows/a.yml", FOLLOWED.format(command=command, client="localhost:9092"))
    assert errors(check(CheckOptions(files=(path,))).report) == []
