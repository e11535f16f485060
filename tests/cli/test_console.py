"""What a stream can show, and what happens when it cannot be written to."""

import io
import os
import platform
import pty
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from netdiag.cli.console import (
    RULE_PAGES,
    Colour,
    Console,
    report_error,
    rule_pages,
    say,
    screen_of,
    wants_colour,
    write_bytes,
    write_text,
)
from netdiag.cli.outputs import Format
from netdiag.errors import InputError
from netdiag.render.screen import ASCII, Links, Screen
from tests.cli.shell import BROKEN, NETDIAG, environment, netdiag, process
from tests.house.tree import ROOT


@pytest.mark.parametrize(
    ("colour", "environ", "is_terminal", "wanted"),
    [
        (Colour.AUTO, {"TERM": "xterm"}, True, True),
        (Colour.AUTO, {"TERM": "xterm"}, False, False),
        (Colour.AUTO, {"TERM": "dumb"}, True, False),
        (Colour.AUTO, {"TERM": "xterm", "NO_COLOR": "1"}, True, False),
        (Colour.AUTO, {"TERM": "xterm", "NO_COLOR": ""}, True, True),
        (Colour.AUTO, {"FORCE_COLOR": "1"}, False, True),
        (Colour.AUTO, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        (Colour.ALWAYS, {"NO_COLOR": "1", "TERM": "dumb"}, False, True),
        (Colour.NEVER, {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colour(colour: Colour, environ: dict[str, str], is_terminal: bool, wanted: bool) -> None:
    assert wants_colour(colour, environ, is_terminal=is_terminal) is wanted


XTERM = {"TERM": "xterm-256color"}


@pytest.mark.parametrize(
    ("environ", "colour", "on_terminal", "elsewhere"),
    [
        (XTERM, Colour.AUTO, True, False),
        (XTERM, Colour.ALWAYS, True, False),
        (XTERM, Colour.NEVER, False, False),
        ({"TERM": "dumb"}, Colour.AUTO, False, False),
        ({"TERM": "dumb"}, Colour.ALWAYS, False, False),
        ({"TERM": "linux"}, Colour.AUTO, False, False),
        ({**XTERM, "CI": "true"}, Colour.AUTO, False, False),
        ({**XTERM, "NO_COLOR": "1"}, Colour.AUTO, False, False),
        ({**XTERM, "NO_COLOR": "1"}, Colour.ALWAYS, False, False),
        ({**XTERM, "NO_COLOR": ""}, Colour.AUTO, True, False),
        ({**XTERM, "FORCE_COLOR": "1"}, Colour.AUTO, True, False),
        ({**XTERM, "FORCE_COLOR": "1", "NO_COLOR": "1"}, Colour.AUTO, False, False),
        ({**XTERM, "CLICOLOR": "0"}, Colour.AUTO, True, False),
        ({**XTERM, "CLICOLOR_FORCE": "1"}, Colour.AUTO, True, False),
        ({**XTERM, "FORCE_HYPERLINK": "1"}, Colour.AUTO, True, True),
        ({**XTERM, "FORCE_HYPERLINK": "1", "NO_COLOR": "1"}, Colour.AUTO, True, True),
        ({"TERM": "dumb", "FORCE_HYPERLINK": "1"}, Colour.NEVER, True, True),
        ({**XTERM, "FORCE_HYPERLINK": "0"}, Colour.AUTO, False, False),
        ({**XTERM, "FORCE_HYPERLINK": "0", "FORCE_COLOR": "1"}, Colour.ALWAYS, False, False),
        ({**XTERM, "FORCE_HYPERLINK": ""}, Colour.AUTO, True, False),
    ],
)
def test_links(environ: dict[str, str], colour: Colour, on_terminal: bool, elsewhere: bool) -> None:
    reader, writer = pty.openpty()
    try:
        with os.fdopen(writer, "w") as terminal:
            assert (screen_of(terminal, colour, environ).links is not None) is on_terminal
    finally:
        os.close(reader)
    pipe = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    assert (screen_of(pipe, colour, environ).links is not None) is elsewhere


def test_links_know_the_machine_the_folder_and_the_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    environ = {"FORCE_HYPERLINK": "1", "NETDIAG_RULE_PAGES": "https://example.org/rules"}
    links = screen_of(None, Colour.AUTO, environ).links
    assert links == Links(host=platform.node(), folder=str(tmp_path), pages="https://example.org/rules")


def test_the_encoding_of_the_stream_decides_the_alphabet() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    assert screen_of(stream, Colour.AUTO, {}).glyphs == ASCII
    assert screen_of(None, Colour.AUTO, {}).glyphs == ASCII


def test_a_pipe_is_a_hundred_columns_wide_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    assert screen_of(stream, Colour.AUTO, {}).width == 100
    for columns, width in (("80", 80), ("10", 40), ("500", 140)):
        monkeypatch.setenv("COLUMNS", columns)
        assert screen_of(stream, Colour.AUTO, os.environ).width == width


def test_what_the_encoding_lacks_is_escaped_not_fatal(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="cp1252", newline=""))
    write_text("é 日\n")
    write_bytes(b"\xff\r\n")
    assert raw.getvalue() == b"\xe9 \\u65e5\n\xff\r\n"


class _Broken(io.StringIO):
    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def write(self, text: str) -> int:
        raise self.error


def test_a_reader_that_went_away_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", _Broken(BrokenPipeError(32, "Broken pipe")))
    write_text("x")


def test_a_failing_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", _Broken(OSError(28, "No space left on device")))
    with pytest.raises(InputError, match="no space left"):
        write_text("x")


def test_standard_error_is_never_fatal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", _Broken(OSError(5, "Input/output error")))
    say("lost")
    monkeypatch.setattr("sys.stderr", None)
    say("lost")


def test_an_error_is_a_line_and_its_way_out(capsys: pytest.CaptureFixture[str]) -> None:
    report_error(InputError('no "x\x1b"', where="a.yml", hint="do this"), Screen())
    assert capsys.readouterr().err == 'netdiag: a.yml: no "x\\x1b"\n  fix: do this\n'


@pytest.mark.parametrize(
    ("where", "message", "said"),
    [
        ("/etc/passwd", "not a packet capture", "/etc/passwd: not a packet capture"),
        ("a.yml", "password: abc", "a.yml: password: [hidden]"),
        ("tcp://me:abc@host:1", "refused", "tcp://me:[hidden]@host:1: refused"),
    ],
)
def test_an_error_hides_secrets_and_no_words_behind_a_name(
    where: str, message: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report_error(InputError(message, where=where), Screen())
    assert capsys.readouterr().err == f"netdiag: {said}\n"


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_progress_is_drawn_in_its_place_and_makes_room_for_notices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    console = Console()
    console.progress("1,234 packets")
    console.notice("b:eth0\x1b[2J went down")
    console.progress("")
    clear = "\r\x1b[K"
    assert terminal.getvalue() == f"{clear}netdiag: 1,234 packets{clear}netdiag: b:eth0\\x1b[2J went down\n"


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_progress_is_not_drawn_elsewhere(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO | None) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    Console().progress("1,234 packets")
    assert stream is None or stream.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "dumb")
    Console().progress("1,234 packets")
    assert terminal.getvalue() == ""


def test_rule_pages_are_not_known_by_themselves() -> None:
    assert rule_pages({}) is None
    assert rule_pages({RULE_PAGES: ""}) is None


@pytest.mark.parametrize(
    ("told", "taken"),
    [
        ("https://example.org/a/b/blob/v1/docs/rules", True),
        ("http://localhost:3000/x", True),
        ("https://example.org", True),
        ("docs/rules", False),
        ("javascript:alert(1)", False),
        ("https://example.org/a b", False),
        ("https://example.org/\x1b]8;;", False),
        ("https://example.org/a)b", False),
        ("file:///etc", False),
    ],
)
def test_only_plain_addresses_of_rule_pages(told: str, taken: bool) -> None:
    assert rule_pages({RULE_PAGES: told}) == (told if taken else None)


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


@pytest.mark.slow
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
    for form in set(Format) - {Format.TEXT, Format.CONCISE}:
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


# Several times what a pipe holds (64 KiB): whoever writes is still at it when the reader goes.
LIMIT = 250_000
# Prints a report of many findings in one format as the command does, and its size to standard error.
PRINT_MUCH = """
import sys
from dataclasses import replace
from netdiag.cli import outputs
from netdiag.cli.console import Console
from netdiag.render.report import Report
from tests.render.reports import COMPOSE, loopback
one, two = loopback("broker-1"), loopback("broker-2")
many = [replace(one if n % 2 else two, message=f"{n} {'long ' * 400}", rule=f"rule-{n}") for n in range(150)]
report = Report(findings=tuple(many), sources={"compose.yml": COMPOSE})
form = outputs.Format(sys.argv[1])
print(len(outputs.rendered(outputs.Output(format=form), report, Console(), "", matrix=True)), file=sys.stderr)
outputs.write_outputs([outputs.Output(format=form)], report, Console(), matrix=True)
"""
SCRIPT = 'set -o pipefail; "$0" -c "$1" "$2" | head -n 1; exit "${PIPESTATUS[0]}"'


@pytest.mark.slow
@pytest.mark.parametrize("form", Format)
def test_more_than_a_pipe_holds_into_head(form: Format) -> None:
    done = subprocess.run(
        ["bash", "-c", SCRIPT, sys.executable, PRINT_MUCH, form.value],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    size, *rest = done.stderr.splitlines()
    assert rest == []
    # A comment on a pull request has a longest length.
    assert (int(size) > LIMIT) is (form is not Format.MARKDOWN)
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.slow
def test_all_formats_are_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text(BROKEN)
    files: tuple[str | Path, ...] = ("a.yml", *sorted((ROOT / "compose" / "scenarios").glob("S0*/*n.yml")))
    runs = []
    for seed in ("0", "1", "4711"):
        words = [word for form in Format for word in ("--format", form, "--output", f"{seed}.{form}")]
        done = process("check-listeners", *words, *files, cwd=tmp_path, env={"PYTHONHASHSEED": seed})
        assert done.returncode == 1, done.stderr
        runs.append({form: (tmp_path / f"{seed}.{form}").read_bytes() for form in Format})
    assert runs[0] == runs[1] == runs[2]
    assert all(runs[0].values())
