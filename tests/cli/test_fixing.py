"""`--fix`, `--diff` and `--unsafe-fixes` from outside: what is written, printed and said."""

import os
from pathlib import Path

import pytest

from tests.cli.shell import BROKEN, CLEAN, netdiag

SINGLE = """services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    ports: ["9092:9092"]
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
"""
LOOPBACK = """services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    ports: PORTS
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_LISTENERS: EXTERNAL://127.0.0.1:9092,INTERNAL://0.0.0.0:29092
      KAFKA_ADVERTISED_LISTENERS: EXTERNAL://kafka:9092,INTERNAL://kafka:29092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: EXTERNAL:PLAINTEXT,INTERNAL:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
"""


def put(folder: Path, text: str) -> Path:
    path = folder / "compose.yml"
    path.write_text(text, encoding="utf-8")
    return path


def test_unsafe_repairs_are_offered_and_made_when_asked_for(tmp_path: Path) -> None:
    path = put(tmp_path, SINGLE)
    done = netdiag("check-listeners", "--fix", "--fail-on", "warning", cwd=tmp_path)
    assert done.returncode == 1
    assert b"--unsafe-fixes would repair 1 finding more" in done.stderr
    assert path.read_text(encoding="utf-8") == SINGLE
    done = netdiag("check-listeners", "--diff", "--unsafe-fixes", cwd=tmp_path)
    assert b'+    ports: ["9092:29092"]' in done.stdout
    assert path.read_text(encoding="utf-8") == SINGLE
    path.chmod(0o640)
    done = netdiag("check-listeners", "--fix", "--unsafe-fixes", "--fail-on", "note", cwd=tmp_path)
    assert (done.returncode, b"repaired 1 finding in compose.yml" in done.stderr) == (0, True)
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["compose.yml"]
    after = path.read_bytes()
    done = netdiag("check-listeners", "--fix", "--unsafe-fixes", cwd=tmp_path)
    assert b"repaired" not in done.stderr
    assert path.read_bytes() == after


def test_standard_input_is_repaired_onto_standard_output(tmp_path: Path) -> None:
    done = netdiag("check-listeners", "--fix", "-", cwd=tmp_path, stdin=BROKEN.encode())
    assert (done.returncode, done.stdout) == (0, CLEAN.encode())
    assert b"repaired 1 finding in <stdin>" in done.stderr
    done = netdiag("check-listeners", "--fix", "-", cwd=tmp_path, stdin=CLEAN.encode())
    assert done.stdout == CLEAN.encode()
    assert os.listdir(tmp_path) == []


def test_files_outside_of_the_project_are_left_alone(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "kafka.env").write_text("KAFKA_LISTENERS=EXTERNAL://1.2.3.4:9092\n", encoding="utf-8")
    moved = BROKEN.replace("      KAFKA_LISTENERS: EXTERNAL://1.2.3.4:9092  # why\n", "")
    put(project, moved.replace("    environment:", "    env_file: ../kafka.env\n    environment:"))
    done = netdiag("check-listeners", "--fix", cwd=project)
    assert done.returncode == 1
    assert b"lies outside of the project" in done.stderr
    assert "1.2.3.4" in (tmp_path / "kafka.env").read_text(encoding="utf-8")


def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    elsewhere = put(tmp_path, BROKEN)
    (project / "compose.yml").symlink_to(elsewhere)
    done = netdiag("check-listeners", "--fix", cwd=project)
    assert b"lies outside of the project" in done.stderr
    assert elsewhere.read_text(encoding="utf-8") == BROKEN
    assert (project / "compose.yml").is_symlink()


def test_only_chosen_rules_repair(tmp_path: Path) -> None:
    path = put(tmp_path, BROKEN)
    netdiag("check-listeners", "--fix", "--select", "advertised-", cwd=tmp_path)
    assert path.read_text(encoding="utf-8") == BROKEN


@pytest.mark.parametrize(
    ("ports", "repaired"), [('["9092:9092"]', True), ("[]", False)], ids=["published", "for whom is not said"]
)
def test_a_loopback_listener_is_opened_unasked_where_the_file_leads_others_to_it(
    tmp_path: Path, ports: str, repaired: bool
) -> None:
    text = LOOPBACK.replace("PORTS", ports)
    path = put(tmp_path, text)
    netdiag("check-listeners", "--fix", "--select", "listener-bound-to-loopback", cwd=tmp_path)
    opened = text.replace("127.0.0.1", "0.0.0.0")
    assert path.read_text(encoding="utf-8") == (opened if repaired else text)
    netdiag("check-listeners", "--fix", "--unsafe-fixes", "--select", "listener-bound-to-loopback", cwd=tmp_path)
    assert path.read_text(encoding="utf-8") == opened
