"""Cases of the rules about clients beside their docstring examples: where they are told, milder cases, silence."""

import pytest

from netdiag.findings import FileLocation
from netdiag.rules.declared import check_deployment
from tests.deployment.stacks import deployment_of

STACK = """\
name: t
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    ports: ["9092:9092"]
    {broker}
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_LISTENERS: {listeners}
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092,SECURE://kafka:9094
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: {protocols}
      KAFKA_SASL_ENABLED_MECHANISMS: PLAIN
      KAFKA_OPTS: -Djava.security.auth.login.config=/etc/kafka/jaas.conf
      KAFKA_JMX_PORT: 9999
  app:
    image: {image}
    {body}
"""
PROTOCOLS = "PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT,SECURE:SASL_PLAINTEXT,SILENT:PLAINTEXT"
LISTENERS = "PLAINTEXT://:29092,EXTERNAL://:9092,SECURE://:9094,SILENT://:9096"


def found(
    body: str = "init: true", *, broker: str = "init: true", image: str = "shop/app", listeners: str = LISTENERS
) -> list[str]:
    """The findings, each with what stands at its place."""
    text = STACK.format(body=body, broker=broker, image=image, listeners=listeners, protocols=PROTOCOLS)
    rows = []
    for finding in check_deployment(deployment_of(text)):
        place = finding.location
        assert isinstance(place, FileLocation)
        rows.append(f"{finding.severity.value} {finding.rule} {text.encode()[place.start : place.end].decode()}")
    return rows


def environment(**variables: str) -> str:
    return "environment: {" + ", ".join(f"{name}: '{value}'" for name, value in variables.items()) + "}"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("command: kcat -b kafka:29092 -L", []),
        ("command: kcat -b kafka:9092 -L", ["error dependent-bootstrap-external-listener kafka:9092"]),
        ("command: kcat -b kafka:9096 -L", ["error dependent-bootstrap-external-listener kafka:9096"]),
        ("command: [kafka-topics, --bootstrap-server, 'kafka:1']", ["error dependent-bootstrap-wrong-port kafka:1"]),
        (
            "command: kafka-topics --list --bootstrap-server broker:29092",
            ["error dependent-bootstrap-unknown-host broker:29092"],
        ),
        ("healthcheck: {test: kcat -b kafka:1 -L}", ["error dependent-bootstrap-wrong-port kafka:1"]),
        ("command: nc -z kafka 1", ["error dependent-bootstrap-wrong-port kafka 1"]),
        ("command: nc -z kafka 9092", []),
        ("command: nc -z kafka 9999", []),
        ("command: nc -z redis 6379", []),
        ("command: ./wait-for-it.sh kafka:1 -- app", ["error dependent-bootstrap-wrong-port kafka:1"]),
        (environment(KAFKA_HOST="kafka", KAFKA_PORT="9092"), ["error dependent-bootstrap-external-listener kafka"]),
        (environment(KAFKA_HOST="localhost", KAFKA_PORT="1"), []),
        (environment(ORDERS_KAFKA_CLUSTER="kafka:9092"), ["error dependent-bootstrap-external-listener kafka:9092"]),
        (environment(ORDERS_KAFKA_CLUSTER="kafka:1"), []),
        (environment(UPSTREAM="kafka:9092"), []),
        (environment(CELERY_BROKER_URL="amqp://rabbit:5672"), []),
        (environment(MQTT_BROKER="mosquitto:1883"), []),
    ],
)
def test_where_clients_are_told(body: str, expected: list[str]) -> None:
    assert found(body) == expected


@pytest.mark.parametrize(
    ("body", "image", "expected"),
    [
        (environment(KAFKA_BROKERS="kafka:29092", KAFKA_SECURITY_PROTOCOL="PLAINTEXT"), "shop/app", False),
        (environment(KAFKA_BROKERS="kafka:9094", KAFKA_SECURITY_PROTOCOL="SASL_PLAINTEXT"), "shop/app", False),
        (environment(KAFKA_BROKERS="kafka:29092", KAFKA_SECURITY_PROTOCOL="SASL_SSL"), "shop/app", True),
        (environment(KAFKA_BROKERS="kafka:9094"), "shop/app", False),
        (environment(CONNECT_BOOTSTRAP_SERVERS="kafka:9094"), "confluentinc/cp-kafka-connect:7.9.2", True),
        (environment(CONNECT_BOOTSTRAP_SERVERS="kafka:9094"), "shop/connect", False),
        (
            environment(CONNECT_BOOTSTRAP_SERVERS="kafka:9094", CONNECT_SASL_MECHANISM="PLAIN"),
            "confluentinc/cp-kafka-connect:7.9.2",
            False,
        ),
        ("command: kafka-topics --list --bootstrap-server kafka:9094", "shop/app", True),
        ("command: kafka-topics --list --bootstrap-server kafka:9094 --command-config /c", "shop/app", False),
        ("command: kcat -L -b kafka:9094", "shop/app", False),
        ("command: kcat -L -b kafka:29092 -X security.protocol=sasl_ssl", "shop/app", True),
    ],
)
def test_the_protocol_of_a_client(body: str, image: str, expected: bool) -> None:
    assert [row.split()[:2] for row in found(body, image=image)] == (
        [["error", "client-protocol-mismatch"]] if expected else []
    )


JOB = "kafka-topics --create --topic t --bootstrap-server localhost:29092"
AT_LOCALHOST = ["error dependent-bootstrap-localhost localhost:29092"]


@pytest.mark.parametrize(
    ("body", "image", "expected"),
    [
        (f"command: {JOB}", "shop/app", AT_LOCALHOST),
        (f"command: {JOB}", "confluentinc/cp-kafka:7.9.2", AT_LOCALHOST),
        (f"command: ./start-all.sh {JOB}\n    {environment(KAFKA_LISTENERS='A://:1')}", "apache/kafka:3.9.1", []),
        (f"command: {JOB}", "shop/kafka", []),
    ],
)
def test_a_job_that_asks_itself(body: str, image: str, expected: list[str]) -> None:
    assert found(body, image=image) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (environment(KAFKA_BROKERS="broker:1"), ["error dependent-bootstrap-unknown-host broker:1"]),
        ("depends_on: [broker]\n    " + environment(KAFKA_BROKERS="broker:1"), []),
    ],
)
def test_what_another_file_holds_is_unknown(body: str, expected: list[str]) -> None:
    assert found(body) == expected


@pytest.mark.parametrize(
    ("body", "image", "severity"),
    [
        (environment(KAFKA_BROKERS="INSIDE://kafka:29092"), "shop/app", "warning"),
        (environment(KAFKA_BROKERS="PLAINTEXT://kafka:29092"), "shop/app", "note"),
        (environment(KAFKA_BROKERS="PLAINTEXT://kafka:29092"), "redpandadata/console:v2.4.5", "error"),
        (environment(KAFKA_URL="kafka://kafka:29092"), "shop/app", ""),
        (environment(SPRING_KAFKA_BOOTSTRAP_SERVERS="INSIDE://kafka:29092"), "shop/app", ""),
        (environment(CONNECT_BOOTSTRAP_SERVERS="PLAINTEXT://kafka:29092"), "shop/app", ""),
        ("command: kcat -L -b PLAINTEXT://kafka:29092", "shop/app", ""),
        ("command: kcat -L -b INSIDE://kafka:29092", "shop/app", "error"),
        ("command: kafka-topics --list --bootstrap-server INSIDE://kafka:29092", "shop/app", ""),
    ],
)
def test_schemes(body: str, image: str, severity: str) -> None:
    rows = [row.split()[:2] for row in found(body, image=image)]
    assert rows == ([[severity, "dependent-bootstrap-scheme"]] if severity else [])


REGISTRY = "SCHEMA_REGISTRY_KAFKASTORE_"


@pytest.mark.parametrize(
    ("servers", "protocol", "expected"),
    [
        ("PLAINTEXT://kafka:29092", "", []),
        ("kafka:29092", "", []),
        ("INSIDE://kafka:29092", "", ["error schema-registry-listener-name INSIDE://kafka:29092"]),
        ("INSIDE://kafka:29092,kafka:29092", "", ["note schema-registry-listener-name INSIDE://kafka:29092"]),
        # what the registry leaves out breaks nothing, wherever it leads
        ("HOST://localhost:9092,kafka:29092", "", ["note schema-registry-listener-name HOST://localhost:9092"]),
        ("HOST://localhost:9092", "", ["error schema-registry-listener-name HOST://localhost:9092"]),
        ("SASL_PLAINTEXT://kafka:9094", "SASL_PLAINTEXT", []),
    ],
)
def test_endpoints_of_the_schema_registry(servers: str, protocol: str, expected: list[str]) -> None:
    variables = {f"{REGISTRY}BOOTSTRAP_SERVERS": servers}
    if protocol:
        variables[f"{REGISTRY}SECURITY_PROTOCOL"] = protocol
    assert found(environment(**variables), image="confluentinc/cp-schema-registry:7.9.2") == expected


@pytest.mark.parametrize(
    ("test", "asks"),
    [
        ("kafka-topics --list --bootstrap-server localhost:29092", ""),
        ("kafka-topics --list --bootstrap-server kafka:29092", ""),
        ("kafka-topics --list --bootstrap-server localhost:9092", ""),
        ("kafka-topics --list --bootstrap-server localhost:9093", "localhost:9093"),
        ("kafka-topics --list --bootstrap-server broker:29092", "broker:29092"),
        ("kafka-topics --list --bootstrap-server localhost:9096", "localhost:9096"),
        ("kafka-topics --list --bootstrap-server localhost:9094", "localhost:9094"),
        ("kafka-topics --list --bootstrap-server localhost:9094 --command-config /c", ""),
        ("kafka-broker-api-versions --bootstrap-server localhost:9096", ""),
        ("nc -z localhost 9092", ""),
        ("nc -z localhost 9999", ""),
        ("nc -z localhost 9093", "localhost 9093"),
        ("curl -f http://localhost:8090/v3/clusters", ""),
    ],
)
def test_health_checks(test: str, asks: str) -> None:
    expected = [f"warning healthcheck-wrong-endpoint {asks}"] if asks else []
    assert found(broker=f"healthcheck: {{test: {test}}}") == expected


def test_a_health_check_is_sent_on_to_a_port_of_the_host() -> None:
    check_ = "healthcheck: {test: kafka-topics --list --bootstrap-server localhost:19092}"
    rows = found(broker=check_, listeners=LISTENERS.replace("EXTERNAL://:9092", "EXTERNAL://:19092"))
    assert "warning healthcheck-wrong-endpoint localhost:19092" in rows


CLUSTER = """\
name: t
services:
  kafka-1: &broker
    image: confluentinc/cp-kafka:7.9.2
    networks: [a, b]
    environment: &common
      KAFKA_BROKER_ID: 1
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_LISTENERS: PLAINTEXT://:29092,CLIENT://:9092
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:29092,CLIENT://kafka-1:9092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CLIENT:PLAINTEXT
  kafka-2:
    <<: *broker
    networks: {networks}
    environment:
      <<: *common
      KAFKA_BROKER_ID: 2
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:29092,CLIENT://{client}
  app:
    image: shop/app
    networks: [a]
    environment: {{KAFKA_BROKERS: 'kafka-1:9092'}}
networks: {{a: , b: }}
"""


@pytest.mark.parametrize(
    ("client", "networks", "expected"),
    [
        ("kafka-2:9092", "[a, b]", ""),
        ("kafka-2:1", "[a, b]", "CLIENT://kafka-2:1"),
        ("kafka-2:9092", "[b]", "kafka-1:9092"),
        ("broker.example.org:9092", "[a, b]", ""),
        ("192.0.2.1:9092", "[a, b]", ""),
    ],
)
def test_part_of_a_cluster(client: str, networks: str, expected: str) -> None:
    text = CLUSTER.format(client=client, networks=networks)
    places = [f.location for f in check_deployment(deployment_of(text)) if f.rule == "dependent-reaches-some-brokers"]
    written = [text.encode()[p.start : p.end].decode() for p in places if isinstance(p, FileLocation)]
    assert written == ([expected] if expected else [])
