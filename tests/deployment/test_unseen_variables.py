"""What is known of a broker whose env_file is missing."""

import pytest

from netdiag.deployment.sources.compose import _config_of_visible_variables
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images.reference import parse_image
from netdiag.rules.declared import DECLARED
from tests.deployment.stacks import deployment_of

# About a variable that the image wants, by image and what is shown beside the missing file.
WANTED = [
    ("image-required-env-missing", "confluentinc/cp-kafka:7.9.2", {}),
    ("image-required-env-missing", "confluentinc/cp-kafka:8.0.0", {"KAFKA_PROCESS_ROLES": "broker,controller"}),
    ("image-required-env-missing", "confluentinc/cp-kafka:7.9.2", {"KAFKA_ADVERTISED_LISTENERS": "A://kafka:9092"}),
    ("image-required-env-missing", "bitnamilegacy/kafka:3.7", {}),
    ("image-required-env-missing", "wurstmeister/kafka:2.13-2.8.1", {}),
    ("bitnami-legacy-switches", "bitnamilegacy/kafka:2.8", {"KAFKA_CFG_ZOOKEEPER_CONNECT": "zookeeper:2181"}),
    ("bitnami-legacy-switches", "bitnamilegacy/kafka:3.4.0", {"KAFKA_CFG_ZOOKEEPER_CONNECT": "zookeeper:2181"}),
    (
        "wurstmeister-listeners-missing",
        "wurstmeister/kafka:2.13-2.8.1",
        {"KAFKA_ZOOKEEPER_CONNECT": "zookeeper:2181", "KAFKA_ADVERTISED_LISTENERS": "A://kafka:9092"},
    ),
    ("image-defaults-dropped", "apache/kafka:3.9.1", {"KAFKA_NODE_ID": "1"}),
]


def _told(image: str, environment: dict[str, str], env_file: str = "[]") -> set[str]:
    variables = "".join(f"\n      {name}: '{value}'" for name, value in environment.items()) or " {}"
    text = f"services:\n  kafka:\n    image: {image}\n    env_file: {env_file}\n    environment:{variables}\n"
    deployment = deployment_of(text)
    return {finding.rule for rule in DECLARED for finding in rule.check(deployment)}


@pytest.mark.parametrize(("rule", "image", "environment"), WANTED)
def test_nobody_is_told_to_set_what_a_missing_file_may_set(rule: str, image: str, environment: dict[str, str]) -> None:
    assert rule in _told(image, environment)
    assert rule not in _told(image, environment, "kafka.env")


@pytest.mark.parametrize(("rule", "image", "environment"), WANTED)
def test_without_an_optional_file_compose_starts_what_is_shown(
    rule: str, image: str, environment: dict[str, str]
) -> None:
    assert rule in _told(image, environment, "[{path: kafka.env, required: false}]")


def test_what_is_shown_wins_over_any_file() -> None:
    assert "bitnami-legacy-switches" in _told(
        "bitnamilegacy/kafka:2.8", {"ALLOW_PLAINTEXT_LISTENER": "no"}, "kafka.env"
    )
    assert "image-required-env-missing" in _told(
        "confluentinc/cp-kafka:7.9.2", {"KAFKA_ZOOKEEPER_CONNECT": ""}, "k.env"
    )
    assert "image-env-rejected" in _told("confluentinc/cp-kafka:7.9.2", {"KAFKA_ADVERTISED_PORT": "9092"}, "k.env")


def test_a_default_of_the_image_is_unknown() -> None:
    config = _config_of_visible_variables(parse_image("apache/kafka:3.9.1"), {})
    assert config.is_unknown("advertised.listeners")
    assert config.mode is Mode.UNDECIDED
    assert config.cluster_id is None


def test_what_is_given_stays() -> None:
    shown = {"KAFKA_PROCESS_ROLES": "broker", "CLUSTER_ID": "abc", "KAFKA_ADVERTISED_LISTENERS": "A://localhost:9092"}
    config = _config_of_visible_variables(parse_image("confluentinc/cp-kafka:7.9.2"), shown)
    assert config.value("advertised.listeners") == "A://localhost:9092"
    assert config.cluster_id == "abc"
    assert config.refusal is None
