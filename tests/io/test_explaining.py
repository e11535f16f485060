"""What a client got, explained in a docker host in miniature: cells in, causes out."""

import os
from pathlib import Path

from netdiag.deployment.model.contact import Address, Answered, Failed, Mechanism, NodeEndpoint, Reason
from netdiag.deployment.model.verdict import Cell, EndpointOutcome, Verdict, Word
from netdiag.io.explaining import explain, explain_proof, namespace_of, unexplained, watched
from netdiag.io.proving import prove
from netdiag.linux.netns import NamedNamespace, OwnNamespace, ProcessNamespace
from netdiag.topology.causes.failed_connection import Certainty
from netdiag.topology.path.prediction import PathPredictor
from tests.netlab.faults_world import KAFKA, faulty
from tests.netlab.lab import needs_netlab

REFUSED = Failed(reason=Reason.REFUSED, because="it refuses", ip="192.0.2.1")
ENDPOINT = NodeEndpoint(node_id=1, host="localhost", port=9092)


def test_every_failed_contact_once_bootstraps_first() -> None:
    answered = Answered(node_id=1, cluster_id="x", brokers=(ENDPOINT,))
    outcome = EndpointOutcome(endpoint=ENDPOINT, contact=REFUSED, outcome="refused")
    second = Verdict(word=Word.ADVERTISED, reason="refused", bootstrap=answered, endpoints=(outcome,))
    first = Verdict(word=Word.BOOTSTRAP, reason="refused", bootstrap=REFUSED)
    kafka, host = Address(host="kafka", port=9092), Address(host="192.0.2.1", port=9092)
    cells = (
        Cell(vantage="a", bootstrap=kafka, observed=second),
        Cell(vantage="a", bootstrap=host, observed=first, predicted=first),
        Cell(vantage="b", bootstrap=host),
        Cell(vantage="c", bootstrap=host, observed=first),
    )
    found = unexplained(cells, {"a": OwnNamespace(), "b": OwnNamespace()})
    assert [(one.vantage, str(one.address)) for one in found] == [("a", "192.0.2.1:9092"), ("a", "localhost:9092")]
    assert found[0].foretold is REFUSED
    assert found[1].foretold is None


def test_a_dropped_connection_in_miniature(tmp_path: Path) -> None:
    needs_netlab()
    with faulty(tmp_path) as world:
        seen = world.seen("other", KAFKA, 9092)
        assert isinstance(seen, Failed)
        topology = world.topology()
        name = NamedNamespace(name=world.made.names["other"])
        source = world.made.inodes["other"]
        assert namespace_of(topology, name) == source
        assert namespace_of(topology, ProcessNamespace(pid=os.getpid())) == os.stat("/proc/self/ns/net").st_ino
        assert namespace_of(topology, NamedNamespace(name="nobody")) is None
        verdict = Verdict(word=Word.BOOTSTRAP, reason="timeout", bootstrap=seen)
        cell = Cell(vantage="other", bootstrap=Address(host=KAFKA, port=9092), observed=verdict)
        (explained,) = explain(topology, unexplained((cell,), {"other": name}))
        first = explained.causes[0]
        assert (first.mechanism, first.certainty) == (Mechanism.NETWORK_ISOLATION, Certainty.PROVEN)
        path = PathPredictor(topology).predict(source, KAFKA, 9092)
        assert set(watched(topology, path)) >= {source, world.made.inodes["host"], world.made.inodes["kafka"]}
        foretold, *_ = explain_proof(topology, path, None)
        proven, *_ = explain_proof(topology, path, prove(topology, path))
        assert (foretold.mechanism, foretold.certainty) == (Mechanism.NETWORK_ISOLATION, Certainty.FOUND)
        assert (proven.mechanism, proven.certainty) == (Mechanism.NETWORK_ISOLATION, Certainty.PROVEN)
        works = PathPredictor(topology).predict(world.made.inodes["same"], KAFKA, 9092)
        assert explain_proof(topology, works, prove(topology, works)) == ()
