"""Relays that nobody declares are known by the broker that answers through them."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Address, Answered, Cell, NodeEndpoint, Verdict, Word
from netdiag.deployment.observation.observed_relays import observed_relays, with_unknown_relays
from netdiag.linux.sockets import Peer
from tests.deployment.stacks import deployment_of

STACK = """\
name: t
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    ports: ["9093:9092"]
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_BROKER_ID: 1
      KAFKA_LISTENERS: INTERNAL://:29092,EXTERNAL://:9092,LOCAL://127.0.0.1:9191
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,EXTERNAL://localhost:9093,LOCAL://127.0.0.1:9191
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT,LOCAL:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
  app:
    image: example/app:1
    ports: ["9095:5000"]
"""
HOST = Vantage(kind=VantageKind.DOCKER_HOST, label="docker host")
APP = Vantage(kind=VantageKind.CONTAINER, label="container app", member="app", networks=("default",))


def cell(vantage: Vantage, bootstrap: str, told: str, node: int = 1, cluster: str = "c") -> Cell:
    def address(text: str) -> Address:
        host, _, port = text.rpartition(":")
        return Address(host=host, port=int(port))

    named = address(told)
    answered = Answered(
        node_id=1, cluster_id=cluster, brokers=(NodeEndpoint(node_id=node, host=named.host, port=named.port),)
    )
    return Cell(
        vantage=vantage.label, bootstrap=address(bootstrap), observed=Verdict(word=Word.ADVERTISED, bootstrap=answered)
    )


def seen(*cells: Cell, deployment: Deployment | None = None, peers: Sequence[tuple[str, int]] = ()) -> list[str]:
    connected = {"app": tuple(Peer(address=address, port=port) for address, port in peers)}
    found = observed_relays(deployment or deployment_of(STACK), (HOST, APP), cells, connected)
    return [f"{one}:{one.port} > {', '.join(str(t.address) for t in one.targets)} in {one.through}" for one in found]


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        (cell(APP, "localhost:9092", "kafka:29092"), ["a relay in app:9092 > kafka:29092 in kafka"]),
        (cell(HOST, "localhost:9092", "localhost:9093"), ["a relay on the docker host:9092 > kafka:9092 in kafka"]),
        (cell(HOST, "localhost:9095", "kafka:29092"), ["a relay in app:5000 > kafka:29092 in kafka"]),
        (cell(HOST, "localhost:9092", "127.0.0.1:9191"), ["a relay on the docker host:9092 > localhost:9191 in kafka"]),
        (cell(APP, "app:7000", "kafka:29092"), ["a relay in app:7000 > kafka:29092 in kafka"]),
        (cell(HOST, "localhost:9093", "localhost:9093"), []),
        (cell(APP, "kafka:29092", "kafka:29092"), []),
        (cell(APP, "localhost:9092", "elsewhere:9092"), []),
        (cell(APP, "localhost:9092", "kafka:29092", node=7), []),
        (cell(APP, "nobody:9092", "kafka:29092"), []),
    ],
)
def test_what_answers_where_no_broker_listens(what: Cell, expected: list[str]) -> None:
    assert seen(what) == expected


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        (cell(APP, "localhost:9092", "elsewhere:9092"), {"app"}),
        (cell(HOST, "localhost:9095", "kafka:29092"), {"app"}),
        (cell(APP, "kafka:29092", "kafka:29092"), set()),
        (cell(HOST, "localhost:9092", "localhost:9093"), set()),
        (replace(cell(APP, "localhost:9092", "kafka:29092"), observed=None), set()),
    ],
)
def test_whose_connections_may_tell_of_a_relay(what: Cell, expected: set[str]) -> None:
    deployment = deployment_of(STACK)
    assert with_unknown_relays(deployment, (HOST, APP), [what]) == expected
    known = observed_relays(deployment, (HOST, APP), [what])
    assert with_unknown_relays(replace(deployment, relays=known), (HOST, APP), [what]) in (expected, set())


def test_answers_of_two_listeners_at_one_port_tell_nothing() -> None:
    first, second = (cell(APP, "localhost:9092", told) for told in ("kafka:29092", "localhost:9093"))
    assert seen(first, second) == []
    assert seen(second, first, second) == []


def addressed(deployment: Deployment, **addresses: str) -> Deployment:
    """As it runs: brokers have addresses."""
    brokers = tuple(
        replace(
            broker,
            member=replace(
                broker.member,
                attachments=tuple(replace(a, addresses=(addresses[broker.name],)) for a in broker.member.attachments),
            ),
        )
        for broker in deployment.brokers
    )
    return replace(deployment, brokers=brokers)


def test_the_connections_of_a_relay_tell_its_target() -> None:
    running = addressed(deployment_of(STACK), kafka="172.18.0.2")
    elsewhere, unsaid = cell(APP, "localhost:9092", "elsewhere:9092"), cell(APP, "localhost:9092", "kafka:29092")
    assert seen(elsewhere, deployment=running) == []
    assert seen(elsewhere, deployment=running, peers=[("172.18.0.2", 9092)]) == ["a relay in app:9092 > kafka:9092 in "]
    # Both tell: the answer chooses among the connections.
    both = [("172.18.0.2", 9092), ("172.18.0.2", 29092), ("172.18.0.9", 5432)]
    assert seen(unsaid, deployment=running, peers=both) == ["a relay in app:9092 > kafka:29092 in "]
    assert seen(elsewhere, deployment=running, peers=both) == []


def test_a_relay_that_divides_its_connections_has_several_targets() -> None:
    again = STACK.partition("  kafka:")[2].partition("  app:")[0].replace("BROKER_ID: 1", "BROKER_ID: 2")
    two = STACK.replace(
        "  app:", "  second:" + again.replace("9093:", "9094:").replace("//kafka", "//second") + "  app:"
    )
    running = addressed(deployment_of(two), kafka="172.18.0.2", second="172.18.0.3")
    first, other = (cell(APP, "localhost:9092", "away:1", node=node) for node in (1, 2))
    answered = other.observed.bootstrap if other.observed else None
    assert isinstance(answered, Answered)
    second = replace(other, observed=Verdict(word=Word.ADVERTISED, bootstrap=replace(answered, node_id=2)))
    peers = [("172.18.0.2", 9092), ("172.18.0.3", 9092)]
    assert seen(first, second, deployment=running, peers=peers) == ["a relay in app:9092 > kafka:9092, second:9092 in "]


def test_another_cluster_with_the_same_addresses_is_none_of_ours() -> None:
    own = cell(HOST, "localhost:9093", "localhost:9093")
    assert seen(own, cell(HOST, "localhost:9092", "localhost:9093", cluster="d")) == []
    assert len(seen(own, cell(HOST, "localhost:9092", "localhost:9093"))) == 1
