"""`netdiag analyze --follow` from the command line: what it refuses, what it says, how it ends, what there is then."""

import os
import random
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner, Result

from netdiag.cli.main import app
from tests.cli.shell import NETDIAG, environment
from tests.io.follow.folders import cut, expected, stored
from tests.io.follow.test_store import PACKETS
from tests.native.files import pcap_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def shared(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> None:
    """The session of the test run in the place of one of the command's own."""

    @contextmanager
    def session(master: str, **more: Any) -> Iterator["SparkSession"]:
        del master, more
        yield spark

    monkeypatch.setattr("netdiag.io.spark.session.spark_session", session)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["analyze", *arguments])


@pytest.mark.usefixtures("shared")
def test_once_says_what_was_taken_and_what_it_means(tmp_path: Path) -> None:
    caps, out = tmp_path / "caps", tmp_path / "out"
    caps.mkdir()
    first, second = (pcap_file(packets) for packets in cut(PACKETS, 2, random.Random(3)))
    (caps / "a-1.pcap").write_bytes(first)
    (caps / "notes\x1b[31m.txt").write_text("x" * 80)
    arguments = ("--follow", str(caps), "--out", str(out), "--once", "--partitions", "1", "--lateness", "0.1")
    done = run(*arguments)
    assert done.exit_code in (0, 1), done.output
    assert done.stdout.startswith("batch 1: 1 file, ")
    assert "is not a capture, and is left out" in done.stdout
    assert "\x1b" not in done.stdout
    assert "\nexchanges   " in done.stdout
    assert stored(out) == expected(caps)
    (caps / "a-2.pcap").write_bytes(second)
    again = run(*arguments)
    assert again.exit_code in (0, 1), again.output
    assert again.stdout.startswith("batch 2: 2 files, ")
    assert stored(out) == expected(caps)
    assert (out / ".checkpoint").stat().st_mode & 0o77 == 0
    other = run("--follow", str(caps), "--out", str(out), "--once", "--lateness", "3")
    assert (other.exit_code, "was started with another lateness" in other.stderr) == (2, True), other.output
    (out / ".checkpoint" / "settings.json").write_text("{")
    damaged = run(*arguments)
    assert (damaged.exit_code, damaged.stderr.count("\n")) == (3, 2), damaged.output
    assert "'settings.json' is damaged" in damaged.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "status", "said"),
    [
        # A terminal tells the whole group, `docker stop` only the command.
        pytest.param(lambda pid: os.killpg(pid, signal.SIGINT), 130, b"netdiag: interrupted\n", id="interrupted"),
        pytest.param(lambda pid: os.kill(pid, signal.SIGTERM), 143, b"", id="terminated"),
    ],
)
def test_an_end_from_outside_leaves_whole_tables(
    java: str, tmp_path: Path, end: Callable[[int], None], status: int, said: bytes
) -> None:
    caps, out = tmp_path / "caps", tmp_path / "out"
    caps.mkdir()
    (caps / "a-1.pcap").write_bytes(pcap_file(PACKETS))
    words = ("--follow", caps, "--out", out, "--every", "0.1", "--lateness", "0.1", "--partitions", "1")
    with subprocess.Popen(
        [*NETDIAG, "analyze", *words, "--master", "local[1]"],
        cwd=tmp_path,
        # The quick compiler: a batch is over before the other one pays.
        env=environment({"JAVA_HOME": java, "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith(b"batch 1: 1 file, ")
            end(process.pid)
            told = process.communicate(timeout=60)[1]
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert (process.returncode, told) == (status, said)
    assert stored(out) == expected(caps)
    assert {path.name for path in out.rglob(".*")} == {".netdiag-follow", ".checkpoint"} | {
        path.name for path in (out / ".checkpoint").rglob(".*")
    }
    assert list((out / ".checkpoint" / "state").rglob(".*")) == []


def test_what_cannot_be_is_refused_before_spark_starts(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_file(PACKETS))
    folder, out = str(tmp_path), ("--out", str(tmp_path / "out"))
    for arguments, status, said in (
        ((str(path), "--once"), 2, "--once requires --follow"),
        ((str(path), "--checkpoint", folder), 2, "--checkpoint requires --follow"),
        ((str(path), "--every", "3"), 2, "--every requires --follow"),
        ((str(path), "--lateness", "3"), 2, "--lateness requires --follow"),
        (("--follow", "-", *out), 2, "--follow takes one folder"),
        (("--follow", folder, folder, *out), 2, "--follow takes one folder"),
        (("--follow", str(path), *out), 3, "is not a folder"),
        (("--follow", folder), 2, "add --out DIR"),
        (("--follow", folder, "--force", *out), 2, "use only one of them"),
        (("--follow", folder, "--live", *out), 2, "use only one of them"),
        (("--follow", folder, "--out", folder + "/"), 2, "cannot go into the folder that is followed"),
    ):
        done = run(*arguments)
        assert (done.exit_code, said in done.stderr) == (status, True), (arguments, done.output)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.pcap"]


def test_a_folder_of_others_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "letter.txt").write_text("dear")
    done = run("--follow", str(tmp_path), "--out", str(out), "--once")
    assert (done.exit_code, "is not empty" in done.stderr) == (2, True), done.output
    assert (out / "letter.txt").read_text() == "dear"
