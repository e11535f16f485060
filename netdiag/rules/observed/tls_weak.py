"""A listener's certificate has a weak key or signature.

Why: Recent and hardened clients refuse short RSA keys and signatures with SHA-1 or MD5.

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
           faults: {"weak key": "RSA 1024"}}  # <- here

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

Seen: CertificateException: Certificates do not conform to algorithm constraints

Sources: jdk.certpath.disabledAlgorithms of Java; NIST SP 800-131A.
"""

from collections.abc import Iterator

from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import Finding, Severity
from netdiag.kafka.security import CertificateFault
from netdiag.rules.live_findings import certificate_findings

ID = "tls-weak"
SEVERITY = Severity.WARNING

_FAULTS = (CertificateFault.WEAK_KEY, CertificateFault.WEAK_SIGNATURE)


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every listener and weakness."""
    yield from certificate_findings(
        view,
        ID,
        SEVERITY,
        _FAULTS,
        says="is weak",
        hint="issue a new one with RSA 2048 or EC P-256, signed with SHA-256",
    )
