"""What a broker's variables say of JMX: each image's own script, Kafka's, and the options of the JVM."""

import pytest

from netdiag.kafka.images.families import parse_image
from netdiag.kafka.jmx import jmx_agent

CP, APACHE = "confluentinc/cp-kafka:7.9.2", "apache/kafka:4.3.1"
PORT, RMI, HOSTNAME = (
    "-Dcom.sun.management.jmxremote.port=",
    "-Dcom.sun.management.jmxremote.rmi.port=",
    "-Djava.rmi.server.hostname=",
)


def agent(image: str, **variables: str) -> tuple[int, int | None, str | None] | None:
    """The registry's port, the RMI port and the stub's host."""
    found = jmx_agent(parse_image(image), variables)
    return None if found is None else (found.port, found.rmi_port, found.hostname)


@pytest.mark.parametrize("image", [CP, APACHE, "confluentinc/confluent-local:7.9.2"])
def test_images_take_their_own_variables(image: str) -> None:
    assert agent(image, KAFKA_JMX_PORT="9101") == (9101, 9101, None)
    assert agent(image, KAFKA_JMX_PORT="9101", KAFKA_JMX_HOSTNAME="localhost") == (9101, 9101, "localhost")
    assert agent(image, KAFKA_JMX_HOSTNAME="localhost") is None


def test_the_images_script_wins_over_kafka_jmx_opts_and_kafka_opts_over_the_script() -> None:
    written = {"KAFKA_JMX_PORT": "9101", "KAFKA_JMX_OPTS": f"{HOSTNAME}localhost {RMI}9999"}
    assert agent(CP, **written) == (9101, 9101, None)
    assert agent(CP, **written, KAFKA_OPTS=f"{HOSTNAME}192.168.8.133") == (9101, 9101, "192.168.8.133")


@pytest.mark.parametrize(
    ("image", "rmi_port"),
    [
        (CP, 9101),
        (APACHE, 9101),
        ("bitnami/kafka:3.4", 9101),
        ("bitnami/kafka:3.3", None),
        ("confluentinc/cp-kafka:7.3.1", None),
        ("wurstmeister/kafka:2.13-2.8.1", None),
    ],
)
def test_kafkas_script_names_the_rmi_port_since_3_4(image: str, rmi_port: int | None) -> None:
    assert agent(image, JMX_PORT="9101") == (9101, rmi_port, None)
    assert agent(image, JMX_PORT="9101", KAFKA_JMX_OPTS=f"{RMI}9102 {HOSTNAME}localhost") == (9101, 9102, "localhost")


@pytest.mark.parametrize("image", ["bitnami/kafka:ours", "apache/kafka-native:4.3.1", "debezium/kafka:2.5"])
def test_nothing_is_said_of_scripts_and_releases_that_are_not_known(image: str) -> None:
    assert agent(image, JMX_PORT="9101") is None


@pytest.mark.parametrize("variable", ["KAFKA_JMX_OPTS", "KAFKA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"])
def test_options_of_the_jvm_start_an_agent_with_any_image(variable: str) -> None:
    assert agent("example/kafka:1", **{variable: f"{PORT}9101"}) == (9101, None, None)
    assert agent(CP, **{variable: f"{PORT}9101 {RMI}0"}) == (9101, None, None)


def test_the_later_option_counts_and_keeps_its_place() -> None:
    text = f"{PORT}9101 {HOSTNAME}a {HOSTNAME}kafka"
    found = jmx_agent(parse_image(CP), {"KAFKA_OPTS": text})
    assert found is not None
    assert found.hostname_set is not None
    assert text[found.hostname_set.start : found.hostname_set.end] == "kafka"
    assert found.hostname_set.start == text.rindex("kafka")


@pytest.mark.parametrize(
    "options",
    ["", f"{PORT}", f"{PORT}none", f"{PORT}99999", f"{PORT}0", f"{PORT}9101 {RMI}x", f"{PORT}9101 {HOSTNAME}"],
)
def test_what_cannot_be_known_is_no_agent(options: str) -> None:
    assert agent(CP, KAFKA_JMX_OPTS=options) is None


def secured(image: str, **variables: str) -> tuple[bool, bool]:
    """Whether the RMI server speaks TLS, and whether it asks for a password."""
    found = jmx_agent(parse_image(image), variables)
    assert found is not None
    return found.uses_tls, found.asks_password


def test_tls_and_passwords_are_on_unless_somebody_turns_them_off() -> None:
    off = "-Dcom.sun.management.jmxremote.ssl=false -Dcom.sun.management.jmxremote.authenticate=False"
    assert secured(CP, KAFKA_JMX_OPTS=f"{PORT}9101") == (True, True)
    assert secured(CP, KAFKA_JMX_OPTS=f"{PORT}9101 {off}") == (False, False)
    assert secured("example/kafka:1", KAFKA_OPTS=f"{PORT}9101") == (True, True)
    # The scripts turn them off where KAFKA_JMX_OPTS says nothing.
    assert secured(CP, KAFKA_JMX_PORT="9101") == (False, False)
    assert secured(CP, KAFKA_JMX_PORT="9101", KAFKA_OPTS="-Dcom.sun.management.jmxremote.ssl=true") == (True, False)
