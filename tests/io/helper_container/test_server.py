"""The inner end as a process: what it passes on, and that it ends when nobody waits for it any more."""

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.engine.helper_container import INTERRUPT, Frames, Kind, Order, Terminal, decode_hello, encode_order
from tests.cli.shell import environment
from tests.io.engine.fake_engine import VERSION, fake_engine

_ID = "a" * 64
# What is carried out here, in the place of netdiag: the first word says what to do.
_PROGRAM = """
import os, sys, time
from netdiag.io.helper_container.server import serve

def run(words):
    what, *rest = words
    if what == "print":
        print(*rest, os.getcwd(), os.environ.get("TOLD"), os.environ.get("UNTOLD"), sys.stdout.isatty())
        print(sys.stdin.read(), file=sys.stderr)
    elif what == "write":
        open(rest[0], "w").write("written")
    elif what == "write much":
        os.truncate(os.open(rest[0], os.O_CREAT | os.O_WRONLY), 128 * 1024 * 1024)
    elif what == "wait":
        try:
            print("waiting", flush=True)
            time.sleep(600)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            return 130
    return 5

sys.exit(serve(run))
"""


@contextlib.contextmanager
def helper(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """The process, and the socket of an engine that has its container."""
    answers = {"/version": VERSION, f"/containers/{_ID}/json": {"Id": _ID}}
    with fake_engine(tmp_path / "s", answers):
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment({"UNTOLD": "the image's"}),
        )
        try:
            yield process, str(tmp_path / "s")
        finally:
            process.kill()
            process.communicate()


def give(process: subprocess.Popen[bytes], order: Order) -> None:
    assert process.stdin is not None
    process.stdin.write(encode_order(order))
    process.stdin.flush()


def frames(process: subprocess.Popen[bytes]) -> Iterator[tuple[Kind, bytes]]:
    assert process.stdout is not None
    parts = Frames()
    while data := process.stdout.read1(65536):  # type: ignore[attr-defined]
        yield from parts.feed(data)


def told(process: subprocess.Popen[bytes]) -> dict[Kind, bytes]:
    found: dict[Kind, bytes] = {}
    for kind, data in frames(process):
        found[kind] = found.get(kind, b"") + data
    return found


def order(tmp_path: Path, socket: str, *words: str, **more: object) -> Order:
    folder = tmp_path / "there"
    return Order(words=words, folder=str(folder), folders=(str(folder),), container=_ID, socket=socket, **more)  # type: ignore[arg-type]


def test_a_command_finds_what_it_would_find_at_the_client(tmp_path: Path) -> None:
    with helper(tmp_path) as (process, socket):
        terminal = Terminal(out=True)
        given = {"environment": {"TOLD": "9092"}, "stdin": b"a log", "terminal": terminal}
        give(process, order(tmp_path, socket, "print", "ä", **given))
        said = told(process)
    assert decode_hello(said[Kind.HELLO]).protocol == 1
    assert said[Kind.OUT].decode() == f"ä {tmp_path / 'there'} 9092 None True\n"
    assert said[Kind.ERRORS] == b"a log\n"
    assert said[Kind.STATUS] == bytes([5])


def test_files_go_in_and_what_is_new_comes_back(tmp_path: Path) -> None:
    there = tmp_path / "there"
    with helper(tmp_path) as (process, socket):
        files = {str(there / "in" / "compose.yml"): b"services:"}
        results = (str(there / "out"), str(there / "never"), str(there / "in" / "compose.yml"))
        links = {str(tmp_path / "name"): str(there)}
        give(process, order(tmp_path, socket, "write", "out", files=files, results=results, links=links))
        said = told(process)
    assert said[Kind.FILE].endswith(b"/outwritten")
    assert (tmp_path / "name" / "in" / "compose.yml").read_bytes() == b"services:"


def test_a_result_that_is_too_large_is_told(tmp_path: Path) -> None:
    out = str(tmp_path / "there" / "out")
    with helper(tmp_path) as (process, socket):
        give(process, order(tmp_path, socket, "write much", "out", results=(out,)))
        said = told(process)
    assert b"cannot copy back from the helper container: larger than 127 MiB" in said[Kind.ERRORS]
    assert Kind.FILE not in said
    assert said[Kind.STATUS] == bytes([3])


def test_ctrl_c_reaches_the_command(tmp_path: Path) -> None:
    with helper(tmp_path) as (process, socket):
        give(process, order(tmp_path, socket, "wait"))
        said = frames(process)
        assert next(data for kind, data in said if kind is Kind.OUT) == b"waiting\n"
        assert process.stdin is not None
        process.stdin.write(INTERRUPT)
        process.stdin.flush()
        rest = dict(said)
    assert rest[Kind.OUT] == b"interrupted\n"
    assert rest[Kind.STATUS] == bytes([130])


@pytest.mark.parametrize("how", ["end of input", "told to end"])
def test_it_ends_when_nobody_waits(tmp_path: Path, how: str) -> None:
    with helper(tmp_path) as (process, socket):
        give(process, order(tmp_path, socket, "wait"))
        assert next(data for kind, data in frames(process) if kind is Kind.OUT) == b"waiting\n"
        if how == "told to end":
            process.send_signal(signal.SIGTERM)
        else:
            assert process.stdin is not None
            process.stdin.close()
            process.stdin = None
        end = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        assert process.poll() is not None


def test_another_engine_is_not_asked(tmp_path: Path) -> None:
    with helper(tmp_path) as (process, socket):
        asked = order(tmp_path, socket, "print")
        give(process, Order(words=asked.words, folder=asked.folder, container="b" * 64, socket=socket))
        said = told(process)
    assert b"another engine than the one that runs the helper container answers" in said[Kind.ERRORS]
    assert said[Kind.STATUS] == bytes([3])


def test_what_is_no_order(tmp_path: Path) -> None:
    with helper(tmp_path) as (process, _):
        assert process.stdin is not None
        process.stdin.write(b"\xff" * 8)
        process.stdin.flush()
        said = told(process)
    assert said[Kind.STATUS] == bytes([3])
    assert said[Kind.ERRORS].startswith(b"netdiag: the helper got an order of")
