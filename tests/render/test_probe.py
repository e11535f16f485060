"""A probe as text and as JSON."""

import json

import jsonschema

from netdiag.deployment.model.verdict import Address, Cell
from netdiag.deployment.observation.probe import ProbeReport
from netdiag.io.network.probe import Question, probe
from netdiag.linux.netns import OwnNamespace
from netdiag.render.probe import probe_document, probe_text
from netdiag.render.report import Matrix
from netdiag.render.screen import Screen
from netdiag.render.topology.json import json_text
from tests.io.network.hostile import ScriptedBroker, serving
from tests.render.schemas import strict_schema


def probed() -> ProbeReport:
    """One broker as it should be, one whose name has a control character, one that is somebody else."""
    broker = ScriptedBroker(node_id=1, brokers=[])
    with serving(broker) as port:
        broker.brokers = [(1, "127.0.0.1", port), (2, "ev..il\x1b[2J", 9092), (3, "127.0.0.1", port)]
        addresses = (Address(host="127.0.0.1", port=port), Address(host="127.0.0.1", port=1))
        return probe("host", OwnNamespace(), Question(bootstraps=addresses, group="shop"))


def test_text_tells_every_step_and_the_next() -> None:
    story = probed()
    text = probe_text(story, Screen(width=90))
    port = story.bootstraps[0].dialogue.address.port
    lines = text.splitlines()
    assert lines[0] == f"127.0.0.1:{port} from host"
    assert lines[1].startswith("  resolve  127.0.0.1 is an address")
    assert f"broker 1, at 127.0.0.1:{port}: ok" in lines
    assert f"broker 3, at 127.0.0.1:{port}: wrong-broker" in lines
    assert "verdict: partial 1/3" in lines
    assert "verdict: bootstrap: refused" in lines
    assert "next:    find out where the path ends: run `netdiag trace host 127.0.0.1:1`" in lines
    assert all(len(line) <= 90 for line in lines)
    assert "\x1b" not in text
    assert "ev..il\\x1b[2J" in text


def test_text_is_coloured_where_that_is_wanted() -> None:
    assert "\x1b[31mwrong-broker\x1b[0m" in probe_text(probed(), Screen(colour=True))


SCHEMA = strict_schema("probe.v1.json")


def test_json_follows_its_schema() -> None:
    story = probed()
    address = story.bootstraps[0].dialogue.address
    cell = Cell(vantage="docker host", bootstrap=address, observed=story.bootstraps[0].verdict)
    matrix = Matrix(input="x", vantages=(), cells=(cell,))
    assert json.loads(json_text(probe_document(story)))["matrix"] is None
    read = json.loads(json_text(probe_document(story, matrix)))
    jsonschema.validate(read, SCHEMA)
    assert [(cell["vantage"], cell["predicted"], cell["observed"]) for cell in read["matrix"]] == [
        ("docker host", None, "partial 1/3")
    ]
    first, second = read["bootstraps"]
    assert (first["verdict"], first["usable"], second["contact"]["outcome"]) == ("partial 1/3", False, "refused")
    assert [endpoint["outcome"] for endpoint in first["endpoints"]] == ["ok", "unresolved", "wrong-broker"]
    assert first["group"]["harmless"] is True
    assert all(step["ms"] >= 0 for attempt in first["attempts"] for step in attempt["steps"])
