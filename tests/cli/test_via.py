"""`--via container`: the words, files and variables that go along, what is refused, and the way there and back."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from netdiag.app.helper_container import LARGEST, HelperFiles
from netdiag.cli.in_helper import carried_out
from netdiag.cli.main import COMMANDS, Commands
from netdiag.cli.via import files_for, forwarded, refused, taking_values
from netdiag.errors import InputError, UsageError
from tests.cli.shell import netdiag

VALUED = frozenset({"--via", "--image", "--host", "--var", "-f", "--format"})


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("--live --via container", "--live"),
        ("--via=container --live a.yml", "--live a.yml"),
        ("a.yml --image netdiag:2 --via container b.yml", "a.yml b.yml"),
        ("--var --via -f x", "--var --via -f x"),
        ("-f --via --format --image", "-f --via --format --image"),
        ("--via container -- --via", "-- --via"),
        ("--format=json --via container --watch", "--format=json --watch"),
        ("--via", ""),
    ],
)
def test_the_words_without_ours(words: str, left: str) -> None:
    assert forwarded(words.split(), VALUED) == left.split()


def test_the_engine_has_another_address_there() -> None:
    instead = {"--host": "unix:///s"}
    assert forwarded(["--host", "tcp://a:1", "x"], ["--host"], instead) == ["--host", "unix:///s", "x"]
    assert forwarded(["--host=tcp://a:1"], ["--host"], instead) == ["--host=unix:///s"]


@pytest.mark.parametrize("name", ["check-listeners", "topology", "probe", "diagnose", "playbook"])
def test_options_that_take_a_word_are_known(name: str) -> None:
    command = Commands().get_command(None, name)  # type: ignore[arg-type]
    valued = taking_values(command.params)
    assert {"--via", "--image", "--host"} <= valued
    assert not {"--verbose", "-v", "--debug", "--live", "--matrix", "--why"} & valued


def test_commands_that_look_into_namespaces_have_it() -> None:
    listed = {name: Commands().get_command(None, name) for name in COMMANDS}  # type: ignore[arg-type]
    have = {name for name, command in listed.items() if any("--via" in one.opts for one in command.params)}
    assert have == {"check-listeners", "topology", "probe", "diagnose", "playbook"}


@pytest.mark.parametrize(
    ("name", "params", "says"),
    [
        ("check-listeners", {"live": False}, "requires --live"),
        ("check-listeners", {"live": False, "replay": "seen.json"}, "--replay excludes --via"),
        ("playbook", {"what": "list"}, "requires `playbook run --live`"),
        ("diagnose", {"live": False}, "requires --live"),
        ("topology", {"no_engine": True}, "--no-engine exclude each other"),
        ("topology", {"capture": ["a.pcap"]}, "captures are not copied"),
        ("topology", {}, ""),
        ("probe", {"bootstrap": "a:1"}, ""),
        ("playbook", {"what": "run", "live": True}, ""),
    ],
)
def test_what_cannot_be_carried_out_elsewhere(name: str, params: dict[str, object], says: str) -> None:
    because = refused(name, params)
    assert says in because
    assert bool(because) == bool(says)


def test_windows_has_another_way() -> None:
    assert "run netdiag in WSL" in refused("topology", {}, system="nt")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["check-listeners", "--live", "--via", "ssh"], b"'ssh' is unknown: use --via container"),
        (["check-listeners", "--live", "--image", "x"], b"--image requires --via container"),
        (["check-listeners", "--via", "container"], b"requires --live"),
    ],
)
def test_wrong_usage(words: list[str], says: bytes, tmp_path: Path) -> None:
    done = netdiag(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert says in b" ".join(done.stderr.split())


def test_an_engine_that_is_not_there(tmp_path: Path) -> None:
    done: subprocess.CompletedProcess[bytes] = netdiag(
        "check-listeners", "--live", "--via", "container", "--host", f"unix://{tmp_path}/none", cwd=tmp_path
    )
    assert done.returncode == 3
    assert b"no engine answers there" in done.stderr
    assert done.stderr.count(b"\n") == 2
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "status"), [(["--version"], 0), (["check-listeners", "--no-such-option"], 2), (["playbook", "show"], 2)]
)
def test_the_status_is_that_of_the_command(
    words: list[str], status: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr("sys.argv", [])
    assert carried_out(words) == status
    capsys.readouterr()


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
