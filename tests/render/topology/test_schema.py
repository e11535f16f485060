"""JSON is a contract: the schemas describe it wholly, for whatever machine there is."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import netdiag.render
from netdiag.render.topology.diff import changes_json
from netdiag.render.topology.json import json_text, topology_document
from netdiag.rules.topology import check_topology
from netdiag.topology.diff import differences
from netdiag.topology.graph import LinkTraffic, Topology
from netdiag.topology.inventory import LinkId
from netdiag.topology.path.reach import with_reach
from tests.render.topology.hostile import hostile
from tests.render.topology.namespaces import HOST
from tests.render.topology.topologies import cluster
from tests.topology.five_brokers import five_brokers

FOLDER = Path(netdiag.render.__file__).parent / "schema"


def schema(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def with_traffic() -> Topology:
    link = LinkId(netns=HOST, ifindex=11)
    return replace(cluster(), traffic={link: LinkTraffic(link=link, captured=True)})


@pytest.mark.parametrize("name", ["topology.v1.json", "topology-diff.v1.json"])
def test_the_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize(
    "topology",
    [cluster(), hostile(), with_traffic(), with_reach(five_brokers())],
    ids=["cluster", "hostile", "traffic", "five brokers"],
)
def test_documents_keep_the_schema(topology: Topology) -> None:
    value = json.loads(json_text(topology_document(topology, check_topology(topology))))
    jsonschema.Draft202012Validator(schema("topology.v1.json")).validate(value)


def test_what_changed_keeps_its_schema() -> None:
    changes = differences(topology_document(cluster(1)), topology_document(hostile()))
    assert {change.turn.value for change in changes} == {"appeared", "gone", "changed"}
    jsonschema.Draft202012Validator(schema("topology-diff.v1.json")).validate(json.loads(changes_json(changes)))


def test_the_schema_names_every_part() -> None:
    assert list(schema("topology.v1.json")["properties"]) == list(topology_document(cluster()))
