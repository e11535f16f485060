"""The command line of doctor."""

import json
from pathlib import Path

from netdiag.io.kernels import warm_up
from tests.cli.shell import netdiag


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
    assert b'"carrier-pigeon" is no way to an engine' in found.stdout


def test_the_engine_is_compiled_ahead(tmp_path: Path) -> None:
    # In this process first, which nothing stops after a minute: compiling takes as long as the machine is busy.
    warmed = warm_up()
    done = netdiag("doctor", "--warm", cwd=tmp_path)
    assert done.returncode == 0, done
    assert done.stdout.decode() == f"the engine for large captures was compiled already, in {warmed.folder}\n"
    refused = netdiag("doctor", "--warm", "--json", cwd=tmp_path)
    assert refused.returncode == 2
    assert b"--warm compiles and looks at nothing" in refused.stderr
