"""The command line of probe."""

import json
from pathlib import Path

import pytest
import typer

from netdiag.cli.probe import bootstraps_of
from netdiag.deployment.model.contact import Address
from tests.cli.shell import netdiag
from tests.io.hostile import ScriptedBroker, serving


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kafka:9092", [("kafka", 9092)]),
        ("a:1,b:2, a:1", [("a", 1), ("b", 2)]),
        ("[::1]:9092", [("::1", 9092)]),
        ("PLAINTEXT://a:1,SSL://[fd00::1]:2", [("a", 1), ("fd00::1", 2)]),
    ],
)
def test_bootstraps(text: str, expected: list[tuple[str, int]]) -> None:
    assert bootstraps_of(text) == tuple(Address(host=host, port=port) for host, port in expected)


@pytest.mark.parametrize("text", ["", ",", "a", "a:", "::1:9092", "a:1,b", "a:70000", ",".join(["a:1"] * 101)])
def test_what_is_no_bootstrap_list(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        bootstraps_of(text)


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
