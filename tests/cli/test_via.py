"""`--via container`: the words that are passed on, what is refused, and the way there and back."""

import os
import subprocess
from pathlib import Path

import pytest

from netdiag.cli.in_helper import carried_out
from netdiag.cli.main import COMMANDS, Commands
from netdiag.cli.via import forwarded, refused, taking_values
from tests.cli.shell import netdiag

VALUED = frozenset({"--via", "--image", "--host", "--context", "--var", "-f", "--format"})


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
        ("--context far --live --via container", "--live"),
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
