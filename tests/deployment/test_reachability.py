"""Predictions beyond the scenarios: networks, modes, publishing, security, and what must stay unknown."""

import pytest

from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Address
from netdiag.deployment.prediction.reachability import predict
from tests.deployment.stacks import deployment_of, five_brokers
from tests.each import each

H = Vantage(kind=VantageKind.DOCKER_HOST, label="H")
L = Vantage(kind=VantageKind.LAN, label="L")
O = Vantage(kind=VantageKind.OTHER_NETWORK, label="O")  # noqa: E741

ONE = """\
name: one
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
{extra}
    environment:
      KAFKA_BROKER_ID: 1
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_LISTENERS: {listeners}
      KAFKA_ADVERTISED_LISTENERS: {advertised}
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT,TLS:SSL,LOGIN:SASL_PLAINTEXT
  zookeeper:
    image: confluentinc/cp-zookeeper:7.9.2
{tail}
"""


def one(
    *,
    extra: str = '    ports: ["9092:9092"]',
    listeners: str = "PLAINTEXT://:29092,EXTERNAL://:9092",
    advertised: str = "PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092",
    tail: str = "",
) -> str:
    return ONE.format(extra=extra, listeners=listeners, advertised=advertised, tail=tail)


def on(*networks: str) -> Vantage:
    return Vantage(kind=VantageKind.CONTAINER, label="C", networks=networks)


def inside(name: str, *networks: str) -> Vantage:
    return Vantage(kind=VantageKind.BROKER, label="B", member=name, networks=networks or ("default",))


@each(
    ("text", "vantage", "bootstrap", "expected"),
    [
        (one(), H, "localhost:9092", "ok"),
        (one(), on("default"), "kafka:29092", "ok"),
        (one(), on("default"), "one-kafka-1:29092", "ok"),
        (one(), on("default"), "kafka:9092", "advertised: refused"),
        (one(), on("default"), "kafka:1234", "bootstrap: refused"),
        (one(), O, "kafka:29092", "bootstrap: unresolved"),
        (one(), L, "<docker-host>:9092", "advertised: refused"),
        (one(), on("default"), "zookeeper:2181", "unknown"),
        # published on loopback only: neither the LAN nor a container gets in
        (one(extra='    ports: ["127.0.0.1:9092:9092"]'), H, "localhost:9092", "ok"),
        (one(extra='    ports: ["127.0.0.1:9092:9092"]'), L, "<docker-host>:9092", "bootstrap: refused"),
        # published, but nobody listens there: docker-proxy accepts and ends, the LAN's DNAT is refused
        (one(extra='    ports: ["9092:1111"]'), H, "localhost:9092", "bootstrap: closed"),
        (one(extra='    ports: ["9092:1111"]'), L, "<docker-host>:9092", "bootstrap: refused"),
        (one(extra='    ports: ["9092:1111"]'), on("default"), "<docker-host>:9092", "bootstrap: closed"),
        # moved port
        (one(extra='    ports: ["9093:9092"]'), H, "localhost:9093", "advertised: refused"),
        # internal networks publish nothing
        (
            one(tail="networks: {default: {internal: true}}"),
            H,
            "localhost:9092",
            "bootstrap: refused",
        ),
        # host mode: ports are discarded, the listeners are the host's
        (
            one(
                extra="    network_mode: host",
                advertised="PLAINTEXT://localhost:29092,EXTERNAL://localhost:9092",
            ),
            H,
            "localhost:9092",
            "ok",
        ),
        # ... where the broker's controller cannot resolve a service name either
        (one(extra="    network_mode: host"), H, "localhost:9092", "advertised: no-brokers"),
        (one(extra="    network_mode: host"), on("default"), "kafka:29092", "bootstrap: unresolved"),
        # no embedded DNS on the default bridge
        (one(extra="    network_mode: bridge"), on("default"), "kafka:29092", "bootstrap: unresolved"),
        (
            one(
                extra='    network_mode: bridge\n    ports: ["9092:9092"]',
                advertised="PLAINTEXT://localhost:29092,EXTERNAL://localhost:9092",
            ),
            H,
            "localhost:9092",
            "ok",
        ),
        # security protocols that a plaintext client does not speak
        (one(listeners="PLAINTEXT://:29092,TLS://:9092"), H, "localhost:9092", "tls"),
        (one(listeners="PLAINTEXT://:29092,LOGIN://:9092"), H, "localhost:9092", "sasl"),
        # another network of the same project
        (
            one(extra="    networks: [back]", tail="networks: {back: , front: }"),
            on("front"),
            "kafka:29092",
            "bootstrap: unresolved",
        ),
        # a name on an external network may be anybody's
        (
            one(extra="    networks: [ext]", tail="networks: {ext: {external: true}}"),
            on("ext"),
            "broker:29092",
            "unknown",
        ),
        # a literal address that nothing explains
        (one(advertised="PLAINTEXT://kafka:29092,EXTERNAL://10.1.2.3:9092"), H, "localhost:9092", "unknown"),
        # a declared address, entered from inside
        (
            one(
                extra="    networks: {net: {ipv4_address: 10.5.0.3}}",
                advertised="PLAINTEXT://10.5.0.3:29092,EXTERNAL://localhost:9092",
                tail="networks: {net: {ipam: {config: [{subnet: 10.5.0.0/16}]}}}",
            ),
            on("net"),
            "10.5.0.3:29092",
            "ok",
        ),
        (
            one(
                extra="    networks: {net: {ipv4_address: 10.5.0.3}}",
                tail="networks: {net: {ipam: {config: [{subnet: 10.5.0.0/16}]}}}",
            ),
            O,
            "10.5.0.3:29092",
            "bootstrap: timeout",
        ),
        # host.docker.internal without and with extra_hosts
        (one(), on("default"), "host.docker.internal:9092", "bootstrap: unresolved"),
        (
            one(extra='    ports: ["9092:9092"]\n    extra_hosts: ["host.docker.internal:host-gateway"]'),
            inside("kafka"),
            "host.docker.internal:9092",
            "ok",
        ),
    ],
)
def test_cell(text: str, vantage: Vantage, bootstrap: str, expected: str) -> None:
    host, _, port = bootstrap.rpartition(":")
    (cell,) = predict(deployment_of(text), [vantage], [Address(host=host, port=int(port))])
    assert str(cell.predicted) == expected


def test_a_broker_that_is_down_takes_its_names_and_ports_along() -> None:
    deployment = deployment_of(five_brokers())
    addresses = [Address(host="localhost", port=9093), Address(host="localhost", port=9091)]
    dead, alive = predict(deployment.with_down({"broker-3"}), [H], addresses)
    assert str(dead.predicted) == "bootstrap: refused"
    assert str(alive.predicted) == "ok"
    assert alive.predicted
    assert alive.predicted.advertised == 4


def test_an_alias_of_two_brokers_leads_to_different_places() -> None:
    text = five_brokers().replace(
        "    networks: [kafka]\n    ports:", "    networks: {kafka: {aliases: [all]}}\n    ports:"
    )
    (cell,) = predict(deployment_of(text), [on("kafka")], [Address(host="all", port=29092)])
    assert str(cell.predicted) == "unknown"


def test_a_zookeeper_broker_that_nobody_can_inform_names_no_brokers() -> None:
    deployment = deployment_of(five_brokers(bind="127.0.0.1"))
    (cell,) = predict(deployment, [H], [Address(host="localhost", port=9091)])
    assert str(cell.predicted) == "advertised: no-brokers"


def test_every_failure_says_why() -> None:
    deployment = deployment_of(five_brokers())
    addresses = [Address(host="broker-1", port=9091), Address(host="nobody", port=1), Address(host="localhost", port=1)]
    for cell in predict(deployment, [H, L, O, on("kafka")], addresses):
        assert cell.predicted
        contact = cell.predicted.bootstrap
        assert contact.because


@pytest.mark.parametrize(
    ("first", "second", "port", "expected"),
    [
        ("0.0.0.0", "0.0.0.0", 29092, "ambiguous"),
        ("127.0.0.1", "0.0.0.0", 29092, "advertised: refused"),
        ("127.0.0.1", "127.0.0.1", 29092, "bootstrap: refused"),
        ("127.0.0.1", "127.0.0.1", 1, "bootstrap: refused"),
    ],
)
def test_of_several_addresses_of_a_name_the_one_that_accepts_counts(
    first: str, second: str, port: int, expected: str
) -> None:
    broker = """\
  k{n}:
    image: confluentinc/cp-kafka:7.9.2
    networks: {{default: {{aliases: [all]}}}}
    environment:
      KAFKA_NODE_ID: {n}
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_QUORUM_VOTERS: {n}@localhost:9999
      KAFKA_CONTROLLER_LISTENER_NAMES: C
      KAFKA_LISTENERS: A://{host}:29092,C://localhost:9999
      KAFKA_ADVERTISED_LISTENERS: A://localhost:29092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: A:PLAINTEXT,C:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: A
"""
    text = "name: two\nservices:\n" + broker.format(n=1, host=first) + broker.format(n=2, host=second)
    (cell,) = predict(deployment_of(text), [on("default")], [Address(host="all", port=port)])
    assert str(cell.predicted) == expected
