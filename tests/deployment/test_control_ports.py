"""Which ports of a member are not for clients of Kafka."""

import pytest

from netdiag.deployment.prediction.listener_access import (
    control_port,
    is_likely_other_port,
    jmx_ports,
    zookeeper_port,
    zookeeper_ports,
)
from tests.deployment.stacks import deployment_of

TEXT = """\
name: t
services:
  kafka:
    image: apache/kafka:3.9.1
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      KAFKA_JMX_PORT: 6001
      KAFKA_OPTS: -Dcom.sun.management.jmxremote.rmi.port=6002 -javaagent:/a/jmx_prometheus_javaagent.jar=6003:/a.yml
      KAFKA_REST_LISTENERS: http://0.0.0.0:6004
      KAFKA_CUSTOM: http://0.0.0.0:6005
  registry:
    image: confluentinc/cp-schema-registry:7.9.2
  all-in-one:
    image: lensesio/fast-data-dev:3.9.0
    environment:
      KAFKA_LISTENERS: PLAINTEXT://:9092,OTHER://:8083
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://all-in-one:9092,OTHER://all-in-one:8083
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT
"""


@pytest.mark.parametrize(
    ("member", "port", "expected"),
    [
        ("kafka", 9092, None),
        ("kafka", 9093, "the KRaft controller listener CONTROLLER"),
        ("kafka", 6001, "JMX"),
        ("kafka", 6005, None),
        ("registry", 8081, "HTTP"),
        ("registry", 9092, None),
        ("all-in-one", 3030, "another service of the image"),
        ("all-in-one", 9582, "another service of the image"),
        ("all-in-one", 8083, None),
        ("all-in-one", 9092, None),
        ("all-in-one", 3033, None),
    ],
)
def test_what_a_port_is(member: str, port: int, expected: str | None) -> None:
    deployment = deployment_of(TEXT)
    assert control_port(deployment, deployment.by_name[member], port) == expected


def test_jmx_ports_come_from_variables_and_options() -> None:
    assert jmx_ports(deployment_of(TEXT).by_name["kafka"]) == {6001, 6002, 6003}


@pytest.mark.parametrize(("port", "expected"), [(6003, True), (6005, True), (9101, True), (8090, True), (9092, False)])
def test_a_variable_or_custom_explains_a_port(port: int, expected: bool) -> None:
    assert is_likely_other_port(deployment_of(TEXT).by_name["kafka"], port) is expected


@pytest.mark.parametrize(
    ("image", "environment", "expected"),
    [
        ("zookeeper:3.9", "{}", 2181),
        ("zookeeper", "{}", 2181),
        ("confluentinc/cp-zookeeper:7.9.2", "{}", None),
        ("confluentinc/cp-zookeeper:7.9.2", "{ZOOKEEPER_CLIENT_PORT: 2182}", 2182),
        ("confluentinc/cp-zookeeper:7.9.2", "{ZOOKEEPER_CLIENT_PORT: '${UNSET}'}", None),
        ("zookeeper:3.9@sha256:00", "{}", 2181),
        ("shop/app", "{}", None),
    ],
)
def test_where_zookeeper_serves(image: str, environment: str, expected: int | None) -> None:
    text = f"name: t\nservices:\n  z:\n    image: {image}\n    environment: {environment}\n"
    assert zookeeper_port(deployment_of(text).by_name["z"]) == expected


@pytest.mark.parametrize(
    ("image", "environment", "expected"),
    [
        ("zookeeper:3.9", "{}", {2181}),
        (
            "confluentinc/cp-zookeeper:7.9.2",
            "{ZOOKEEPER_CLIENT_PORT: 2181, ZOOKEEPER_SECURE_CLIENT_PORT: 2182}",
            {2181, 2182},
        ),
        ("bitnamilegacy/zookeeper:3.9", "{ZOO_TLS_PORT_NUMBER: 3181}", {2181, 3181}),
        ("bitnamilegacy/zookeeper:3.9", "{ZOO_TLS_PORT_NUMBER: none}", {2181}),
        ("confluentinc/cp-zookeeper:7.9.2", "{ZOOKEEPER_SECURE_CLIENT_PORT: 2182}", set()),
        ("shop/app", "{ZOOKEEPER_SECURE_CLIENT_PORT: 2182}", set()),
    ],
)
def test_zookeeper_may_serve_tls_beside_the_plain_port(image: str, environment: str, expected: set[int]) -> None:
    text = f"name: t\nservices:\n  z:\n    image: {image}\n    environment: {environment}\n"
    assert zookeeper_ports(deployment_of(text).by_name["z"]) == expected
