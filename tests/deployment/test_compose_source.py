"""Compose services as members: names, modes, ports, values that know their place, and what a missing file hides."""

import pytest

from netdiag.deployment.model.deployment import NetworkMode
from netdiag.deployment.sources.compose import _config_of_visible_variables
from netdiag.deployment.sources.declared_services import (
    DeclaredService,
    DeclaredServices,
    DeclaredText,
    declared_services,
)
from netdiag.findings import FileLocation
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images.families import parse_image
from netdiag.rules.declared import DECLARED
from tests.deployment.stacks import deployment_of, project_of

TEXT = """\
name: shop
services:
  kafka:
    image: apache/kafka:3.9.1
    container_name: the-kafka
    hostname: broker
    networks:
      zone: {aliases: [k]}
      area:
    ports: ["127.0.0.1:19092:9092", "9093"]
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_LISTENERS: "A://0.0.0.0:9092"
  tool:
    image: apache/kafka:3.9.1
    command: kafka-topics.sh --list
  starter:
    image: confluentinc/cp-kafka:7.9.2
    command: /etc/confluent/docker/run
  app:
    image: shop/app
    environment: [KAFKA_BROKERS=the-kafka:9092, OTHER=kafka:1]
  side:
    image: shop/side
    network_mode: service:kafka
networks:
  zone:
  area: {internal: true}
"""


def test_only_services_that_start_a_broker_are_brokers() -> None:
    deployment = deployment_of(TEXT)
    assert [b.name for b in deployment.brokers] == ["kafka", "starter"]
    assert [m.name for m in deployment.others] == ["tool", "app", "side"]


def test_names_and_order_of_attachments() -> None:
    kafka = deployment_of(TEXT).brokers[0].member
    assert [a.network for a in kafka.attachments] == ["zone", "area"]  # the internal network comes last
    assert kafka.attachments[0].names == ("kafka", "the-kafka", "broker", "k")
    assert kafka.attachments[1].names == ("kafka", "the-kafka", "broker")
    assert kafka.hostnames == ("broker",)


def test_ports() -> None:
    first, second = deployment_of(TEXT).brokers[0].member.published
    assert (first.host_ip, first.published, first.target) == ("127.0.0.1", 19092, 9092)
    assert first.on_loopback
    assert not first.on_all_addresses
    assert (second.published, second.target) == (None, 9093)


def test_dependents_and_shared_namespaces() -> None:
    deployment = deployment_of(TEXT)
    (app,) = deployment.clients
    assert (app.member.name, [(a.host, a.port) for a in app.bootstraps]) == ("app", [("the-kafka", 9092)])
    side = next(m for m in deployment.others if m.name == "side")
    assert (side.mode, side.shares_with) == (NetworkMode.SHARED, "kafka")


def test_a_property_points_at_its_bytes_and_can_be_edited_there() -> None:
    broker = deployment_of(TEXT).brokers[0]
    (entry,) = broker.config.listeners
    place = broker.place("listeners", entry.host_start, entry.host_end)
    assert isinstance(place, FileLocation)
    assert TEXT.encode()[place.start : place.end] == b"0.0.0.0"
    assert (place.line, place.column) == (13, 29)
    (edit,) = broker.edit("listeners", entry.host_start, entry.host_end, "")
    assert (edit.start, edit.end, edit.replacement) == (place.start, place.end, "")


def test_a_property_that_nobody_wrote_points_at_the_service() -> None:
    broker = deployment_of(TEXT).brokers[0]
    place = broker.place("advertised.listeners")
    assert isinstance(place, FileLocation)
    assert (place.line, place.column) == (3, 3)
    assert broker.edit("advertised.listeners", 0, 1, "x") == ()


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


GENERATED = """\
services:
  a:
    image: confluentinc/cp-kafka:7.9.2
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://a:9092
  b:
    image: confluentinc/cp-kafka:7.9.2
    environment:
      KAFKA_ZOOKEEPER_CONNECT: {zookeeper}:2181
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://b:9092
      {more}
"""


@pytest.mark.parametrize(
    ("more", "ids"),
    [
        ("X: y", [1001, 1002]),
        ("KAFKA_BROKER_ID: 7", [1001, 7]),
        ("KAFKA_BROKER_ID: -1", [1001, 1002]),
        ("KAFKA_RESERVED_BROKER_MAX_ID: 5", [1001, 7]),
        ('KAFKA_BROKER_ID_GENERATION_ENABLE: "false"', [1001, None]),
    ],
)
def test_kafka_chooses_an_id_where_none_is_given(more: str, ids: list[int | None]) -> None:
    """Without it, nothing would be known of what the cluster tells clients."""
    deployment = deployment_of(GENERATED.format(zookeeper="zookeeper", more=more))
    assert [broker.config.node_id for broker in deployment.brokers] == ids
    others = deployment_of(GENERATED.format(zookeeper="other", more="KAFKA_HEAP_OPTS: -Xmx1G"))
    assert [broker.config.node_id for broker in others.brokers] == [1001, 1001]


FILE = """\
name: shop
services:
  kafka:
    image: apache/kafka:3.9.0
    networks: [inner, outer]
    ports: ["127.0.0.1:9093:9092", "9094"]
    environment: {KAFKA_NODE_ID: 1, FROM_OUTSIDE: }
  job:
    build: .
    network_mode: host
  plain:
    image: alpine
networks:
  inner:
  outer: {name: shared}
"""


def test_a_service_as_it_is_compared() -> None:
    kafka = declared_services(project_of(FILE))["kafka"]
    assert kafka.is_broker
    assert kafka.image is not None
    assert (kafka.image.value, kafka.image.where and kafka.image.where.line) == ("apache/kafka:3.9.0", 4)
    assert {name: text.value for name, text in kafka.environment.items()} == {"KAFKA_NODE_ID": "1"}
    assert [(p.target, p.published, p.host_ip, p.where and p.where.line) for p in kafka.ports] == [
        (9092, 9093, "127.0.0.1", 6),
        (9094, None, "", 6),
    ]
    assert list(kafka.networks) == ["shop_inner", "shared"]


def test_networks_are_called_as_the_project_that_runs() -> None:
    services = declared_services(project_of(FILE), "other")
    assert list(services["kafka"].networks) == ["other_inner", "shared"]
    assert list(services["plain"].networks) == ["other_default"]
    assert (services["job"].networks, services["job"].network_mode, services["job"].is_built) == ({}, "host", True)


def test_the_environment_is_not_shown_with_the_service() -> None:
    service = DeclaredService(name="kafka", where=None, environment={"A": DeclaredText(value="hunter2")})
    assert "hunter2" not in repr(DeclaredServices(services={"kafka": service}))
