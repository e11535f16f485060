"""Cases of the rules about reachability beside their docstring examples: who has precedence, milder cases, silence.

A container that could not be started is on no network, and still has its name.
"""

from dataclasses import replace

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.deployment.sources.compose import from_compose
from netdiag.findings import Severity
from netdiag.rules.declared import check_deployment, networks_not_shared
from tests.deployment.stacks import deployment_of

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE

TWO = """\
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
"""


def stack(
    client: str = "",
    *,
    broker: str = '    ports: ["9092:9092"]\n',
    environment: str = TWO,
    image: str = "shop/app",
    extra: str = "",
    networks: str = "",
) -> str:
    """A broker of two listeners and, where `client` is given, an application with that bootstrap list."""
    app = f"  app:\n    image: {image}\n{extra}    environment:\n      KAFKA_BROKERS: {client}\n" if client else ""
    return (
        "name: t\nservices:\n"
        f"  kafka:\n    image: confluentinc/cp-kafka:7.9.2\n{broker}    environment:\n{environment}{app}{networks}"
    )


def found(text: str) -> dict[str, Severity]:
    findings = check_deployment(deployment_of(text))
    assert len({f.rule for f in findings}) == len(findings)
    return {finding.rule: finding.severity for finding in findings}


def advertising(advertised: str) -> str:
    return TWO.replace("PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092", advertised)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (stack("kafka:29092"), {}),
        (stack("localhost:9092"), {"dependent-bootstrap-localhost": ERROR}),
        # a sidecar of the broker has the broker's loopback
        (stack("localhost:9092", extra='    network_mode: "service:kafka"\n'), {}),
        # the docker host's own loopback
        (stack("localhost:9092", extra="    network_mode: host\n"), {}),
        # a network that is another project's
        (stack("localhost:9092", extra='    network_mode: "container:elsewhere"\n'), {}),
        # an image that holds a broker of its own
        (stack("localhost:9092", image="landoop/fast-data-dev:3.9.0"), {"advertised-empty-host": NOTE}),
        (stack("localhost:9092", image="example/kafka:3.9"), {}),
        # a container that only waits to be entered
        (stack("localhost:9092", extra="    command: tail -f /dev/null\n"), {}),
        # the other address works
        (stack("localhost:9092,kafka:29092"), {"dependent-bootstrap-localhost": WARNING}),
        (stack("kafka:9099"), {"dependent-bootstrap-wrong-port": ERROR}),
        (stack("kafka:9092"), {"dependent-bootstrap-external-listener": ERROR}),
        (stack("broker:9092"), {"dependent-bootstrap-unknown-host": ERROR}),
        # names that something else may know
        (stack("broker.example.org:9092"), {}),
        (stack("broker:9092", extra='    extra_hosts: ["broker:10.0.0.7"]\n'), {}),
        (stack("broker:29092", extra='    links: ["kafka:broker"]\n'), {}),
        (stack("broker:29092", extra='    external_links: ["elsewhere:broker"]\n'), {}),
        (stack("t-kafka-1:29092"), {}),
        (stack("broker:29092", broker="    hostname: broker\n    ports: ['9092:9092']\n"), {}),
        (stack("${BROKERS}"), {}),
    ],
)
def test_a_client_of_one_broker(text: str, expected: dict[str, Severity]) -> None:
    assert found(text) == expected


def test_a_broker_on_the_docker_host_is_to_advertise_a_name_that_the_client_resolves() -> None:
    mapped = '    extra_hosts: ["host.docker.internal:host-gateway"]\n'
    text = stack(
        "host.docker.internal:9092",
        broker="    network_mode: host\n",
        environment=advertising("EXTERNAL://localhost:9092"),
        extra=mapped,
    )
    hints = [f.hint for f in check_deployment(deployment_of(text)) if f.rule == "dependent-bootstrap-external-listener"]
    assert hints == ["add a listener to kafka that advertises host.docker.internal and the port that it binds"]


@pytest.mark.parametrize(
    ("client", "extra", "more", "expected"),
    [
        ("localhost:9092", "", "", {"dependent-bootstrap-localhost": WARNING}),
        ("kafka:9099", "", "", {"dependent-bootstrap-wrong-port": WARNING}),
        ("kafka:9092", "", "", {"dependent-bootstrap-external-listener": WARNING}),
        # a broker that starts with the client
        ("other:9092", "", "  other:\n    image: confluentinc/cp-kafka:7.9.2\n    profiles: [tools]\n", {}),
        ("broker:9092", '    extra_hosts: ["broker:10.0.0.7"]\n', "", {}),
    ],
)
def test_a_client_whose_profile_is_not_switched_on(
    client: str, extra: str, more: str, expected: dict[str, Severity]
) -> None:
    text = stack(client, extra=f"    profiles: [tools]\n{extra}") + more
    project = load(Source("compose.yml", text), dotenv=None, environ={}, profiles=(), read=lambda _: None)
    assert {f.rule: f.severity for f in check_deployment(from_compose(project))} == expected


def test_a_sidecar_of_the_broker_may_use_any_port_of_it() -> None:
    assert found(stack("kafka:8000", broker="    ports: ['9092:9092', '8000:8000']\n") + SIDECAR) == {}


SIDECAR = '  side:\n    image: shop/side\n    network_mode: "service:kafka"\n'


@pytest.mark.parametrize(
    ("mine", "theirs", "networks", "expected"),
    [
        ("[a]", "[b]", "networks: {a: , b: }", {"networks-not-shared": ERROR}),
        ("[a, b]", "[b]", "networks: {a: , b: }", {}),
        # another project may put the broker there
        ("[a]", "[b]", "networks: {a: {external: true}, b: }", {}),
        # only the broker's side is external: the client's network is known in full
        ("[a]", "[b]", "networks: {a: , b: {external: true}}", {"networks-not-shared": ERROR, "ambiguous-name": NOTE}),
    ],
)
def test_networks(mine: str, theirs: str, networks: str, expected: dict[str, Severity]) -> None:
    broker = f"    networks: {theirs}\n    ports: ['9092:9092']\n"
    text = stack("kafka:29092", extra=f"    networks: {mine}\n", broker=broker, networks=networks + "\n")
    assert found(text) == expected


def test_a_mounted_file_may_open_other_ports() -> None:
    mount = "    volumes: ['./conf/server.properties:/etc/kafka/server.properties']\n"
    assert found(stack("kafka:9099", broker=mount + "    ports: ['9092:9092', '5000:5000']\n")) == {}
    secrets = "    volumes: ['./secrets:/etc/kafka/secrets']\n"
    assert found(stack("kafka:9099", broker=secrets)) != {}


def test_every_address_of_a_list_is_pointed_at() -> None:
    findings = check_deployment(deployment_of(stack("kafka:9098, localhost:9092")))
    columns = [(f.rule, f.location.column, f.location.end_column) for f in findings]  # type: ignore[union-attr]
    assert columns == [("dependent-bootstrap-wrong-port", 22, 32), ("dependent-bootstrap-localhost", 34, 48)]


def test_a_published_port_is_named_as_what_it_is() -> None:
    findings = check_deployment(deployment_of(stack("kafka:19092", broker='    ports: ["9092:9092", "19092:29092"]\n')))
    (wrong,) = [f for f in findings if f.rule == "dependent-bootstrap-wrong-port"]
    assert "port of the docker host" in wrong.why
    assert wrong.hint == "set KAFKA_BROKERS to kafka:29092"


@pytest.mark.parametrize(
    ("advertised", "client", "expected"),
    [
        # told by the broker's own rule, and once
        (
            "PLAINTEXT://localhost:29092,EXTERNAL://localhost:9092",
            "kafka:9092",
            {"advertised-loopback-for-remote-clients"},
        ),
        ("PLAINTEXT://kafka:29092,EXTERNAL://broker:9092", "kafka:9092", {"advertised-host-unknown"}),
        ("PLAINTEXT://kafka:29092,EXTERNAL://host.docker.internal:9092", "kafka:9092", {"host-alias-portability"}),
        # an endpoint at which nothing listens
        ("PLAINTEXT://kafka:9099,EXTERNAL://localhost:9092", "kafka:29092", {"dependent-bootstrap-external-listener"}),
        # an address that may well be the docker host's
        ("PLAINTEXT://kafka:29092,EXTERNAL://192.168.1.20:9092", "kafka:9092", set()),
        ("PLAINTEXT://kafka:29092,EXTERNAL://kafka.example.org:9092", "kafka:9092", set()),
    ],
)
def test_one_defect_one_rule(advertised: str, client: str, expected: set[str]) -> None:
    assert set(found(stack(client, environment=advertising(advertised)))) == expected


@pytest.mark.parametrize(
    ("ports", "extra", "expected"),
    [
        ('["9092:29092"]', "", {"published-port-wrong-listener": ERROR}),
        ('["9092:5000"]', "", {"published-port-wrong-listener": ERROR}),
        ('["9092:9092", "5000:5000"]', "", {"published-port-without-listener": WARNING}),
        ('["9092:9092", "5000:5000/udp"]', "", {}),
        ('["9092:9092", "9101:9101"]', "", {}),
        ('["9092:9092", "5000:5000"]', "      KAFKA_JMX_PORT: 5000\n", {"jmx-hostname-unreachable": NOTE}),
        ('["9092:9092", "5000:5000"]', "      KAFKA_OPTS: -javaagent:/opt/agent.jar=5000:/opt/c.yml\n", {}),
        ('["9090-9095:9090-9095"]', "", {}),
        ('["9092"]', "", {"ephemeral-or-range-port": WARNING}),
        ('["9092", "9092:9092"]', "", {}),
        ('["127.0.0.1:9092:9092"]', "", {}),
    ],
)
def test_published_ports(ports: str, extra: str, expected: dict[str, Severity]) -> None:
    assert found(stack(broker=f"    ports: {ports}\n", environment=TWO + extra)) == expected


@pytest.mark.parametrize(
    ("address", "networks", "expected"),
    [
        ("10.5.0.9", "{ipam: {config: [{subnet: 10.5.0.0/16}]}}", {}),
        ("10.6.0.9", "{ipam: {config: [{subnet: 10.5.0.0/16}]}}", {"static-ip-invalid": ERROR}),
        ("10.6.0.9", "", {"static-ip-invalid": ERROR}),
        ("10.6.0.9", "{external: true}", {"ambiguous-name": NOTE}),
        ("10.5.0.1", "{ipam: {config: [{subnet: 10.5.0.0/16}]}}", {"static-ip-invalid": WARNING}),
        ("10.5.0.7", "{ipam: {config: [{subnet: 10.5.0.0/16, gateway: 10.5.0.7}]}}", {"static-ip-invalid": ERROR}),
        ("10.5.0.1", "{ipam: {config: [{subnet: 10.5.0.0/16, gateway: 10.5.0.7}]}}", {}),
        ("10.5.255.255", "{ipam: {config: [{subnet: 10.5.0.0/16}]}}", {"static-ip-invalid": ERROR}),
        ("${UNSET}", "{ipam: {config: [{subnet: 10.5.0.0/16}]}}", {}),
        ("10.5.0.9", "{ipam: {config: [{subnet: '${UNSET}'}]}}", {}),
    ],
)
def test_fixed_addresses(address: str, networks: str, expected: dict[str, Severity]) -> None:
    broker = f'    ports: ["9092:9092"]\n    networks: {{net: {{ipv4_address: "{address}"}}}}\n'
    assert found(stack(broker=broker, networks=f"networks: {{net: {networks}}}\n")) == expected


def test_an_address_that_two_containers_have() -> None:
    broker = '    ports: ["9092:9092"]\n    networks: {net: {ipv4_address: 10.5.0.9}}\n'
    other = "    networks: {net: {ipv4_address: 10.5.0.9}}\n"
    text = stack(
        "kafka:29092",
        broker=broker,
        extra=other,
        networks="networks: {net: {ipam: {config: [{subnet: 10.5.0.0/16}]}}}\n",
    )
    assert "static-ip-invalid" in found(text)


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ("    network_mode: host\n", {"host-network-mode": WARNING}),
        ("    network_mode: bridge\n", {"default-bridge-no-dns": ERROR}),
        ("    network_mode: bridge\n    links: [kafka]\n", {}),
    ],
)
def test_modes_of_the_client(extra: str, expected: dict[str, Severity]) -> None:
    assert found(stack("kafka:29092", extra=extra)) == expected


@pytest.mark.parametrize(
    ("ports", "expected"),
    [("['9092:9092']", {"host-network-mode": NOTE}), ("['19092:9092']", {"host-network-mode": WARNING})],
)
def test_discarded_ports(ports: str, expected: dict[str, Severity]) -> None:
    environment = TWO.replace("kafka:29092", "localhost:29092").replace("zookeeper:2181", "localhost:2181")
    assert found(stack(broker=f"    network_mode: host\n    ports: {ports}\n", environment=environment)) == expected


@pytest.mark.parametrize(
    ("advertised", "expected"),
    [
        ("172.18.0.3", {"unstable-ip-advertised": NOTE}),
        ("192.168.1.20", {}),
        ("host.docker.internal", {"host-alias-portability": NOTE}),
        ("docker.for.mac.localhost", {"host-alias-portability": NOTE}),
    ],
)
def test_addresses_of_the_host(advertised: str, expected: dict[str, Severity]) -> None:
    environment = advertising(f"PLAINTEXT://kafka:29092,EXTERNAL://{advertised}:9092")
    assert found(stack(environment=environment)) == expected


ZOOKEEPER = """\
  zookeeper:
    image: {image}
    environment:
      ZOOKEEPER_CLIENT_PORT: {port}
"""


@pytest.mark.parametrize(
    ("connect", "zookeeper", "expected"),
    [
        ("zookeeper:2181", ZOOKEEPER.format(image="confluentinc/cp-zookeeper:7.9.2", port=2181), {}),
        ("zookeeper:2181/kafka", ZOOKEEPER.format(image="confluentinc/cp-zookeeper:7.9.2", port=2181), {}),
        (
            "zookeeper:2182/kafka",
            ZOOKEEPER.format(image="confluentinc/cp-zookeeper:7.9.2", port=2181),
            {"zookeeper-connect-broken": ERROR},
        ),
        ("zookeeper:2181", ZOOKEEPER.format(image="confluentinc/cp-zookeeper:7.9.2", port="${UNSET}"), {}),
        ("zookeeper:2181", "  zookeeper:\n    image: zookeeper:3.9\n", {}),
        ("zk:2181", "  zookeeper:\n    image: zookeeper:3.9\n", {"zookeeper-connect-broken": ERROR}),
        ("zk.example.org:2181", "  zookeeper:\n    image: zookeeper:3.9\n", {}),
        ("localhost:2181", "  zookeeper:\n    image: zookeeper:3.9\n", {"zookeeper-connect-broken": ERROR}),
        (
            "localhost:2181",
            '  zookeeper:\n    image: zookeeper:3.9\n    network_mode: "service:kafka"\n',
            {},
        ),
        (
            "localhost:2181,zookeeper:2181",
            "  zookeeper:\n    image: zookeeper:3.9\n",
            {"zookeeper-connect-broken": WARNING},
        ),
        (
            "zookeeper:2181,z2:2181",
            "  zookeeper:\n    image: zookeeper:3.9\n  z2:\n    image: zookeeper:3.9\n",
            {"zookeeper-connect-broken": WARNING},
        ),
        (
            "zookeeper:2181,z2:2181",
            "  zookeeper:\n    image: zookeeper:3.9\n    environment: {ZOO_SERVERS: x}\n"
            "  z2:\n    image: zookeeper:3.9\n    environment: {ZOO_SERVERS: x}\n",
            {},
        ),
        ("localhost:2181", "", {}),
    ],
)
def test_zookeeper(connect: str, zookeeper: str, expected: dict[str, Severity]) -> None:
    environment = TWO.replace("zookeeper:2181", connect)
    assert found(stack(environment=environment) + zookeeper) == expected


def test_an_internal_network_takes_the_published_port_away_and_nothing_else_is_said() -> None:
    broker = '    ports: ["9092:29092"]\n    networks: [net]\n'
    environment = TWO.replace(",EXTERNAL://:9092", "").replace(",EXTERNAL://localhost:9092", "")
    text = stack(broker=broker, environment=environment, networks="networks: {net: {internal: true}}\n")
    assert found(text) == {"internal-network-published": WARNING}


def test_the_port_of_zookeeper_is_no_bootstrap() -> None:
    zookeeper = ZOOKEEPER.format(image="confluentinc/cp-zookeeper:7.9.2", port=2181)
    assert found(stack("zookeeper:2181") + zookeeper) == {"dependent-bootstrap-control-port": ERROR}


def test_jmx_is_no_bootstrap() -> None:
    environment = TWO + "      KAFKA_JMX_PORT: 9101\n"
    assert found(stack("kafka:9101", environment=environment)) == {"dependent-bootstrap-control-port": ERROR}


MORE = """\
  kafka-2:
    image: confluentinc/cp-kafka:7.9.2
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_LISTENERS: PLAINTEXT://:29092,CLIENTS://:9095
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:29092,CLIENTS://kafka-2:9095
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CLIENTS:PLAINTEXT
"""


@pytest.mark.parametrize(
    ("client", "ports", "expected"),
    [
        # EXTERNAL of the first is published, CLIENTS of the second is used by nobody
        ("", "    ports: ['9092:9092']\n", {"listener-sets-differ": WARNING}),
        ("kafka-2:9095", "    ports: []\n", {"listener-sets-differ": ERROR, "advertised-port-not-published": WARNING}),
        ("kafka-2:29092", "    ports: []\n", {"advertised-port-not-published": WARNING}),
    ],
)
def test_listeners_that_not_every_broker_has(client: str, ports: str, expected: dict[str, Severity]) -> None:
    assert found(stack(client, broker=ports) + MORE) == expected


@pytest.mark.parametrize(
    ("ports", "hint"),
    [
        ("['29092:29092', '9092:9092']", "stop publishing the port of IN: clients outside use listener OUT"),
        ("['29092:29092']", "publish the port of listener OUT instead, which is meant for clients outside"),
        (
            "['29092:29092', '9092:29092']",
            "publish the port of listener OUT instead, which is meant for clients outside",
        ),
    ],
)
def test_only_a_published_listener_serves_clients_outside(ports: str, hint: str) -> None:
    made = deployment_of(
        f"services: {{zk: {{image: 'zookeeper:3.9'}}, kafka: {{image: 'confluentinc/cp-kafka:7.4.0', ports: {ports},"
        " environment: {KAFKA_ZOOKEEPER_CONNECT: 'zk:2181', KAFKA_INTER_BROKER_LISTENER_NAME: IN,"
        " KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'IN:PLAINTEXT,OUT:PLAINTEXT',"
        " KAFKA_ADVERTISED_LISTENERS: 'IN://kafka:29092,OUT://localhost:9092'}}}\n"
    )
    hints = {f.hint for f in check_deployment(made) if f.rule == "advertised-internal-name-for-host"}
    assert hints == {hint}


STACK = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    networks: [back]
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_BROKER_ID: 1
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
  app:
    image: example/app:1
    networks: [front]
    environment: {KAFKA_BOOTSTRAP_SERVERS: "kafka:9092"}
networks: {front: , back: }
"""


def test_a_broker_on_no_network() -> None:
    deployment = deployment_of(STACK)
    (whole,) = networks_not_shared.check(deployment)
    assert whole.hint == "attach app to back"
    (broker,) = deployment.brokers
    alone = replace(broker, member=replace(broker.member, attachments=()))
    (found,) = networks_not_shared.check(replace(deployment, brokers=(alone,)))
    assert found.message.endswith("app is on front and kafka is on no network")
    assert found.hint == "attach kafka to front"
