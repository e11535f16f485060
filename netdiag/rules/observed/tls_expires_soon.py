"""A listener's certificate expires within the given number of days.

Why: Clients do not notice a certificate that is renewed in time; one that is not stops all of them at once.

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
           faults: {"expires soon": "it ends 2026-12-01 12:00 UTC, in 9 days"}}  # <- here

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

Seen: nothing yet

Sources: notAfter of every certificate of the chain (RFC 5280, section 4.1.2.5).
"""

from collections.abc import Iterator

from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import Finding, Severity
from netdiag.kafka.security import CertificateFault
from netdiag.rules.live_findings import certificate_findings

ID = "tls-expires-soon"
SEVERITY = Severity.WARNING

_FAULTS = (CertificateFault.EXPIRES_SOON,)


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every listener."""
    yield from certificate_findings(
        view,
        ID,
        SEVERITY,
        _FAULTS,
        says="expires soon",
        hint="renew it before it expires",
    )
