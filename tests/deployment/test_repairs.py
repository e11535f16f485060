"""Repairs that several rules share, the steps that they are made of, and a listener that becomes two."""

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.deployment.clients import attempts
from netdiag.deployment.model.deployment import Broker
from netdiag.deployment.repairs import (
    BrokerChange,
    MemberChange,
    advertise,
    map_listener,
    point_client,
    publish,
    remove_entry,
    service_name,
    split_listener,
    variable_for,
)
from netdiag.deployment.sources.compose import from_compose
from netdiag.findings import Applicability, Edit
from tests.deployment.stacks import deployment_of

STACK = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    ports: ["9092:9092", 9100]
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
"""
ADVERTISED = "advertised.listeners"


def broker(text: str = STACK) -> Broker:
    return deployment_of(text).brokers[0]


def after(text: str, edits: tuple[Edit, ...]) -> str:
    data = text.encode()
    assert edits
    for edit in sorted(edits, key=lambda e: -e.start):
        data = data[: edit.start] + edit.replacement.encode() + data[edit.end :]
    return data.decode()


def test_steps_at_one_place_become_one_edit_in_their_order() -> None:
    rewriting = BrokerChange(broker())
    rewriting.append(ADVERTISED, "A://kafka:1").append(ADVERTISED, "B://kafka:2")
    rewriting.put("listeners", "x").put("inter.broker.listener.name", "PLAINTEXT")
    edits = rewriting.edits()
    assert after(STACK, edits) == STACK.replace("kafka:9092", "kafka:9092,A://kafka:1,B://kafka:2") + (
        "      KAFKA_LISTENERS: x\n      KAFKA_INTER_BROKER_LISTENER_NAME: PLAINTEXT\n"
    )
    assert {edit.applicability for edit in edits} == {Applicability.UNSAFE}


def test_one_step_that_cannot_be_made_takes_all_away() -> None:
    rewriting = BrokerChange(broker())
    rewriting.append(ADVERTISED, "A://kafka:1").stretch("listeners", 0, 0, "x")
    assert rewriting.edits() == ()
    assert BrokerChange(broker()).append(ADVERTISED, "A").drop("node.id").edits() == ()


def test_steps_that_contradict_each_other() -> None:
    rewriting = BrokerChange(broker()).stretch(ADVERTISED, 0, 5, "x").stretch(ADVERTISED, 3, 8, "y")
    assert rewriting.edits() == ()


def test_a_plain_value_in_braces_gets_quotes() -> None:
    text = (
        "services: {kafka: {image: 'apache/kafka:3.9.1', environment: {KAFKA_NODE_ID: 1, KAFKA_PROCESS_ROLES: broker, "
        "KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092}}}"
    )
    edits = BrokerChange(broker(text)).append(ADVERTISED, "A://kafka:1").edits()
    assert after(text, edits) == text.replace("PLAINTEXT://kafka:9092", '"PLAINTEXT://kafka:9092,A://kafka:1"')


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ("KAFKA_LISTENERS: PLAINTEXT://:9092", "KAFKA_NODE_ID"),
        ("CLUSTER_ID: x", None),
    ],
)
def test_variables_are_spelled_as_the_image_wants_them(variables: str, expected: str | None) -> None:
    text = f"services:\n  kafka:\n    image: apache/kafka:3.9.1\n    environment:\n      {variables}\n"
    assert variable_for(broker(text), "node.id") == expected


def test_ports() -> None:
    one = broker()
    port, ephemeral = one.member.published
    assert after(STACK, MemberChange(one.member).change_port(port, target=1).edits()) == STACK.replace(':9092"', ':1"')
    assert after(STACK, MemberChange(one.member).change_port(port, published=1).edits()) == STACK.replace('"9092', '"1')
    assert MemberChange(one.member).change_port(ephemeral, published=1).edits() == ()
    assert after(STACK, MemberChange(one.member).publish(2, 3).edits()) == STACK.replace("9100]", '9100, "2:3"]')


def test_variables_live_where_they_stand() -> None:
    files = {
        "one.env": "KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://kafka:9092\r\nA=1\r\n",
        "c.yml": "services:\n  kafka:\n    image: apache/kafka:3.9.1\n    env_file: one.env\n",
    }
    project = load(Source("c.yml", files["c.yml"]), read=lambda path: files[path].encode(), default_name="t")
    (one,) = from_compose(project).brokers
    edits = BrokerChange(one).put("listeners", "x").edits()
    assert {edit.path for edit in edits} == {"one.env"}
    assert after(files["one.env"], edits) == files["one.env"].replace("\r\nA", "\r\nKAFKA_LISTENERS=x\r\nA")
    gone = MemberChange(one.member).remove_variable("A").edits()
    assert after(files["one.env"], gone) == files["one.env"].removesuffix("A=1\r\n")
    renamed = MemberChange(one.member).rename_variable("A", "B").edits()
    assert after(files["one.env"], renamed) == files["one.env"].replace("A=1", "B=1")


def test_a_file_that_others_have_too_is_left_alone() -> None:
    text = "services:\n" + "".join(
        f"  kafka-{n}:\n    image: apache/kafka:3.9.1\n    env_file: one.env\n" for n in (1, 2)
    )
    env = b"KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://kafka:9092\n"
    project = load(Source("c.yml", text), read=lambda path: env, default_name="t")
    one = from_compose(project).brokers[0]
    assert BrokerChange(one).put("listeners", "x").edits() == ()
    assert BrokerChange(one).drop(ADVERTISED).edits() == ()


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


SPLIT = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    ports: ["9092:29092", 9100]
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092,EXTERNAL://localhost:9092
      KAFKA_LISTENERS: PLAINTEXT://0.0.0.0:9092,EXTERNAL://0.0.0.0:29092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
"""


def edits(text: str) -> tuple[Edit, ...]:
    deployment = deployment_of(text)
    broker = deployment.brokers[0]
    return split_listener(deployment, broker, broker.config.advertised_listeners[0])


@pytest.mark.parametrize("host", ["kafka", "localhost"])
def test_both_sides_keep_their_addresses(host: str) -> None:
    text = STACK.replace("PLAINTEXT://kafka", f"PLAINTEXT://{host}")
    assert after(text, edits(text)) == SPLIT


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("PLAINTEXT://kafka", "SSL://kafka"),
        ('"9092:9092", 9100', '"9092:9092", "9093:9092"'),
        ('"9092:9092", 9100', "9092"),
        ("    ports", "    network_mode: host\n    ports"),
        ("    ports", "    volumes: ['./server.properties:/etc/kafka/server.properties']\n    ports"),
        ("      KAFKA_ADV", "      KAFKA_LISTENERS: PLAINTEXT://127.0.0.1:9092\n      KAFKA_ADV"),
    ],
)
def test_what_is_a_decision(old: str, new: str) -> None:
    assert edits(STACK.replace(old, new)) == ()


def test_names_and_ports_that_are_taken() -> None:
    text = STACK.replace(
        "PLAINTEXT://kafka:9092\n",
        "PLAINTEXT://kafka:9092,EXTERNAL://kafka:29092\n"
        "      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT,HOST:SSL\n",
    )
    assert "OUTSIDE://0.0.0.0:29093" in after(text, edits(text))
