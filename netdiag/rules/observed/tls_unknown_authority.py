"""A listener's certificate does not lead to a trusted authority.

Why: Clients trust the authorities in their truststore; they refuse a chain that ends elsewhere or lacks an intermediate
certificate.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,SSL://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,SSL://kafka:9093
          KAFKA_SSL_KEYSTORE_FILENAME: kafka.keystore.jks
          KAFKA_SSL_KEY_CREDENTIALS: key_creds
          KAFKA_SSL_KEYSTORE_CREDENTIALS: keystore_creds
    x-observed:
      security:
        - {vantage: inside kafka, at: "kafka:9093", member: kafka, listener: SSL, spoken: SSL,
           faults: {"unknown authority": "issued by CN=lab-ca"}}  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,SSL://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,SSL://kafka:9093
          KAFKA_SSL_KEYSTORE_FILENAME: kafka.keystore.jks
          KAFKA_SSL_KEY_CREDENTIALS: key_creds
          KAFKA_SSL_KEYSTORE_CREDENTIALS: keystore_creds
    x-observed:
      security:
        - {vantage: inside kafka, at: "kafka:9093", member: kafka, listener: SSL, spoken: SSL,
           faults: {}}

Seen: SSLHandshakeException: PKIX path building failed: unable to find valid certification path to requested target

Sources: the chain that the listener sends, and the given authorities (RFC 5280, section 6).
"""

from collections.abc import Iterator

from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import Finding, Severity
from netdiag.kafka.security import CertificateFault
from netdiag.rules.live_findings import certificate_findings

ID = "tls-unknown-authority"
SEVERITY = Severity.WARNING

_FAULTS = (CertificateFault.UNKNOWN_AUTHORITY, CertificateFault.SELF_SIGNED, CertificateFault.INCOMPLETE_CHAIN)


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every listener and kind of fault."""
    yield from certificate_findings(
        view,
        ID,
        SEVERITY,
        _FAULTS,
        says="is not issued by an authority that is trusted here",
        hint="add the authority's certificate to the clients' truststore (ssl.truststore.location), and give the "
        "broker the whole chain",
    )
