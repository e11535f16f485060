"""Rules about images at their edges: which rule speaks for which image, tag and variable."""

import pytest

from netdiag.deployment.misread_settings import is_close
from netdiag.findings import Severity
from netdiag.rules.declared import check_deployment
from tests.deployment.stacks import deployment_of

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE
ZOO = "  zoo:\n    image: zookeeper:3.9\n"
KRAFT = {
    "KAFKA_CFG_NODE_ID": "1",
    "KAFKA_CFG_PROCESS_ROLES": "broker,controller",
    "KAFKA_CFG_LISTENERS": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "KAFKA_CFG_ADVERTISED_LISTENERS": "PLAINTEXT://kafka:9092",
    "KAFKA_CFG_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "KAFKA_CFG_CONTROLLER_QUORUM_VOTERS": "1@kafka:9093",
    "KAFKA_CFG_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
}
OLD = {"ALLOW_PLAINTEXT_LISTENER": "yes", "KAFKA_CFG_ADVERTISED_LISTENERS": "PLAINTEXT://kafka:9092"}
CP = {"KAFKA_ZOOKEEPER_CONNECT": "zoo:2181", "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://kafka:9092"}
SASL = {
    "KAFKA_ZOOKEEPER_CONNECT": "zoo:2181",
    "KAFKA_ADVERTISED_LISTENERS": "IN://kafka:9092",
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "IN:SASL_PLAINTEXT",
    "KAFKA_INTER_BROKER_LISTENER_NAME": "IN",
    "KAFKA_OPTS": "-Djava.security.auth.login.config=/etc/kafka/jaas.conf",
}


def found(image: str, environment: dict[str, str]) -> dict[str, Severity]:
    lines = "".join(f"      {name}: '{value}'\n" for name, value in environment.items())
    text = f"name: t\nservices:\n{ZOO}  kafka:\n    image: {image}\n    environment:\n{lines}"
    return {finding.rule: finding.severity for finding in check_deployment(deployment_of(text))}


@pytest.mark.parametrize(
    ("image", "environment", "expected"),
    [
        ("bitnamilegacy/kafka:3.9", KRAFT, {}),
        ("bitnami/kafka:3.9", KRAFT, {"image-gone": NOTE}),
        ("docker.io/bitnami/kafka", KRAFT, {"image-gone": NOTE}),
        # a mirror keeps what it has
        ("registry.example.org/bitnami/kafka:3.9", KRAFT, {}),
        ("bitnamilegacy/kafka:3.9", {**KRAFT, "KAFKA_MIN_INSYNC_REPLICAS": "2"}, {"image-env-wrong-prefix": WARNING}),
        ("bitnamilegacy/kafka:3.9", {**KRAFT, "KAFKA_NUM_PARTITIONS": "2", "KAFKA_HEAP_OPTS": "-Xmx1g"}, {}),
        ("bitnamilegacy/kafka:3.9", {**KRAFT, "KAFKA_NODE_ID": "1"}, {}),
        (
            "bitnamilegacy/kafka:3.9",
            {**KRAFT, "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://elsewhere.example:9092"},
            {"image-env-alias-ignored": WARNING},
        ),
        (
            "bitnamilegacy/kafka:3.9",
            {**KRAFT, "KAFKA_CFG_ZOOKEEPER_CONNECT": "zoo:2181"},
            {"kraft-mode-ambiguous": ERROR},
        ),
        (
            "bitnamilegacy/kafka:4.0",
            {**KRAFT, "KAFKA_CFG_ZOOKEEPER_CONNECT": "zoo:2181"},
            {"kraft-mode-ambiguous": NOTE},
        ),
        ("bitnamilegacy/kafka:4.0", {"KAFKA_CFG_ZOOKEEPER_CONNECT": "zoo:2181"}, {"image-version-breaks-mode": ERROR}),
        (
            "bitnamilegacy/kafka:latest",
            {"KAFKA_CFG_ZOOKEEPER_CONNECT": "zoo:2181"},
            {"image-version-breaks-mode": ERROR},
        ),
        ("bitnamilegacy/kafka:3.9", {}, {"image-required-env-missing": ERROR}),
        ("bitnamilegacy/kafka:2.8", {**OLD, "KAFKA_CFG_ZOOKEEPER_CONNECT": "zoo:2181"}, {}),
        ("bitnamilegacy/kafka:2.8", OLD, {"zookeeper-connect-broken": ERROR}),
        (
            "bitnamilegacy/kafka:3.4.0",
            {**OLD, "KAFKA_CFG_ZOOKEEPER_CONNECT": "zoo:2181"},
            {"bitnami-legacy-switches": WARNING, "kraft-mode-ambiguous": NOTE},
        ),
    ],
)
def test_bitnami(image: str, environment: dict[str, str], expected: dict[str, Severity]) -> None:
    assert found(image, environment) == expected


@pytest.mark.parametrize(
    ("image", "environment", "expected"),
    [
        ("wurstmeister/kafka", {**CP, "KAFKA_LISTENERS": "PLAINTEXT://:9092"}, {"image-gone": NOTE}),
        ("wurstmeister/kafka", CP, {"image-gone": NOTE, "wurstmeister-listeners-missing": ERROR}),
        (
            "wurstmeister/kafka",
            {"KAFKA_ZOOKEEPER_CONNECT": "zoo:2181"},
            {"image-gone": NOTE, "image-required-env-missing": ERROR},
        ),
        (
            "wurstmeister/kafka",
            {"KAFKA_ZOOKEEPER_CONNECT": "zoo:2181", "KAFKA_ADVERTISED_HOST_NAME": "kafka"},
            {"image-gone": NOTE},
        ),
        ("zookeeper:3.9", CP, {"image-not-kafka": ERROR}),
        ("zookeeper:3.9", {"KAFKA_OPTS": "-Dx=y"}, {}),
    ],
)
def test_other_images(image: str, environment: dict[str, str], expected: dict[str, Severity]) -> None:
    assert found(image, environment) == expected


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({**CP, "KAFKA_LISTENER": "PLAINTEXT://:9092"}, {"image-env-unknown": WARNING}),
        ({**CP, "KAFKA_LISTENERSS": "PLAINTEXT://:9092", "KAFKA_LISTENERS": "PLAINTEXT://:9092"}, {}),
        ({**CP, "KAFKA_CONFLUENT_LICENSE_TOPIC": "x"}, {}),
        (
            {**CP, "KAFKA_ADVERTISED_LISTENERS": "SSL://kafka:9092"},
            {"secrets-by-listener-name": ERROR, "inter-broker-not-advertised": ERROR},
        ),
        (SASL, {}),
        ({**SASL, "KAFKA_SASL_ENABLED_MECHANISMS": "PLAIN"}, {"sasl-config-incomplete": ERROR}),
        ({**SASL, "KAFKA_LISTENER_NAME_IN_SASL_ENABLED_MECHANISMS": "PLAIN"}, {"sasl-config-incomplete": ERROR}),
        ({**SASL, "KAFKA_SASL_MECHANISM_INTER_BROKER_PROTOCOL": "PLAIN"}, {"sasl-config-incomplete": ERROR}),
        (
            {
                **SASL,
                "KAFKA_SASL_ENABLED_MECHANISMS": "SCRAM-SHA-512, PLAIN",
                "KAFKA_SASL_MECHANISM_INTER_BROKER_PROTOCOL": "PLAIN",
            },
            {},
        ),
    ],
)
def test_confluent(environment: dict[str, str], expected: dict[str, Severity]) -> None:
    assert found("confluentinc/cp-kafka:7.9.2", environment) == expected


@pytest.mark.parametrize(
    ("name", "other", "close"),
    [
        ("listener", "listeners", True),
        ("advertised.listners", "advertised.listeners", True),
        ("advertised.host.name", "advertised.listeners", False),
        ("listeners", "listeners", True),
        ("log.dirs", "listeners", False),
    ],
)
def test_names_that_are_close(name: str, other: str, close: bool) -> None:
    assert is_close(name, other) is close


@pytest.mark.parametrize("tag", [":latest", "", ":3.8.0", ":4.1.0", ":${TAG}"])
def test_apaches_image_never_ran_with_zookeeper(tag: str) -> None:
    # whatever else it makes of the file, what is wrong is said once
    rules = found(f"'apache/kafka{tag}'", CP)
    assert rules["image-version-breaks-mode"] is ERROR
    assert "image-defaults-dropped" not in rules


def test_without_a_zookeeper_it_is_the_defaults_of_apaches_image_that_are_missing() -> None:
    rules = found("apache/kafka:3.8.0", {"KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://kafka:9092"})
    assert rules == {"image-defaults-dropped": ERROR}


BITNAMI = """
    zk: {image: "zookeeper:3.9"}
    one: &broker
      image: bitnami/kafka:latest
      environment: {KAFKA_CFG_ZOOKEEPER_CONNECT: "zk:2181", ALLOW_PLAINTEXT_LISTENER: "yes"}
    two: *broker
"""


def test_pieces_of_advice_on_one_image_agree() -> None:
    made = deployment_of("services:" + BITNAMI)
    hints = {f.rule: f.hint or "" for f in check_deployment(made)}
    assert "bitnamilegacy/kafka:3.9" in hints["image-gone"]
    assert "bitnamilegacy/kafka:3.9" in hints["image-version-breaks-mode"]
    assert [f.message for f in check_deployment(made) if f.rule == "image-gone"] == [
        'image "bitnami/kafka:latest" of one, two is no longer on Docker Hub'
    ]


def test_what_a_missing_cluster_id_does_not_hide_is_said_at_once() -> None:
    made = deployment_of(
        "services: {kafka: {image: 'confluentinc/cp-kafka:7.4.0', environment: {KAFKA_NODE_ID: 1,"
        " KAFKA_PROCESS_ROLES: 'broker,controller', KAFKA_CONTROLLER_QUORUM_VOTERS: '1@kafka:9093',"
        " KAFKA_LISTENERS: 'PLAINTEXT://:9092,CONTROLLER://:9093', KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER,"
        " KAFKA_ADVERTISED_LISTENERS: 'OTHER://kafka:9092'}}}\n"
    )
    found = {f.rule: f.broker_prints for f in check_deployment(made)}
    assert found["image-required-env-missing"] == "CLUSTER_ID is required."
    assert found["advertised-not-in-listeners"] is None


@pytest.mark.parametrize(
    ("value", "severity", "message"),
    [
        ("$ZK", Severity.WARNING, "kafka takes KAFKA_ZOOKEEPER_CONNECT from ZK, which nobody sets, although"),
        ("", Severity.ERROR, "kafka sets KAFKA_ZOOKEEPER_CONNECT to nothing, although"),
    ],
)
def test_a_variable_that_is_required_and_empty(value: str, severity: Severity, message: str) -> None:
    made = deployment_of(
        "services: {kafka: {image: 'confluentinc/cp-kafka:7.4.0', environment: {"
        f"KAFKA_ZOOKEEPER_CONNECT: '{value}', KAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://kafka:9092'}}}}}}\n"
    )
    (finding,) = (f for f in check_deployment(made) if f.rule == "image-required-env-missing")
    assert finding.severity is severity
    assert finding.message.startswith(message)


def test_old_scripts_of_wurstmeister_name_protocols() -> None:
    variables = "KAFKA_ZOOKEEPER_CONNECT: 'z:2181', KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'IN:PLAINTEXT,OUT:PLAINTEXT'"
    variables += ", KAFKA_ADVERTISED_PROTOCOL_NAME: OUT, KAFKA_ADVERTISED_PORT: 9094, KAFKA_PROTOCOL_NAME: IN"
    text = f"services: {{kafka: {{image: 'wurstmeister/kafka:1.0.0', environment: {{{variables}}}}}}}\n"
    assert {f.rule for f in check_deployment(deployment_of(text))} == {"image-gone"}
