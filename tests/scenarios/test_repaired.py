"""The broken stacks after `--fix --unsafe-fixes`: as their repaired twins are, or proved by starting them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.figures import Report
from tests.lab.lab import Lab
from tests.lab.lead_topics import lead_topics
from tests.lab.oracles import Cell
from tests.rules.test_examples import FILE, repaired
from tests.scenarios.expectations import SCENARIOS
from tests.scenarios.real_clients import vantage_of

BROKEN = sorted(SCENARIOS.glob("S0[23478]*/*.broken.yml"))
# Repaired by other means than in the twin: containers keep their address, the docker host gets a port of its own.
SPLIT = [path for path in BROKEN if path.parent.name.startswith(("S07", "S08"))]
# (stack, cells that must work): the clients that a file shows stand at C, its published ports are for H. What is
# repaired as in the twin is started as the twin, in test_five_brokers.py.
STARTED = [
    pytest.param(
        path,
        (("H", "localhost:9092"), ("C", "kafka:9092")),
        marks=() if path.stem.startswith("kraft") else pytest.mark.bar("cells", long=True),
        id=f"{path.parent.name[:3]}-{path.stem}",
    )
    for path in SPLIT
]


def fixed(path: Path) -> str:
    return repaired({FILE: path.read_bytes()}).after[FILE].decode()


def lines(text: str) -> list[str]:
    """What counts: no comments, and no names of the stack."""
    kept = (line for line in text.splitlines() if not line.startswith(("#", "name:")))
    return [line for line in kept if "KAFKA_CLUSTERS_0_NAME" not in line]


@pytest.mark.parametrize("path", [p for p in BROKEN if p not in SPLIT], ids=lambda p: f"{p.parent.name[:3]}-{p.stem}")
def test_the_repair_is_that_of_the_twin(path: Path) -> None:
    twin = path.with_name(path.name.replace(".broken", ".repaired"))
    assert lines(fixed(path)) == lines(twin.read_text(encoding="utf-8"))


@pytest.mark.lab
@pytest.mark.parametrize(("path", "cells"), STARTED)
def test_clients_work_after_the_repair(
    lab: Lab, path: Path, cells: tuple[tuple[str, str], ...], tmp_path: Path, figure: Report
) -> None:
    file = tmp_path / path.name
    file.write_text(fixed(path), encoding="utf-8")
    with lab.up(file, wait="ready") as running:
        topic = lead_topics(running)
        said = {
            (vantage, bootstrap): lab.oracles.ask(
                "kcat", Cell(vantage=vantage_of(running, vantage), bootstrap=bootstrap, topic=topic)
            ).verdict()
            for vantage, bootstrap in cells
        }
    figure(f"cells of kcat that work after the repair, {path.parent.name[:3]} {path.stem}", len(said))
    assert said == dict.fromkeys(cells, "ok")
