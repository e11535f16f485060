"""The first projects of the grammar, and whether the oracle can complain at all."""

from pathlib import Path

import pytest

from netdiag.app.repair import Repairs, report_rest
from netdiag.cli.console import Console
from netdiag.findings import FileLocation, Finding, Severity
from tests.fuzz.oracle import judged, shown
from tests.fuzz.projects import LARGEST, SECRET, hides, project

SEEDS = 30


@pytest.mark.parametrize("seed", range(SEEDS))
def test_projects(seed: int, tmp_path: Path) -> None:
    files = project(seed)
    assert not judged(files, tmp_path).complaints, shown(files)


def test_an_endpoint_written_twice_is_told_once(tmp_path: Path) -> None:
    """Found by the fuzzer: two equal findings at one place are no valid report of checkstyle."""
    twice = "INTERNAL://host.docker.internal:9092,INTERNAL://host.docker.internal:9092"
    properties = f"listeners=INTERNAL://:9092\nadvertised.listeners={twice}\n".replace(":9092,", ":9092,\\\n")
    text = (
        'services: {"broker-1": {image: "apache/kafka:3.9.1", '
        'volumes: ["./server.properties:/mnt/shared/config/server.properties"]}}\n'
    )
    files = {"compose.yml": text.encode(), "server.properties": properties.encode()}
    assert not judged(files, tmp_path).complaints


def test_the_same_seed_is_the_same_project() -> None:
    assert all(project(seed) == project(seed) for seed in range(20))
    assert all(len(data) <= LARGEST for seed in range(20) for data in project(seed).values())


def test_the_seeds_reach_the_rules_and_hold_secrets(tmp_path: Path) -> None:
    held = sum(
        hides(files) and any(SECRET.encode() in data for data in files.values()) for files in map(project, range(SEEDS))
    )
    assert held > SEEDS / 4
    told: set[str] = set()
    for seed in range(12):
        (folder := tmp_path / str(seed)).mkdir()
        told |= judged(project(seed), folder).told
    assert len(told) > 15


@pytest.mark.parametrize(
    ("raised", "complaint"), [(RuntimeError("x"), "a defect"), (RecursionError(), "a defect"), (None, "")]
)
def test_a_defect_is_a_complaint(
    raised: Exception | None, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if raised is not None:

        def broken(*words: object, **named: object) -> None:
            raise raised

        monkeypatch.setattr("netdiag.app.check.check_deployment", broken)
    files = {"compose.yml": b"services: {kafka: {image: 'apache/kafka:3.9.1'}}\n"}
    found = judged(files, tmp_path).complaints
    assert [text for text in found if text.startswith(complaint)] if complaint else not found


@pytest.mark.parametrize(
    ("patched", "complaint"), [("harmless", "holds '\\x1b'"), ("redacted", "shows a secret"), ("neither", "")]
)
def test_what_is_not_hidden_is_a_complaint(
    patched: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if patched == "harmless":
        monkeypatch.setattr("netdiag.render.formats.text.render", lambda *given, **named: "\x1b[2J\n")
    elif patched == "redacted":
        for module in ("findings.finding_text", "formats.json", "formats.text", "json_values"):
            monkeypatch.setattr(f"netdiag.render.{module}.redacted", str)
    text = (
        'services: {kafka: {image: "apache/kafka:3.9.1", environment: {KAFKA_LISTENERS: "\\e[2J"}, '
        f'ports: ["API_TOKEN={SECRET}1"]}}}}\n'
    )
    found = judged({"compose.yml": text.encode()}, tmp_path).complaints
    assert any(complaint in text for text in found) if complaint else not found


def test_what_was_not_repaired_is_told_without_escapes_and_secrets(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Found by the fuzzer: a name that rings the bell stood in the lines about repairs as it was."""
    place = FileLocation(path="a.yml", line=1, column=1, end_line=1, end_column=2, start=0, end=1)
    message = f'listener "\x1b]0;x\x07", API_TOKEN={SECRET}1'
    left = Finding(rule="r", severity=Severity.ERROR, message=message, location=place)
    report_rest(Repairs(refused=((left, "\x07"),)), Console())
    told = capsys.readouterr().err
    assert "\x07" not in told
    assert SECRET not in told
