"""Repairs that several rules share."""

import pytest

from netdiag.deployment.clients import attempts
from netdiag.deployment.repairs import advertise, map_listener, point_client, publish, remove_entry, service_name
from tests.deployment.stacks import deployment_of
from tests.deployment.test_rewriting import STACK, after, broker

MAP = "      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: "


def test_an_advertised_host_is_replaced_brackets_and_all() -> None:
    text = STACK.replace("//kafka", "//[::]")
    one = broker(text)
    (entry,) = one.config.advertised_listeners
    assert after(text, advertise(one, entry, service_name(one))) == STACK
    assert after(text, advertise(one, entry, service_name(one), 1)) == STACK.replace("kafka:9092", "kafka:1")


def test_what_is_inherited_from_listeners_gets_a_list_of_its_own() -> None:
    text = STACK.replace("KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka", "KAFKA_LISTENERS: PLAINTEXT://")
    text = text.replace("confluentinc/cp-kafka:7.9.2", "apache/kafka:3.9.1")
    one = broker(text)
    (entry,) = one.config.advertised_listeners
    made = after(text, advertise(one, entry, service_name(one)))
    assert made == text + "      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092\n"


@pytest.mark.parametrize(
    ("listener", "given", "expected"),
    [
        ("X", "A:PLAINTEXT", MAP + "A:PLAINTEXT,X:PLAINTEXT\n"),
        ("X", None, MAP + "PLAINTEXT:PLAINTEXT,X:PLAINTEXT\n"),
    ],
)
def test_a_listener_is_mapped(listener: str, given: str | None, expected: str) -> None:
    text = STACK + (f"{MAP}{given}\n" if given else "")
    assert after(text, map_listener(broker(text), listener)) == STACK + expected


def test_a_name_that_speaks_of_another_protocol_is_not_mapped() -> None:
    assert map_listener(broker(), "SSL_HOST") == ()


def test_one_entry_less() -> None:
    text = STACK.replace("kafka:9092", "kafka:9092,A://kafka:1 , B://kafka:2")
    one = broker(text)
    first, second, third = one.config.advertised_listeners
    entries = one.config.advertised_entries
    name = "advertised.listeners"
    assert after(text, remove_entry(one, name, entries, first)) == text.replace("PLAINTEXT://kafka:9092,", "")
    assert after(text, remove_entry(one, name, entries, second)) == text.replace(",A://kafka:1", "")
    assert after(text, remove_entry(one, name, entries, third)) == text.replace(" , B://kafka:2", "")
    alone = broker()
    assert remove_entry(alone, name, alone.config.advertised_entries, alone.config.advertised_listeners[0]) == ()


def test_a_port_that_somebody_has_is_not_published() -> None:
    deployment = deployment_of(STACK)
    assert publish(deployment, deployment.brokers[0].member, 9092, 1) == ()
    assert publish(deployment, deployment.brokers[0].member, 9093, 1)


def test_a_client_is_pointed_to_what_works_for_it() -> None:
    text = STACK + "  app:\n    image: app\n    environment:\n      KAFKA_BROKERS: a:1,PLAINTEXT://kafak:9092\n"
    deployment = deployment_of(text)
    _, attempt = attempts(deployment)
    assert after(text, point_client(deployment, attempt)) == text.replace("kafak", "kafka")
    twice = deployment_of(text.replace("a:1", "kafka:9092"))
    assert point_client(twice, list(attempts(twice))[-1]) == ()
