"""Links as a user has them: a process on a terminal, on a pipe, into a file."""

import os
import pty
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.cli.shell import BROKEN, NETDIAG, environment, netdiag

OPENS = b"\x1b]8;;"
PAGES = "https://example.org/rules"


def _on_terminal(folder: Path, *words: str, env: dict[str, str]) -> bytes:
    reader, writer = pty.openpty()
    process = subprocess.Popen(
        [*NETDIAG, "check-listeners", *words],
        cwd=folder,
        env=environment(env),
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    said = b""
    try:
        while data := os.read(reader, 65536):
            said += data
    except OSError:
        # So Linux says that the other end of a terminal is gone.
        pass
    finally:
        os.close(reader)
        process.wait(60)
    return said


@pytest.mark.parametrize("form", ["text", "concise"])
def test_on_a_terminal_places_and_rules_are_links(tmp_path: Path, form: str) -> None:
    (tmp_path / "my compose.yml").write_text(BROKEN)
    words = ("my compose.yml", "--format", form)
    said = _on_terminal(tmp_path, *words, env={"NETDIAG_RULE_PAGES": PAGES})
    file = f"file://{quote(os.uname().nodename)}{quote(str(tmp_path.resolve()))}/my%20compose.yml"
    assert OPENS + file.encode() + b"\x1b\\" in said
    assert OPENS + PAGES.encode() + b"/" in said
    without = _on_terminal(tmp_path, *words, env={})
    assert OPENS + b"file:" in without
    assert OPENS + b"http" not in without
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"FORCE_HYPERLINK": "0"}):
        said = _on_terminal(tmp_path, *words, env=env)
        assert b"my compose.yml:" in said
        assert OPENS not in said


@pytest.mark.parametrize("form", ["text", "concise"])
def test_elsewhere_only_who_asks_gets_links(tmp_path: Path, form: str) -> None:
    (tmp_path / "compose.yml").write_text(BROKEN)
    words = ("check-listeners", "--format", form)
    assert OPENS not in netdiag(*words, cwd=tmp_path, env={"FORCE_COLOR": "1"}).stdout
    assert OPENS in netdiag(*words, cwd=tmp_path, env={"FORCE_HYPERLINK": "1"}).stdout
    netdiag(*words, "--output", "told", cwd=tmp_path, env={"FORCE_HYPERLINK": "1"})
    assert b"compose.yml:" in (tmp_path / "told").read_bytes()
    assert OPENS not in (tmp_path / "told").read_bytes()


def test_what_comes_from_standard_input_lies_nowhere(tmp_path: Path) -> None:
    done = netdiag("check-listeners", "-", cwd=tmp_path, env={"FORCE_HYPERLINK": "1"}, stdin=BROKEN.encode())
    assert b"<stdin>:" in done.stdout
    assert OPENS not in done.stdout


def test_programs_get_no_links(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(BROKEN)
    for form in ("json", "sarif", "junit", "checkstyle", "github", "gitlab", "markdown"):
        done = netdiag("check-listeners", "--format", form, cwd=tmp_path, env={"FORCE_HYPERLINK": "1"})
        assert done.stdout
        assert OPENS not in done.stdout


def test_no_name_of_a_file_breaks_out(tmp_path: Path) -> None:
    name = "a\x1b]8;;http:\x1b\\\x07\n;é.yml"
    (tmp_path / name).write_text(BROKEN)
    plain = netdiag("check-listeners", name, cwd=tmp_path).stdout
    drawn = netdiag("check-listeners", name, cwd=tmp_path, env={"FORCE_HYPERLINK": "1"}).stdout
    assert b"\x1b" not in plain
    pieces = drawn.split(OPENS)
    shown = [piece.partition(b"\x1b\\") for piece in pieces[1:]]
    assert all(address == b"" or address.startswith(b"file://") for address, _, _ in shown)
    assert all(b"\x1b" not in address and b"\x07" not in address for address, _, _ in shown)
    assert pieces[0] + b"".join(rest for _, _, rest in shown) == plain
