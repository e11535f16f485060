"""Metrics as they are served: both formats are valid for those who read them."""

import http.client
import json
import re
import socket
import subprocess

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import netdiag.io.metrics
from netdiag.deployment.model.verdict import Address
from netdiag.errors import NetdiagError
from netdiag.io.metrics import MetricsServer
from netdiag.render.metrics import metrics
from tests.cli.shell import ROOT
from tests.live.prometheus import free_port
from tests.render.test_metrics import PARTIAL, UNKNOWN, report_of
from tests.tools import tool

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


def served(port: int, accept: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/metrics", headers={"Accept": accept})
    answer = connection.getresponse()
    assert answer.status == 200
    text = answer.read().decode()
    connection.close()
    return text


def test_both_formats_are_valid_and_show_the_last_look_only() -> None:
    port = free_port()
    with MetricsServer(Address(host="127.0.0.1", port=port)) as server:
        server.show(metrics(report_of(PARTIAL, UNKNOWN), rounds=1, seconds=1, ended=2))
        plain = served(port, "text/plain")
        checked = subprocess.run(
            [tool("promtool"), "check", "metrics"], input=plain, capture_output=True, text=True, check=False
        )
        assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")
        families = {one.name: one for one in text_string_to_metric_families(served(port, OPEN_METRICS))}  # type: ignore[no-untyped-call]
        states = [s for s in families["netdiag_cell_state"].samples if s.value == 1]
        assert [s.labels["netdiag_cell_state"] for s in states] == ["partial", "unknown"]
        assert families["netdiag_looks"].type == "counter"
        server.show(metrics(report_of(UNKNOWN), rounds=2, seconds=1, ended=2))
        again = served(port, "text/plain")
        assert "netdiag_broker_usable{" in plain
        assert "netdiag_broker_usable{" not in again
        assert "netdiag_looks_total 2.0" in again
    with pytest.raises(OSError, match="refused"):
        served(port, "text/plain")


def test_a_client_that_says_nothing_is_left(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(netdiag.io.metrics, "PATIENCE", 0.2)
    port = free_port()
    with (
        MetricsServer(Address(host="127.0.0.1", port=port)) as server,
        socket.create_connection(("127.0.0.1", port), timeout=10) as silent,
    ):
        silent.sendall(b"GET /met")
        assert silent.recv(1) == b""
        server.show(metrics(report_of(PARTIAL), rounds=1, seconds=1, ended=2))
        assert "netdiag_looks_total 1.0" in served(port, "text/plain")
    assert capfd.readouterr().err == ""


def test_an_address_that_is_taken_is_one_line() -> None:
    where = Address(host="127.0.0.1", port=free_port())
    with (
        MetricsServer(where),
        pytest.raises(NetdiagError, match=r"127\.0\.0\.1:\d+: cannot be served: Address already in use"),
        MetricsServer(where),
    ):
        pass


def test_the_rules_of_the_documentation_are_valid() -> None:
    rules = ROOT / "docs" / "metrics" / "netdiag.rules.yml"
    checked = subprocess.run([tool("promtool"), "check", "rules", rules], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "4 rules found" in checked.stdout


def test_rules_and_dashboard_ask_for_metrics_that_there_are() -> None:
    known = {"netdiag_looks_total", *(one.name for one in metrics(report_of(PARTIAL), rounds=1, seconds=1, ended=1))}
    for name in ("netdiag.rules.yml", "dashboard.json"):
        text = (ROOT / "docs" / "metrics" / name).read_text()
        asked = set(re.findall(r"netdiag_[a-z_]+", text))
        assert asked
        assert asked <= known
    assert json.loads((ROOT / "docs" / "metrics" / "dashboard.json").read_text())["panels"]
