"""Manual pages and completions in `share`: as they are written now, read by man, and tried in bash, zsh and fish."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from netdiag.cli.main import COMMANDS
from tests.house.tree import ROOT
from tests.tools import tool

SHARE = ROOT / "share"
PAGES = sorted((SHARE / "man" / "man1").iterdir())
BESIDE = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
# What is typed, and all that can stand there.
TYPED = (
    ("netdiag check-l", {"check-listeners"}),
    ("netdiag tra", {"trace"}),
    ("netdiag --vers", {"--version"}),
    ("netdiag check-listeners --platform wsl", {"wsl2", "wsl2-nat", "wsl2-mirrored"}),
    ("netdiag topology --netw", {"--network"}),
)


def test_they_are_what_the_commands_say_now(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "tools" / "generate_manual.py", tmp_path], check=True)
    written = {path.relative_to(tmp_path): path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    kept = {path.relative_to(SHARE): path.read_text() for path in SHARE.rglob("*") if path.is_file()}
    assert kept == written, "make docs writes them anew"


def test_every_command_has_a_page() -> None:
    assert {path.stem for path in PAGES} == {"netdiag", *(f"netdiag-{name}" for name in COMMANDS)}


def test_man_reads_every_page_without_a_complaint() -> None:
    for page in PAGES:
        done = subprocess.run(
            [tool("man"), "--warnings", "-l", page], env=BESIDE, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), page
        read = re.sub(r".\x08", "", done.stdout)
        for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"):
            assert f"\n{heading}\n" in read, page
        assert re.search(rf"{page.stem} +- ", read)


def test_man_finds_them_beside_the_command(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "share").symlink_to(SHARE)
    done = subprocess.run(
        [tool("man"), "--where", "netdiag", "netdiag-wait"],
        env={**BESIDE, "PATH": f"{tmp_path / 'bin'}:{BESIDE['PATH']}", "MANPATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert [Path(line).name for line in done.stdout.split()] == ["netdiag.1", "netdiag-wait.1"], done.stderr


@pytest.mark.parametrize(("typed", "expected"), TYPED)
def test_bash_completes(typed: str, expected: set[str], tmp_path: Path) -> None:
    words = typed.split(" ")
    script = (
        f". {SHARE / 'bash-completion/completions/netdiag'}; COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; "
        '_netdiag_completion netdiag; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script], cwd=tmp_path, env=BESIDE, capture_output=True, text=True, check=False
    )
    assert (set(done.stdout.split()), done.stderr) == (expected, "")


@pytest.mark.parametrize(("typed", "expected"), TYPED)
def test_fish_completes(typed: str, expected: set[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [
            tool("fish"),
            "--no-config",
            "-c",
            f"source {SHARE / 'fish/vendor_completions.d/netdiag.fish'}; complete -C '{typed}'",
        ],
        cwd=tmp_path,
        env={**BESIDE, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert {line.partition("\t")[0] for line in done.stdout.splitlines()} == expected, done.stderr


def test_zsh_completes(tmp_path: Path) -> None:
    """In a terminal, with the file where zsh looks for it, loaded at the first press of Tab."""
    shell, terminal = pty.fork()
    if shell == 0:
        os.chdir(tmp_path)
        os.execve(tool("zsh"), ["zsh", "-f", "-i"], {**BESIDE, "HOME": str(tmp_path), "TERM": "dumb", "PS1": "> "})
    try:
        functions = SHARE / "zsh" / "site-functions"
        os.write(
            terminal, f"fpath=({functions} $fpath); autoload -Uz compinit; compinit -D -u; echo rea''dy\n".encode()
        )
        _read_until(terminal, "\nready")
        os.write(terminal, b"netdiag check-l\t")
        _read_until(terminal, "netdiag check-listeners ")
        os.write(terminal, b"--platform wsl2-\t\t")
        said = _read_until(terminal, "wsl2-mirrored")
        assert "wsl2-nat" in said + _read_until(terminal, "wsl2-nat", said)
    finally:
        os.close(terminal)
        os.waitpid(shell, 0)


def _read_until(terminal: int, wanted: str, said: str = "") -> str:
    end = time.monotonic() + 30
    while wanted not in said:
        ready, _, _ = select.select([terminal], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"no {wanted!r} in {said!r}"
        said += os.read(terminal, 65536).decode(errors="replace").replace("\r", "")
    return said


def test_the_names_of_commands_need_none_of_them(tmp_path: Path) -> None:
    """Each press of Tab starts netdiag."""
    asked = {"COMP_WORDS": "netdiag ", "COMP_CWORD": "1", "_NETDIAG_COMPLETE": "complete_bash"}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "netdiag"],
        cwd=tmp_path,
        env={**BESIDE, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == list(COMMANDS)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    layers = ("app", "io", "playbook", "rules", "topology", "deployment", "traffic", "compose", "kafka")
    assert "netdiag.cli.main" in loaded
    assert not {name for name in loaded if name.startswith(tuple(f"netdiag.{layer}" for layer in layers))}
