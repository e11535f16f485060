"""The archive holds the package with what it reads, and nothing else."""

import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from netdiag.io.spark.cluster import misses
from netdiag.io.spark.shipping import ENGINE, engine_archive, engine_here, package_archive
from netdiag.traffic import native


def test_the_package_works_from_its_archive(tmp_path: Path) -> None:
    archive = package_archive(tmp_path)
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import netdiag; from netdiag.traffic.tables import table; from netdiag.kafka.protocol import encode_request\n"
        "print(netdiag.__file__, len(table('exchanges').columns), len(encode_request(3, 12, 1, 'a', {'topics': None})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(archive)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.startswith(f"{archive}/netdiag/__init__.py ")


def test_examples_stay_behind_and_bytes_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    archive = package_archive(tmp_path)
    with zipfile.ZipFile(archive) as read:
        inside = read.namelist()
    assert all(name.startswith("netdiag/") for name in inside)
    assert not [name for name in inside if name.startswith("netdiag/data/") or name.endswith(".pyc")]
    assert archive.stat().st_size < 4_000_000
    assert archive.read_bytes() == package_archive(tmp_path / "again").read_bytes()


def test_the_engine_works_where_its_archive_was_unpacked(tmp_path: Path) -> None:
    unpacked = tmp_path / "unpacked"
    with zipfile.ZipFile(engine_archive(tmp_path)) as archive:
        archive.extractall(unpacked)
    program = "import sys; sys.path.insert(0, sys.argv[1]); import netdiag_native; print(netdiag_native.__file__)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, str(unpacked)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.startswith(str(unpacked))


def test_an_executor_takes_the_engine_that_was_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netdiag.io.spark.shipping.SparkFiles.get", lambda name: str(tmp_path / name))
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = list(sys.path)
    engine_here()
    assert sys.path == before
    monkeypatch.setattr("netdiag.io.spark.shipping.find_spec", lambda name: None)
    engine_here()
    assert sys.path == [*before, str(tmp_path / ENGINE)]


def test_an_executor_without_the_engine_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "mark"
    mark.touch()
    assert list(misses(str(mark), {})) == []

    def missing() -> str:
        raise native.MissingEngine

    monkeypatch.setattr(native, "version", missing)
    ((where, message, hint),) = misses(str(mark), {})
    assert where == socket.gethostname()
    assert "capture engine" in message
    assert "Python 3." in message
    assert hint.startswith("on every worker, ")
