"""Numbers in text from outside: no digit and no length of digits raises anything but an error of netdiag's."""

import pytest

from netdiag.deployment.model.deployment import generation_of
from netdiag.deployment.model.verdict import parse_address
from netdiag.digits import number_of
from netdiag.engine.container import parse_container
from netdiag.errors import UsageError
from netdiag.kafka.images.families import parse_image
from netdiag.kafka.listeners import parse_listeners, parse_voters, parse_zookeeper_connect
from netdiag.linux.procfs import Process
from netdiag.linux.resolver import parse_resolv_conf
from netdiag.rules.declared import check_deployment
from netdiag.topology.published_ports import parse_proxy
from tests.deployment.stacks import deployment_of
from tests.engine.test_documents import BROKER
from tests.fuzz.projects import WILD_NUMBERS


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("09092", 9092), ("9" * 18, int("9" * 18)), ("9" * 19, None), ("", None), ("-1", None)],
)
def test_number(text: str, number: int | None) -> None:
    assert number_of(text) == number


@pytest.mark.parametrize("text", [*WILD_NUMBERS, "９", "1_0", " 1", "+1", "1\n"])
def test_no_number(text: str) -> None:
    assert number_of(text) is None


KRAFT = {"KAFKA_NODE_ID": "1", "KAFKA_PROCESS_ROLES": "broker,controller", "KAFKA_LISTENERS": "PLAINTEXT://:9092"}


@pytest.mark.parametrize("number", WILD_NUMBERS)
@pytest.mark.parametrize(
    ("service", "environment"),
    [
        ("image: apache/kafka:3.9.1", {**KRAFT, "KAFKA_NODE_ID": "{}"}),
        ("image: apache/kafka:3.9.1", {**KRAFT, "KAFKA_BROKER_ID": "{}"}),
        ("image: apache/kafka:3.9.1", {**KRAFT, "KAFKA_LISTENERS": "PLAINTEXT://:{}"}),
        ("image: apache/kafka:3.9.1", {**KRAFT, "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@kafka:{0},{0}@kafka:9093"}),
        ("image: apache/kafka:3.9.1", {**KRAFT, "KAFKA_JMX_PORT": "{}", "KAFKA_OPTS": "-Djmxremote.port={}"}),
        ("image: confluentinc/cp-kafka:7.4.0", {"KAFKA_ZOOKEEPER_CONNECT": "zk:{}"}),
        ("image: confluentinc/cp-kafka:7.4.0", {"KAFKA_ZOOKEEPER_CONNECT": "zk:2181"}),
        ("image: wurstmeister/kafka:2.13-2.8.1", {"KAFKA_ZOOKEEPER_CONNECT": "zk:2181", "KAFKA_PORT": "{}"}),
        ("image: apache/kafka:{0}.{0}", KRAFT),
        ("image: bitnami/kafka:3.6-r{}", {}),
        ("image: redpandadata/redpanda:v25.{0}\n    command: redpanda start --rpc-addr 0.0.0.0:{0}", {}),
    ],
)
def test_a_compose_file_with_no_number(service: str, environment: dict[str, str], number: str) -> None:
    zookeepers = {"zk": "2181", "wild": number}
    text = "services:\n" + "".join(
        f"  {name}: {{image: zookeeper, environment: {{ZOO_PORT: '{port}', ZOO_TLS_PORT_NUMBER: '{number}'}}}}\n"
        for name, port in zookeepers.items()
    )
    text += f"  kafka:\n    {service}\n    ports: ['9092:9092']\n    environment:\n      A: b\n"
    text += "".join(f"      {name}: '{value}'\n" for name, value in environment.items())
    deployment = deployment_of(text.replace("{0}", number).replace("{}", number))
    assert all(finding.message for finding in check_deployment(deployment))


@pytest.mark.parametrize("number", WILD_NUMBERS)
def test_fragments_with_no_number(number: str) -> None:
    assert parse_image(f"apache/kafka:{number}.{number}").kafka_version is None
    assert parse_zookeeper_connect(f"a:{number},b:000001{number},c:2181") == (("c", 2181),)
    assert not any(hasattr(entry, "endpoint") for entry in parse_listeners(f"A://:{number}"))
    assert not any(hasattr(entry, "node_id") for entry in parse_voters(f"{number}@a:1"))
    assert generation_of(f"{number}.0") is None
    assert parse_resolv_conf(f"options ndots:{number}").ndots == parse_resolv_conf("").ndots
    with pytest.raises(UsageError, match="is not an address with a port"):
        parse_address(f"kafka:{number}")


@pytest.mark.parametrize("number", WILD_NUMBERS)
def test_processes_and_containers_with_no_number(number: str) -> None:
    argv = ("docker-proxy", "-host-port", number, "-container-port", "9092")
    assert parse_proxy(Process(pid=9, comm="docker-proxy", started=1, netns=1, argv=argv)) is None
    ports = {f"{number}/tcp": [{"HostPort": "1"}], "9092/tcp": [{"HostIp": "", "HostPort": number}]}
    container = parse_container({**BROKER, "NetworkSettings": {"Ports": ports}})
    assert [(port.target, port.published) for port in container.ports] == [(9092, None)]
