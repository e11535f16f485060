"""Variables of Bitnami's brokers that lack CFG_."""

import pytest

from netdiag.deployment.misread_settings import ignored_aliases, ignored_variables
from tests.deployment.stacks import deployment_of


def stack(image: str, variables: str) -> str:
    lines = "".join(f"      {name}: '1'\n" for name in variables.split())
    return f"name: t\nservices:\n  kafka:\n    image: {image}\n    environment:\n{lines}"


@pytest.mark.parametrize(
    ("image", "variables", "ignored"),
    [
        ("bitnami/kafka:3.9", "KAFKA_NODE_ID KAFKA_LISTENERS KAFKA_MAX_MESSAGE_BYTES", ()),
        ("bitnami/kafka:3.9", "KAFKA_CONTROLLER_LISTENER_NAMES", ("CONTROLLER_LISTENER_NAMES",)),
        ("bitnami/kafka:3.9", "KAFKA_CONTROLLER_LISTENER_NAMES KAFKA_CFG_CONTROLLER_LISTENER_NAMES", ()),
        ("bitnami/kafka:2.8", "KAFKA_NODE_ID", ("NODE_ID",)),
        ("bitnami/kafka:3.9", "KAFKA_ENABLE_KRAFT KAFKA_OPTS KAFKA_LOG_DIR KAFKA_CLIENT_USERS", ()),
        ("apache/kafka:3.9.1", "KAFKA_CONTROLLER_LISTENER_NAMES", ()),
    ],
)
def test_ignored(image: str, variables: str, ignored: tuple[str, ...]) -> None:
    (broker,) = deployment_of(stack(image, variables)).brokers
    assert ignored_variables(broker) == ignored


def test_only_what_looks_like_an_alias_is_one() -> None:
    (broker,) = deployment_of(
        stack("bitnami/kafka:3.9", "KAFKA_MIN_INSYNC_REPLICAS KAFKA_CONTROLLER_LISTENER_NAMES")
    ).brokers
    assert ignored_variables(broker) == ("CONTROLLER_LISTENER_NAMES", "MIN_INSYNC_REPLICAS")
    assert ignored_aliases(broker) == ("CONTROLLER_LISTENER_NAMES",)
