"""`netdiag analyze` from the command line: what it refuses, what it says, what it writes, how it ends."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from netdiag.cli.main import app
from netdiag.distribution import install_line
from netdiag.kafka import protocol as wire
from netdiag.traffic.tables import NAMES, aggregate_names
from tests.cli.shell import NETDIAG, environment
from tests.native.conversations import PRODUCE, START, batch, capture, produce
from tests.native.files import pcap_file
from tests.native.packets import TcpConnection
from tests.render.schemas import strict_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def shared(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The masters of sessions that the command asked for: it gets the session of the test run each time."""
    masters = []

    @contextmanager
    def session(master: str, *, quick: bool, small: bool, partitions: int | None) -> Iterator["SparkSession"]:
        assert (quick, small, partitions or 1) == (True, True, 1)
        masters.append(master)
        yield spark

    monkeypatch.setattr("netdiag.io.spark.session.spark_session", session)
    return masters


@pytest.fixture
def path(tmp_path: Path) -> str:
    return capture(tmp_path / "a.pcap", 4)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["analyze", *arguments])


def test_text_json_and_tables_of_one_capture(shared: list[str], path: str, tmp_path: Path) -> None:
    out = tmp_path / "out" / "tables"
    done = run(path, "--out", str(out), "--format", "json", "--partitions", "2")
    assert done.exit_code in (0, 1), done.output
    document: dict[str, Any] = json.loads(done.stdout)
    assert (document["packets"], document["files"]) == (48, [path])
    assert sorted(document["answers"]) == sorted(aggregate_names())
    assert sum(row["exchanges"] for row in document["answers"]["coverage"]["rows"]) == 12
    assert sorted(entry.name for entry in out.iterdir()) == sorted((*NAMES, "answers"))
    assert sorted(entry.name for entry in (out / "answers").iterdir()) == sorted(aggregate_names())
    assert sum(pq.read_table(part).num_rows for part in (out / "exchanges").iterdir()) == 12
    assert [entry.name for entry in out.parent.iterdir()] == ["tables"]
    again = run(path, "--out", str(out))
    assert again.exit_code == 2
    assert "exists already" in again.stderr
    assert shared == ["local[*]"]


def test_a_report_is_a_page_of_what_the_text_says(shared: list[str], path: str, tmp_path: Path) -> None:
    report = tmp_path / "new" / "out.html"
    done = run(path, "--report", str(report), "--master", "local[2]", "--top", "1")
    assert done.exit_code in (0, 1), done.output
    assert shared == ["local[2]"]
    shown = done.stdout.partition("\nclients\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in shown[:-1]] == ["client.id", "app-0"]
    assert shown[-1].endswith("and 1 more")
    assert "exchanges   12, 100.0 % decoded in full" in done.stdout
    text = report.read_text(encoding="utf-8")
    assert "12 requests, 0 of them with an error or no answer" in text
    assert text.count("<tr class") + text.count("<tr><th scope='row'>") == 4
    assert [entry.name for entry in report.parent.iterdir()] == ["out.html"]
    again = run(path, "--report", str(report))
    assert (again.exit_code, "exists already" in again.stderr) == (2, True)


@pytest.mark.usefixtures("shared")
def test_what_clients_produced_and_what_brokers_stored(tmp_path: Path) -> None:
    data, file, report = tmp_path / "data", tmp_path / "a.pcap", tmp_path / "a.html"
    (data / "orders-4").mkdir(parents=True)
    (data / "orders-4" / f"{0:020}.log").write_bytes(batch())
    talker = TcpConnection(start=START).open()
    for number, offset in enumerate((0, 4)):
        partition = {"index": 4, "error_code": 0, "base_offset": offset}
        response = {"responses": [{"name": "orders", "partition_responses": [partition]}]}
        talker.ask(produce(batch(), correlation_id=number))
        talker.answer(wire.encode_response(PRODUCE, 9, number, response))
    file.write_bytes(pcap_file(talker.close().packets))
    done = run(str(file), "--storage", str(data), "--report", str(report))
    assert done.exit_code == 0, done.output
    heading, row = done.stdout.partition("batches of clients in the logs\n")[2].splitlines()[:2]
    assert heading.split()[:5] == ["topic", "partition", "batches", "in", "the"]
    # Of two batches one is in the log, and one lies behind its end.
    assert row.split() == ["orders", "4", "2", "1", *"000000", "1", "0", "0", "4"]
    assert "batches of clients in the logs <small>1</small>" in report.read_text(encoding="utf-8")
    document = json.loads(run(str(file), "--storage", str(data), "--format", "json").stdout)
    jsonschema.validate(document, strict_schema("analyze.v1.json"))
    (stored,) = document["answers"]["stored_batches"]["rows"]
    assert (stored["batches"], stored["in_log"], stored["missing"]) == (2, 1, 1)
    assert document["answers"]["stored_commits"] == {"total": 0, "rows": []}


def test_storage_that_cannot_be_read_is_one_line(path: str, tmp_path: Path) -> None:
    for arguments, status, said in (
        ((path, "--storage", str(tmp_path / "nothing")), 3, "no such file or directory"),
        ((path, "--storage", str(tmp_path)), 3, "is not a data directory of a broker"),
        ((str(tmp_path), "--follow", "--out", str(tmp_path / "out"), "--storage", "d"), 2, "exclude each other"),
        ((path, "--storage", "volume:data", "--master", "spark://m:7077"), 2, "executors cannot read it"),
    ):
        done = run(*arguments)
        assert (done.exit_code, said in done.stderr) == (status, True), done.output
        assert "Traceback" not in done.output


@pytest.mark.usefixtures("shared")
def test_filters_choose_rows(path: str) -> None:
    done = run(path, "--client", "app-1", "--topic", "topic-1", "--since", str((START + 40) / 1000))
    assert done.exit_code in (0, 1), done.output
    assert "exchanges   3, 100.0 % decoded in full" in done.stdout
    assert "\nclients\n" in done.stdout
    assert "app-0" not in done.stdout


@pytest.mark.usefixtures("shared")
def test_no_kafka_is_nothing_to_check(tmp_path: Path) -> None:
    other = tmp_path / "b.pcap"
    other.write_bytes(pcap_file(TcpConnection(start=START).open().ask(b"hello world").answer(b"who").close().packets))
    done = run(str(other))
    assert (done.exit_code, "no readable Kafka traffic" in done.stderr) == (4, True), done.output


def test_what_cannot_be_is_refused_before_spark_starts(path: str, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "letter.txt").write_text("dear")
    for arguments, status, said in (
        (("-",), 2, "standard input"),
        ((path, "--force"), 2, "--force requires --out or --report"),
        ((path, "--report", str(tmp_path / "precious" / "letter.txt")), 2, "exists already"),
        ((path, "--report", str(tmp_path / "precious" / "letter.txt"), "--force"), 2, "was not written by netdiag"),
        ((path, "--since", "9", "--until", "8"), 2, "is not before"),
        ((path, "--out", str(tmp_path)), 2, "exists already"),
        ((path, "--out", str(tmp_path / "precious"), "--force"), 2, "is not a folder of tables"),
        ((str(tmp_path / "absent.pcap"),), 3, "absent.pcap"),
    ):
        done = run(*arguments)
        assert (done.exit_code, said in done.stderr) == (status, True), (arguments, done.output)
    assert (tmp_path / "precious" / "letter.txt").read_text() == "dear"


def test_without_pyspark_one_line_says_what_to_install(path: str) -> None:
    program = "import sys; sys.modules['pyspark'] = None; from netdiag.cli.main import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", program, "analyze", path],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 3
    assert done.stderr == f"netdiag: analyze needs pyspark, which is not installed: {install_line('spark')}\n"


@pytest.mark.slow
def test_told_to_end_it_leaves_nothing(path: str, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    argv = [*NETDIAG, "analyze", path]
    with subprocess.Popen(argv, env=environment({"TMPDIR": str(scratch)}), stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while not list(scratch.glob("netdiag-tables-*")) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.terminate()
        said = process.communicate(timeout=120)[1]
    assert process.returncode == 143
    assert b"Traceback" not in said
    assert list(scratch.iterdir()) == []
