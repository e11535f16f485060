"""Edges of the rules about the broker's own configuration: versions, exceptions, precedence, repairs."""

import pytest

from netdiag.findings import Severity
from netdiag.rules.declared import check_deployment
from tests.deployment.stacks import deployment_of
from tests.rules.test_edges import cp, found

KRAFT = {
    "KAFKA_NODE_ID": "1",
    "KAFKA_PROCESS_ROLES": "broker,controller",
    "KAFKA_LISTENERS": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://kafka:9092",
    "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
    "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@kafka:9093",
}


def node(*, image: str = "apache/kafka:3.9.1", name: str = "kafka", extra: str = "", **changes: str | None) -> str:
    """One service: a combined node with some variables changed, removed (None) or added."""
    variables = {name: value for name, value in (KRAFT | changes).items() if value is not None}
    lines = "".join(f"      {variable}: '{value}'\n" for variable, value in variables.items())
    return f"  {name}:\n    image: {image}\n{extra}    environment:\n{lines}"


def kraft(*nodes: str) -> str:
    return "name: t\nservices:\n" + "".join(nodes)


def serious(text: str) -> dict[str, Severity]:
    return {rule: severity for rule, severity in found(text).items() if severity is not Severity.NOTE}


def prints(text: str) -> set[str | None]:
    return {
        finding.broker_prints
        for finding in check_deployment(deployment_of(text))
        if finding.severity is not Severity.NOTE
    }


def repaired(text: str) -> str:
    data = text.encode()
    for edit in sorted((e for f in check_deployment(deployment_of(text)) for e in f.edits), key=lambda e: -e.start):
        data = data[: edit.start] + edit.replacement.encode() + data[edit.end :]
    return data.decode()


@pytest.mark.parametrize(
    ("listeners", "expected"),
    [
        # nobody but the broker will ever expand these
        ("PLAINTEXT://$${HOST}:9092", {"listener-unexpanded-or-quoted": Severity.ERROR}),
        ("PLAINTEXT://$$(hostname):9092", {"listener-unexpanded-or-quoted": Severity.ERROR}),
        # another shell may know it
        ("PLAINTEXT://kafka:${PORT}", {"listener-unexpanded-or-quoted": Severity.WARNING}),
        ("PLAINTEXT://${HOST}:9092", {"listener-unexpanded-or-quoted": Severity.WARNING}),
        ("PLAINTEXT://${HOST:-kafka}:9092", {}),
        # wrong in another way
        ("PLAINTEXT:/kafka:9092", {"listener-unparsable": Severity.ERROR}),
    ],
)
def test_what_the_broker_gets_instead_of_a_value(listeners: str, expected: dict[str, Severity]) -> None:
    text = cp(f"KAFKA_LISTENERS: PLAINTEXT://:9092\nKAFKA_ADVERTISED_LISTENERS: {listeners}")
    assert found(text) == expected


def test_a_list_that_is_derived_says_nothing_twice() -> None:
    findings = check_deployment(deployment_of(cp("KAFKA_ADVERTISED_LISTENERS: PLAINTEXT:/kafka:9092")))
    assert [finding.rule for finding in findings] == ["listener-unparsable"]


def test_an_unset_variable_is_named() -> None:
    (finding,) = check_deployment(deployment_of(cp("KAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://${BROKER_HOST}:9092'")))
    assert '"BROKER_HOST" is not set' in finding.message
    assert finding.broker_prints is None


@pytest.mark.parametrize("quote", ['"', "'"])
def test_quotes_of_a_list_entry_are_taken_away(quote: str) -> None:
    value = "INTERNAL://kafka:29092,EXTERNAL://broker.example.org:9092"
    right = (
        "name: t\nservices:\n  kafka:\n    image: confluentinc/cp-kafka:7.9.2\n    environment:\n"
        "      - KAFKA_ZOOKEEPER_CONNECT=zookeeper:2181\n"
        f"      - KAFKA_ADVERTISED_LISTENERS={value}\n"
        "      - KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT\n"
        "      - KAFKA_INTER_BROKER_LISTENER_NAME=INTERNAL\n"
    )
    wrong = right.replace(value, f"{quote}{value}{quote}")
    assert serious(right) == {}
    assert serious(wrong) == {"listener-unexpanded-or-quoted": Severity.ERROR}
    assert repaired(wrong) == right


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        ("0", {"listener-port-invalid": Severity.WARNING}),
        ("-1", {"listener-port-invalid": Severity.ERROR}),
        ("65536", {"listener-port-invalid": Severity.ERROR}),
        ("65535", {}),
    ],
)
def test_ports_at_the_edges(port: str, expected: dict[str, Severity]) -> None:
    text = cp(f"KAFKA_LISTENERS: 'PLAINTEXT://:{port}'\nKAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://kafka:{port}'")
    assert serious(text) == expected


def test_a_wildcard_of_the_listeners_is_advertised_when_nothing_else_is() -> None:
    text = kraft(node(KAFKA_ADVERTISED_LISTENERS=None, KAFKA_LISTENERS="PLAINTEXT://[::]:9092,CONTROLLER://:9093"))
    assert serious(text) == {"advertised-wildcard-uncaught": Severity.ERROR}


@pytest.mark.parametrize(
    ("image", "refused"),
    [
        ("apache/kafka:3.9.0", True),
        ("confluentinc/cp-kafka:7.9.0", True),
        ("confluentinc/cp-kafka:7.9.1", False),
        ("confluentinc/cp-kafka:7.9", False),
        ("apache/kafka:3.8.1", False),
        ("apache/kafka:4.0.0", False),
        ("apache/kafka", False),
    ],
)
def test_controller_on_the_wildcard(image: str, refused: bool) -> None:
    wildcard = "PLAINTEXT://:9092,CONTROLLER://0.0.0.0:9093"
    text = kraft(node(image=image, KAFKA_LISTENERS=wildcard, CLUSTER_ID="5L6g3nShT-eMCtK--X86sw"))
    assert serious(text) == ({"controller-wildcard-on-3.9.0": Severity.ERROR} if refused else {})
    assert serious(repaired(text)) == {}


@pytest.mark.parametrize(
    ("tag", "host", "expected"),
    [
        ("7.9.2", "localhost", {"removed-address-property": Severity.WARNING}),
        ("7.9.2", "kafka", {"removed-address-property": Severity.NOTE}),
        ("6.2.0", "localhost", {}),
    ],
)
def test_addresses_that_are_no_longer_read(tag: str, host: str, expected: dict[str, Severity]) -> None:
    environment = f"KAFKA_ADVERTISED_HOST_NAME: {host}\nKAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092"
    assert found(cp(environment, tag=tag)) == expected


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ("broker, controller", {}),
        ("Broker,controller", {"kraft-role-invalid": Severity.ERROR}),
        ("broker,controller,broker", {"kraft-role-invalid": Severity.ERROR}),
    ],
)
def test_roles(roles: str, expected: dict[str, Severity]) -> None:
    assert serious(kraft(node(KAFKA_PROCESS_ROLES=roles))) == expected


@pytest.mark.parametrize(
    ("image", "sentence"),
    [
        ("apache/kafka:3.9.1", "Missing configuration `node.id` which is required when `process.roles` is defined"),
        ("apache/kafka:4.0.0", 'Missing required configuration "node.id" which has no default value.'),
        ("apache/kafka:latest", 'Missing required configuration "node.id" which has no default value.'),
    ],
)
def test_a_node_without_id(image: str, sentence: str) -> None:
    assert sentence in prints(kraft(node(image=image, KAFKA_NODE_ID=None)))


@pytest.mark.parametrize("stack", [node(KAFKA_BROKER_ID="1"), node(KAFKA_NODE_ID=None, KAFKA_BROKER_ID="1")])
def test_broker_id_is_the_older_name_of_the_same(stack: str) -> None:
    assert serious(kraft(stack)) == {}


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("confluentinc/cp-kafka", Severity.ERROR),
        ("confluentinc/cp-kafka:latest", Severity.ERROR),
        ("docker.io/confluentinc/cp-server:latest.arm64", Severity.ERROR),
        ("confluentinc/cp-kafka:8.0.0", Severity.ERROR),
        ("confluentinc/cp-kafka:master", Severity.NOTE),
        ("confluentinc/cp-kafka@sha256:0000", Severity.NOTE),
        ("confluentinc/cp-kafka:${TAG}", None),
        ("confluentinc/cp-enterprise-kafka", None),
        ("confluentinc/cp-kafka:7.9", None),
        ("confluentinc/cp-kafka:4.1.3", None),
        ("confluentinc/cp-kafka:3.3.1", None),
    ],
)
def test_zookeeper_by_image(image: str, expected: Severity | None) -> None:
    text = cp("KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092").replace("confluentinc/cp-kafka:7.9.2", image)
    assert found(text) == ({"image-version-breaks-mode": expected} if expected else {})


def test_a_release_without_zookeeper_is_told_once_and_one_without_anything_as_before() -> None:
    text = cp("KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092", tag="8.0.0")
    assert serious(text) == {"image-version-breaks-mode": Severity.ERROR}
    bare = text.replace("      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181\n", "")
    assert serious(bare) == {"image-required-env-missing": Severity.ERROR}


def test_a_required_variable_that_is_misspelled_is_renamed() -> None:
    right = cp("KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092")
    wrong = right.replace("KAFKA_ADVERTISED_LISTENERS", "KAFKA_ADVERTISED_LISTENER")
    assert serious(wrong).keys() == {"image-required-env-missing", "image-env-unknown"}
    assert repaired(wrong) == right


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"KAFKA_ZOOKEEPER_CONNECT": "zookeeper:2181"}, {"kraft-mode-ambiguous": Severity.NOTE}),
        (
            {"KAFKA_ZOOKEEPER_CONNECT": "zookeeper:2181", "KAFKA_ZOOKEEPER_METADATA_MIGRATION_ENABLE": "true"},
            {},
        ),
        ({"KAFKA_CFG_LISTENERS": "PLAINTEXT://:9092"}, {"image-env-wrong-prefix": Severity.NOTE}),
        ({"KAFKA_CFG_LOG_RETENTION_HOURS": "1"}, {"image-env-wrong-prefix": Severity.WARNING}),
        ({"KAFKA_CFG_INTER_BROKER_LISTENER_NAME": "PLAINTEXT"}, {"image-env-wrong-prefix": Severity.ERROR}),
    ],
)
def test_settings_that_are_ignored(changes: dict[str, str], expected: dict[str, Severity]) -> None:
    stack = node() + "".join(f"      {name}: '{value}'\n" for name, value in changes.items())
    assert found(kraft(stack)) == expected


@pytest.mark.parametrize(
    ("extra", "expected"),
    [("", {"kraft-mode-ambiguous": Severity.ERROR}), ("\nKAFKA_ZOOKEEPER_METADATA_MIGRATION_ENABLE: 'true'", {})],
)
def test_a_broker_with_zookeeper_names_controllers_only_to_migrate(extra: str, expected: dict[str, Severity]) -> None:
    environment = "KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092\nKAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER"
    assert serious(cp(environment + extra)) == expected
