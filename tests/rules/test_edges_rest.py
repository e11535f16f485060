"""Cases of the rules about services beside the brokers, beside their docstring examples: milder cases, silence."""

import json
import time
from collections.abc import Mapping

import pytest

from netdiag.deployment.neighbours import UrlCell, url_cells, url_outcome
from netdiag.findings import FileLocation
from netdiag.rules.declared import check_deployment
from tests.deployment.stacks import deployment_of

CONNECT = {
    "CONNECT_BOOTSTRAP_SERVERS": "kafka:9092",
    "CONNECT_GROUP_ID": "connect",
    "CONNECT_CONFIG_STORAGE_TOPIC": "configs",
    "CONNECT_OFFSET_STORAGE_TOPIC": "offsets",
    "CONNECT_STATUS_STORAGE_TOPIC": "status",
}
OTHER = {name: "other" for name in CONNECT if name != "CONNECT_BOOTSTRAP_SERVERS"}
REGISTRY = {"SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS": "PLAINTEXT://kafka:9092"}
KAFKA = {"KAFKA_ZOOKEEPER_CONNECT": "zookeeper:2181", "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://kafka:9092"}


def service(image: str, environment: dict[str, str], **keys: object) -> dict[str, object]:
    return {"image": image, "environment": environment, **keys}


def worker(host: str, *, keys: Mapping[str, object] | None = None, **environment: str) -> dict[str, object]:
    variables = {**CONNECT, "CONNECT_REST_ADVERTISED_HOST_NAME": host, **environment}
    return service("confluentinc/cp-kafka-connect:7.9.2", variables, **(keys or {}))


def oauth(**environment: str) -> dict[str, object]:
    """A broker whose clients log in with tokens."""
    listeners = {
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,LOGIN:SASL_PLAINTEXT",
        "KAFKA_LISTENERS": "PLAINTEXT://:9092,LOGIN://:9094",
        "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://tokens:9092,LOGIN://tokens:9094",
    }
    return service("confluentinc/cp-kafka:7.9.2", {**KAFKA, **listeners, **environment})


def found(services: Mapping[str, object], **files: str) -> list[str]:
    """The findings of these rules, each with what stands at its place."""
    kafka = service("confluentinc/cp-kafka:7.9.2", KAFKA)
    text = json.dumps({"name": "t", "services": {"kafka": kafka, **services}, "x-files": files})
    sources = {"compose.yml": text.encode()} | {name: content.encode() for name, content in files.items()}
    rows = []
    for finding in check_deployment(deployment_of(text)):
        if finding.rule.startswith(("rest-", "connect-")):
            place = finding.location
            assert isinstance(place, FileLocation)
            where = sources[place.path][place.start : place.end].decode()
            rows.append(f"{finding.severity.value} {finding.rule} {finding.service} {where}")
    return rows


def test_a_worker_that_is_alone_may_advertise_anything() -> None:
    assert found({"connect": worker("localhost")}) == []


@pytest.mark.parametrize(
    "second",
    [
        worker("localhost", keys=None, **OTHER),
        # Another Kafka cluster, or none that can be told.
        worker("localhost", CONNECT_BOOTSTRAP_SERVERS="elsewhere:9092"),
        worker("localhost", CONNECT_BOOTSTRAP_SERVERS="${BROKERS}"),
        worker("localhost", CONNECT_GROUP_ID="${GROUP}"),
        # Not a worker: somebody installs something, or runs another program.
        worker("localhost", keys={"command": "connect-standalone /etc/worker.properties"}),
        worker("localhost", keys={"command": "sleep infinity"}),
    ],
)
def test_workers_of_different_groups(second: dict[str, object]) -> None:
    assert found({"connect-1": worker("localhost"), "connect-2": second}) == []


def test_workers_in_one_namespace_may_use_localhost() -> None:
    host = {"network_mode": "service:connect-1"}
    services = {
        "connect-1": worker("localhost"),
        "connect-2": worker("localhost", keys=host, CONNECT_LISTENERS="http://:8084"),
    }
    assert found(services) == []


def test_unknown_hosts_are_no_findings() -> None:
    services = {
        "connect-1": worker("connect.example.com"),
        "connect-2": worker("${CONNECT_HOST}"),
        "connect-3": worker("192.0.2.7"),
    }
    assert found(services) == []


def test_the_command_of_public_examples() -> None:
    command = ["bash", "-c", "confluent-hub install x\n/etc/confluent/docker/run &\nsleep infinity"]
    services = {"connect-1": worker("connect-1"), "connect-2": worker("localhost", keys={"command": command})}
    assert found(services) == ["error rest-advertised-loopback connect-2 localhost"]


def test_worker_files() -> None:
    properties = "bootstrap.servers=kafka:9092\ngroup.id=connect\nlisteners=http://0.0.0.0:8083\n"
    file = service(
        "apache/kafka:4.0.0",
        {},
        command="/opt/kafka/bin/connect-distributed.sh /conf/worker.properties",
        volumes=["./worker.properties:/conf/worker.properties"],
    )
    services = {"connect-1": worker("connect-1"), "connect-2": file}
    assert found(services, **{"worker.properties": properties}) == ["error rest-advertised-loopback connect-2 0.0.0.0"]
    better = properties + "rest.advertised.host.name=connect-2\n"
    assert found(services, **{"worker.properties": better}) == []


def test_mirror_maker() -> None:
    command = "connect-mirror-maker.sh /conf/mm2.properties"
    node = service("apache/kafka:4.0.0", {}, command=command, volumes=["./mm2.properties:/conf/mm2.properties"])
    properties = "clusters=a,b\na.bootstrap.servers=kafka:9092\nb.bootstrap.servers=elsewhere:9092\n"
    enabled = properties + "dedicated.mode.enable.internal.rest=true\nrest.advertised.host.name=localhost\n"
    services = {"mm-1": node, "mm-2": node}
    assert found(services, **{"mm2.properties": properties}) == []
    assert sorted(found(services, **{"mm2.properties": enabled})) == [
        "error rest-advertised-loopback mm-1 localhost",
        "error rest-advertised-loopback mm-2 localhost",
    ]


def test_schema_registry_and_ksqldb() -> None:
    registry, ksql = "confluentinc/cp-schema-registry:7.9.2", "confluentinc/cp-ksqldb-server:7.9.2"
    services = {
        "registry-1": service(registry, {**REGISTRY, "SCHEMA_REGISTRY_HOST_NAME": "registry-1"}),
        "registry-2": service(registry, {**REGISTRY, "SCHEMA_REGISTRY_HOST_NAME": "localhost"}),
        "ksql-1": service(ksql, {"KSQL_BOOTSTRAP_SERVERS": "kafka:9092"}),
        "ksql-2": service(
            ksql, {"KSQL_BOOTSTRAP_SERVERS": "kafka:9092", "KSQL_KSQL_ADVERTISED_LISTENER": "http://other:8088"}
        ),
    }
    assert found(services) == [
        "error rest-advertised-loopback registry-2 localhost",
        "error rest-advertised-unreachable ksql-2 other",
    ]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://registry:8081", []),
        ("http://registry:8081/api", []),
        ("http://user:password@registry:8081", []),
        ("https://psrc-1.example.com:443", []),
        ("http://registry", ["error rest-url-unreachable app registry"]),
        ("http://registry:${PORT}", []),
        ("http://registry${SUFFIX}:8082", []),
        # what only begins with a host is no URL
        ("http://regi\x1b[31mstry:8082", []),
        ("http://registry:8082;http://registry:8081", ["error rest-url-unreachable app registry:8082"]),
        ("http://u:p@registry:8082/api", ["error rest-url-unreachable app registry:8082"]),
        # It speaks HTTP, without TLS.
        ("https://registry:8081", ["error rest-url-unreachable app registry:8081"]),
        ("http://kafka:9092", ["error rest-url-unreachable app kafka:9092"]),
        ("${REGISTRY}", []),
        ("http://registry:8082", ["error rest-url-unreachable app registry:8082"]),
        ("http://registry:8081,http://registry:8082", ["error rest-url-unreachable app registry:8082"]),
        ("http://localhost:8081", ["error rest-url-unreachable app localhost:8081"]),
        # Nobody here listens there: something of the client's own may.
        ("http://localhost:9999", []),
        ("http://registri:8081", ["warning rest-url-unreachable app registri:8081"]),
        # What listens in the broker's container is unknown.
        ("http://kafka:8081", []),
        ("http://web:8081", []),
    ],
)
def test_urls(url: str, expected: list[str]) -> None:
    services = {
        "registry": service("confluentinc/cp-schema-registry:7.9.2", {**REGISTRY, "SCHEMA_REGISTRY_HOST_NAME": "r"}),
        "web": service("nginx", {}),
        "app": service("example/app", {"SCHEMA_REGISTRY_URL": url}),
    }
    assert found(services) == expected


@pytest.mark.parametrize(
    "name",
    ["KSQL_KSQL_ADVERTISED_LISTENER", "CONTROL_CENTER_KSQL_1_ADVERTISED_URL", "HTTP_PROXY_URL", "WAIT_FOR_CONNECT"],
)
def test_variables_that_are_for_others(name: str) -> None:
    registry = service("confluentinc/cp-schema-registry:7.9.2", {**REGISTRY, "SCHEMA_REGISTRY_HOST_NAME": "r"})
    assert found({"registry": registry, "app": service("example/app", {name: "http://registry:9"})}) == []


def test_urls_in_commands_and_worker_files() -> None:
    registry = service("confluentinc/cp-schema-registry:7.9.2", {**REGISTRY, "SCHEMA_REGISTRY_HOST_NAME": "r"})
    command = "kafka-avro-console-consumer --property schema.registry.url=http://registry:8082 --topic t"
    tool = service("confluentinc/cp-schema-registry:7.9.2", {}, command=command)
    properties = "group.id=connect\nvalue.converter.schema.registry.url=http://registry:8083\n"
    volumes = ["./worker.properties:/conf/worker.properties"]
    started = service(
        "apache/kafka:4.0.0", {}, command="connect-distributed.sh /conf/worker.properties", volumes=volumes
    )
    services = {"registry": registry, "tool": tool, "connect": started}
    assert found(services, **{"worker.properties": properties}) == [
        "error rest-url-unreachable tool registry:8082",
        "error rest-url-unreachable connect registry:8083",
    ]


AKHQ = """\
akhq:
  connections:
    docker:
      properties: {bootstrap.servers: "kafka:9092"}
      schema-registry:
        url: "http://registry:8085"
      connect:
        - name: "connect"
          url: "http://connect:8083"
"""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AKHQ_CONFIGURATION", AKHQ),
        ("CMD_ARGS", "--message.format=AVRO --schemaregistry.connect=http://registry:8085 --x=http://connect:8083"),
    ],
)
def test_urls_among_other_settings(name: str, value: str) -> None:
    registry = service("confluentinc/cp-schema-registry:7.9.2", {**REGISTRY, "SCHEMA_REGISTRY_HOST_NAME": "r"})
    console = service("example/console", {name: value})
    services = {"registry": registry, "connect": worker("connect"), "console": console}
    assert found(services) == ["error rest-url-unreachable console registry:8085"]
    assert cells(services) == [
        "console http://registry:8085 refused registry",
        "console http://connect:8083 ok connect",
    ]


JWKS = "KAFKA_LISTENER_NAME_LOGIN_OAUTHBEARER_SASL_OAUTHBEARER_JWKS_ENDPOINT_URL"
TOKENS = "KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL"
KEYCLOAK = service("quay.io/keycloak/keycloak:26.0", {}, command="start-dev", ports=["8090:8080"])


@pytest.mark.parametrize(
    ("name", "url", "expected"),
    [
        (JWKS, "http://keycloak:8080/realms/x/protocol/openid-connect/certs", []),
        (JWKS, "http://keycloak:8090/realms/x", ["error rest-url-unreachable tokens keycloak:8090"]),
        (TOKENS, "http://keycloak:8090/realms/x", ["error rest-url-unreachable tokens keycloak:8090"]),
        # The broker itself, by the port in the container and by the one on the docker host.
        (TOKENS, "http://localhost:8080/realms/x", ["error rest-url-unreachable tokens localhost:8080"]),
        (JWKS, "http://localhost:8090/realms/x", ["error rest-url-unreachable tokens localhost:8090"]),
        # That the registry listens on this port tells nothing of tokens.
        (TOKENS, "http://localhost:8081/realms/x", []),
        (TOKENS, "http://keycloack:8080", ["warning rest-url-unreachable tokens keycloack:8080"]),
        (TOKENS, "https://login.example.com/token", []),
        (TOKENS, "https://keycloak:8080/", ["error rest-url-unreachable tokens keycloak:8080"]),
        (JWKS, "file:///keys.json", []),
        # Of what a broker is told besides, nothing is for itself.
        ("KAFKA_SCHEMA_REGISTRY_URL", "http://keycloak:8090", []),
    ],
)
def test_brokers_use_urls_of_providers_of_tokens(name: str, url: str, expected: list[str]) -> None:
    registry = service("confluentinc/cp-schema-registry:7.9.2", {**REGISTRY, "SCHEMA_REGISTRY_HOST_NAME": "r"})
    assert found({"keycloak": KEYCLOAK, "registry": registry, "tokens": oauth(**{name: url})}) == expected


def test_a_brokers_file_tells_where_its_keys_come_from() -> None:
    properties = (
        "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@other:9093\n"
        "controller.listener.names=CONTROLLER\nlisteners=PLAINTEXT://:9092,CONTROLLER://:9093\n"
        "advertised.listeners=PLAINTEXT://other:9092\n"
        "listener.name.x.oauthbearer.sasl.oauthbearer.token.endpoint.url=http://keycloak:8090/token\n"
    )
    volumes = ["./server.properties:/mnt/shared/config/server.properties"]
    services = {"keycloak": KEYCLOAK, "other": service("apache/kafka:3.9.1", {}, volumes=volumes)}
    assert found(services, **{"server.properties": properties}) == ["error rest-url-unreachable other keycloak:8090"]


@pytest.mark.parametrize(
    ("client", "properties", "expected"),
    [
        (
            {"command": "kafka-topics --bootstrap-server kafka:9092 --list --command-config /conf/client.properties"},
            "# sasl.oauthbearer.token.endpoint.url=http://keycloak:1\n"
            "sasl.oauthbearer.token.endpoint.url = http://keycloak:8090/token\n",
            ["error rest-url-unreachable client keycloak:8090"],
        ),
        (
            {"environment": {"CONNECT_PRODUCER_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL": "http://keycloak:8090/token"}},
            "sasl.oauthbearer.token.endpoint.url=http://keycloak:8091/token\n",
            ["error rest-url-unreachable client keycloak:8090"],
        ),
        # A URL of another kind does not replace it.
        (
            {"environment": {"SCHEMA_REGISTRY_URL": "http://nobody.example.com"}},
            "schema.registry.url=http://keycloak:1\nsasl.oauthbearer.token.endpoint.url=http://keycloak:8091/token\n",
            ["error rest-url-unreachable client keycloak:8091"],
        ),
    ],
)
def test_clients_use_urls_of_providers_of_tokens(
    client: dict[str, object], properties: str, expected: list[str]
) -> None:
    volumes = ["./client.properties:/conf/client.properties"]
    services = {"keycloak": KEYCLOAK, "client": {"image": "example/app", "volumes": volumes, **client}}
    assert found(services, **{"client.properties": properties}) == expected


def test_workers_files_tell_where_tokens_come_from() -> None:
    started = service(
        "apache/kafka:4.0.0",
        {},
        command="connect-distributed.sh /conf/worker.properties",
        volumes=["./worker.properties:/conf/worker.properties"],
    )
    properties = "group.id=connect\nproducer.sasl.oauthbearer.token.endpoint.url=http://keycloak:8090/token\n"
    services = {"keycloak": KEYCLOAK, "connect": started}
    assert found(services, **{"worker.properties": properties}) == ["error rest-url-unreachable connect keycloak:8090"]


KAFKA_UI = """\
auth:
  type: OAUTH2
  oauth2:
    client:
      keycloak: {issuer-uri: "http://keycloak:1/realms/x"}
kafka:
  clusters:
    -
      name: one
      bootstrapServers: kafka:9092
      schemaRegistry: http://registry:8085  # not http://registry:2
      #schemaRegistry: http://registry:3
      kafkaConnect:
      - name: first
        address: http://connect:8083
      properties:
        sasl.oauthbearer.token.endpoint.url: "http://keycloak:8090/token"
server: {url: "http://registry:4"}
"""
REDPANDA_CONSOLE = """\
kafka:
  brokers: ["kafka:9092"]
  sasl: {oauth: {tokenEndpoint: "http://keycloak:8090/token"}}
schemaRegistry:
  enabled: true
  urls:
  - http://registry:8085
kafkaConnect:
  clusters:
    - {name: first, url: "http://connect:8083"}
login:
  oidc: {issuerUrl: "http://keycloak:1"}
"""
AKHQ_FILE = f"""\
micronaut: {{security: {{oauth2: {{clients: {{keycloak: {{openid: {{issuer: "http://keycloak:1"}}}}}}}}}}}}
{AKHQ}\
      ui-options: {{home: "http://registry:2"}}
      properties.two:
        sasl.oauthbearer.token.endpoint.url: http://keycloak:8090/token
"""


@pytest.mark.parametrize(
    ("file", "text", "registry"),
    [
        ("/etc/kafkaui/config.yml", KAFKA_UI, "schemaRegistry"),
        ("/etc/redpanda/console.yaml", REDPANDA_CONSOLE, "schemaRegistry.urls"),
        ("/app/application.yml", AKHQ_FILE, "schema-registry.url"),
    ],
)
def test_files_of_consoles(file: str, text: str, registry: str) -> None:
    known = service("confluentinc/cp-schema-registry:7.9.2", {**REGISTRY, "SCHEMA_REGISTRY_HOST_NAME": "r"})
    name = file.rpartition("/")[2]
    around = {"keycloak": KEYCLOAK, "registry": known, "connect": worker("connect")}
    expected = ["console http://registry:8085 refused registry", "console http://connect:8083 ok connect"]
    expected += ["console http://keycloak:8090 refused keycloak"]
    mounted = service("example/console", {}, volumes=[f"./{name}:{file}"])
    services = {**around, "console": mounted}
    assert sorted(cells(services, **{name: text})) == sorted(expected)
    assert f"{registry} in {name}" in settings(services, **{name: text})
    assert "error rest-url-unreachable console registry:8085" in found(services, **{name: text})
    # The same text as a variable.
    services = {**around, "console": service("example/console", {"CONSOLE_CONFIG_FILE": text})}
    assert sorted(cells(services)) == sorted(expected)
    assert f"{registry} in CONSOLE_CONFIG_FILE" in settings(services)


def test_a_variable_replaces_what_a_file_says() -> None:
    console = service(
        "example/console", {"SCHEMA_REGISTRY_URL": "http://one:1"}, volumes=["./config.yml:/c/config.yml"]
    )
    text = "schemaRegistry: http://two:2\n"
    assert cells({"console": console}, **{"config.yml": text}) == ["console http://one:1 unresolved "]


@pytest.mark.parametrize(
    "text",
    [
        "schemaRegistry:\n" + "".join(f"{' ' * depth}a:\n" for depth in range(1, 250)) + " " * 250 + "u: http://a:1\n",
        "connect: " + "{a: " * 5000 + "http://a:1\n",
        "schemaRegistry: [" + "http://a:1," * 5000 + "]\n",
        "- " * 20_000 + "connect: http://a:1\n",
        "schemaRegistry: http://a:99999\n",
        "schemaRegistry: http://\x1b[31ma:1\n",
    ],
)
def test_hostile_files_are_bounded(text: str) -> None:
    console = service("example/console", {}, volumes=["./config.yml:/c/config.yml"])
    started = time.process_time()
    assert len(cells({"console": console}, **{"config.yml": text})) <= 200
    assert time.process_time() - started < 2


REPLICAS = {"deploy": {"replicas": 3}}


@pytest.mark.parametrize(
    ("worker_keys", "host", "expected"),
    [
        (REPLICAS, "connect", ["error rest-advertised-shared connect connect"]),
        ({"scale": 2}, "connect", ["error rest-advertised-shared connect connect"]),
        ({"scale": 1}, "connect", []),
        ({}, "connect", []),
        # Nobody can tell what this is.
        (REPLICAS, "${HOST}", []),
        ({**REPLICAS, "command": "sh -c 'CONNECT_REST_ADVERTISED_HOST_NAME=$$(hostname -i) run'"}, "connect", []),
    ],
)
def test_replicas(worker_keys: dict[str, object], host: str, expected: list[str]) -> None:
    assert found({"connect": worker(host, keys=worker_keys)}) == expected


def test_replicas_of_others() -> None:
    registry = {**REGISTRY, "SCHEMA_REGISTRY_HOST_NAME": "registry"}
    ksql = {"KSQL_BOOTSTRAP_SERVERS": "kafka:9092", "KSQL_KSQL_ADVERTISED_LISTENER": "http://ksql:8088"}
    services = {
        "registry": service("confluentinc/cp-schema-registry:7.9.2", registry, **REPLICAS),
        "ksql": service("confluentinc/cp-ksqldb-server:7.9.2", ksql, **REPLICAS),
    }
    assert found(services) == [
        "error rest-advertised-shared registry registry",
        "error rest-advertised-shared ksql ksql",
    ]


def test_an_alias_of_two_workers() -> None:
    shared = {"networks": {"default": {"aliases": ["connect"]}}}
    services = {f"connect-{number}": worker("connect", keys=shared) for number in (1, 2)}
    assert found(services) == ["error rest-advertised-shared connect-1 connect"]


def cells(services: Mapping[str, object], **files: str) -> list[str]:
    """What every service gets at every URL."""
    return [f"{one.source} {one.url} {url_outcome(one, one.predicted)} {one.target}" for one in told(services, files)]


def settings(services: Mapping[str, object], **files: str) -> list[str]:
    """What tells every URL."""
    return [one.setting for one in told(services, files)]


def told(services: Mapping[str, object], files: Mapping[str, str]) -> tuple[UrlCell, ...]:
    kafka = service("confluentinc/cp-kafka:7.9.2", KAFKA)
    text = json.dumps({"name": "t", "services": {"kafka": kafka, **services}, "x-files": files})
    return url_cells(deployment_of(text))


def test_cells() -> None:
    registry = service("confluentinc/cp-schema-registry:7.9.2", {**REGISTRY, "SCHEMA_REGISTRY_HOST_NAME": "r"})
    urls = {
        "KAFKA_CLUSTERS_0_SCHEMAREGISTRY": "http://me:secret@registry:8081",
        "KAFKA_CLUSTERS_0_KAFKACONNECT_0_ADDRESS": "http://connect-1:8084",
        "KAFKA_CLUSTERS_0_KSQLDBSERVER": "http://ksql:8088",
        "SCHEMA_REGISTRY_URL": "http://localhost:8081",
        "KAFKA_CLUSTERS_1_SCHEMAREGISTRY": "http://host.docker.internal:8081",
        "CONNECT_URL": "http://web:8083",
        "KSQL_URL": "https://ksql.example.com",
    }
    services = {
        "registry": {**registry, "ports": ["8085:8081"]},
        "connect-1": worker("connect-1", CONNECT_VALUE_CONVERTER_SCHEMA_REGISTRY_URL="http://registry:8081"),
        "connect-2": worker("connect-1"),
        "web": service("nginx", {}),
        "console": service("ghcr.io/kafbat/kafka-ui", urls, extra_hosts=["host.docker.internal:host-gateway"]),
    }
    assert cells(services) == [
        "connect-1 http://registry:8081 ok registry",
        "console http://registry:8081 ok registry",
        "console http://connect-1:8084 refused connect-1",
        "console http://ksql:8088 unresolved ",
        "console http://localhost:8081 refused registry",
        # Nothing here publishes it, but the docker host may have it.
        "console http://host.docker.internal:8081 unknown ",
        "console http://web:8083 unknown ",
        "console https://ksql.example.com:443 unknown ",
        "connect-2 http://connect-1:8083 ok connect-1",
        "connect-1 http://connect-1:8083 wrong-service connect-2",
    ]


def test_a_service_beyond_the_first_fifty_is_no_broker() -> None:
    image = "confluentinc/cp-schema-registry:7.9.2"
    many = {
        f"r{n}": service(image, {**REGISTRY, "SCHEMA_REGISTRY_SCHEMA_REGISTRY_GROUP_ID": f"g{n}"}) for n in range(60)
    }
    console = service("example/console", {"SCHEMA_REGISTRY_URL": "http://r59:8081"})
    assert cells({**many, "console": console}) == ["console http://r59:8081 ok r59"]


def test_cells_of_replicas() -> None:
    services = {"connect": worker("connect", keys=REPLICAS), "other": worker("other")}
    assert cells(services) == [
        "other http://connect:8083 unknown connect",
        "connect http://connect:8083 unknown connect",
        "connect http://other:8083 ok other",
    ]
