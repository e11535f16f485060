"""What goes along to a helper container: the files that a command reads here, the variables that they name."""

import io
import os
import sys
from pathlib import Path

import pytest

from netdiag.app.helper_container import LARGEST, HelperFiles
from netdiag.cli.via import files_for
from netdiag.errors import InputError, UsageError

COMPOSE = """
include: [more.yml]
services:
  kafka:
    image: apache/kafka:3.9.1
    env_file: [kafka.env]
    environment:
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://${WHERE:-localhost}:9092
"""
ENVIRON = {"WHERE": "here", "OTHER_SECRET": "x", "COMPOSE_PROFILES": "a", "NO_COLOR": "1", "PATH": "/bin"}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {
        "compose.yml": COMPOSE,
        "more.yml": "services: {}",
        "kafka.env": "KAFKA_NODE_ID=1\nPASSWORD=secret\n",
        ".env": "X=1",
        "netdiag.toml": "[check-listeners]\n",
        "unrelated.txt": "not asked for",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def along(command: str, **params: object) -> HelperFiles:
    return files_for(command, params, ENVIRON)


def names(found: HelperFiles) -> set[str]:
    return {os.path.basename(path) for path in found.files}


def test_a_project_with_all_that_it_names(project: Path) -> None:
    found = along("check-listeners", files=["compose.yml"], live=True)
    assert names(found) == {"compose.yml", "more.yml", "kafka.env", ".env", "netdiag.toml"}
    assert found.files[str(project / "compose.yml")] == COMPOSE.encode()
    assert "secret" not in repr(found)


def test_of_the_environment_only_what_is_named() -> None:
    found = along("check-listeners", files=["compose.yml"], live=True)
    assert found.environment() == {"WHERE": "here", "COMPOSE_PROFILES": "a", "NO_COLOR": "1"}


def test_without_files_nothing_but_the_configuration() -> None:
    assert names(along("check-listeners", live=True)) == {"netdiag.toml"}
    assert names(along("check-listeners", live=True, isolated=True)) == set()
    assert names(along("probe", bootstrap="kafka:9092")) == set()


def test_the_stores_that_a_client_names(project: Path) -> None:
    (project / "trust.p12").write_bytes(b"\x30")
    (project / "client.properties").write_text(
        "security.protocol=SSL\nssl.truststore.location=trust.p12\nssl.truststore.password=x\nssl.truststore.type=PKCS12\n"
    )
    found = along("check-listeners", live=True, client_properties="client.properties")
    assert names(along("probe", client_properties="client.properties")) == {"client.properties", "trust.p12"}
    assert names(found) >= {"client.properties", "trust.p12"}


def test_results_are_those_that_can_be_written(project: Path) -> None:
    found = along("check-listeners", live=True, output=["out.json", "-", os.devnull, "no/such/folder"], record="r.json")
    assert found.results == {str(project / "out.json"): "out.json", str(project / "r.json"): "r.json"}
    assert along("topology", out="t.svg").results == {str(project / "t.svg"): "t.svg"}


def test_a_log_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a line")))
    found = along("diagnose", lines=["-"], live=True, bundle="b.zip")
    assert found.stdin == b"a line"
    assert names(found) >= {"compose.yml"}


def test_a_project_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(COMPOSE.encode())))
    found = along("check-listeners", files=["-"], live=True)
    assert found.stdin == COMPOSE.encode()
    assert names(found) >= {"more.yml", "kafka.env"}
    assert found.environment()["WHERE"] == "here"


def test_a_terminal_gives_no_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="no log lines to read"):
        along("diagnose", lines=[], live=True)


def test_lines_and_files_of_lines() -> None:
    assert names(along("diagnose", lines=["unrelated.txt", "ERROR a line"], live=True)) >= {"unrelated.txt"}


def test_a_playbook_of_the_users_own(project: Path) -> None:
    (project / "mine.yml").write_text("name: mine")
    found = along("playbook", name="mine.yml", told=["files=more.yml", "x=1"], live=True)
    assert names(found) >= {"mine.yml", "more.yml"}


def test_what_is_too_large(project: Path) -> None:
    with (project / "huge.json").open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(InputError, match=r"larger than"):
        along("topology", diff="huge.json")


def test_the_name_by_which_the_shell_knows_the_folder(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    link = tmp_path_factory.mktemp("links") / "by-name"
    link.symlink_to(project)
    found = files_for("probe", {}, {"PWD": str(link)})
    assert found.links() == {str(link): str(project)}
    assert files_for("probe", {}, {"PWD": "/somewhere/else"}).links() == {}
