"""A certificate in the key store has expired, is not valid yet, or expires within 30 days.

Why: Clients close the connection if today is not between the two dates of each certificate that the broker shows.

Bad:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_LISTENERS: INNER://:29092,SECURE://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: INNER://kafka:29092,SECURE://kafka:9092
          KAFKA_INTER_BROKER_LISTENER_NAME: INNER
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INNER:PLAINTEXT,SECURE:SSL,CONTROLLER:PLAINTEXT
          KAFKA_SSL_KEYSTORE_TYPE: PEM
          KAFKA_SSL_KEYSTORE_LOCATION: /secrets/kafka.pem  # <- here
        volumes: ["./secrets:/secrets:ro"]
    x-certificates:
      secrets/kafka.pem: {names: [kafka], days: [-400, -35]}

Good:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_LISTENERS: INNER://:29092,SECURE://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: INNER://kafka:29092,SECURE://kafka:9092
          KAFKA_INTER_BROKER_LISTENER_NAME: INNER
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INNER:PLAINTEXT,SECURE:SSL,CONTROLLER:PLAINTEXT
          KAFKA_SSL_KEYSTORE_TYPE: PEM
          KAFKA_SSL_KEYSTORE_LOCATION: /secrets/kafka.pem
        volumes: ["./secrets:/secrets:ro"]
    x-certificates:
      secrets/kafka.pem: {names: [kafka], days: [-35, 400]}

Seen: PKIX path validation failed: java.security.cert.CertPathValidatorException: validity check failed;
    CertificateExpiredException: NotAfter: Wed Oct 22 10:00:00 GMT 2025

Sources: sun.security.x509.CertificateValidity; RFC 5280, section 4.1.2.5.
"""

from collections.abc import Iterator
from datetime import datetime

from netdiag.deployment.model.deployment import Broker, DeclaredStore, Deployment, ListenerIdentity
from netdiag.deployment.secured import meetings
from netdiag.findings import Finding, Severity
from netdiag.kafka.security import CertificateFault, OpenedStore, TrustAnchor, faults_of

ID = "keystore-not-valid-now"
SEVERITY = Severity.ERROR

_REFUSED = (CertificateFault.EXPIRED, CertificateFault.NOT_YET_VALID)


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every key store of a broker and what is wrong with the dates in it."""
    now = deployment.trust.now
    pinned: dict[OpenedStore, list[bool]] = {}
    for met in meetings(deployment):
        if met.shown is not None:
            pinned.setdefault(met.shown, []).append(met.anchored(deployment) is TrustAnchor.PINNED)
    for broker in deployment.configured:
        for identity in broker.identities:
            keystore = identity.keystore
            if now is None or keystore is None or keystore.opened is None:
                continue
            # Java looks at no date of a certificate that is itself in the trust store.
            if not all(pinned.get(keystore.opened, [False])):
                yield from _findings(broker, identity, keystore, now)


def _findings(broker: Broker, identity: ListenerIdentity, keystore: DeclaredStore, now: datetime) -> Iterator[Finding]:
    chain = keystore.opened.chain if keystore.opened else ()
    for fault in faults_of(chain, hosts=(), anchored=TrustAnchor.NOT_ASKED, now=now):
        if fault.fault in _REFUSED or fault.fault is CertificateFault.EXPIRES_SOON:
            refused = fault.fault in _REFUSED
            detail = fault.detail.removeprefix("it ")
            yield Finding(
                rule=ID,
                severity=SEVERITY if refused else Severity.WARNING,
                message=f"the certificate of {broker.name} {detail}"
                if fault.detail.startswith("it ")
                else f"of the certificates of {broker.name}, {detail}",
                location=keystore.where,
                why='a Java client ends the TLS handshake with "validity check failed"'
                if refused
                else "clients refuse it from then on",
                hint="issue a new certificate",
                service=broker.name,
                listener=identity.listener,
            )
