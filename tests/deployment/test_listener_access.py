"""Who can enter through a listener, and what addresses and ports are for."""

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.deployment.clients import clients_entering
from netdiag.deployment.model.vantage import container_vantage
from netdiag.deployment.prediction.listener_access import (
    DOCKER_HOST,
    ListeningAddress,
    advertised_of,
    control_port,
    is_likely_other_port,
    jmx_ports,
    listener_of,
    listener_ports,
    listening_addresses,
    names_by_address,
    other_brokers,
    published_for,
    zookeeper_port,
    zookeeper_ports,
)
from netdiag.deployment.sources.compose import from_compose
from netdiag.deployment.sources.engine import from_engine
from netdiag.engine.container import PortBinding
from tests.deployment.stacks import deployment_of, five_brokers
from tests.deployment.test_engine_source import attached, container, network

TEXT = five_brokers() + "  other:\n"
CLIENT = """\
  app:
    image: shop/app
    networks: [{network}]
    environment: {{KAFKA_BROKERS: 'broker-2:9092'}}
"""


def test_published_ports_lead_to_a_listener() -> None:
    broker = deployment_of(TEXT).brokers[0]
    external, internal = listener_of(broker, "EXTERNAL"), listener_of(broker, "INTERNAL")
    assert external
    assert internal
    assert [p.published for p in published_for(broker, external)] == [9091]
    assert published_for(broker, internal) == ()
    assert listener_of(broker, "NONE") is None
    advertised = advertised_of(broker, "INTERNAL")
    assert advertised
    assert advertised.endpoint.host == "broker-1"


def test_other_brokers_are_those_of_the_cluster() -> None:
    deployment = deployment_of(TEXT)
    assert [b.name for b in other_brokers(deployment, deployment.brokers[0])] == [f"broker-{n}" for n in (2, 3, 4, 5)]


def test_a_client_enters_where_its_bootstrap_lands() -> None:
    text = TEXT.replace("services:\n", "services:\n" + CLIENT.format(network="kafka"))
    deployment = deployment_of(text)
    entering = [
        (b.name, d.member.name) for b in deployment.brokers for d in clients_entering(deployment, b, "EXTERNAL")
    ]
    assert entering == [("broker-2", "app")]
    assert clients_entering(deployment, deployment.brokers[1], "INTERNAL") == ()


def test_a_client_on_another_network_does_not_enter() -> None:
    text = TEXT.replace("services:\n", "services:\n" + CLIENT.format(network="other"))
    deployment = deployment_of(text)
    assert all(clients_entering(deployment, b, "EXTERNAL") == () for b in deployment.brokers)
    app = next(m for m in deployment.others if m.name == "app")
    assert container_vantage(app).networks == ("other",)


PORTS_TEXT = """\
name: t
services:
  kafka:
    image: apache/kafka:3.9.1
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      KAFKA_JMX_PORT: 6001
      KAFKA_OPTS: -Dcom.sun.management.jmxremote.rmi.port=6002 -javaagent:/a/jmx_prometheus_javaagent.jar=6003:/a.yml
      KAFKA_REST_LISTENERS: http://0.0.0.0:6004
      KAFKA_CUSTOM: http://0.0.0.0:6005
  registry:
    image: confluentinc/cp-schema-registry:7.9.2
  all-in-one:
    image: lensesio/fast-data-dev:3.9.0
    environment:
      KAFKA_LISTENERS: PLAINTEXT://:9092,OTHER://:8083
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://all-in-one:9092,OTHER://all-in-one:8083
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT
"""


@pytest.mark.parametrize(
    ("member", "port", "expected"),
    [
        ("kafka", 9092, None),
        ("kafka", 9093, "the KRaft controller listener CONTROLLER"),
        ("kafka", 6001, "JMX"),
        ("kafka", 6005, None),
        ("registry", 8081, "HTTP"),
        ("registry", 9092, None),
        ("all-in-one", 3030, "another service of the image"),
        ("all-in-one", 9582, "another service of the image"),
        ("all-in-one", 8083, None),
        ("all-in-one", 9092, None),
        ("all-in-one", 3033, None),
    ],
)
def test_what_a_port_is(member: str, port: int, expected: str | None) -> None:
    deployment = deployment_of(PORTS_TEXT)
    assert control_port(deployment, deployment.by_name[member], port) == expected


def test_jmx_ports_come_from_variables_and_options() -> None:
    assert jmx_ports(deployment_of(PORTS_TEXT).by_name["kafka"]) == {6001, 6002, 6003}


@pytest.mark.parametrize(("port", "expected"), [(6003, True), (6005, True), (9101, True), (8090, True), (9092, False)])
def test_a_variable_or_custom_explains_a_port(port: int, expected: bool) -> None:
    assert is_likely_other_port(deployment_of(PORTS_TEXT).by_name["kafka"], port) is expected


@pytest.mark.parametrize(
    ("image", "environment", "expected"),
    [
        ("zookeeper:3.9", "{}", 2181),
        ("zookeeper", "{}", 2181),
        ("confluentinc/cp-zookeeper:7.9.2", "{}", None),
        ("confluentinc/cp-zookeeper:7.9.2", "{ZOOKEEPER_CLIENT_PORT: 2182}", 2182),
        ("confluentinc/cp-zookeeper:7.9.2", "{ZOOKEEPER_CLIENT_PORT: '${UNSET}'}", None),
        ("zookeeper:3.9@sha256:00", "{}", 2181),
        ("shop/app", "{}", None),
    ],
)
def test_where_zookeeper_serves(image: str, environment: str, expected: int | None) -> None:
    text = f"name: t\nservices:\n  z:\n    image: {image}\n    environment: {environment}\n"
    assert zookeeper_port(deployment_of(text).by_name["z"]) == expected


@pytest.mark.parametrize(
    ("image", "environment", "expected"),
    [
        ("zookeeper:3.9", "{}", {2181}),
        (
            "confluentinc/cp-zookeeper:7.9.2",
            "{ZOOKEEPER_CLIENT_PORT: 2181, ZOOKEEPER_SECURE_CLIENT_PORT: 2182}",
            {2181, 2182},
        ),
        ("bitnamilegacy/zookeeper:3.9", "{ZOO_TLS_PORT_NUMBER: 3181}", {2181, 3181}),
        ("bitnamilegacy/zookeeper:3.9", "{ZOO_TLS_PORT_NUMBER: none}", {2181}),
        ("confluentinc/cp-zookeeper:7.9.2", "{ZOOKEEPER_SECURE_CLIENT_PORT: 2182}", set()),
        ("shop/app", "{ZOOKEEPER_SECURE_CLIENT_PORT: 2182}", set()),
    ],
)
def test_zookeeper_may_serve_tls_beside_the_plain_port(image: str, environment: str, expected: set[int]) -> None:
    text = f"name: t\nservices:\n  z:\n    image: {image}\n    environment: {environment}\n"
    assert zookeeper_ports(deployment_of(text).by_name["z"]) == expected


PUBLISHED = (PortBinding(target=9092, protocol="tcp", host_ip="0.0.0.0", published=19092),)


def test_addresses_are_called_by_their_member() -> None:
    deployment = from_engine([container(networks=(attached("p_net", "172.18.0.5"),))], [network("p_net")])
    assert names_by_address(deployment)["172.18.0.5"] == deployment.brokers[0].name


def test_gateways_and_its_own_addresses_are_the_docker_host() -> None:
    deployment = from_engine([container()], [network("p_net")], host_addresses=("192.168.8.133",))
    names = names_by_address(deployment)
    assert names["192.168.8.133"] == DOCKER_HOST
    assert all(names[gateway] == DOCKER_HOST for gateway in deployment.networks["p_net"].gateways)


def test_an_address_of_two_members_is_nobodys() -> None:
    twins = [
        container("one", id="1" * 64, networks=(attached("p_net", "172.18.0.5"),)),
        container("two", id="2" * 64, networks=(attached("p_net", "172.18.0.5"),)),
    ]
    assert "172.18.0.5" not in names_by_address(from_engine(twins, [network("p_net")]))


def test_a_listener_is_found_on_the_network_and_where_it_is_published() -> None:
    made = container(networks=(attached("p_net", "172.18.0.5"),), ports=PUBLISHED)
    deployment = from_engine([made], [network("p_net")], host_addresses=("192.168.8.133",))
    (broker,) = deployment.brokers
    found = set(listening_addresses(deployment))
    name = {entry.endpoint.port: entry.endpoint.listener for entry in broker.config.listeners}[9092]
    for address in ("127.0.0.1", "192.168.8.133"):
        assert ListeningAddress(address=address, port=19092, broker=broker.name, listener=name, published=True) in found
    inside = ListeningAddress(address="172.18.0.5", port=9092, broker=broker.name, listener=name, published=False)
    assert inside in found


BROKER = """
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    ports: {ports}
    environment:
      KAFKA_BROKER_ID: 1
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_LISTENERS: {listeners}
      KAFKA_ADVERTISED_LISTENERS: {advertised}
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: A:PLAINTEXT,B:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: A
  web:
    image: nginx
    ports: ["8080:80", "9999:9092"]
"""


@pytest.mark.parametrize(
    ("listeners", "advertised", "ports", "expected"),
    [
        ("A://:9092", "A://kafka:9092", "[]", (9092,)),
        ("A://:9092,B://:29092", "A://kafka:9092,B://localhost:19092", '["19092:29092"]', (9092, 19092, 29092)),
        ("A://:9092", "A://kafka:9092", '["39092:9092", "8081:8081"]', (9092, 39092)),
        ("A://:9092", "A://kafka:9092", '["9092:9092/udp", "9092"]', (9092,)),
        ("A://:0", "A://kafka:9092", "[]", (9092,)),
    ],
)
def test_bound_told_and_published(listeners: str, advertised: str, ports: str, expected: tuple[int, ...]) -> None:
    text = BROKER.format(listeners=listeners, advertised=advertised, ports=ports)
    assert listener_ports(from_compose(load(Source("c.yml", text)))) == expected


def test_without_a_broker_there_is_none() -> None:
    text = "services:\n  web:\n    image: nginx\n    ports: ['8080:80']\n"
    assert listener_ports(from_compose(load(Source("c.yml", text)))) == ()
