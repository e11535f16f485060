"""What ports show of their security, as text and as JSON."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import jsonschema

from netdiag.deployment.model.causes import Cause, Certainty, Explanation, Repair
from netdiag.deployment.model.verdict import Address, Answered, Contact, Failed, Mechanism, Reason, Unknown
from netdiag.deployment.observation.live_view import SecuredPort
from netdiag.deployment.prediction.mesh import Edge, EdgeKind, Mesh
from netdiag.kafka.security import (
    Certificate,
    CertificateFault,
    ListenerSecurity,
    SaslOffer,
    SpokenProtocol,
    TlsHandshake,
)
from netdiag.render.formats.json import render
from netdiag.render.formats.json import render as render_json
from netdiag.render.formats.text import render as render_text
from netdiag.render.matrix.sections import cause_lines, cause_value, explained_lines, explained_value, mesh_lines
from netdiag.render.report import Matrix, Report, SeenPort
from netdiag.render.screen import Screen, paint
from tests.render.schemas import strict_schema
from tests.render.test_json import valid


def certificate(name: str = "kafka", issuer: str = "Root") -> Certificate:
    """One certificate, with text that a terminal should not get."""
    return Certificate(
        subject=f"CN={name}",
        issuer=f"CN={issuer}",
        common_name=name,
        names=(name, "localhost", "\x1b[2Jevil"),
        addresses=("10.0.0.1",),
        not_before=datetime(2026, 1, 1, tzinfo=UTC),
        not_after=datetime(2027, 1, 1, tzinfo=UTC),
        key="RSA 2048",
        key_bits=2048,
        signature="sha256WithRSAEncryption",
        is_authority=False,
        fingerprint="ab" * 32,
    )


def seen(address: str, sight: ListenerSecurity) -> SeenPort:
    """A port of the listener SECURE of kafka."""
    host, _, port = address.rpartition(":")
    where = Address(host=host, port=int(port))
    return SeenPort(
        input="shop",
        port=SecuredPort(vantage="docker host", address=where, member="kafka", listener="SECURE", sight=sight),
    )


TLS = TlsHandshake(
    versions=("TLSv1.2", "TLSv1.3"),
    cipher="TLS_AES_256_GCM_SHA384",
    chain=(certificate(), certificate("Sub")),
    wants_client=True,
    needs_client=True,
    faults=((CertificateFault.NAME, '"x" is not among its names'), (CertificateFault.EXPIRES_SOON, "in 3 days")),
)
REFUSED = SaslOffer(
    mechanisms=("PLAIN",), mechanism="PLAIN", authenticated=False, error="refused: password=hunter2 \x1b[31m"
)
LOGGED_IN = SaslOffer(mechanisms=("PLAIN", "SCRAM-SHA-512"), mechanism="PLAIN", authenticated=True)
SECURED = ListenerSecurity(spoken=SpokenProtocol.SASL_SSL, tls=TLS, sasl=REFUSED)
SIGHTS = (
    seen("kafka:9094", SECURED),
    seen("localhost:9094", SECURED),
    seen("kafka:9095", ListenerSecurity(spoken=SpokenProtocol.SASL_PLAINTEXT, sasl=LOGGED_IN)),
    seen("kafka:8080", ListenerSecurity(spoken=SpokenProtocol.HTTP, detail="it answers with HTTP")),
)


def test_the_section() -> None:
    text = render_text(Report(security=SIGHTS), Screen(width=100))
    assert text.splitlines() == [
        "Protocol of each port  (observed)",
        "  kafka:9094, localhost:9094  SASL_SSL  listener SECURE of kafka, seen from docker host",
        "    TLSv1.2, TLSv1.3 with TLS_AES_256_GCM_SHA384; requires a client certificate",
        r"    CN=kafka by CN=Root until 2027-01-01, RSA 2048, for kafka, localhost, \x1b[2Jevil, 10.0.0.1",
        "      under CN=Sub until 2027-01-01",
        '    name not covered: "x" is not among its names',
        "    expires soon: in 3 days",
        r"    SASL: PLAIN; not authenticated: refused: password=[hidden] \x1b[31m",
        "  kafka:9095  SASL_PLAINTEXT  listener SECURE of kafka, seen from docker host",
        "    SASL: PLAIN, SCRAM-SHA-512; authenticated with PLAIN",
        "  kafka:8080  HTTP  listener SECURE of kafka, seen from docker host",
        "    it answers with HTTP",
    ]


def test_nothing_seen_is_no_section() -> None:
    assert "Protocol of each port" not in render_text(Report(), Screen())


def test_the_values_keep_the_schema() -> None:
    text = render_json(Report(security=SIGHTS))
    valid(text)
    first, _, third, fourth = json.loads(text)["security"]
    assert (first["input"], first["address"], first["spoken"]) == ("shop", "kafka:9094", "SASL_SSL")
    assert (first["broker"], first["listener"], first["vantage"]) == ("kafka", "SECURE", "docker host")
    assert first["tls"]["versions"] == ["TLSv1.2", "TLSv1.3"]
    assert (first["tls"]["wants_client"], first["tls"]["needs_client"]) == (True, True)
    assert [fault["fault"] for fault in first["tls"]["faults"]] == ["name not covered", "expires soon"]
    assert first["tls"]["chain"][0]["not_after"] == "2027-01-01T00:00:00+00:00"
    assert first["sasl"]["authenticated"] is False
    assert third["sasl"] == {
        "mechanisms": ["PLAIN", "SCRAM-SHA-512"],
        "mechanism": "PLAIN",
        "authenticated": True,
        "error": None,
    }
    assert (fourth["tls"], fourth["sasl"], fourth["detail"]) == (None, None, "it answers with HTTP")


def test_no_secret_is_in_it() -> None:
    assert "hunter2" not in render_json(Report(security=SIGHTS))


CAUSE = Cause(
    mechanism=Mechanism.NETWORK_ISOLATION,
    certainty=Certainty.PROVEN,
    because="client is on another network",
    evidence=("rule 1 of STAGE-2: its counter rose by 1, 1, 1",),
    repairs=(
        Repair(text="attach client to network a", confirmed=True, because="predicted: it accepts"),
        Repair(text="pray", confirmed=False, because="cannot be tested in the model"),
    ),
)
OTHER = Cause(mechanism=Mechanism.NOT_RUNNING, certainty=Certainty.PREDICTED, because="kafka is \x1b[31mgone")
PLAIN = Screen()


def test_the_first_cause_in_full_and_the_others_in_a_line() -> None:
    text = paint(cause_lines((CAUSE, OTHER), PLAIN), PLAIN)
    assert text.splitlines() == [
        "  network-isolation (proven): client is on another network",
        "    evidence: rule 1 of STAGE-2: its counter rose by 1, 1, 1",
        "    repair: attach client to network a (tested in the model)",
        "    repair: pray (cannot be tested in the model)",
        "  not-running (predicted): kafka is \\x1b[31mgone",
    ]


def test_equal_explanations_stand_once() -> None:
    explained = [
        Explanation(vantage=vantage, address=Address(host="kafka", port=port), causes=(CAUSE,))
        for vantage, port in (("client", 9092), ("client", 9093), ("other", 9092))
    ]
    text = paint(explained_lines(explained, PLAIN), PLAIN)
    assert text.count("network-isolation") == 1
    first = text.splitlines()[0]
    assert first.startswith("why ")
    assert all(word in first for word in ("client", "other", "kafka:9092", "kafka:9093"))


def test_values() -> None:
    value = explained_value("shop", Explanation(vantage="a", address=Address(host="k", port=1), causes=(CAUSE,)))
    assert (value["input"], value["vantage"], value["host"], value["port"]) == ("shop", "a", "k", 1)
    assert value["causes"] == [cause_value(CAUSE)]
    assert cause_value(CAUSE)["mechanism"] == "network-isolation"
    assert cause_value(CAUSE)["certainty"] == "proven"
    assert [one["confirmed"] for one in cause_value(CAUSE)["repairs"]] == [True, False]


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


SCHEMA = strict_schema("check-listeners.v1.json")


def test_edges_follow_the_schema_of_the_report() -> None:
    shown = mesh(k1_k3=CUT, k2_k1=None)
    shown = replace(shown, edges=(replace(shown.edges[0], target=""), *shown.edges[1:]))
    report = Report(matrices=(Matrix(input="shop", vantages=(), cells=(), mesh=shown),))
    read = json.loads(render(report))
    jsonschema.validate(read, SCHEMA)
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
