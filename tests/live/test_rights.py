"""With fewer rights: which vantages are left, and what is said about the others."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.lab import Lab
from tests.lab.processes import run
from tests.lab.stack import Stack
from tests.live.stacks import SCENARIOS

pytestmark = pytest.mark.bar("rights")

_TOP = Path(__file__).resolve().parents[2]
_LOOK = """
import json, sys
from netdiag.deployment.model.contact import Address
from netdiag.io.engine.live_deployment import read_live
from netdiag.io.network.observation import observe

live = read_live(host=sys.argv[1], project=sys.argv[2])
observed = observe(live.vantages, [Address(host="localhost", port=9092)])
skipped = (*live.skipped, *observed.skipped)
print(json.dumps({
    "cells": {cell.vantage: str(cell.observed) for cell in observed.cells},
    "skipped": {s.vantage.label: [s.rights, s.because] for s in skipped},
    "sockets": sorted(socket.port for socket in live.sockets["kafka"] if socket.on_all_addresses),
    "addresses": live.deployment.host_addresses,
}))
"""


@pytest.fixture(scope="module")
def stack(lab: Lab) -> Iterator[Stack]:
    with lab.up(SCENARIOS / "S07-single-listener-container-name" / "kraft.repaired.yml") as up:
        yield up


def looked(stack: Stack, *prefix: str) -> dict[str, Any]:
    argv = [*prefix, sys.executable, "-c", _LOOK, stack.engine.docker_host, stack.project]
    found: dict[str, Any] = json.loads(run(argv, cwd=_TOP).stdout)
    return found


FEWER = ("setpriv", "--bounding-set", "-sys_admin,-sys_ptrace")


def test_on_the_docker_host_itself_that_vantage_needs_no_rights(stack: Stack) -> None:
    found = looked(stack, "nsenter", f"--net=/run/netns/{stack.engine.record.host_netns}", *FEWER)
    assert found["cells"] == {"docker host": "ok"}
    needs = "entering its network needs CAP_SYS_ADMIN and CAP_SYS_PTRACE"
    (label,) = found["skipped"]
    assert label == "inside kafka"
    assert needs in str(found["skipped"][label])
    assert 9092 in found["sockets"]
    assert found["addresses"] == ["192.168.8.133"]


def test_elsewhere_nothing_is_taken_for_the_docker_host(stack: Stack) -> None:
    found = looked(stack, *FEWER)
    assert found["cells"] == {}
    assert sorted(found["skipped"]) == ["docker host", "inside kafka"]


def test_with_all_rights_every_vantage(stack: Stack) -> None:
    found = looked(stack)
    assert sorted(found["cells"]) == ["docker host", "inside kafka"]
    assert found["skipped"] == {}
