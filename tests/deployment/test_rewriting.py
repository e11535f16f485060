"""Steps of a repair become edits together, or none of them does."""

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.deployment.model.deployment import Broker
from netdiag.deployment.repairs import BrokerChange, MemberChange, variable_for
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
