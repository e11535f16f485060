"""The section about secured ports for people."""

from netdiag.render.formats.text import render
from netdiag.render.report import Report
from netdiag.render.screen import Screen
from tests.render.security_sights import SIGHTS


def test_the_section() -> None:
    text = render(Report(security=SIGHTS), Screen(width=100))
    assert text.splitlines() == [
        "Protocol of each port  (observed)",
        "  kafka:9094, localhost:9094  SASL_SSL  listener SECURE of kafka, seen from docker host",
        "    TLSv1.2, TLSv1.3 with TLS_AES_256_GCM_SHA384; requires a client certificate",
        r"    CN=kafka by CN=Root until 2027-01-01, RSA 2048, for kafka, localhost, \x1b[2Jevil, 10.0.0.1",
        "      under CN=Sub until 2027-01-01",
        '    name not covered: "x" is not among its names',
        "    expires soon: in 3 days",
        r"    SASL: PLAIN; not logged in: refused: password=[hidden] \x1b[31m",
        "  kafka:9095  SASL_PLAINTEXT  listener SECURE of kafka, seen from docker host",
        "    SASL: PLAIN, SCRAM-SHA-512; PLAIN logged in",
        "  kafka:8080  HTTP  listener SECURE of kafka, seen from docker host",
        "    it answers with HTTP",
    ]


def test_nothing_seen_is_no_section() -> None:
    assert "Protocol of each port" not in render(Report(), Screen())
