"""Cluster ids by image family."""

import pytest

from netdiag.kafka.images.apache import DEFAULT_CLUSTER_ID
from netdiag.kafka.images.effective import cluster_id, image_settings
from netdiag.kafka.images.reference import parse_image
from netdiag.kafka.images.settings import Launch


@pytest.mark.parametrize(
    ("image", "environment", "expected"),
    [
        ("apache/kafka", {}, DEFAULT_CLUSTER_ID),
        ("apache/kafka", {"CLUSTER_ID": None}, None),
        ("apache/kafka", {"CLUSTER_ID": "x"}, "x"),
        ("confluentinc/cp-kafka", {}, None),
        ("confluentinc/confluent-local", {}, "4L6g3nShT-eMCtK--X86sw"),
        ("bitnami/kafka", {"KAFKA_KRAFT_CLUSTER_ID": "x"}, "x"),
        ("bitnami/kafka", {"CLUSTER_ID": "x"}, None),
        ("debezium/kafka:1.9", {}, None),
        ("debezium/kafka:3.7", {}, "ldlg5yhkQeWtnUrZrC6edg"),
    ],
)
def test_cluster_id(image: str, environment: dict[str, str | None], expected: str | None) -> None:
    assert cluster_id(parse_image(image), environment) == expected


@pytest.mark.parametrize(
    ("image", "listeners"),
    [
        (
            "confluentinc/confluent-local:7.9.0",
            "PLAINTEXT://localhost:29092,CONTROLLER://localhost:29093,PLAINTEXT_HOST://0.0.0.0:9092",
        ),
        ("lensesio/fast-data-dev", "PLAINTEXT://:9092"),
        ("wurstmeister/kafka", "PLAINTEXT://:9092"),
    ],
)
def test_defaults_by_family(image: str, listeners: str) -> None:
    assert image_settings(parse_image(image), {}, Launch()).settings["listeners"].value == listeners
