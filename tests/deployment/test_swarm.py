"""Compose files as `docker stack deploy` reads them: what it ignores, what only the swarm decides."""

from dataclasses import replace

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.config import Facts
from netdiag.deployment.model.deployment import Deployment, HostKind, Platform
from netdiag.deployment.model.vantage import broker_vantage, docker_host
from netdiag.deployment.model.verdict import Failed, Unknown
from netdiag.deployment.prediction.client_namespace import resolve
from netdiag.deployment.sources.compose import from_compose
from netdiag.deployment.sources.swarm import stack_notes, without_compose_only
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
    text = _STACK.format(keys=f"    {keys}", host="localhost")
    return list(stack_notes(project_of(text), [Source("compose.yml", text)]))


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
    deployment = replace(_deployment(keys), facts=Facts(resolves={"*": ""}))
    inside = broker_vantage(deployment.brokers[0])
    assert isinstance(resolve(deployment, inside, "node-one"), Unknown), "it may be made of the template"
    assert isinstance(resolve(deployment, docker_host(), "node-one"), Failed)
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
        "docker stack deploy refuses of kafka: mem_limit, depends_on as a mapping, profiles",
        "docker stack deploy ignores of kafka: depends_on",
    ]


def test_notes_of_a_service_that_extends_another() -> None:
    source = Source("compose.yml", "services: {base: {image: kafka}, kafka: {extends: {service: base}}}")
    project = load(source, dotenv=None, environ={}, read=lambda _: None)
    assert list(stack_notes(project, [source])) == ["docker stack deploy refuses of kafka: extends"]


def test_notes_are_bounded() -> None:
    keys = "\n".join(f"    key{number}: 1" for number in range(1000))
    services = "\n".join(f"  s{number}:\n    image: x\n    scale: 1" for number in range(1000))
    long = "k" * 1000
    source = Source("compose.yml", f"services:\n{services}\n  last:\n    image: x\n{keys}\n{long}: 1\n")
    project = load(source, dotenv=None, environ={}, read=lambda _: None)
    notes = stack_notes(project, [source])
    assert len(notes) == 21
    assert notes[-1] == "docker stack deploy refuses or ignores more, 982 lines"
    assert max(map(len, notes)) < 200


def test_replicas_share_a_port_otherwise_than_on_one_docker_host() -> None:
    (port,) = [one for one in _messages("deploy: {replicas: 3}\n    ports: ['9092:9092']") if "port" in one]
    assert "port 9092 of every node" in port
    (port,) = [
        one
        for one in _messages("deploy: {replicas: 3}\n    ports: [{target: 9092, published: 9092, mode: host}]")
        if "port" in one
    ]
    assert "port 9092 of their node" in port


def _messages(keys: str) -> list[str]:
    found = [one for one in check_deployment(_deployment(keys)) if one.rule == "replicas-share-endpoint"]
    return [text for one in found for text in (one.message, *(related.message for related in one.related))]


def test_two_tasks_may_publish_one_port_on_two_nodes() -> None:
    ports = "    ports: [{{target: 80, published: 9092, mode: {mode}}}]\n"
    for mode, count in (("host", 0), ("ingress", 1)):
        text = _STACK.format(keys=ports.format(mode=mode), host="localhost") + ports.format(mode=mode)
        found = check_deployment(from_compose(project_of(text), platform=Platform(kind=HostKind.SWARM)))
        assert [one.rule for one in found].count("duplicate-host-port") == count, mode


def test_names_of_containers_are_no_conflict_in_a_swarm() -> None:
    project = project_of(_STACK.format(keys="    container_name: called\n    deploy: {replicas: 3}", host="localhost"))
    assert [problem.code for problem in project.problems] == ["container-name"]
    assert without_compose_only(project).problems == ()
