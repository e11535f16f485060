"""Cases beside the docstring examples: milder severities, exceptions, silence, repairs."""

import pytest

from netdiag.findings import Severity
from netdiag.rules.declared import check_deployment
from tests.deployment.stacks import deployment_of, five_brokers

CP = """\
name: t
services:
  kafka:
    image: confluentinc/cp-kafka:{tag}
{extra}
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_BROKER_ID: 1
{environment}
"""


def cp(environment: str, *, extra: str = "", tag: str = "7.9.2") -> str:
    indented = "\n".join(f"      {line}" for line in environment.strip().splitlines())
    return CP.format(environment=indented, extra=extra, tag=tag)


def found(text: str) -> dict[str, Severity]:
    return {finding.rule: finding.severity for finding in check_deployment(deployment_of(text))}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # a listener for health checks: loopback everywhere, nothing published
        (
            cp(
                "KAFKA_LISTENERS: PLAINTEXT://kafka:9092,HEALTH://localhost:9999\n"
                "KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092,HEALTH://localhost:9999\n"
                "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,HEALTH:PLAINTEXT"
            ),
            {},
        ),
        # host mode: loopback is the host's own
        (
            cp(
                "KAFKA_LISTENERS: PLAINTEXT://localhost:9092\nKAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:9092",
                extra="    network_mode: host",
            ),
            {},
        ),
        # one broker for the host only, no client shown
        (
            cp("KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:9092", extra='    ports: ["9092:9092"]'),
            {"advertised-loopback-for-remote-clients": Severity.NOTE},
        ),
        # a published internal listener beside one that serves the host
        (
            cp(
                "KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092\n"
                "KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092\n"
                "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT",
                extra='    ports: ["9092:9092", "29092:29092"]',
            ),
            {"advertised-internal-name-for-host": Severity.NOTE},
        ),
        # an empty advertised host that only its own network uses
        (cp("KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://:9092"), {"advertised-empty-host": Severity.NOTE}),
        # IPv4 and IPv6 literals may share a port
        (
            cp(
                "KAFKA_LISTENERS: A://0.0.0.0:9092,B://[::]:9092\n"
                "KAFKA_ADVERTISED_LISTENERS: A://kafka:9092,B://kafka:9092\n"
                "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: A:PLAINTEXT,B:PLAINTEXT\n"
                "KAFKA_INTER_BROKER_LISTENER_NAME: A"
            ),
            {},
        ),
        # the same port twice, both literals of one family
        (
            cp(
                "KAFKA_LISTENERS: A://0.0.0.0:9092,B://127.0.0.1:9092\n"
                "KAFKA_ADVERTISED_LISTENERS: A://kafka:9092,B://kafka:9092\n"
                "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: A:PLAINTEXT,B:PLAINTEXT\n"
                "KAFKA_INTER_BROKER_LISTENER_NAME: A"
            ),
            {"listener-port-conflict": Severity.ERROR, "listener-bound-to-loopback": Severity.WARNING},
        ),
        # published on two host ports, one of them the advertised one
        (
            cp(
                "KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092\n"
                "KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9093\n"
                "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT",
                extra='    ports: ["9092:9092", "9093:9092"]',
            ),
            {},
        ),
        # a host listener nobody publishes, on a broker that publishes nothing
        (
            cp(
                "KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092\n"
                "KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092\n"
                "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT"
            ),
            {"advertised-port-not-published": Severity.WARNING},
        ),
        # the same, and the docker host has a listener that it can use
        (
            cp(
                "KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092,SECOND://:9093\n"
                "KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092,SECOND://localhost:9093\n"
                "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT,SECOND:PLAINTEXT",
                extra='    ports: ["9093:9093"]',
            ),
            {"advertised-port-not-published": Severity.NOTE},
        ),
        # the same in a part of a project: the other part may publish the port
        (
            cp(
                "KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092\n"
                "KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092\n"
                "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT",
                extra="    depends_on: [kdc]",
            ),
            {"advertised-port-not-published": Severity.NOTE},
        ),
        # the same, and the health check uses it
        (
            cp(
                "KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092\n"
                "KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092\n"
                "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT",
                extra="    healthcheck: {test: kafka-topics --bootstrap-server localhost:9092 --list}",
            ),
            {"advertised-port-not-published": Severity.NOTE},
        ),
        # a value that only the shell knows
        (cp("KAFKA_LISTENERS:\nKAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092"), {}),
    ],
)
def test_milder_or_silent(text: str, expected: dict[str, Severity]) -> None:
    assert found(text) == expected


def test_static_addresses_are_right_where_they_are_declared() -> None:
    text = cp(
        "KAFKA_LISTENERS: PLAINTEXT://10.5.0.3:9092\nKAFKA_ADVERTISED_LISTENERS: PLAINTEXT://10.5.0.3:9092",
        extra="    networks: {net: {ipv4_address: 10.5.0.3}}",
    )
    assert found(text + "networks: {net: {ipam: {config: [{subnet: 10.5.0.0/16}]}}}\n") == {}


def test_an_active_client_makes_loopback_an_error_an_inactive_one_a_warning() -> None:
    text = cp("KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:9092", extra='    ports: ["9092:9092"]')
    client = "  app:\n    image: shop/app\n    environment: {KAFKA_BROKERS: 'kafka:9092'}\n"
    assert found(text + client) == {"advertised-loopback-for-remote-clients": Severity.ERROR}


def test_brokers_that_lead_each_other_to_localhost() -> None:
    findings = check_deployment(deployment_of(five_brokers().replace("INTERNAL://broker-2:", "INTERNAL://localhost:")))
    (one,) = [f for f in findings if f.rule == "inter-broker-endpoint-unreachable"]
    assert one.service == "broker-2"
    assert one.severity is Severity.ERROR


def test_repairs_touch_the_defect_and_nothing_else() -> None:
    text = five_brokers(bind="127.0.0.1")
    data = text.encode()
    edits = sorted((e for f in check_deployment(deployment_of(text)) for e in f.edits), key=lambda e: -e.start)
    assert len(edits) == 5
    for edit in edits:
        assert data[edit.start : edit.end] == b"127.0.0.1"
        data = data[: edit.start] + edit.replacement.encode() + data[edit.end :]
    assert data.decode() == five_brokers(bind="0.0.0.0")


def test_why_a_name_is_unmapped_speaks_of_a_map_only_where_one_is_set() -> None:
    lists = "KAFKA_LISTENERS: A://:1,B://:2\nKAFKA_ADVERTISED_LISTENERS: A://kafka:1,B://kafka:2\n"
    own = "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: A:PLAINTEXT\nKAFKA_INTER_BROKER_LISTENER_NAME: A"
    (mapped,) = check_deployment(deployment_of(cp(lists + own)))
    unmapped = check_deployment(deployment_of(cp(lists + "KAFKA_INTER_BROKER_LISTENER_NAME: A")))
    assert mapped.why is not None
    assert "setting it discards Kafka's defaults" in mapped.why
    assert [one.why for one in unmapped if one.rule == mapped.rule] == [
        "Kafka's default map holds only the names of security protocols: PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"
    ] * 2


def test_adding_to_the_map_keeps_the_line() -> None:
    text = cp(
        "KAFKA_LISTENERS: A://:1,B://:2\nKAFKA_ADVERTISED_LISTENERS: A://kafka:1,B://kafka:2\n"
        'KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: "A:PLAINTEXT"  # the map\nKAFKA_INTER_BROKER_LISTENER_NAME: A'
    )
    (finding,) = check_deployment(deployment_of(text))
    assert finding.rule == "listener-name-unmapped"
    (edit,) = finding.edits
    data = text.encode()
    assert (data[: edit.start] + edit.replacement.encode() + data[edit.end :]).decode() == text.replace(
        '"A:PLAINTEXT"  # the map', '"A:PLAINTEXT,B:PLAINTEXT"  # the map'
    )
