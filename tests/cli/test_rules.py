"""Rules are listed, and explain themselves in a terminal."""

import json
import os
from pathlib import Path

import pytest

from netdiag.io.spark.class_archive import named, place_of
from netdiag.rules.all_rules import ALL
from tests.cli.shell import netdiag
from tests.io.engine.fake_engine import VERSION, fake_engine
from tests.io.network.hostile import ScriptedBroker, serving


def test_every_rule_has_a_line(tmp_path: Path) -> None:
    done = netdiag("rules", cwd=tmp_path)
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.decode().splitlines()] == [rule.ID for rule in ALL]


def test_a_rule_is_explained(tmp_path: Path) -> None:
    done = netdiag("explain", "advertised-wildcard", cwd=tmp_path)
    assert done.returncode == 0
    text = done.stdout.decode()
    for heading in ("advertised-wildcard (error)", "Why", "Bad", "Good", "Sources", "# <- here"):
        assert heading in text


def test_the_repair_of_the_bad_example_is_shown(tmp_path: Path) -> None:
    text = netdiag("explain", "advertised-internal-name-for-host", cwd=tmp_path).stdout.decode()
    assert "Repair\n    netdiag check-listeners --fix --unsafe-fixes\n    --- a/compose.yml\n" in text
    assert '    +    ports: ["9092:29092"]\n' in text
    assert "check-listeners --fix\n" in netdiag("explain", "controller-wildcard-on-3.9.0", cwd=tmp_path).stdout.decode()
    assert "Repair" not in netdiag("explain", "listener-port-invalid", cwd=tmp_path).stdout.decode()


def test_a_wrong_name_is_wrong_usage_and_gets_the_right_one(tmp_path: Path) -> None:
    done = netdiag("explain", "advertised-wildcrad", cwd=tmp_path)
    assert done.returncode == 2
    assert b"did you mean advertised-wildcard?" in b" ".join(done.stderr.split())


def test_names_are_completed(tmp_path: Path) -> None:
    done = netdiag(
        cwd=tmp_path,
        env={"_NETDIAG_COMPLETE": "complete_bash", "COMP_WORDS": "netdiag explain advertised-wild", "COMP_CWORD": "2"},
    )
    assert done.stdout.split() == [b"advertised-wildcard", b"advertised-wildcard-uncaught"]


@pytest.mark.parametrize("name", ["unused-ignore", "stale-baseline", "declared-client-fails"])
def test_what_is_said_without_a_rule_is_explained_too(tmp_path: Path, name: str) -> None:
    done = netdiag("explain", name, cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, name.encode())
    assert b"docs/configuration.md" in done.stdout


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


def test_what_is_kept_already_is_told(java: str, tmp_path: Path) -> None:
    """Java makes no archive here: that takes a minute, and is the bar `spark-classes`."""
    kept = {"XDG_CACHE_HOME": str(tmp_path)}
    archive = named(place_of({**os.environ, **kept}, java), size=0)
    archive.parent.mkdir()
    archive.touch()
    done = netdiag("doctor", "--warm", cwd=tmp_path, env=kept)
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


def test_the_statuses(tmp_path: Path) -> None:
    broker = ScriptedBroker(node_id=4, brokers=[])
    with serving(broker) as port:
        broker.brokers = [(4, "127.0.0.1", port)]
        well = netdiag("probe", f"127.0.0.1:{port}", "--format", "json", cwd=tmp_path)
        ill = netdiag("probe", f"127.0.0.1:{port},127.0.0.1:1", cwd=tmp_path)
    assert (well.returncode, ill.returncode) == (0, 1), (well, ill)
    assert json.loads(well.stdout)["bootstraps"][0]["contact"]["node_id"] == 4
    assert b"verdict: bootstrap: refused" in ill.stdout
    assert netdiag("probe", "nonsense", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize("place", ["netns:there-is-none", "pid:x", "pid:4194305", "container:kafka"])
def test_a_place_that_is_not_there(place: str, tmp_path: Path) -> None:
    nowhere = {"DOCKER_HOST": f"unix://{tmp_path}/no.sock"}
    found = netdiag("probe", "127.0.0.1:1", "--from", place, cwd=tmp_path, env=nowhere)
    assert found.returncode == 3, found
    assert found.stdout == b""
    assert found.stderr.count(b"\n") <= 2


def test_an_engine_without_containers_leaves_the_docker_host(tmp_path: Path) -> None:
    broker = ScriptedBroker(node_id=1, brokers=[])
    answers = {"/version": VERSION, "/containers/json": [], "/networks": []}
    with serving(broker) as port, fake_engine(tmp_path / "s", answers) as url:
        broker.brokers = [(1, "127.0.0.1", port)]
        found = netdiag("probe", f"127.0.0.1:{port}", "--matrix", "--format", "json", "--host", url, cwd=tmp_path)
        drawn = netdiag("probe", f"127.0.0.1:{port}", "--matrix", "--host", url, cwd=tmp_path)
    assert (found.returncode, drawn.returncode) == (0, 0), (found, drawn)
    cells = json.loads(found.stdout)["matrix"]
    seen = {cell["vantage"]: cell["observed"] for cell in cells if cell["observed"]}
    assert seen == {"docker host": "ok"}
    assert {cell["address"]["port"] for cell in cells} == {port}
    assert b"Where clients can connect" in drawn.stdout


def test_without_an_engine_there_is_none(tmp_path: Path) -> None:
    nowhere = {"DOCKER_HOST": f"unix://{tmp_path}/no.sock"}
    found = netdiag("probe", "127.0.0.1:1", "--matrix", cwd=tmp_path, env=nowhere)
    assert found.returncode == 3, found
