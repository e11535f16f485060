"""What options say about the engine, and that predictions follow."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from netdiag.cli.engine_options import OnOff, stated
from netdiag.cli.main import app
from netdiag.deployment.platform import Firewall, Generation, HostKind, Platform, Stated
from tests.deployment.stacks import five_brokers


def test_what_is_said() -> None:
    assert stated(None, None, None, None) == Stated()
    said = stated(HostKind.WSL2, "28.5.2", OnOff.OFF, Firewall.NFTABLES)
    found = Platform(generation=Generation.V20, userland_proxy=True, bridge_filter=False)
    assert said.over(found) == Platform(
        kind=HostKind.WSL2,
        generation=Generation.V28,
        userland_proxy=False,
        firewall=Firewall.NFTABLES,
        bridge_filter=False,
    )
    assert Stated().over(found) == found


def test_no_release() -> None:
    with pytest.raises(typer.BadParameter, match='"new" is no release'):
        stated(None, "new", None, None)


@pytest.mark.parametrize(
    ("options", "vantage", "bootstrap", "expected", "mechanism"),
    [
        ([], "container elsewhere", "192.168.8.133:9091", "unknown", None),
        (["--engine", "28"], "container elsewhere", "192.168.8.133:9091", "bootstrap", "hairpin-dropped"),
        (["--engine", "29"], "container elsewhere", "192.168.8.133:9091", "advertised", None),
        (["--userland-proxy", "on"], "container elsewhere", "192.168.8.133:9091", "advertised", None),
        (["--platform", "desktop"], "docker host", "localhost:9091", "ok", None),
    ],
)
def test_predictions_follow(
    tmp_path: Path, options: list[str], vantage: str, bootstrap: str, expected: str, mechanism: str | None
) -> None:
    file = tmp_path / "compose.yml"
    file.write_text(five_brokers(), encoding="utf-8")
    usual = ["--docker-host-ip", "192.168.8.133", "--userland-proxy", "off", "--format", "json"]
    result = CliRunner().invoke(app, ["check-listeners", str(file), *usual, *options])
    cells = json.loads(result.stdout)["matrix"]
    (cell,) = (c for c in cells if (c["vantage"], c["bootstrap"]) == (vantage, bootstrap))
    assert (cell["predicted"]["verdict"], cell["predicted"]["mechanism"]) == (expected, mechanism)
