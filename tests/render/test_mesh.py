"""A mesh as text and as JSON values."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema

import netdiag.render
from netdiag.deployment.model.verdict import Address, Answered, Contact, Failed, Reason, Unknown
from netdiag.deployment.prediction.mesh import Edge, EdgeKind, Mesh
from netdiag.render.formats.json import render
from netdiag.render.matrix.sections import mesh_lines
from netdiag.render.report import Matrix, Report
from netdiag.render.screen import Screen, paint

OK = Answered(node_id=None, cluster_id=None)
CUT = Failed(reason=Reason.TIMEOUT, because="172.18.0.3:9092 did not answer in 4.0 s")


def mesh(**observed: Contact | None) -> Mesh:
    """Three brokers and a ZooKeeper; `a_b` names what a got of b, all others got an answer."""
    names = ("k1", "k2", "k3")
    between = [(EdgeKind.INTER_BROKER, a, b) for a in names for b in names if a != b]
    keepers = [(EdgeKind.ZOOKEEPER, a, "zk") for a in names]
    return Mesh(
        edges=tuple(
            Edge(
                kind=kind,
                source=a,
                target=b,
                address=Address(host=b, port=9092),
                predicted=OK,
                observed=observed.get(f"{a}_{b}", OK),
            )
            for kind, a, b in (*between, *keepers)
        )
    )


def drawn(shown: Mesh, width: int = 100) -> str:
    screen = Screen(width=width, encoding="ascii")
    return paint(mesh_lines(shown, screen), screen)


def test_a_whole_cluster_takes_a_line_for_each_kind() -> None:
    assert drawn(mesh()) == (
        "Connections between members of the cluster  (from inside each member)\n"
        "  inter-broker: all 6 connections work\n"
        "  zookeeper: all 3 connections work\n"
    )
    assert mesh_lines(Mesh(), Screen()) == []


def test_a_cut_is_drawn_and_named() -> None:
    assert drawn(mesh(k1_k3=CUT)) == (
        "Connections between members of the cluster  (from inside each member)\n"
        "  inter-broker: 1 of 6 connections fail\n"
        "        k1  k2  k3\n"
        "    k1  -   ok  timeout\n"
        "    k2  ok  -   ok\n"
        "    k3  ok  ok  -\n"
        "    k1 -> k3 at k3:9092: timeout, 172.18.0.3:9092 did not answer in 4.0 s; predicted: ok\n"
        "  zookeeper: all 3 connections work\n"
    )


def test_what_nobody_saw_is_no_cut() -> None:
    text = drawn(mesh(k1_zk=Unknown(because="the time of this run was up"), k2_k1=None))
    assert "  inter-broker: all 5 connections work\n" in text
    assert "  zookeeper: 1 connection unknown\n" in text
    assert "    k1 -> zk at zk:9092: unknown, the time of this run was up" in text
    unseen = Mesh(edges=tuple(replace(e, observed=None) for e in mesh().edges), skipped=(("k1", "needs root"),))
    assert "  inter-broker: 6 connections not checked\n" in drawn(unseen)
    assert "  not checked from k1: needs root\n" in drawn(unseen)


def test_foreign_text_is_harmless_and_a_grid_that_is_too_wide_is_left_out() -> None:
    evil = replace(mesh(k1_k3=CUT).edges[0], target="k\x1b[2J", observed=CUT)
    assert "\x1b" not in drawn(Mesh(edges=(evil,)))
    wide = Mesh(edges=tuple(replace(e, target=e.target * 20) for e in mesh(k1_k3=CUT).edges))
    assert "    k1  " not in drawn(wide, width=60)
    assert "k1 -> " in drawn(wide, width=60)


SCHEMA = Path(netdiag.render.__file__).parent / "schema" / "check-listeners.v1.json"


def test_edges_follow_the_schema_of_the_report() -> None:
    shown = mesh(k1_k3=CUT, k2_k1=None)
    shown = replace(shown, edges=(replace(shown.edges[0], target=""), *shown.edges[1:]))
    report = Report(matrices=(Matrix(input="shop", vantages=(), cells=(), mesh=shown),))
    read = json.loads(render(report))
    jsonschema.validate(read, json.loads(SCHEMA.read_text(encoding="utf-8")))
    edges = read["mesh"]
    assert len(edges) == 9
    assert edges[0]["target"] is None
    cut = {(edge["source"], edge["target"]): edge["cut"] for edge in edges}
    assert cut["k1", "k3"] is True
    assert cut["k2", "k1"] is None
    assert cut["k3", "zk"] is False
    failed = next(edge for edge in edges if edge["cut"])
    assert failed["observed"] == {"outcome": "timeout", "answered_by": None, "because": CUT.because}
    assert failed["predicted"]["outcome"] == "ok"
