"""The lint of files runs where there is no POSIX, and where the console knows no more than cp1252.

No Windows or macOS machine runs this: what they lack is taken away instead (tests/house/elsewhere.py).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.shell import netdiag as here
from tests.house.tree import ROOT

FILES = sorted((ROOT / "compose" / "scenarios").glob("S0*/*.yml"))
STACKS = [path for path in FILES if path.name != "expected.yml"]
BROKEN = next(path for path in STACKS if path.name == "kraft.broken.yml")


def netdiag(*words: str | Path, cwd: Path, encoding: str = "cp1252") -> subprocess.CompletedProcess[bytes]:
    """netdiag without POSIX; its output as bytes of the given console encoding, its implicit encodings as errors."""
    command = [sys.executable, "-X", "warn_default_encoding", ROOT / "tests" / "house" / "elsewhere.py", *words]
    env = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "LC_", "LANG"))},
        "PYTHONIOENCODING": encoding,
        "PYTHONUTF8": "0",
        "PYTHONPATH": str(ROOT),
        "LC_ALL": "C",
        "PYTHONWARNINGS": "error::EncodingWarning",
    }
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, check=False, timeout=60)


def test_lint_gives_the_same_verdict_without_posix(tmp_path: Path) -> None:
    done = netdiag("check-listeners", "--format", "json", *STACKS, cwd=tmp_path)
    assert b"Traceback" not in done.stderr, done.stderr.decode("cp1252")
    told = json.loads(done.stdout)
    wrong = {Path(one["location"]["path"]) for one in told["findings"] if one["severity"] != "note"}
    assert wrong == {path for path in STACKS if "broken" in path.name}
    assert told == json.loads(here("check-listeners", "--format", "json", *STACKS, cwd=tmp_path).stdout)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "cp437", "utf-8"])
def test_text_is_legible_in_every_console(encoding: str, tmp_path: Path) -> None:
    text = netdiag("check-listeners", BROKEN, cwd=tmp_path, encoding=encoding).stdout.decode(encoding)
    assert BROKEN.name in text
    assert "localhost" in text or "127.0.0.1" in text
    if encoding != "utf-8":
        assert "?" * 2 not in text, "characters that this console does not know became question marks"


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["check-listeners", "--help"]])
def test_help_needs_no_posix(words: list[str], tmp_path: Path) -> None:
    done = netdiag(*words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")


def test_json_is_utf8_or_ascii_in_every_console(tmp_path: Path) -> None:
    done = netdiag("check-listeners", "--format", "json", BROKEN, cwd=tmp_path)
    assert json.loads(done.stdout.decode("ascii"))["version"] == 1


def test_names_outside_cp1252_do_not_crash(tmp_path: Path) -> None:
    folder = tmp_path / "кафка"
    folder.mkdir()
    text = BROKEN.read_text(encoding="utf-8")
    (folder / "compose.yml").write_text(f"# 日本語 ─ комментарий\n{text}", encoding="utf-8")
    done = netdiag("check-listeners", folder / "compose.yml", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert b"Traceback" not in done.stderr


def test_a_file_with_windows_line_ends_has_the_same_places(tmp_path: Path) -> None:
    text = BROKEN.read_bytes()
    (tmp_path / "unix.yml").write_bytes(text)
    (tmp_path / "windows.yml").write_bytes(text.replace(b"\n", b"\r\n"))
    unix, windows = (
        json.loads(netdiag("check-listeners", "--format", "json", name, cwd=tmp_path).stdout)["findings"]
        for name in ("unix.yml", "windows.yml")
    )
    places = [[(f["rule"], f["location"]["line"], f["location"]["column"]) for f in found] for found in (unix, windows)]
    assert places[0]
    assert places[0] == places[1]


@pytest.mark.parametrize("module", ["fcntl", "termios", "pwd"])
def test_what_was_taken_away_is_gone(module: str, tmp_path: Path) -> None:
    """The control: a netdiag that used one of these would fail here."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.house.elsewhere import take_away; take_away(); "
    done = subprocess.run(
        [sys.executable, "-c", code + f"import {module}"], cwd=tmp_path, capture_output=True, check=False
    )
    assert b"ModuleNotFoundError" in done.stderr
