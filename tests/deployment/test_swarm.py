"""Compose files as `docker stack deploy` reads them: what it ignores, what only the swarm decides."""

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.deployment.model.deployment import Deployment, HostKind, Platform
from netdiag.deployment.sources.compose import from_compose
from netdiag.deployment.sources.swarm import stack_notes
from netdiag.findings import Severity
from netdiag.rules.declared import check_deployment
from tests.deployment.stacks import project_of

_STACK = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
{keys}
    environment:
      KAFKA_BROKER_ID: 1
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_LISTENERS: IN://:19092,OUT://:9092
      KAFKA_ADVERTISED_LISTENERS: IN://kafka:19092,OUT://{host}:9092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: IN:PLAINTEXT,OUT:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: IN
  zookeeper:
    image: confluentinc/cp-zookeeper:7.9.2
"""


def _deployment(keys: str, *, kind: HostKind = HostKind.SWARM, host: str = "localhost") -> Deployment:
    text = _STACK.format(keys=f"    {keys}", host=host)
    return from_compose(project_of(text), platform=Platform(kind=kind))


def _notes(keys: str) -> list[str]:
    return list(stack_notes(project_of(_STACK.format(keys=f"    {keys}", host="localhost"))))


def _found(deployment: Deployment) -> dict[str, Severity]:
    return {finding.rule: finding.severity for finding in check_deployment(deployment)}


def test_a_swarm_is_never_guessed() -> None:
    (broker,) = _deployment("container_name: called", kind=HostKind.LINUX).brokers
    assert broker.member.container == "called"
    assert broker.member.attachments[0].names == ("kafka", "called")
    assert not broker.member.virtual_names


def test_names_of_a_service_in_a_swarm() -> None:
    (broker,) = _deployment("container_name: called\n    hostname: own").brokers
    assert broker.member.container is None
    assert broker.member.attachments[0].names == ("kafka", "tasks.kafka", "own")
    assert broker.member.virtual_names == {"kafka"}
    (dnsrr,) = _deployment("deploy: {endpoint_mode: DNSRR}").brokers
    assert not dnsrr.member.virtual_names


def test_a_template_is_filled_in_by_the_swarm() -> None:
    keys = "ports: ['9092:9092']\n    hostname: '{{.Node.Hostname}}'"
    (broker,) = _deployment(keys, host="{{.Node.Hostname}}").brokers
    assert broker.config.is_unknown("advertised.listeners")
    assert broker.member.hostnames == ()
    (plain,) = _deployment(keys, host="{{.Node.Hostname}}", kind=HostKind.LINUX).brokers
    assert not plain.config.is_unknown("advertised.listeners")


def test_a_name_that_no_container_has_may_be_that_of_a_node_where_the_port_is_published() -> None:
    published = "ports: ['9092:9092']"
    assert "advertised-host-unknown" not in _found(_deployment(published, host="node1"))
    assert "advertised-host-unknown" in _found(_deployment("expose: [9092]", host="node1"))
    assert "advertised-host-unknown" in _found(_deployment(published, host="node1", kind=HostKind.LINUX))


def test_what_a_swarm_refuses_is_an_error_for_a_swarm_only() -> None:
    keys = "deploy: {endpoint_mode: dnsrr}\n    ports: [{target: 9092, published: 9092}]"
    assert _found(_deployment(keys))["swarm-ingress-with-dnsrr"] is Severity.ERROR
    assert _found(_deployment(keys, kind=HostKind.LINUX))["swarm-ingress-with-dnsrr"] is Severity.WARNING
    assert "swarm-ingress-with-dnsrr" not in _found(_deployment(keys.replace("dnsrr", "vip")))


def test_replicas_share_an_endpoint_in_a_swarm_too() -> None:
    assert _found(_deployment("deploy: {replicas: 3}"))["replicas-share-endpoint"] is Severity.ERROR


def test_notes_name_what_is_ignored_and_refused() -> None:
    assert _notes("restart: always") == []
    assert _notes("container_name: called\n    ports: ['127.0.0.1:9092:9092']\n    depends_on: [zookeeper]") == [
        "docker stack deploy ignores of kafka: container_name, depends_on, addresses of published ports"
    ]
    assert _notes("mem_limit: 1g\n    depends_on: {zookeeper: {condition: service_healthy}}\n    profiles: [all]") == [
        "docker stack deploy refuses of kafka: mem_limit, profiles, conditions of depends_on"
    ]


def test_notes_of_a_service_that_extends_another() -> None:
    text = "services: {base: {image: kafka}, kafka: {extends: {service: base}}}"
    project = load(Source("compose.yml", text), dotenv=None, environ={}, read=lambda _: None)
    assert list(stack_notes(project)) == ["docker stack deploy refuses extends"]
