"""compose/spark.yml: Spark of the version that make uses, everything checked before it counts, nothing open."""

import re
from typing import Any

from ruamel.yaml import YAML
from typer.testing import CliRunner

from netdiag.cli.main import app
from tests.house.tree import ROOT

FILE = ROOT / "compose" / "spark.yml"


def services() -> dict[str, Any]:
    loaded: dict[str, Any] = YAML(typ="safe").load(FILE.read_text(encoding="utf-8"))["services"]
    return loaded


def test_spark_is_that_of_the_driver() -> None:
    pinned = re.search(r"^pyspark==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert pinned
    assert set(re.findall(r"apache/spark:(\S+)", FILE.read_text(encoding="utf-8"))) == {pinned[1]}


def test_what_runs_on_is_checked_and_waited_for() -> None:
    found = services()
    assert all(found[name]["healthcheck"]["retries"] for name in ("master", "worker"))
    assert found["worker"]["depends_on"] == {"master": {"condition": "service_healthy"}}
    assert found["netdiag"]["depends_on"] == {"worker": {"condition": "service_healthy"}}


def test_driver_and_workers_share_captures_and_output() -> None:
    found = services()
    assert found["worker"]["volumes"] == found["netdiag"]["volumes"]
    assert [volume.rpartition("}")[2] for volume in found["worker"]["volumes"]] == [":/captures:ro", ":/output"]


def test_nothing_is_open_to_others() -> None:
    ports = [port for service in services().values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_our_own_lint_finds_nothing_in_it() -> None:
    done = CliRunner().invoke(app, ["check-listeners", str(FILE)])
    assert (done.exit_code, "no findings" in done.stdout) == (4, True), done.output
