"""Relays in a deployment: what a client gets through them, and where they should lead."""

from dataclasses import replace

import pytest

from netdiag.deployment.model.deployment import Deployment, Relay, RelayTarget, State
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Address, Verdict
from netdiag.deployment.prediction.reachability import predict
from netdiag.deployment.relays import relay_traps
from netdiag.findings import ContainerLocation
from tests.deployment.stacks import deployment_of

STACK = """\
name: t
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_BROKER_ID: 1
      KAFKA_LISTENERS: INTERNAL://:29092,EXTERNAL://:9092
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,EXTERNAL://localhost:9092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
  relay:
    image: {image}
    ports: ["9092:9092"]
    {extra}
    command: {command}
  second:
    image: alpine/socat
    command: TCP-LISTEN:9092,fork TCP:relay:9092
"""
HOST = Vantage(kind=VantageKind.DOCKER_HOST, label="H")
NEIGHBOUR = Vantage(kind=VantageKind.CONTAINER, label="C", networks=("default",))


def stack(command: str, *, image: str = "alpine/socat", extra: str = "environment: {}") -> Deployment:
    return deployment_of(STACK.format(command=command, image=image, extra=extra))


def got(deployment: Deployment, vantage: Vantage, address: str) -> Verdict:
    host, _, port = address.rpartition(":")
    (cell,) = predict(deployment, [vantage], [Address(host=host, port=int(port))])
    assert cell.predicted is not None
    return cell.predicted


@pytest.mark.parametrize(
    ("command", "vantage", "address", "cell", "because"),
    [
        (
            "TCP-LISTEN:9092,fork TCP:kafka:29092",
            HOST,
            "localhost:9092",
            "advertised: unresolved",
            "kafka answers on INTERNAL through socat in relay",
        ),
        (
            "TCP-LISTEN:9092,fork TCP:kafka:9092",
            HOST,
            "localhost:9092",
            "ok",
            "kafka answers on EXTERNAL through socat in relay",
        ),
        (
            "TCP-LISTEN:9092 TCP:kafka:29092",
            NEIGHBOUR,
            "second:9092",
            "ok",
            "kafka answers on INTERNAL through socat in second through socat in relay",
        ),
        (
            "TCP-LISTEN:9092 TCP:kafka:9999",
            NEIGHBOUR,
            "relay:9092",
            "bootstrap: closed",
            "socat in relay accepts, then closes the connection, because it cannot reach kafka:9999: "
            "kafka port 9999 has no listener",
        ),
        (
            "TCP-LISTEN:9092,bind=127.0.0.1 TCP:kafka:9092",
            NEIGHBOUR,
            "relay:9092",
            "bootstrap: refused",
            "relay port 9092 is bound only to 127.0.0.1",
        ),
        (
            "TCP-LISTEN:9092 TCP:second:9092",
            NEIGHBOUR,
            "relay:9092",
            "unknown",
            "socat in relay leads back to itself, or through too many relays",
        ),
        (
            "TCP-LISTEN:9093 TCP:kafka:9092",
            NEIGHBOUR,
            "relay:9092",
            "unknown",
            "netdiag does not know what relay listens on",
        ),
    ],
)
def test_what_a_client_gets_through_a_relay(
    command: str, vantage: Vantage, address: str, cell: str, because: str
) -> None:
    verdict = got(stack(command), vantage, address)
    assert (str(verdict), verdict.bootstrap.because) == (cell, because)


def test_kubectl_connects_inside_the_pod() -> None:
    deployment = stack("TCP-LISTEN:1 TCP:kafka:1")
    inside = tuple(
        Relay(
            program="kubectl port-forward",
            member=None,
            host="127.0.0.1",
            port=port,
            targets=(RelayTarget(address=Address(host="localhost", port=port)),),
            where=ContainerLocation(container="kafka"),
            through="kafka",
        )
        for port in (29092, 19092)
    )
    deployment = replace(deployment, relays=inside)
    assert str(got(deployment, HOST, "localhost:29092")) == "advertised: unresolved"
    assert str(got(deployment, HOST, "localhost:19092")) == "bootstrap: closed"
    assert str(got(deployment, NEIGHBOUR, "localhost:29092")) == "bootstrap: refused"
    assert [str(trap.relay) for trap in relay_traps(deployment)] == ["kubectl port-forward on the docker host"]


def test_a_stopped_relay_accepts_nothing_and_a_paused_one_is_silent() -> None:
    deployment = stack("TCP-LISTEN:9092 TCP:kafka:9092")
    states = {"stopped": State.STOPPED, "paused": State.PAUSED}
    said = {}
    for name, state in states.items():
        others = tuple(replace(m, state=state) if m.name == "relay" else m for m in deployment.others)
        verdict = got(replace(deployment, others=others), HOST, "localhost:9092")
        said[name] = (str(verdict), verdict.bootstrap.because)
    assert said == {
        "stopped": ("bootstrap: refused", "relay publishes port 9092 but is not running"),
        "paused": ("bootstrap: timeout", "relay is paused: the kernel accepts connections, but no process answers"),
    }


@pytest.mark.parametrize(("port", "leads"), [(29092, "kafka:9092"), (9092, None)])
def test_where_a_relay_should_lead(port: int, leads: str | None) -> None:
    found = list(relay_traps(stack(f"TCP-LISTEN:9092 TCP:kafka:{port}")))
    assert [str(trap.better[0]) for trap in found if trap.better] == ([leads] if leads else [])


def test_a_socket_that_is_no_brokers_is_not_refused() -> None:
    deployment = stack("TCP-LISTEN:9093 TCP:kafka:9092")
    seen = tuple(replace(m, sockets=(("127.0.0.1", 5000),)) if m.name == "relay" else m for m in deployment.others)
    inside = replace(NEIGHBOUR, member="relay")
    verdict = got(replace(deployment, others=seen), inside, "localhost:5000")
    assert (str(verdict), verdict.bootstrap.because) == (
        "unknown",
        "netdiag does not know what listens on port 5000 of relay",
    )
    assert str(got(replace(deployment, others=seen), inside, "localhost:5001")) == "bootstrap: refused"
