"""Edges as JSON."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema

import netdiag.render
from netdiag.render.formats.json import render
from netdiag.render.report import Matrix, Report
from tests.render.test_mesh_text import CUT, mesh

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
