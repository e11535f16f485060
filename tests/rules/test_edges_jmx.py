"""Cases of the rules about JMX beside their docstring examples: whose finding it is, milder cases, silence."""

from dataclasses import replace

import pytest

from netdiag.deployment.model.deployment import HostKind, Platform
from netdiag.findings import Severity
from netdiag.render.findings.edits import apply
from netdiag.rules.declared import check_deployment
from tests.deployment.stacks import deployment_of

WARNING, NOTE = Severity.WARNING, Severity.NOTE
RANDOM, PORT, HOST = "jmx-rmi-port-random", "jmx-rmi-port-not-published", "jmx-hostname-unreachable"
OPTIONS = "-Dcom.sun.management.jmxremote.port=9101"
LOCALHOST = "-Djava.rmi.server.hostname=localhost"


def stack(jmx: str, ports: str = "9101:9101", extra: str = "") -> str:
    return (
        "name: t\nservices:\n  kafka:\n    image: confluentinc/cp-kafka:7.9.2\n"
        f'    ports: ["{ports}"]\n{extra}    environment:\n      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181\n'
        "      KAFKA_LISTENERS: PLAINTEXT://:9092\n      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092\n"
        + "".join(f"      {line}\n" for line in jmx.splitlines())
    )


def found(text: str, platform: Platform | None = None) -> dict[str, Severity]:
    deployment = deployment_of(text)
    if platform is not None:
        deployment = replace(deployment, platform=platform)
    return {one.rule: one.severity for one in check_deployment(deployment) if one.rule.startswith("jmx-")}


@pytest.mark.parametrize(
    ("jmx", "ports", "expected"),
    [
        ("KAFKA_JMX_PORT: 9101\nKAFKA_JMX_HOSTNAME: localhost", "9101:9101", {}),
        ("KAFKA_JMX_PORT: 9101\nKAFKA_JMX_HOSTNAME: 192.168.8.133", "9101:9101", {}),
        # Nobody means to use it from outside.
        ("KAFKA_JMX_PORT: 9101\nKAFKA_JMX_HOSTNAME: kafka", "8080:8080", {}),
        (f"KAFKA_JMX_OPTS: {OPTIONS}", "8080:8080", {}),
        # The docker host of Linux reaches the container's address at any port.
        ("KAFKA_JMX_PORT: 9101", "9101:9101", {HOST: NOTE}),
        (f"KAFKA_JMX_OPTS: {OPTIONS}", "9101:9101", {HOST: NOTE, RANDOM: NOTE}),
        (f"KAFKA_JMX_OPTS: {OPTIONS} {LOCALHOST}", "9101:9101", {RANDOM: WARNING}),
        (f"KAFKA_JMX_OPTS: {OPTIONS} -Djava.rmi.server.hostname=kafka", "9101:9101", {RANDOM: WARNING, HOST: WARNING}),
        # A name that a name server may know.
        ("KAFKA_JMX_PORT: 9101\nKAFKA_JMX_HOSTNAME: kafka.example.org", "9101:9101", {}),
        ("KAFKA_JMX_PORT: 9101\nKAFKA_JMX_HOSTNAME: localhost", "19101:9101", {PORT: WARNING}),
        ("KAFKA_JMX_PORT: 9101\nKAFKA_JMX_HOSTNAME: localhost", "127.0.0.1:9101:9101", {}),
        (
            f"KAFKA_JMX_OPTS: {OPTIONS} {LOCALHOST} -Dcom.sun.management.jmxremote.rmi.port=9102",
            "9101:9101",
            {PORT: WARNING},
        ),
        (
            f"KAFKA_JMX_OPTS: {OPTIONS} {LOCALHOST} -Dcom.sun.management.jmxremote.rmi.port=9102",
            "9101-9102:9101-9102",
            {},
        ),
    ],
)
def test_a_published_registry(jmx: str, ports: str, expected: dict[str, Severity]) -> None:
    assert found(stack(jmx, ports)) == expected


def test_desktop_has_no_route_to_the_containers_address() -> None:
    assert found(stack("KAFKA_JMX_PORT: 9101"), Platform(kind=HostKind.DESKTOP)) == {HOST: WARNING}


def test_host_mode_needs_no_published_port() -> None:
    jmx = f"KAFKA_JMX_OPTS: {OPTIONS} {LOCALHOST}"
    assert found(stack(jmx, extra="    network_mode: host\n")) == {}


def test_a_registry_under_another_number_takes_a_mapping_of_the_rmi_ports_own() -> None:
    text = stack(f"KAFKA_JMX_OPTS: {OPTIONS} {LOCALHOST}", "9171:9101")
    (finding,) = [one for one in check_deployment(deployment_of(text)) if one.rule == RANDOM]
    option = "-Dcom.sun.management.jmxremote.rmi.port=9101"
    assert finding.hint == f'set {option}, and publish "9101:9101" in place of "9171:9101"'
    assert finding.related[0].message == "publishes only the registry's port 9101, as 9171"
    assert found(apply(text.encode(), finding.edits).decode()) == {}


@pytest.mark.parametrize(
    ("jmx", "variable"),
    [
        ("KAFKA_JMX_PORT: 9092", "KAFKA_JMX_PORT"),
        ("KAFKA_JMX_OPTS: -Dcom.sun.management.jmxremote.port=9092", "KAFKA_JMX_OPTS"),
        (f"KAFKA_JMX_OPTS: {OPTIONS} -Dcom.sun.management.jmxremote.rmi.port=9092", "KAFKA_JMX_OPTS"),
        # The script of the image takes the port from KAFKA_JMX_PORT, whatever the options say.
        ("KAFKA_JMX_OPTS: -Dcom.sun.management.jmxremote.port=9092\nKAFKA_JMX_PORT: 9101", None),
    ],
)
def test_a_listener_at_a_port_of_jmx(jmx: str, variable: str | None) -> None:
    conflicts = [one for one in check_deployment(deployment_of(stack(jmx))) if one.rule == "listener-port-conflict"]
    assert [one.hint for one in conflicts] == ([f"set another port in {variable}"] if variable else [])
