"""Settings that mean something else to a broker than to their author."""

import pytest

from netdiag.deployment.misread_settings import (
    MisreadCause,
    MisreadValue,
    ignored_aliases,
    ignored_variables,
    is_placeholder,
    is_quoted,
    misread_values,
    placeholder_in,
)
from tests.deployment.stacks import deployment_of

STACK = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    environment:
      - KAFKA_ZOOKEEPER_CONNECT=zookeeper:2181
      - KAFKA_ADVERTISED_LISTENERS={value}
"""


def causes(value: str) -> list[tuple[MisreadCause, str, bool]]:
    (broker,) = deployment_of(STACK.format(value=value)).brokers
    return [(found.cause, found.text, found.is_fatal) for found in misread_values(broker, "advertised.listeners")]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("PLAINTEXT://kafka:9092", []),
        ('"A://kafka:1,B://kafka:2"', [(MisreadCause.QUOTED, '"A://kafka:1,B://kafka:2"', True)]),
        ("A://kafka:1,B://$$HOST:2", [(MisreadCause.LITERAL, "$HOST", True)]),
        ("A://$$(hostname -f):1", [(MisreadCause.LITERAL, "$(hostname -f)", True)]),
        ("A://${HOST}:1", [(MisreadCause.BLANK, "HOST", False)]),
        ("A://kafka:1,B://kafka:${PORT}", [(MisreadCause.BLANK, "PORT", True)]),
        # a blank that leaves a whole entry, and a variable that is a part of a name
        ("A://kafka:1,${MORE}", []),
        ("A://kafka${SUFFIX}:1", []),
    ],
)
def test_causes(value: str, expected: list[tuple[MisreadCause, str, bool]]) -> None:
    assert causes(value) == expected


def test_a_list_that_nobody_wrote_has_none() -> None:
    (broker,) = deployment_of(STACK.format(value='"A://kafka:1"')).brokers
    assert misread_values(broker, "listeners") == ()
    (found,) = misread_values(broker, "advertised.listeners")
    assert found == MisreadValue(cause=MisreadCause.QUOTED, text='"A://kafka:1"', start=0, end=13)


@pytest.mark.parametrize(
    ("value", "quoted"), [("'a'", True), (' "a" ', True), ("\"a'", False), ('"', False), ("", False)]
)
def test_quotes(value: str, quoted: bool) -> None:
    assert is_quoted(value) is quoted


PLACEHOLDERS = (
    "MY_EXTERNAL_IP YOUR_HOST HOST_IP DOCKER_HOST_IP your-ip your.server.com YOURIP MYIP x.x.x.x XXX.XXX.XXX.XXX "
    "changeme change-me Your_Host"
)
HOSTS = (
    "kafka my-kafka my-host KAFKA kafka_1 host.docker.internal localhost 10.0.0.1 BROKER_1 example.com server "
    "ip-10-0-0-1"
)


@pytest.mark.parametrize("host", PLACEHOLDERS.split())
def test_placeholders(host: str) -> None:
    assert is_placeholder(host)


@pytest.mark.parametrize("host", [*HOSTS.split(), ""])
def test_names_of_hosts(host: str) -> None:
    assert not is_placeholder(host)


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("PLAINTEXT://<your-ip>:9092", "<your-ip>"),
        ("PLAINTEXT://{{ ansible_host }}:9092", "{{ ansible_host }}"),
        ("PLAINTEXT://[your host]:9092", "[your host]"),
        ("PLAINTEXT://[::1]:9092", None),
        ("PLAINTEXT:/kafka:9092", None),
    ],
)
def test_brackets(entry: str, text: str | None) -> None:
    assert placeholder_in(entry) == text


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
