"""Which generation of Bitnami's scripts a tag has; the facts are the README's of bitnami/containers."""

import pytest

from netdiag.kafka.images.bitnami_tag import Generation, generation
from netdiag.kafka.images.reference import parse_image


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("bitnami/kafka", Generation.EXPLICIT),
        ("bitnami/kafka:latest", Generation.EXPLICIT),
        ("bitnami/kafka:4.0.0-debian-12-r10", Generation.EXPLICIT),
        ("bitnami/kafka:3.6.2-debian-12-r5", Generation.EXPLICIT),
        ("bitnami/kafka:3", Generation.EXPLICIT),
        ("bitnami/kafka:3.5", Generation.EXPLICIT),
        ("bitnami/kafka:3.5.1", Generation.EXPLICIT),
        ("bitnami/kafka:3.5.1-debian-11-r4", Generation.EXPLICIT),
        ("bitnami/kafka:3.5.1-debian-11-r3", Generation.KRAFT),
        ("bitnami/kafka:3.5.0", Generation.KRAFT),
        ("bitnami/kafka:3.4", Generation.EXPLICIT),
        ("bitnami/kafka:3.4.1-debian-11-r49", Generation.KRAFT),
        ("bitnami/kafka:3.4.0", Generation.KRAFT),
        ("bitnami/kafka:3.4.0-debian-11-r22", Generation.ZOOKEEPER),
        ("bitnami/kafka:3.3.2-debian-11-r183", Generation.EXPLICIT),
        ("bitnami/kafka:3.3.2-debian-11-r29", Generation.KRAFT),
        ("bitnami/kafka:3.3.2-debian-11-r28", Generation.ZOOKEEPER),
        ("bitnami/kafka:3.3.1", Generation.ZOOKEEPER),
        ("bitnami/kafka:3.2", Generation.EXPLICIT),
        ("bitnami/kafka:3.2.0-debian-11-r12", Generation.ZOOKEEPER),
        ("bitnami/kafka:3.1", Generation.ZOOKEEPER),
        ("bitnami/kafka:2.8", Generation.ZOOKEEPER),
        ("bitnami/kafka:2", Generation.ZOOKEEPER),
        ("bitnami/kafka:1.1.1", Generation.UNKNOWN),
        ("bitnami/kafka:edge", Generation.UNKNOWN),
    ],
)
def test_generation(image: str, expected: Generation) -> None:
    reference = parse_image(image)
    assert generation(reference.tag, reference.kafka_version) is expected
