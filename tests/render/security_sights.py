"""Sights of secured ports to draw."""

from datetime import UTC, datetime

from netdiag.deployment.model.verdict import Address
from netdiag.deployment.observation.live_view import SecuredPort
from netdiag.kafka.security import (
    Certificate,
    CertificateFault,
    ListenerSecurity,
    SaslOffer,
    SpokenProtocol,
    TlsHandshake,
)
from netdiag.render.report import SeenPort


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
