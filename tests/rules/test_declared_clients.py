"""Clients that the configuration declares: who fails, where that is said, and when nothing is."""

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.config import ClientAddress, Facts
from netdiag.deployment.sources.compose import from_compose
from netdiag.findings import FileLocation, Finding, Severity
from netdiag.rules.declared import check_deployment
from netdiag.rules.declared_clients import ID

STACK = """\
services:
  kafka:
    image: apache/kafka:3.9.1
    ports: [{ports}]
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_LISTENERS: IN://:9092,OUT://:29092,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: IN://kafka:9092,OUT://{out}
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: IN:{protocol},OUT:{protocol},CONTROLLER:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: IN
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
"""
WHERE = FileLocation(path="netdiag.toml", line=1, column=1, end_line=1, end_column=2, start=0, end=1)


def found(
    host: tuple[str, ...] = (),
    lan: tuple[str, ...] = (),
    *,
    ports: str = '"9092:9092", "29092:29092"',
    out: str = "localhost:29092",
    protocol: str = "PLAINTEXT",
) -> list[Finding]:
    facts = Facts(host_clients=clients(host), lan_clients=clients(lan), host_addresses=("192.168.1.20",))
    text = STACK.format(ports=ports, out=out, protocol=protocol)
    deployment = from_compose(load(Source("c.yml", text)), host_addresses=facts.host_addresses, facts=facts)
    return [finding for finding in check_deployment(deployment) if finding.rule == ID]


def clients(addresses: tuple[str, ...]) -> tuple[ClientAddress, ...]:
    parts = (address.rpartition(":") for address in addresses)
    return tuple(ClientAddress(host=host, port=int(port), where=WHERE) for host, _, port in parts)


def test_a_client_that_enters_at_the_wrong_listener() -> None:
    (finding,) = found(("localhost:9092",))
    assert finding.severity is Severity.ERROR
    assert finding.message == (
        'clients on the docker host bootstrap from localhost:9092 and are sent to "kafka:9092": '
        'the docker host does not resolve "kafka"'
    )
    assert isinstance(finding.location, FileLocation)
    assert (finding.location.path, finding.location.line) == ("c.yml", 11)
    assert [related.location for related in finding.related] == [WHERE]
    assert (finding.service, finding.listener) == ("kafka", "IN")


def test_a_client_of_another_machine_that_is_sent_to_itself() -> None:
    (finding,) = found(lan=("192.168.1.20:29092",))
    assert 'are sent to "localhost:29092": localhost is the LAN machine itself' in finding.message


def test_a_port_that_nobody_publishes() -> None:
    (finding,) = found(("localhost:29092",), ports='"9092:9092"')
    assert finding.location == WHERE
    assert finding.message.startswith('clients on the docker host bootstrap from "localhost:29092": ')


@pytest.mark.parametrize(
    ("host", "lan", "changes"),
    [
        (("localhost:29092",), (), {}),
        ((), ("192.168.1.20:29092",), {"out": "192.168.1.20:29092"}),
        # another project's port
        (("localhost:5555",), (), {}),
        # an address that may be anybody's
        ((), ("192.168.1.99:29092",), {}),
        # a name that a name server may know
        ((), ("kafka.example.com:29092",), {"out": "kafka.example.com:29092"}),
        ((), ("192.168.1.20:29092",), {"out": "kafka.example.com:29092"}),
        # a name that the declaration itself shows to be known there
        (("localhost:9092", "kafka:9092"), (), {}),
        # a client that speaks TLS is not the one that is predicted
        (("localhost:9092",), (), {"protocol": "SSL"}),
    ],
)
def test_nothing_is_said(host: tuple[str, ...], lan: tuple[str, ...], changes: dict[str, str]) -> None:
    assert found(host, lan, **changes) == []
