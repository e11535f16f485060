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
