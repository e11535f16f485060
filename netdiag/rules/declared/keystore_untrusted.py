"""A client's trust store does not lead to the certificate that the broker shows.

Why: A client trusts a certificate that is in its trust store, or that an authority in it has issued, with what the
broker sends of the chain in between. A broker whose inter-broker listener uses TLS is a client of itself: it tries a
handshake with its own key store and trust store when it starts, and exits if it fails.

Bad:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_LISTENERS: SECURE://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: SECURE://kafka:9092
          KAFKA_INTER_BROKER_LISTENER_NAME: SECURE
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: SECURE:SSL,CONTROLLER:PLAINTEXT
          KAFKA_SSL_KEYSTORE_TYPE: PEM
          KAFKA_SSL_KEYSTORE_LOCATION: /secrets/kafka.pem
          KAFKA_SSL_TRUSTSTORE_TYPE: PEM
          KAFKA_SSL_TRUSTSTORE_LOCATION: /secrets/authorities.pem  # <- here
        volumes: ["./secrets:/secrets:ro"]
    x-certificates:
      secrets/kafka.pem: {names: [kafka], by: Authority of 2025}
      secrets/authorities.pem: {trusts: [Authority of 2024]}

Good:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_LISTENERS: SECURE://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: SECURE://kafka:9092
          KAFKA_INTER_BROKER_LISTENER_NAME: SECURE
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: SECURE:SSL,CONTROLLER:PLAINTEXT
          KAFKA_SSL_KEYSTORE_TYPE: PEM
          KAFKA_SSL_KEYSTORE_LOCATION: /secrets/kafka.pem
          KAFKA_SSL_TRUSTSTORE_TYPE: PEM
          KAFKA_SSL_TRUSTSTORE_LOCATION: /secrets/authorities.pem
        volumes: ["./secrets:/secrets:ro"]
    x-certificates:
      secrets/kafka.pem: {names: [kafka], by: Authority of 2025}
      secrets/authorities.pem: {trusts: [Authority of 2024, Authority of 2025]}

Seen: PKIX path building failed: sun.security.provider.certpath.SunCertPathBuilderException: unable to find valid
    certification path to requested target

Sources: sun.security.validator.PKIXValidator; SslFactory and SslEngineValidator of Kafka 3.9 and 4.x.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.secured import Meeting, meetings
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.security import LIBRDKAFKA_SAYS, OpenedStore, TrustAnchor

ID = "keystore-untrusted"
SEVERITY = Severity.ERROR

_PRINTS = "PKIX path building failed"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every client and certificate that it does not trust."""
    for met in meetings(deployment):
        because = _because(met.shown, met.anchored(deployment))
        if because and met.truststore is not None:
            yield _finding(met, because)


def _because(shown: OpenedStore | None, anchored: TrustAnchor) -> str:
    if shown is None or not shown.chain:
        return ""
    match anchored:
        case TrustAnchor.SELF_SIGNED:
            return f'"{shown.chain[0].subject}", which is self-signed, is not in it'
        case TrustAnchor.UNKNOWN_ROOT:
            return f'"{shown.chain[-1].subject}" is not in it'
        case TrustAnchor.MISSING_ISSUER:
            return f'"{shown.chain[-1].issuer}" is neither in it nor in the key store'
    return ""


def _finding(met: Meeting, because: str) -> Finding:
    assert met.truststore is not None
    broker, listener = met.broker, met.identity.listener
    is_itself = met.attempt is None and broker.name == met.client
    whose = "its own certificate" if is_itself else f"the certificate of {broker.name}"
    related = (Related(location=met.identity.keystore.where, message="the key store"),) if met.identity.keystore else ()
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"the trust store of {met.client} does not lead to {whose}: {because}",
        location=met.truststore.where,
        related=related,
        why="a broker tries a handshake with itself when it starts, and exits if it fails"
        if is_itself
        else f'a Java client ends the TLS handshake with "{_PRINTS}", librdkafka with "{LIBRDKAFKA_SAYS}"',
        hint=f"add the authority of {broker.name}'s certificate to the trust store",
        service=met.client,
        listener=listener,
        broker_prints=_PRINTS if is_itself else None,
    )
