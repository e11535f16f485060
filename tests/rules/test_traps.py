"""What real files hold and what looks like a defect and is none: each stays without an error or a warning."""

import pytest

from netdiag.findings import Severity
from tests.rules.test_edges import cp, found

JOB = """\
  job:
    image: confluentinc/cp-kafka:7.9.2
    {override}
    environment: {{KAFKA_LOG4J_ROOT_LOGLEVEL: WARN}}
"""
OTHER = """\
  {name}:
    image: confluentinc/cp-kafka:7.9.2
    environment:
      KAFKA_BROKER_ID: 1
      KAFKA_ZOOKEEPER_CONNECT: {keeper}
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://{name}:9092
"""
ONE = "KAFKA_LISTENERS: PLAINTEXT://:9092\nKAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092\n"
TWO = """\
KAFKA_LISTENERS: PLAINTEXT://:29092,HOST://:9092
KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,HOST://localhost:9092
KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,HOST:PLAINTEXT
"""

TRAPS = {
    "1 a command in place of the broker": cp(ONE) + JOB.format(override="command: kafka-topics --list"),
    "1 an entrypoint in place of the broker": cp(ONE) + JOB.format(override="entrypoint: /bin/sh"),
    "1 a job that changes owners": cp(ONE) + JOB.format(override='command: ["chown", "-R", "1000", "/var"]'),
    "2 a value passed on from a shell": cp("KAFKA_ADVERTISED_LISTENERS:"),
    "2 an anchor merged into the variables": cp("<<: {KAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://kafka:9092'}"),
    "3 a value folded over lines": cp(
        TWO.replace("PLAINTEXT://:29092,HOST", ">-\n  PLAINTEXT://:29092,\n  HOST"), extra='    ports: ["9092:9092"]'
    ),
    "4 ports of JMX and HTTP": cp(
        ONE + "KAFKA_JMX_PORT: 9101\nKAFKA_CONFLUENT_HTTP_SERVER_LISTENERS: http://0.0.0.0:8090\n",
        extra='    ports: ["9101:9101", "8090:8090"]',
    ),
    "5 a loopback listener for the health check": cp(
        "KAFKA_LISTENERS: PLAINTEXT://127.0.0.1:29092\nKAFKA_ADVERTISED_LISTENERS: PLAINTEXT://127.0.0.1:29092"
    ),
    "6 an internal listener published besides": cp(TWO, extra='    ports: ["9092:9092", "29092:29092"]'),
    "7 an expression with a default": cp(ONE.replace("kafka:9092", "${NAME:-kafka}:9092")),
    "9 bound to its own name": cp(ONE.replace("//:", "//kafka:")),
    "10 the hostname": cp(ONE.replace("kafka:9092", "broker:9092"), extra="    hostname: broker"),
    "11 the name of the container": cp(ONE.replace("kafka:9092", "bus:9092"), extra="    container_name: bus"),
    "12 loopback on the docker host's network": cp(
        "KAFKA_LISTENERS: PLAINTEXT://localhost:9092\nKAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:9092",
        extra="    network_mode: host",
    ),
    "13 a name on an external network": cp(ONE.replace("kafka:9092", "elsewhere:9092"), extra="    networks: [shared]")
    + "networks: {shared: {external: true}}\n",
    "14 variables that look like a client's": cp(
        ONE + "KAFKA_CONTROLLER_QUORUM_BOOTSTRAP_SERVERS: nowhere:9093\nKAFKA_INTER_BROKER_LISTENER_NAME: PLAINTEXT\n"
    ),
    "15 two clusters": cp(ONE) + OTHER.format(name="second", keeper="other:2181"),
    "16 listeners derived from what is advertised": cp("KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092"),
}


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_is_silent_above_notes(name: str) -> None:
    assert {rule for rule, severity in found(TRAPS[name]).items() if severity is not Severity.NOTE} == set()


def test_8_a_floating_tag_says_that_it_is_today_s() -> None:
    text = cp(ONE, tag="latest")
    assert found(text) == {"image-version-breaks-mode": Severity.ERROR}
