"""The names of Kafka's properties."""

import pytest

from netdiag.kafka.images.settings import KRAFT_PROPERTIES, ZOOKEEPER_PROPERTIES
from netdiag.kafka.property_names import PROPERTY_NAMES


@pytest.mark.parametrize(
    "name", [*KRAFT_PROPERTIES, *ZOOKEEPER_PROPERTIES, "controller.quorum.bootstrap.servers", "host.name"]
)
def test_known(name: str) -> None:
    assert name in PROPERTY_NAMES


def test_names_are_names() -> None:
    assert all(name == name.lower() and " " not in name for name in PROPERTY_NAMES - {"zookeeper.clientCnxnSocket"})
