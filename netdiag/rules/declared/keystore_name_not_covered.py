"""The certificate in the key store does not cover the host that clients connect to.

Why: Clients compare the host that they connect to with the names in the certificate, and close the connection if none
matches. After the bootstrap address, that host is the advertised one. netdiag reads the key store that the broker
mounts, so the names are known before it starts. A host with an underscore is no domain name to Java, neither to its
clients nor to a broker that is asked for it by others.

Bad:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_LISTENERS: INNER://:29092,OUTER://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: INNER://kafka:29092,OUTER://localhost:9092  # <- here
          KAFKA_INTER_BROKER_LISTENER_NAME: INNER
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INNER:PLAINTEXT,OUTER:SSL,CONTROLLER:PLAINTEXT
          KAFKA_SSL_KEYSTORE_TYPE: PEM
          KAFKA_SSL_KEYSTORE_LOCATION: /secrets/kafka.pem
        ports: ["9092:9092"]
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
          KAFKA_LISTENERS: INNER://:29092,OUTER://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: INNER://kafka:29092,OUTER://localhost:9092
          KAFKA_INTER_BROKER_LISTENER_NAME: INNER
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INNER:PLAINTEXT,OUTER:SSL,CONTROLLER:PLAINTEXT
          KAFKA_SSL_KEYSTORE_TYPE: PEM
          KAFKA_SSL_KEYSTORE_LOCATION: /secrets/kafka.pem
        ports: ["9092:9092"]
        volumes: ["./secrets:/secrets:ro"]
    x-certificates:
      secrets/kafka.pem: {names: [kafka, localhost]}

Seen: SSLHandshakeException: No subject alternative DNS name matching localhost found.; No name matching localhost
    found; Illegal given domain name: kafka_1

Sources: sun.security.util.HostnameChecker of JDK 11 to 21; ssl.endpoint.identification.algorithm of Kafka's clients.
"""

from collections.abc import Iterator

from netdiag.deployment.misread_settings import is_placeholder
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.secured import (
    AdvertisedIdentity,
    ControllerIdentity,
    TlsAttempt,
    advertised_identities,
    controller_identities,
    has_certificate,
    is_between_brokers,
    tls_attempts,
)
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import is_wildcard
from netdiag.kafka.security import LIBRDKAFKA_SAYS, Certificate, covers, is_address, is_domain_name, java_says, names_of

ID = "keystore-name-not-covered"
SEVERITY = Severity.ERROR

_NO_NAME = "which is no domain name to Java"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every host that the certificate lacks: an advertised one, one to start from, a voter's."""
    clients = [one for one in tls_attempts(deployment) if has_certificate(one.identity)]
    for met in advertised_identities(deployment):
        if _lacks(_shown(met), met.entry.endpoint.host):
            yield _of_advertised(deployment, met, clients)
    for one in clients:
        host = one.attempt.address.host
        advertised = {entry.endpoint.host for entry in one.broker.config.advertised_listeners}
        if one.checks_names and host not in advertised and _lacks(_shown(one), host):
            yield _of_bootstrap(one)
    for controller in controller_identities(deployment):
        if controller.identity.checks_names and _lacks(_shown(controller), controller.voter.host):
            yield _of_controller(controller)


def _lacks(certificate: Certificate, host: str) -> bool:
    return bool(host) and not is_wildcard(host) and not is_placeholder(host) and not covers(certificate, host)


def _shown(met: AdvertisedIdentity | ControllerIdentity | TlsAttempt) -> Certificate:
    keystore = met.identity.keystore
    assert keystore is not None
    assert keystore.opened is not None
    return keystore.opened.chain[0]


def _of_advertised(deployment: Deployment, met: AdvertisedIdentity, clients: list[TlsAttempt]) -> Finding:
    broker, listener, host = met.broker, met.identity.listener, met.entry.endpoint.host
    coming = [one.checks_names for one in clients if one.broker is broker and one.identity is met.identity]
    if is_between_brokers(deployment, broker, listener):
        coming.append(met.identity.checks_names)
    # Of clients that are known, none may look at names.
    is_sure = any(coming) if coming else True
    because = f"but its certificate covers only {names_of(_shown(met))}" if _is_name(host) else _NO_NAME
    return Finding(
        rule=ID,
        severity=SEVERITY if is_sure else Severity.WARNING,
        message=f'{listener} of {broker.name} sends clients to "{host}", {because}',
        location=broker.place("advertised.listeners", met.entry.host_start, met.entry.host_end),
        related=_named_by(met),
        why=_why(_shown(met), host),
        hint=f'issue the certificate with "{host}" as a subject alternative name, or advertise a name that it covers'
        if _is_name(host)
        else "advertise a name of letters, digits and hyphens",
        service=broker.name,
        listener=listener,
    )


def _of_bootstrap(one: TlsAttempt) -> Finding:
    host, client = one.attempt.address.host, one.attempt.member.name
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{client} connects to "{host}", but the certificate of {one.broker.name} covers only '
        f"{names_of(_shown(one))}"
        if _is_name(host)
        else f'{client} connects to "{host}", {_NO_NAME}',
        location=one.attempt.where,
        related=_named_by(one),
        why=_why(_shown(one), host),
        hint=f'use a name that the certificate covers, or issue it with "{host}" as a subject alternative name',
        service=client,
        listener=one.identity.listener,
    )


def _is_name(host: str) -> bool:
    return is_address(host) or is_domain_name(host)


def _of_controller(met: ControllerIdentity) -> Finding:
    host, broker = met.voter.host, met.broker
    because = f"but its certificate covers only {names_of(_shown(met))}" if _is_name(host) else _NO_NAME
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'nodes connect to the controller {broker.name} at "{host}", {because}',
        location=broker.place("controller.quorum.voters", met.voter.start, met.voter.end),
        related=_named_by(met),
        why=f'a node ends the TLS handshake with "{java_says(_shown(met), host)}", and does not join the cluster',
        hint=f'issue the certificate with "{host}" as a subject alternative name',
        service=broker.name,
        listener=met.identity.listener,
    )


def _named_by(met: AdvertisedIdentity | ControllerIdentity | TlsAttempt) -> tuple[Related, ...]:
    keystore = met.identity.keystore
    return (Related(location=keystore.where, message="the key store"),) if keystore else ()


def _why(certificate: Certificate, host: str) -> str:
    says = f'a Java client ends the TLS handshake with "{java_says(certificate, host)}"'
    others = (
        f'librdkafka with "{LIBRDKAFKA_SAYS}"'
        if _is_name(host)
        else 'and a broker ends one in which a client asks for such a name with "alert illegal parameter"'
    )
    return f"{says}, {others}"
