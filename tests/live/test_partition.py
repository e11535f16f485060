"""S18 with real brokers: the mesh while clusters are harmed, and who coordinates a group."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from netdiag.deployment.prediction.mesh import is_cut
from tests.cli.shell import process
from tests.figures import Report
from tests.lab.lab import Lab
from tests.live.mesh_cluster import Cluster, Injected, Way, differences, way
from tests.live.stacks import SCENARIOS

_FOLDER = SCENARIOS / "S18-partition-and-death"
_NAMES = ("broker-1", "broker-2", "broker-3")
_BETWEEN = {("inter-broker", a, b, 29092) for a in _NAMES for b in _NAMES if a != b}
WAYS: dict[str, frozenset[Way]] = {
    "zookeeper": frozenset(_BETWEEN | {("zookeeper", a, "zookeeper", 2181) for a in _NAMES}),
    "kraft": frozenset(_BETWEEN | {("controller", a, b, 19093) for a in _NAMES for b in _NAMES if a != b}),
}
_HARMS: dict[str, Callable[[Cluster], Injected]] = {
    "a broker paused": lambda c: c.pause("broker-2"),
    "a follower that does not see the leader": lambda c: c.drop_one_way("broker-1", "broker-2", 29092),
    "cut from each other": lambda c: c.drop_both_ways("broker-1", "broker-3"),
    "its port off the bridge": lambda c: c.pull("broker-3"),
    "its name server gone": lambda c: c.silence_names("broker-1"),
}


@pytest.mark.bar("mesh-truth", long=True)
@pytest.mark.parametrize("form", ["zookeeper", "kraft"])
def test_real_brokers(lab: Lab, form: str, tmp_path: Path, figure: Report) -> None:
    with lab.up(_FOLDER / f"{form}.yml") as stack:
        cluster = Cluster(lab=lab, stack=stack, ways=WAYS[form])
        cluster.wait_until_whole()
        mesh = cluster.mesh()
        assert {way(edge) for edge in mesh.edges} == cluster.ways
        assert [str(edge) for edge in mesh.edges if is_cut(edge) is not False] == []
        harms = dict(_HARMS)
        if form == "zookeeper":
            harms["ZooKeeper cut off"] = lambda c: c.cut_from_zookeeper("broker-3")
        harms["the active controller lost"] = lambda c: c.stop(f"broker-{_controller(lab, tmp_path)}")
        total, wrong = 0, []
        for name, harm in harms.items():
            fault = harm(cluster)
            try:
                compared, found = differences(cluster, [fault])
            finally:
                fault.undo()
            total += compared
            wrong += [f"{name}: {one}" for one in found]
            cluster.wait_until_whole()
        figure(f"{form}: edges right with real brokers", f"{total - len(wrong)} of {total}")
        assert wrong == []
        _coordinator_is_told(lab, cluster, tmp_path)


def _controller(lab: Lab, folder: Path) -> int:
    """The controller as kcat names it."""
    argv = lab.engine.host.argv_in_root(lab.client_root, ["kcat", "-L", "-J", "-b", "localhost:9091"])
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    return int(json.loads(done.stdout)["controllerid"])


def _coordinator_is_told(lab: Lab, cluster: Cluster, folder: Path) -> None:
    """Before a group was used nobody is asked to make the topic of offsets; afterwards the coordinator is told."""
    place = f"container:{cluster.stack.container('broker-2')}"
    engine = lab.engine.docker_host
    rest = ("--host", engine, "--format", "json", "--group", "shop")
    words = ("probe", "broker-1:29092", "--from", place, *rest)

    def group() -> dict[str, object]:
        told = process(*words, cwd=folder)
        assert told.returncode == 0, told
        found: dict[str, object] = json.loads(told.stdout)["bootstraps"][0]["group"]
        return found

    assert group()["harmless"] is True
    argv = lab.engine.host.argv_in_root(
        lab.client_root, ["timeout", "20", "kcat", "-b", "localhost:9091", "-G", "shop", "-e", "nothing-here"]
    )
    subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    found = group()
    assert found["outcome"] == "ok", found
    assert found["coordinator"] in [{"node_id": n, "host": f"broker-{n}", "port": 29092} for n in (1, 2, 3)]
