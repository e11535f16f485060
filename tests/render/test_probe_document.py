"""A probe as JSON."""

import json
from pathlib import Path

import jsonschema

import netdiag.render
from netdiag.deployment.model.verdict import Cell
from netdiag.render.probe import probe_document
from netdiag.render.report import Matrix
from netdiag.render.topology.json import json_text
from tests.render.test_probe_text import probed

SCHEMA = Path(netdiag.render.__file__).parent / "schema" / "probe.v1.json"


def test_json_follows_its_schema() -> None:
    story = probed()
    address = story.bootstraps[0].dialogue.address
    cell = Cell(vantage="docker host", bootstrap=address, observed=story.bootstraps[0].verdict)
    matrix = Matrix(input="x", vantages=(), cells=(cell,))
    assert json.loads(json_text(probe_document(story)))["matrix"] is None
    read = json.loads(json_text(probe_document(story, matrix)))
    jsonschema.validate(read, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert [(cell["vantage"], cell["predicted"], cell["observed"]) for cell in read["matrix"]] == [
        ("docker host", None, "partial 1/3")
    ]
    first, second = read["bootstraps"]
    assert (first["verdict"], first["usable"], second["contact"]["outcome"]) == ("partial 1/3", False, "refused")
    assert [endpoint["outcome"] for endpoint in first["endpoints"]] == ["ok", "unresolved", "wrong-broker"]
    assert first["group"]["harmless"] is True
    assert all(step["ms"] >= 0 for attempt in first["attempts"] for step in attempt["steps"])
