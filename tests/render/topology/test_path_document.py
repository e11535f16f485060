"""A way as JSON."""

import json
from pathlib import Path

import jsonschema

import netdiag.render
from netdiag.render.topology.json import json_text
from netdiag.render.topology.trace import trace_document
from netdiag.topology.path.attempts import Agreement, LinkSighting, Proof, observed_end
from netdiag.topology.path.prediction import predict_path
from tests.topology.five_brokers import five_brokers

SCHEMA = Path(netdiag.render.__file__).parent / "schema" / "trace.v1.json"


def test_the_document_names_its_places_and_survives_json() -> None:
    topology = five_brokers()
    client = topology.named("shop-client-1")
    assert client is not None
    path = predict_path(topology, client.netns, "broker-2", 29093)
    proof = Proof(
        path=path,
        end=observed_end("ECONNREFUSED"),
        errno="ECONNREFUSED",
        seconds=0.00123,
        attempts=1,
        agreement=Agreement.AGREES,
        because="as foretold",
        seen=(LinkSighting(link=path.hops[1].link, first=True, answer=True),) if path.hops[1].link else (),
    )
    read = json.loads(json_text(trace_document(topology, path, proof)))
    assert (read["format"], read["version"]) == ("netdiag-trace", 1)
    assert read["places"][str(client.netns)] == "shop-client-1"
    assert (read["path"]["end"], read["path"]["errno"]) == ("refused", "ECONNREFUSED")
    assert read["path"]["hops"][0]["kind"] == "resolver"
    assert (read["proof"]["agreement"], read["proof"]["seconds"]) == ("agrees", 0.001)
    assert read["proof"]["seen"][0]["first"] is True
    assert json.loads(json_text(trace_document(topology, path)))["proof"] is None
    described = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(described)
    for document in (read, json.loads(json_text(trace_document(topology, path)))):
        jsonschema.Draft202012Validator(described).validate(document)
