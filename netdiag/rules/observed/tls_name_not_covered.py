"""A listener's certificate does not cover the advertised host.

Why: Clients compare the advertised host with the names in the certificate, and refuse the connection if none matches.

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
           faults: {"name not covered": "kafka is none of broker.example"}}  # <- here

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
        - {vantage: docker host, at: "192.168.8.133:9093", member: kafka, listener: SSL, spoken: SSL,
           faults: {"name not covered": "192.168.8.133 is none of kafka"}}

Seen: CertificateException: No subject alternative DNS name matching kafka found.

Sources: the certificate that the listener shows for each advertised host; RFC 6125; RFC 9110, section 4.3.4.
"""

from collections.abc import Iterator
from dataclasses import replace

from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import Finding, Severity
from netdiag.kafka.security import CertificateFault
from netdiag.rules.live_findings import certificate_findings

ID = "tls-name-not-covered"
SEVERITY = Severity.ERROR

_FAULTS = (CertificateFault.NAME,)


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every listener and set of names; clients are not sent to hosts that no broker advertises."""
    advertised = {
        entry.endpoint.host for broker in view.deployment.brokers for entry in broker.config.advertised_listeners
    }
    told = tuple(seen for seen in view.security if not seen.member or seen.address.host in advertised)
    yield from certificate_findings(
        replace(view, security=told),
        ID,
        SEVERITY,
        _FAULTS,
        says="does not cover the advertised host",
        hint="issue it with every advertised host as a subject alternative name",
    )
