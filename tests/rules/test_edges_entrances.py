"""Rules at the edge of who enters: the broker itself, clients in the docker host's network, ZooKeeper over TLS."""

from textwrap import dedent, indent

import pytest

from netdiag.findings import Severity
from netdiag.rules.declared import check_deployment
from tests.deployment.stacks import deployment_of

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


def found(services: str) -> dict[str, Severity]:
    text = "name: t\nservices:\n" + indent(dedent(services), "  ")
    return {finding.rule: finding.severity for finding in check_deployment(deployment_of(text))}


KRAFT = """
    kafka:
      image: apache/kafka:3.9.1
      ports: {ports}
      environment:
        KAFKA_NODE_ID: 1
        KAFKA_PROCESS_ROLES: broker,controller
        KAFKA_LISTENERS: OWN://:9092,EXTERNAL://:29092,CONTROLLER://:9093
        KAFKA_ADVERTISED_LISTENERS: OWN://localhost:9092,EXTERNAL://kafka.example.org:29092
        KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: OWN:PLAINTEXT,EXTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT
        KAFKA_INTER_BROKER_LISTENER_NAME: {inter_broker}
        KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
        KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
"""


@pytest.mark.parametrize(
    ("ports", "inter_broker", "severity"),
    [
        # the way of a lone broker to itself, beside a published listener
        ("['29092:29092']", "OWN", None),
        # the same, and the others are for containers
        ("[]", "OWN", None),
        # a listener that only the host can be meant to use
        ("[]", "EXTERNAL", WARNING),
        ("['29092:29092']", "EXTERNAL", ERROR),
        # nothing is published for clients
        ("['9101:9101']", "OWN", WARNING),
        # something is, though nothing listens there
        ("['9094:9094']", "OWN", ERROR),
    ],
)
def test_an_unpublished_loopback_listener(ports: str, inter_broker: str, severity: Severity | None) -> None:
    rules = found(KRAFT.format(ports=ports, inter_broker=inter_broker))
    assert rules.get("advertised-port-not-published") is severity


TWO_ON_ONE_PORT = """
    zoo: {image: zookeeper:3.9}
    kafka-1: &kafka
      image: confluentinc/cp-kafka:7.9.2
      environment: &common
        KAFKA_ZOOKEEPER_CONNECT: zoo:2181
        KAFKA_BROKER_ID: 1
        KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,HOST:PLAINTEXT
        KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:9092,HOST://localhost:29092
    kafka-2:
      <<: *kafka
      environment:
        <<: *common
        KAFKA_BROKER_ID: 2
        KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:9092,HOST://localhost:29092
"""


def test_brokers_that_advertise_one_unpublished_port_are_not_told_to_publish_it_twice() -> None:
    text = "name: t\nservices:\n" + indent(dedent(TWO_ON_ONE_PORT), "  ")
    told = [one for one in check_deployment(deployment_of(text)) if one.rule == "advertised-port-not-published"]
    assert [(one.service, one.hint, bool(one.edits)) for one in told] == [
        ("kafka-1", 'publish "29092:29092"', True),
        ("kafka-2", "give kafka-2 a port of its own, and publish that port", False),
    ]


LOOPBACK = """
    zoo: {{image: zookeeper:3.9}}
    kafka:
      image: confluentinc/cp-kafka:7.9.2
      ports: ['9092:9092']
      environment:
        KAFKA_ZOOKEEPER_CONNECT: zoo:2181
        KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:9092
    app:
      image: example/app:1
      {network}
      environment: {{KAFKA_BOOTSTRAP_SERVERS: '{bootstrap}'}}
"""


@pytest.mark.parametrize(
    ("network", "bootstrap", "severity"),
    [
        ("network_mode: host", "localhost:9092", NOTE),
        ("network_mode: service:kafka", "localhost:9092", NOTE),
        ("init: true", "kafka:9092", ERROR),
    ],
)
def test_a_client_that_gets_back_to_the_broker_is_not_sent_astray(
    network: str, bootstrap: str, severity: Severity
) -> None:
    rules = found(LOOPBACK.format(network=network, bootstrap=bootstrap))
    assert rules["advertised-loopback-for-remote-clients"] is severity


SECURE = """
    zoo:
      image: confluentinc/cp-zookeeper:7.9.2
      environment: {{ZOOKEEPER_CLIENT_PORT: 2181, ZOOKEEPER_SECURE_CLIENT_PORT: 2182}}
    kafka:
      image: confluentinc/cp-kafka:7.9.2
      environment:
        KAFKA_ZOOKEEPER_CONNECT: zoo:{port}
        KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
"""


@pytest.mark.parametrize(("port", "broken"), [(2181, False), (2182, False), (2183, True)])
def test_zookeeper_answers_at_its_tls_port_too(port: int, broken: bool) -> None:
    assert ("zookeeper-connect-broken" in found(SECURE.format(port=port))) is broken


@pytest.mark.parametrize(
    ("advertised", "severity"), [(None, ERROR), ("PLAINTEXT://localhost:9092", None), ("PLAINTEXT://:9092", ERROR)]
)
def test_bitnamis_empty_host_is_a_default_in_kraft_mode_too(advertised: str | None, severity: Severity | None) -> None:
    rules = found(f"""
        kafka:
          image: bitnamilegacy/kafka:3.3.1
          ports: ['9092:9092']
          environment:
            KAFKA_ENABLE_KRAFT: 'yes'
            KAFKA_CFG_PROCESS_ROLES: broker,controller
            KAFKA_CFG_BROKER_ID: 1
            KAFKA_CFG_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
            KAFKA_CFG_LISTENER_SECURITY_PROTOCOL_MAP: CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
            KAFKA_CFG_CONTROLLER_LISTENER_NAMES: CONTROLLER
            KAFKA_CFG_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
            ALLOW_PLAINTEXT_LISTENER: 'yes'
            {f"KAFKA_CFG_ADVERTISED_LISTENERS: {advertised}" if advertised else "KAFKA_CFG_NUM_PARTITIONS: 1"}
    """)
    assert rules.get("advertised-empty-host") is severity


VOTERS = """
    kafka:
      image: apache/kafka:3.9.1
      environment:
        KAFKA_NODE_ID: 1
        KAFKA_PROCESS_ROLES: broker,controller
        KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
        KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
        KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
        KAFKA_CONTROLLER_QUORUM_VOTERS: {voters}
"""


@pytest.mark.parametrize(
    ("voters", "severity"), [("1@kafka:9093", None), ("''", ERROR), ("${VOTERS}", WARNING), ("${VOTERS:-}", ERROR)]
)
def test_voters_that_a_variable_leaves_out(voters: str, severity: Severity | None) -> None:
    assert found(VOTERS.format(voters=voters)).get("kraft-voters-invalid") is severity


MISTAKEN = """
    {name}:
      image: wurstmeister/zookeeper:latest
      environment: {{KAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://127.0.0.1:2181'}}
    kafka:
      image: confluentinc/cp-kafka:7.9.2
      environment:
        KAFKA_ZOOKEEPER_CONNECT: 10.0.0.1:2181,zoo:2181/kafka
        KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
"""


@pytest.mark.parametrize(("name", "severity"), [("zoo", None), ("broker", ERROR)])
def test_a_zookeeper_with_a_brokers_variable_is_one_where_brokers_look_for_it(
    name: str, severity: Severity | None
) -> None:
    assert found(MISTAKEN.format(name=name)).get("image-not-kafka") is severity
