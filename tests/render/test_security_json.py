"""Secured ports for machines."""

import json

from netdiag.render.formats.json import render
from netdiag.render.report import Report
from tests.render.security_sights import SIGHTS
from tests.render.test_json import valid


def test_the_values_keep_the_schema() -> None:
    text = render(Report(security=SIGHTS))
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
    assert "hunter2" not in render(Report(security=SIGHTS))
