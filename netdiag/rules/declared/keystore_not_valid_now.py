"""A certificate in the key store has expired, is not valid yet, or expires within 30 days.

Why: Clients close the connection if today is not between the two dates of each certificate that the broker shows. A
broker whose inter-broker listener uses TLS tries a handshake with itself when it starts, and exits if it fails.

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
          KAFKA_SSL_KEYSTORE_LOCATION: /secrets/kafka.pem  # <- here
          KAFKA_SSL_TRUSTSTORE_TYPE: PEM
          KAFKA_SSL_TRUSTSTORE_LOCATION: /secrets/authority.pem
        volumes: ["./secrets:/secrets:ro"]
    x-certificates:
      secrets/kafka.pem: {names: [kafka], by: Authority, days: [-400, -35]}
      secrets/authority.pem: {trusts: [Authority]}

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
          KAFKA_SSL_TRUSTSTORE_LOCATION: /secrets/authority.pem
        volumes: ["./secrets:/secrets:ro"]
    x-certificates:
      secrets/kafka.pem: {names: [kafka], by: Authority, days: [-35, 400]}
      secrets/authority.pem: {trusts: [Authority]}

Seen: PKIX path validation failed: java.security.cert.CertPathValidatorException: validity check failed;
    CertificateExpiredException: NotAfter: Wed Oct 22 10:00:00 GMT 2025

Sources: sun.security.x509.CertificateValidity; RFC 5280, section 4.1.2.5.
"""

from collections.abc import Iterator
from datetime import datetime

from netdiag.deployment.model.deployment import Broker, DeclaredStore, Deployment, ListenerIdentity
from netdiag.deployment.secured import meetings
from netdiag.findings import Finding, Severity
from netdiag.kafka.security import LIBRDKAFKA_SAYS, CertificateFault, Fault, OpenedStore, TrustAnchor, faults_of

ID = "keystore-not-valid-now"
SEVERITY = Severity.ERROR

_PRINTS = "validity check failed"
_REFUSED = (CertificateFault.EXPIRED, CertificateFault.NOT_YET_VALID)


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every key store of a broker and what is wrong with the dates in it."""
    now = deployment.trust.now
    pinned: dict[OpenedStore, list[bool]] = {}
    own: set[tuple[str, str]] = set()
    for met in meetings(deployment):
        if met.shown is not None:
            is_pinned = met.anchored(deployment) is TrustAnchor.PINNED
            pinned.setdefault(met.shown, []).append(is_pinned)
            if met.attempt is None and met.client == met.broker.name and not is_pinned:
                own.add((met.client, met.identity.listener))
    for broker in deployment.configured:
        for identity in broker.identities:
            keystore = identity.keystore
            if now is None or keystore is None or keystore.opened is None:
                continue
            # Java looks at no date of a certificate that is itself in the trust store.
            if not all(pinned.get(keystore.opened, [False])):
                meets_itself = (broker.name, identity.listener) in own
                yield from _findings(broker, identity, keystore, now, meets_itself=meets_itself)


def _findings(
    broker: Broker, identity: ListenerIdentity, keystore: DeclaredStore, now: datetime, *, meets_itself: bool
) -> Iterator[Finding]:
    chain = keystore.opened.chain if keystore.opened else ()
    for fault in faults_of(chain, hosts=(), anchored=TrustAnchor.NOT_ASKED, now=now):
        if fault.fault in _REFUSED or fault.fault is CertificateFault.EXPIRES_SOON:
            refused = fault.refused
            detail = fault.detail.removeprefix("it ")
            yield Finding(
                rule=ID,
                severity=SEVERITY if refused else Severity.WARNING,
                message=f"the certificate of {broker.name} {detail}"
                if fault.detail.startswith("it ")
                else f"certificate {detail.replace(' of its chain', f' in the chain of {broker.name}')}",
                location=keystore.where,
                why=_why(fault),
                hint="issue a new certificate",
                service=broker.name,
                listener=identity.listener,
                broker_prints=_PRINTS if refused and meets_itself else None,
            )


def _why(fault: Fault) -> str:
    if fault.refused:
        return f'a Java client ends the TLS handshake with "{_PRINTS}", librdkafka with "{LIBRDKAFKA_SAYS}"'
    if fault.fault in _REFUSED:
        return (
            f'librdkafka ends the TLS handshake with "{LIBRDKAFKA_SAYS}"; Java checks no dates of a root that it trusts'
        )
    return "clients refuse it from then on"
