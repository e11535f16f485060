"""A listener requires a certificate of its clients, and a client has none that it accepts.

Why: With ssl.client.auth=required, a broker ends the TLS handshake with a client that shows no certificate, or one that
the broker's trust store does not lead to. Brokers that connect to one another need one, too: their key store.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INNER://:29092,SECURE://:9092
          KAFKA_ADVERTISED_LISTENERS: INNER://kafka:29092,SECURE://kafka:9092
          KAFKA_INTER_BROKER_LISTENER_NAME: INNER
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INNER:PLAINTEXT,SECURE:SSL
          KAFKA_SSL_KEYSTORE_TYPE: PEM
          KAFKA_SSL_KEYSTORE_LOCATION: /etc/kafka/secrets/kafka.pem
          KAFKA_SSL_CLIENT_AUTH: required
        volumes: ["./secrets:/etc/kafka/secrets"]
      app:
        image: example/app:1
        command: kafka-topics --list --bootstrap-server kafka:9092 --command-config /etc/app.properties  # <- here
        volumes: ["./app.properties:/etc/app.properties"]
    x-files:
      app.properties: |
        security.protocol=SSL

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INNER://:29092,SECURE://:9092
          KAFKA_ADVERTISED_LISTENERS: INNER://kafka:29092,SECURE://kafka:9092
          KAFKA_INTER_BROKER_LISTENER_NAME: INNER
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INNER:PLAINTEXT,SECURE:SSL
          KAFKA_SSL_KEYSTORE_TYPE: PEM
          KAFKA_SSL_KEYSTORE_LOCATION: /etc/kafka/secrets/kafka.pem
          KAFKA_SSL_CLIENT_AUTH: required
        volumes: ["./secrets:/etc/kafka/secrets"]
      app:
        image: example/app:1
        command: kafka-topics --list --bootstrap-server kafka:9092 --command-config /etc/app.properties
        volumes: ["./app.properties:/etc/app.properties"]
    x-files:
      app.properties: |
        security.protocol=SSL
        ssl.keystore.type=PEM
        ssl.keystore.location=/etc/app.pem

Seen: SSLHandshakeException: Received fatal alert: bad_certificate; Received fatal alert: certificate_required

Sources: ssl.client.auth; SslTransportLayer of Kafka 3.9 and 4.x.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.secured import TlsAttempt, tls_attempts
from netdiag.findings import Finding, Severity
from netdiag.kafka.security import TrustAnchor

ID = "client-certificate-missing"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every client that a listener refuses for its certificate."""
    for one in tls_attempts(deployment):
        security = one.attempt.client.security
        if one.identity.needs_client and security is not None:
            because = _because(deployment, one)
            if because:
                client, broker = one.attempt.member.name, one.broker
                yield Finding(
                    rule=ID,
                    severity=SEVERITY,
                    message=f"{one.identity.listener} of {broker.name} requires a certificate of its clients, "
                    f"and {because.format(client=client)}",
                    location=one.attempt.where,
                    why="the broker ends the TLS handshake with an alert: bad_certificate or certificate_required",
                    hint=f"give {client} a key store with a certificate that the broker trusts, or another listener",
                    service=client,
                    listener=one.identity.listener,
                )


def _because(deployment: Deployment, one: TlsAttempt) -> str:
    security = one.attempt.client.security
    if security is None:
        return ""
    if security.keystore is None:
        # A client that has a trust store here has its key store here, too.
        return "{client} has none" if security.is_whole or security.truststore is not None else ""
    shown = security.keystore.opened
    trusted = one.identity.truststore.opened if one.identity.truststore else None
    if shown is None or trusted is None:
        return ""
    anchored = deployment.trust.anchors.get((shown, trusted), TrustAnchor.NOT_ASKED)
    if anchored in (TrustAnchor.SELF_SIGNED, TrustAnchor.UNKNOWN_ROOT, TrustAnchor.MISSING_ISSUER):
        return "its trust store does not lead to that of {client}"
    return ""
