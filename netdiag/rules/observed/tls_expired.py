"""A listener's certificate has expired.

Why: From that moment on, every client that verifies certificates refuses it, and so do other brokers.

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
           faults: {"expired": "it ended 2024-05-01 12:00 UTC"}}  # <- here

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

Seen: CertificateExpiredException: NotAfter: Wed May 01 12:00:00 UTC 2024

Sources: notAfter of every certificate of the chain (RFC 5280, section 4.1.2.5), and the clock of this machine.
"""

from collections.abc import Iterator

from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import Finding, Severity
from netdiag.kafka.security import CertificateFault
from netdiag.rules.live_findings import certificate_findings

ID = "tls-expired"
SEVERITY = Severity.ERROR

_FAULTS = (CertificateFault.EXPIRED,)


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every listener."""
    yield from certificate_findings(
        view,
        ID,
        SEVERITY,
        _FAULTS,
        says="has expired",
        hint="renew it, then restart the broker or change its keystore at run time (KIP-226)",
    )
