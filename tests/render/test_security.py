"""What ports show of their security, as text and as JSON."""

import json

from netdiag.render.formats.json import render as render_json
from netdiag.render.formats.text import render as render_text
from netdiag.render.report import Report
from netdiag.render.screen import Screen
from tests.render.security_sights import SIGHTS
from tests.render.test_json import valid


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
