"""netdiag could not check all of a key store or trust store.

Why: To open PKCS#12 files and encrypted keys, and to verify signatures, takes a library that the bare installation does
not have. A store whose password is hashed millions of times would take minutes to open, and is left closed.

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
          KAFKA_SSL_KEYSTORE_TYPE: PKCS12
          KAFKA_SSL_KEYSTORE_LOCATION: /secrets/kafka.p12  # <- here
          KAFKA_SSL_KEYSTORE_PASSWORD: example
        volumes: ["./secrets:/secrets:ro"]
    x-certificates:
      secrets/kafka.p12: {names: [kafka], password: example, rounds: 1100000}

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
          KAFKA_SSL_KEYSTORE_TYPE: PKCS12
          KAFKA_SSL_KEYSTORE_LOCATION: /secrets/kafka.p12
          KAFKA_SSL_KEYSTORE_PASSWORD: example
        volumes: ["./secrets:/secrets:ro"]
    x-certificates:
      secrets/kafka.p12: {names: [kafka], password: example}

Seen: No message: the broker may well start.

Sources: RFC 7292; the extras of netdiag.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import DeclaredStore, Deployment
from netdiag.distribution import install_line
from netdiag.findings import Finding, Severity
from netdiag.kafka.security import StoreFault

ID = "keystore-not-checked"
SEVERITY = Severity.NOTE


def check(deployment: Deployment) -> Iterator[Finding]:
    """One note of the first store that stayed closed, or else of signatures that were not verified."""
    stores = [store for store in _stores(deployment) if store.opened is not None]
    closed = next((one for one in stores if one.opened and one.opened.is_closed), None)
    if closed is not None:
        yield _finding(closed, f"{closed.store.location} is not opened", install_line("live"))
    elif not deployment.trust.is_verified and deployment.trust.anchors:
        trusted = next((one for one in stores if one.opened and one.opened.trusted), stores[0])
        yield _finding(trusted, "the signatures of certificates are not verified", install_line("live"))
    costly = next((one for one in stores if one.opened and one.opened.fault is StoreFault.COSTLY), None)
    if costly is not None:
        message = f"{costly.store.location} is not opened: it {StoreFault.COSTLY}"
        yield _finding(costly, message, "make the store anew with fewer rounds: Java takes 10,000")


def _stores(deployment: Deployment) -> Iterator[DeclaredStore]:
    users = [*(one for broker in deployment.configured for one in broker.identities)]
    for user in users:
        yield from (store for store in (user.keystore, user.truststore) if store is not None)
    for client in deployment.clients:
        if client.security is not None:
            found = (client.security.keystore, client.security.truststore)
            yield from (store for store in found if store is not None)


def _finding(store: DeclaredStore, message: str, hint: str) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=message,
        location=store.where,
        why="PKCS#12, encrypted keys and signatures take the library cryptography",
        hint=hint,
    )
