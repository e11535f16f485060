"""Which failed cells are somebody's loss."""

from typing import Any

import pytest

from netdiag.deployment.observations import Reason
from netdiag.rules.live_meant import blocked, owner, traps
from tests.rules.recorded import address_of, view_of

STACK = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    ports: ["9093:9093"]
    networks: [one]
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_BROKER_ID: 1
      KAFKA_LISTENERS: INTERNAL://0.0.0.0:9092,EXTERNAL://0.0.0.0:9093
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:9092,EXTERNAL://localhost:9093
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
  app:
    image: alpine:3.20
    networks: [one]
  stranger:
    image: alpine:3.20
    networks: [two]
networks: {one: , two: }
x-observed:
  stopped: %s
  cells:
    - %s
"""


def seen(cell: str, *more: str, stopped: str = "{}") -> Any:
    return view_of(STACK % (stopped, "\n    - ".join((cell, *more))))


@pytest.mark.parametrize(
    ("vantage", "bootstrap", "is_meant"),
    [
        ("docker host", "localhost:9093", True),
        ("docker host", "kafka:9092", False),
        ("docker host", "localhost:9092", False),
        ("container app", "kafka:9092", True),
        ("container app", "kafka:9093", False),
        ("container app", "localhost:9093", False),
        ("container stranger", "kafka:9092", False),
        ("inside kafka", "kafka:9092", True),
    ],
)
def test_an_address_is_for_those_it_is_advertised_to(vantage: str, bootstrap: str, is_meant: bool) -> None:
    view = seen(f'{{vantage: {vantage}, bootstrap: "{bootstrap}", fails: refused}}')
    assert [(str(one.address), one.places) for one in blocked(view, Reason.REFUSED)] == (
        [(bootstrap, (vantage,))] if is_meant else []
    )
    assert blocked(view, Reason.TIMEOUT) == ()


def test_an_address_is_for_those_that_the_configuration_lets_through() -> None:
    foretold = 'foretold: {answers: {node: 1, listener: EXTERNAL}, told: [{node: 1, at: "localhost:9093", gives: ok}]}'
    view = seen(f'{{vantage: container app, bootstrap: "kafka:9093", fails: refused, {foretold}}}')
    (one,) = blocked(view, Reason.REFUSED)
    assert (one.whose.broker.name, one.whose.listener, one.foretold) == ("kafka", "EXTERNAL", None)


def test_a_broker_that_does_not_run_keeps_nobody_out() -> None:
    cell = '{vantage: container app, bootstrap: "kafka:9092", fails: unresolved}'
    assert blocked(seen(cell, stopped="{kafka: it ended}"), Reason.UNRESOLVED) == ()


def test_those_that_get_further_are_named() -> None:
    view = seen(
        '{vantage: container app, bootstrap: "kafka:9092", fails: unresolved}',
        '{vantage: inside kafka, bootstrap: "kafka:9092", fails: refused}',
    )
    (one,) = blocked(view, Reason.UNRESOLVED)
    assert one.better == ("inside kafka",)


SENT = 'answers: {node: 1, cluster: A}, told: [{node: 1, at: "localhost:9093", gives: refused}]'
SERVED = 'answers: {node: 1, cluster: A}, told: [{node: 1, at: "kafka:9092", gives: ok}]'


def test_a_client_that_something_else_serves_is_not_trapped() -> None:
    trapped = f'{{vantage: container app, bootstrap: "kafka:9093", {SENT}}}'
    served = f'{{vantage: container app, bootstrap: "kafka:9092", {SERVED}}}'
    assert [str(trap.bootstrap) for trap in traps(seen(trapped))] == ["kafka:9093"]
    assert list(traps(seen(trapped, served))) == []
    assert len(list(traps(seen(trapped, served.replace("cluster: A", "cluster: B"))))) == 1


def test_containers_elsewhere_are_nobody_s_clients() -> None:
    assert list(traps(seen(f'{{vantage: container stranger-2, bootstrap: "10.0.0.1:9093", {SENT}}}'))) == []


def test_an_endpoint_is_its_advertiser_s() -> None:
    view = seen('{vantage: docker host, bootstrap: "localhost:9093", fails: refused}')
    whose = owner(view, 1, address_of("localhost:9093"))
    assert whose is not None
    assert whose.listener == "EXTERNAL"
    assert owner(view, 2, address_of("localhost:9093")) is None
