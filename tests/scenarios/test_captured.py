"""S08 on the wire: what kcat in the brokers' network was told, and what came of it; bundled and fresh."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.lab.lab import Lab
from tests.scenarios.captured import ROOT, S08, record

BUNDLED = S08 / "client.pcapng"


def rows(capture: Path, table: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "netdiag", "exchanges", str(capture), "--table", table, "--format", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=60)
    assert done.returncode in (0, 4), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def told(capture: Path) -> set[str]:
    """The hosts that responses send the client to."""
    return {row["host"] for row in rows(capture, "endpoints")}


def opened(capture: Path) -> set[tuple[str, str]]:
    """The addresses that were connected to, with what came of it."""
    return {(row["broker"].rpartition(":")[0], row["opening"]) for row in rows(capture, "connections")}


def test_the_bundled_client_is_sent_to_itself_and_refused() -> None:
    assert told(BUNDLED) == {"localhost"}
    assert ("127.0.0.1", "refused") in opened(BUNDLED)
    exchanges = rows(BUNDLED, "exchanges")
    assert {row["api_name"] for row in exchanges} == {"ApiVersions", "Metadata"}
    assert {row["outcome"] for row in exchanges} == {"answered"}
    assert {row["name"] for row in rows(BUNDLED, "names")} == {"kafka"}


@pytest.mark.parametrize(
    ("form", "bootstrap", "verdict"), [("broken", "kafka:9092", "advertised"), ("repaired", "kafka:29092", "ok")]
)
def test_a_fresh_capture_tells_what_kcat_met(lab: Lab, tmp_path: Path, form: str, bootstrap: str, verdict: str) -> None:
    capture = tmp_path / "client.pcapng"
    with lab.up(S08 / f"kraft.{form}.yml") as stack:
        assert record(lab, stack, bootstrap, capture) == verdict
    broken = form == "broken"
    assert ("localhost" in told(capture)) is broken
    assert (("127.0.0.1", "refused") in opened(capture)) is broken
