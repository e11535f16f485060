"""The command line of doctor."""

import json
from pathlib import Path

import pytest

from tests.cli.shell import netdiag
from tests.io.spark.test_class_archive import made_ahead


def test_without_an_engine(tmp_path: Path) -> None:
    nowhere = {"DOCKER_HOST": f"unix://{tmp_path}/no.sock"}
    text = netdiag("doctor", cwd=tmp_path, env=nowhere)
    assert text.returncode == 1, text
    assert b"missing engine" in text.stdout
    document = netdiag("doctor", "--json", cwd=tmp_path, env=nowhere)
    assert document.returncode == 1
    engine = next(each for each in json.loads(document.stdout)["abilities"] if each["name"] == "engine")
    assert engine["state"] == "missing"
    assert document.stderr == b""


def test_an_engine_of_another_machine_is_named_by_its_option(tmp_path: Path) -> None:
    found = netdiag("doctor", "--host", "carrier-pigeon://x", cwd=tmp_path)
    assert found.returncode == 1
    assert b'"carrier-pigeon" is not a known scheme' in found.stdout


@pytest.mark.usefixtures("java")
def test_what_takes_long_is_made_ahead(tmp_path: Path) -> None:
    # By itself first, which nothing stops after a minute: it takes as long as the machine is busy.
    _, archive = made_ahead()
    done = netdiag("doctor", "--warm", cwd=tmp_path)
    assert done.returncode == 0, done
    assert done.stdout.decode() == f"Java's classes of Spark were kept already, in {archive}\n"
    refused = netdiag("doctor", "--warm", "--json", cwd=tmp_path)
    assert refused.returncode == 2
    assert b"--warm excludes --json and --host" in refused.stderr


@pytest.mark.usefixtures("java")
def test_what_cannot_be_made_ahead_is_told(tmp_path: Path) -> None:
    kept = {"XDG_CACHE_HOME": str(tmp_path / "my cache")}
    done = netdiag("doctor", "--warm", cwd=tmp_path, env=kept)
    assert done.returncode == 0, done
    assert b"Java's classes of Spark are not kept: " in done.stdout
    assert b"cannot be kept under such a name" in done.stdout
