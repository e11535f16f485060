"""The mesh of two clusters that are harmed from outside: it names what was cut, no more and no less."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from netdiag.deployment.prediction.mesh import is_cut
from tests.cli.shell import process
from tests.figures import Report
from tests.lab.lab import Lab
from tests.live.mesh_cluster import Cluster, Injected, differences, expected_ways, running, way

Harm = Callable[[Cluster], Injected]

# Every kind of fault, in either cluster.
SINGLE: dict[str, Harm] = {
    "broker stopped": lambda c: c.stop("z2"),
    "broker paused": lambda c: c.pause("k1"),
    "link down": lambda c: c.unlink("z3"),
    "port off the bridge": lambda c: c.pull("k2"),
    "dropped one way": lambda c: c.drop_one_way("z1", "z2", 9092),
    "dropped both ways": lambda c: c.drop_both_ways("k1", "k3"),
    "name server gone": lambda c: c.silence_names("z1"),
    "ZooKeeper cut off": lambda c: c.cut_from_zookeeper("z3"),
    "controller killed": lambda c: c.kill_controller(),
}


@pytest.fixture(scope="module")
def cluster(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running(lab, tmp_path_factory.mktemp("mesh")) as made:
        yield made


def harmed(cluster: Cluster, *harms: Harm) -> tuple[int, list[str]]:
    """What is compared under some faults at once, all of them undone afterwards, the last one first."""
    faults: list[Injected] = []
    try:
        for harm in harms:
            faults.append(harm(cluster))
        return differences(cluster, faults)
    finally:
        for fault in reversed(faults):
            fault.undo()


def test_a_whole_cluster(cluster: Cluster) -> None:
    mesh = cluster.mesh()
    assert {way(edge) for edge in mesh.edges} == expected_ways()
    assert [way(edge) for edge in mesh.edges if is_cut(edge) is not False] == []
    assert mesh.skipped == ()


def test_faults_at_once(cluster: Cluster) -> None:
    """Kinds that do not overlap, so that one look tells all of them."""
    compared, wrong = harmed(cluster, SINGLE["dropped one way"], SINGLE["broker paused"], SINGLE["ZooKeeper cut off"])
    cluster.wait_until_whole()
    assert wrong == []
    assert compared == len(expected_ways())


def test_the_command_names_what_is_cut(cluster: Cluster, tmp_path: Path) -> None:
    engine = cluster.lab.engine.docker_host
    first = cluster.stack.container("z1")[:12]
    words = ("check-listeners", "--live", "--host", engine, "--container", first, "--timeout", "8")
    fault = cluster.silence_names("z1")
    try:
        found = process(*words, "--format", "json", "--output", "r.json", "--format", "text", cwd=tmp_path)
        probed = process("probe", "z2:9092", "--from", f"container:{first}", "--host", engine, cwd=tmp_path)
    finally:
        fault.undo()
    assert found.returncode == 1, found.stderr
    cut = {(e["source"], e["target"]) for e in json.loads((tmp_path / "r.json").read_text())["mesh"] if e["cut"]}
    assert cut == {("z1", "z2"), ("z1", "z3"), ("z1", "zookeeper")}
    assert "inter-broker: 2 of 6 connections fail" in found.stdout.decode()
    assert "verdict: bootstrap: unresolved" in probed.stdout.decode(), probed


@pytest.mark.bar("mesh-truth", long=True)
def test_every_fault_and_random_pairs(cluster: Cluster, figure: Report) -> None:
    chance = Random(18)
    scenes: list[tuple[str, ...]] = [(name,) for name in SINGLE]
    while len(scenes) < len(SINGLE) + 10:
        pair = tuple(chance.sample(sorted(SINGLE), 2))
        if pair not in scenes and pair[::-1] not in scenes:
            scenes.append(pair)
    total, wrong = 0, []
    for names in scenes:
        compared, found = harmed(cluster, *(SINGLE[name] for name in names))
        total += compared
        wrong += [f"{' and '.join(names)}: {one}" for one in found]
        cluster.wait_until_whole()
    figure("faults, single and in pairs", len(scenes))
    figure("edges right", f"{total - len(wrong)} of {total}")
    assert wrong == []
