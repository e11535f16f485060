"""Which variables make a service a Kafka client, and what they name."""

import pytest

from netdiag.deployment.dependents import bootstrap_addresses, is_bootstrap_variable


@pytest.mark.parametrize(
    "name",
    [
        "CONNECT_BOOTSTRAP_SERVERS",
        "KSQL_BOOTSTRAP_SERVERS",
        "SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS",
        "KAFKA_CLUSTERS_0_BOOTSTRAPSERVERS",
        "SPRING_KAFKA_BOOTSTRAP_SERVERS",
        "KAFKA_BROKERS",
        "KAFKA_BROKERCONNECT",
        "SHOP_KAFKA_BROKERS",
        "bootstrap_servers",
    ],
)
def test_client_variables(name: str) -> None:
    assert is_bootstrap_variable(name)


@pytest.mark.parametrize(
    "name", ["KAFKA_CONTROLLER_QUORUM_BOOTSTRAP_SERVERS", "KAFKA_BROKER_ID", "DATABASE_URL", "KAFKA_LISTENERS"]
)
def test_other_variables(name: str) -> None:
    assert not is_bootstrap_variable(name)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("kafka:9092", (("kafka", 9092),)),
        ("a:1, b:2", (("a", 1), ("b", 2))),
        ("PLAINTEXT://kafka:29092", (("kafka", 29092),)),
        ("[::1]:9092", (("::1", 9092),)),
        ("kafka", ()),
        ("${X}:9092", ()),
        ("", ()),
    ],
)
def test_addresses(value: str, expected: tuple[tuple[str, int], ...]) -> None:
    assert bootstrap_addresses(value) == expected
