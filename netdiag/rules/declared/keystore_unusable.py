"""A broker or a client cannot use its key store or trust store.

Why: Brokers and clients open their stores when they start, and exit if the file is of another type than configured, if
the password does not open it, or if it holds no key. Kafka reads private keys in PEM only as PKCS#8 ("BEGIN PRIVATE
KEY"). With a certificate that does not belong to its key, the broker starts, and every TLS handshake fails.

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
          KAFKA_SSL_KEYSTORE_LOCATION: /secrets/kafka.pem  # <- here
          KAFKA_SSL_KEYSTORE_PASSWORD: example
        volumes: ["./secrets:/secrets:ro"]
    x-certificates:
      secrets/kafka.pem: {names: [kafka]}

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
      secrets/kafka.pem: {names: [kafka]}

Seen: Failed to load SSL keystore /secrets/kafka.pem of type JKS; Failed to load PEM SSL keystore /secrets/kafka.pem

Sources: DefaultSslEngineFactory of Kafka 3.9 and 4.x.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, DeclaredStore, Deployment
from netdiag.deployment.secured import TlsAttempt, tls_attempts
from netdiag.findings import Finding, Severity
from netdiag.kafka.client_properties import StoreType
from netdiag.kafka.security import StoreFault

ID = "keystore-unusable"
SEVERITY = Severity.ERROR

_HINTS = {
    StoreFault.FORMAT: "set the type of the store to that of the file: JKS, PKCS12 or PEM",
    StoreFault.PASSWORD: "give the password that the store was made with",
    StoreFault.KEY_PASSWORD: "give the password of the key with ssl.key.password",
    StoreFault.TRADITIONAL_KEY: "convert the key with openssl pkcs8 -topk8 -nocrypt",
    StoreFault.NO_KEY: "put the private key into the key store, too",
    StoreFault.NO_CERTIFICATE: "put the certificates into the store",
}


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every store that a broker or a declared client cannot use."""
    for broker in deployment.configured:
        for identity in broker.identities:
            for store in (identity.keystore, identity.truststore):
                if store is not None and store.opened is not None:
                    yield from _of_store(broker, identity.listener, store)
    for one in tls_attempts(deployment):
        security = one.attempt.client.security
        for store in (security.keystore, security.truststore) if security is not None else ():
            fault = store.opened.fault if store is not None and store.opened is not None else None
            if store is not None and fault is not None and fault is not StoreFault.COSTLY:
                yield _of_client(one, store, fault)


def _of_client(one: TlsAttempt, store: DeclaredStore, fault: StoreFault) -> Finding:
    client = one.attempt.member.name
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{client} cannot use {store.store.location or 'its store'} as {store.store.type}: it {fault}",
        location=one.attempt.where,
        why=f'a Java client ends with "{_prints(store)}"' if store.store.location else "a Java client does not start",
        hint=_HINTS[fault],
        service=client,
        listener=one.identity.listener,
    )


def _of_store(broker: Broker, listener: str, store: DeclaredStore) -> Iterator[Finding]:
    assert store.opened is not None
    fault = store.opened.fault
    if store.opened.key_belongs is False:
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"the certificate in {store.store.location} does not belong to the private key beside it",
            location=store.where,
            why="every TLS handshake fails, because the broker cannot sign for its certificate",
            hint="put the certificate that was issued for this key into the key store",
            service=broker.name,
            listener=listener,
        )
    elif fault is not None and fault is not StoreFault.COSTLY:
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{broker.name} cannot use {store.store.location} as {store.store.type}: it {fault}",
            location=store.where,
            why="a broker opens its key stores and trust stores when it starts, and exits if it cannot",
            hint=_HINTS[fault],
            service=broker.name,
            listener=listener,
            broker_prints=_prints(store),
        )


def _prints(store: DeclaredStore) -> str:
    if store.store.type is StoreType.PEM:
        return f"Failed to load PEM SSL keystore {store.store.location}"
    return f"Failed to load SSL keystore {store.store.location} of type {store.store.type}"
