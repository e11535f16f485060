"""Which variables make a service a Kafka client, and what they name."""

import pytest

from netdiag.deployment.sources.client_settings import bootstraps_in_variables, is_bootstrap_variable


@pytest.mark.parametrize(
    "name",
    [
        "CONNECT_BOOTSTRAP_SERVERS",
        "KSQL_BOOTSTRAP_SERVERS",
        "SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS",
        "CONTROL_CENTER_KAFKA_DC1_BOOTSTRAP_SERVERS",
        "KAFKA_REST_BOOTSTRAP_SERVERS",
        "CDK_CLUSTERS_0_BOOTSTRAPSERVERS",
        "KAFKA_CLUSTERS_0_BOOTSTRAPSERVERS",
        "SPRING_KAFKA_BOOTSTRAP_SERVERS",
        "SPRING_KAFKA_PRODUCER_BOOTSTRAP-SERVERS",
        "SPRING_CLOUD_STREAM_KAFKA_BINDER_BROKERS",
        "MP_MESSAGING_CONNECTOR_SMALLRYE_KAFKA_BOOTSTRAP_SERVERS",
        "kafka.bootstrap.servers",
        "BOOTSTRAP.SERVERS",
        "Kafka__BootstrapServers",
        "KAFKA_BROKERS",
        "KAFKA_BROKER",
        "KAFKA_BROKER_LIST",
        "KAFKA_BROKERS_LIST",
        "KAFKA_BROKER_URL",
        "KAFKA_BROKERCONNECT",
        "KAFKA_URL",
        "KAFKA_ADDR",
        "KAFKA_SERVERS",
        "KSQL_LOG4J_PROCESSING_LOG_BROKERLIST",
        "SHOP_KAFKA_BROKERS",
        "DEFAULT_BROKERS",
        "bootstrap_servers",
    ],
)
def test_client_variables(name: str) -> None:
    assert is_bootstrap_variable(name)


@pytest.mark.parametrize(
    "name",
    [
        "KAFKA_CONTROLLER_QUORUM_BOOTSTRAP_SERVERS",
        "KAFKA_BROKER_ID",
        "KAFKA_BROKER_RACK",
        "KAFKA_ADVERTISED_HOST",
        "KAFKA_ADVERTISED_LISTENERS",
        "KAFKA_ZOOKEEPER_CONNECT",
        "KAFKA_REST_URL",
        "KAFKA_CONNECT_URL",
        "DATABASE_URL",
        "KAFKA_LISTENERS",
        "CELERY_RESULT_BACKEND",
    ],
)
def test_other_variables(name: str) -> None:
    assert not is_bootstrap_variable(name)


AKHQ = """\
akhq:
  connections:
    # bootstrap.servers: "old:9092"
    docker:
      properties:
        bootstrap.servers: "a:1,b:2"
        security.protocol: SASL_SSL
"""


@pytest.mark.parametrize(
    ("name", "value", "setting", "addresses"),
    [
        ("KAFKA_BROKERS", "a:1,b:2", "KAFKA_BROKERS", ["a:1", "b:2"]),
        ("AKHQ_CONFIGURATION", AKHQ, "bootstrap.servers in AKHQ_CONFIGURATION", ["a:1", "b:2"]),
        ("CONF", "{bootstrapServers: a:1}", "bootstrapServers in CONF", ["a:1"]),
        ("CONF", '{"spring.kafka.bootstrap-servers":"a:1"}', "spring.kafka.bootstrap-servers in CONF", ["a:1"]),
        ("CONF", r"{\"bootstrap.servers\":\"a:1\"}", "bootstrap.servers in CONF", ["a:1"]),
        ("CONF", "bootstrap.servers=a:1, b:2\nx=y", "bootstrap.servers in CONF", ["a:1", "b:2"]),
        ("CONF", "bootstrap_servers:\n  - a:1\n  - b:2\nx: 1", "bootstrap_servers in CONF", ["a:1", "b:2"]),
        ("CONF", 'kafka:\n  brokers: ["a:1", "b:2"]', "brokers in CONF", ["a:1", "b:2"]),
        ("CONF", "kafka:\n  brokers:\n    - a:1", "brokers in CONF", ["a:1"]),
        ("JAVA_OPTS", "-Xmx1g -Dkafka.bootstrap.servers=a:1 -Dx=y", "-Dkafka.bootstrap.servers in JAVA_OPTS", ["a:1"]),
        ("KAFKA_CLUSTER_MAIN", "a:1", "KAFKA_CLUSTER_MAIN", ["a:1"]),
        ("WAIT_HOSTS", "a:1, b:2", "WAIT_HOSTS", ["a:1", "b:2"]),
        ("SERVICE_PRECONDITION", "a:1", "SERVICE_PRECONDITION", ["a:1"]),
        ("KAFKA_REST_URL", "http://rest:8082", "", []),
        ("UPSTREAM", "a:1", "", []),
        ("KAFKA_LISTENERS", "PLAINTEXT://a:1", "", []),
        ("KAFKA_BROKERS", "${X}:1", "", []),
        ("CONF", "bootstrap.servers: ${X}", "", []),
        ("CONF", "brokers: 3", "", []),
    ],
)
def test_what_a_variable_tells(name: str, value: str, setting: str, addresses: list[str]) -> None:
    found = list(bootstraps_in_variables({name: value}))
    assert [(told.setting, [value[a.start : a.end] for a in told.addresses]) for told in found] == (
        [(setting, addresses)] if addresses else []
    )


@pytest.mark.parametrize(
    ("name", "certain", "waits"),
    [
        ("KAFKA_BROKERS", True, False),
        ("TASKS_KAFKA_CLUSTERS__DEFAULT__ADDRESS", False, False),
        ("WAIT_HOSTS", False, True),
        ("KAFKA_WAIT_FOR", False, True),
    ],
)
def test_how_sure_a_name_is(name: str, certain: bool, waits: bool) -> None:
    (told,) = bootstraps_in_variables({name: "kafka:9092"})
    assert (told.certain, told.waits) == (certain, waits)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"KAFKA_HOST": "kafka", "KAFKA_PORT": "9092"}, [("KAFKA_HOST and KAFKA_PORT", "kafka", 9092)]),
        ({"kafka_host": "kafka", "kafka_port": "9092"}, [("kafka_host and kafka_port", "kafka", 9092)]),
        ({"KAFKA_HOST": "kafka"}, []),
        ({"KAFKA_HOST": "kafka", "KAFKA_PORT": "any"}, []),
        ({"KAFKA_HOST": "kafka:9092", "KAFKA_PORT": "1"}, [("KAFKA_HOST", "kafka", 9092)]),
        ({"DB_HOST": "db", "DB_PORT": "5432"}, []),
    ],
)
def test_host_and_port_told_apart(variables: dict[str, str], expected: list[tuple[str, str, int]]) -> None:
    found = [(t.setting, a.host, a.port) for t in bootstraps_in_variables(variables) for a in t.addresses]
    assert found == expected


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"CONNECT_BOOTSTRAP_SERVERS": "a:1", "CONNECT_SECURITY_PROTOCOL": "SASL_SSL"}, "SASL_SSL"),
        ({"CONNECT_BOOTSTRAP_SERVERS": "a:1", "CONNECT_PRODUCER_SECURITY_PROTOCOL": "SASL_SSL"}, None),
        ({"KAFKA_CLUSTERS_0_BOOTSTRAPSERVERS": "a:1", "KAFKA_CLUSTERS_0_PROPERTIES_SECURITY_PROTOCOL": "SSL"}, "SSL"),
        ({"SPRING_KAFKA_BOOTSTRAP_SERVERS": "a:1", "SPRING_KAFKA_PROPERTIES_SECURITY_PROTOCOL": "ssl"}, "SSL"),
        ({"KAFKA_REST_BOOTSTRAP_SERVERS": "a:1", "KAFKA_REST_CLIENT_SECURITY_PROTOCOL": "SSL"}, "SSL"),
        ({"KAFKA_BROKERS": "a:1", "KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT"}, "SASL_PLAINTEXT"),
        ({"KAFKA_BROKERS": "a:1", "KAFKA_SECURITY_PROTOCOL": "TLS"}, None),
        ({"KAFKA_BROKERS": "a:1"}, None),
        ({"CONF": "bootstrap.servers=a:1\nsecurity.protocol=SASL_SSL"}, "SASL_SSL"),
        ({"CONF": "a.bootstrap.servers=a:1\nb.bootstrap.servers=a:2\nsecurity.protocol=SSL"}, None),
    ],
)
def test_the_protocol_declared_beside_a_list(variables: dict[str, str], expected: str | None) -> None:
    assert {told.protocol for told in bootstraps_in_variables(variables)} == {expected}


@pytest.mark.parametrize(
    "value", ["bootstrap" * 30_000, "a" * 300_000, "brokers:" * 30_000, "bootstrap.servers:" + " " * 200_000]
)
def test_a_long_value_is_read_in_linear_time(value: str) -> None:
    assert list(bootstraps_in_variables({"CONF": value})) == []
