"""Which settings make a service a Kafka client: bootstrap lists in variables, commands and health checks."""

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.deployment.model.deployment import KafkaClient
from netdiag.deployment.sources.client_settings import (
    MOST,
    bootstrap_list_at,
    bootstraps_in_command,
    bootstraps_in_variables,
    is_bootstrap_variable,
    parse_bootstrap_list,
)
from netdiag.deployment.sources.compose import from_compose
from netdiag.findings import FileLocation
from tests.deployment.stacks import deployment_of
from tests.each import each


@each(
    ("text", "expected"),
    [
        ("kafka:9092", ["kafka:9092"]),
        (" a:1, b:2 ,c:3", ["a:1", "b:2", "c:3"]),
        ("a:1,", ["a:1"]),
        ("a:1\n", ["a:1"]),
        ("PLAINTEXT://kafka:29092,SASL_SSL://k:1", ["PLAINTEXT://kafka:29092", "SASL_SSL://k:1"]),
        ("kafka+ssl://k:9096", ["kafka+ssl://k:9096"]),
        ("my_broker.internal-1:9092", ["my_broker.internal-1:9092"]),
        ("10.0.0.7:9092", ["10.0.0.7:9092"]),
        ("[::1]:9092", ["[::1]:9092"]),
        ("[fd00::1]:9092,[fd00::2]:9092", ["[fd00::1]:9092", "[fd00::2]:9092"]),
        ('["a:1", "b:2"]', ["a:1", "b:2"]),
        ("'a:1','b:2'", ["a:1", "b:2"]),
        ("a:1,\n  b:2", ["a:1", "b:2"]),
        ("kafka", []),
        ("", []),
        ("kafka:0", []),
        ("kafka:65536", []),
        ("kafka:99999999999999", []),
        ("a:1,kafka", []),
        ("a:1 b:2", []),
        ("kafka:9092/path", []),
        ("kafka:9092:1", []),
        ("user:1@host:2", []),
        ("http://connect:8083", []),
        ("amqp://rabbit:5672", []),
        ("${X}:9092", []),
        ("<broker>:9092", []),
        ("-a:1", []),
    ],
)
def test_a_list_and_the_place_of_each_address(text: str, expected: list[str]) -> None:
    assert [text[a.start : a.end] for a in parse_bootstrap_list(text)] == expected


def test_an_address_is_taken_apart() -> None:
    first, second = parse_bootstrap_list("INSIDE://kafka:29092, [::1]:9092")
    assert (first.scheme, first.host, first.port) == ("INSIDE", "kafka", 29092)
    assert (second.scheme, second.host, second.port) == ("", "::1", 9092)


def test_a_list_inside_a_text_ends_where_its_last_address_does() -> None:
    text = "x a:1,b:2 and more"
    addresses, end = bootstrap_list_at(text, 2)
    assert ([a.host for a in addresses], text[end:]) == (["a", "b"], " and more")


@pytest.mark.parametrize(
    "text", ["a:1," * 100_000, "a." * 100_000, "[" * 100_000, " " * 200_000 + "x", "a:1" + "\n" * 99_999]
)
def test_a_long_text_is_read_in_linear_time(text: str) -> None:
    assert len(parse_bootstrap_list(text)) <= MOST


Row = tuple[str, str, str, bool]


def rows(words: list[str], image: str = "") -> list[Row]:
    return [
        (given.option, words[given.word][a.start : a.end], given.tool, given.waits)
        for given in bootstraps_in_command(words, image=image)
        for a in given.addresses
    ]


@each(
    ("words", "expected"),
    [
        (["kafka-topics --list --bootstrap-server a:1"], [("--bootstrap-server", "a:1", "kafka-topics", False)]),
        (
            ["kafka-topics.sh", "--bootstrap-server", "a:1,b:2", "--list"],
            [
                ("--bootstrap-server", "a:1", "kafka-topics", False),
                ("--bootstrap-server", "b:2", "kafka-topics", False),
            ],
        ),
        (["kafka-topics --bootstrap-server=a:1"], [("--bootstrap-server", "a:1", "kafka-topics", False)]),
        (["sh", "-c", 'x --bootstrap-server "a:1" y'], [("--bootstrap-server", "a:1", "", False)]),
        (["kafka-topics --bootstrap-server \\\n  a:1"], [("--bootstrap-server", "a:1", "kafka-topics", False)]),
        (["kafka-console-producer --broker-list a:1"], [("--broker-list", "a:1", "kafka-console-producer", False)]),
        (["rpk topic list --brokers a:1"], [("--brokers", "a:1", "rpk", False)]),
        (["rpk topic list -X brokers=a:1"], [("brokers", "a:1", "rpk", False)]),
        (
            ["--kafka.server=a:1", "--kafka.server=b:2"],
            [("--kafka.server", "a:1", "", False), ("--kafka.server", "b:2", "", False)],
        ),
        (["java -Dspring.kafka.bootstrap-servers=a:1"], [("-Dspring.kafka.bootstrap-servers", "a:1", "", False)]),
        (["app", "--spring.kafka.bootstrap-servers=a:1"], [("--spring.kafka.bootstrap-servers", "a:1", "", False)]),
        (["ksql-datagen bootstrap-server=a:1 x=y"], [("bootstrap-server", "a:1", "ksql-datagen", False)]),
        (["kcat -b a:1 -L"], [("-b", "a:1", "kcat", False)]),
        (["kafkacat", "-L", "-b", "a:1"], [("-b", "a:1", "kafkacat", False)]),
        (["cub kafka-ready -b a:1 1 60 && x"], [("-b", "a:1", "kafka-ready", False)]),
        (["nc -z a 1"], [("wait", "a 1", "", True)]),
        (["nc", "-z", "-w", "2", "a", "1"], [("wait", "a\x001", "", True)]),
        (["until </dev/tcp/a/1; do sleep 1; done"], [("wait", "a/1", "", True)]),
        (["./wait-for-it.sh a:1 -- app"], [("wait", "a:1", "", True)]),
        (["dockerize -wait tcp://a:1 -timeout 5s app"], [("wait", "tcp://a:1", "", True)]),
        (["kafka-topics --bootstrap-controller a:1"], []),
        (["kafka-topics --bootstrap-server $$KAFKA"], []),
        (["# kafka-topics --bootstrap-server a:1\nx"], []),
        (["ls -b a:1"], []),
        (["kcat -L ; ls -b a:1"], []),
        (['curl -d \'{"kafka.bootstrap.servers": "a:1"}\' http://connect:8083/'], []),
        (["redpanda start --kafka-addr PLAINTEXT://0.0.0.0:29092 --rpc-addr a:33145"], []),
        ([], []),
    ],
)
def test_what_a_command_gives(words: list[str], expected: list[Row]) -> None:
    if len(words) > 3 and expected and "\0" in expected[0][1]:
        (given,) = bootstraps_in_command(words)
        assert [(given.word, a.host, a.port) for a in given.addresses] == [(4, "a", 1)]
    else:
        assert rows(words) == expected


def test_the_image_is_the_tool() -> None:
    assert rows(["-b", "a:1", "-L"], "edenhill/kcat:1.7.1") == [("-b", "a:1", "", False)]
    assert rows(["-b a:1 -L"], "edenhill/kcat:1.7.1") == [("-b", "a:1", "", False)]
    assert rows(["-b", "a:1", "-L"], "example/app") == []


def test_an_address_counts_once_in_a_script() -> None:
    script = "kafka-topics --bootstrap-server a:1 --create\nkafka-topics --bootstrap-server a:1 --list\nnc -z a 1"
    assert [(address, waits) for _, address, _, waits in rows([script])] == [("a:1", False), ("a 1", True)]


def test_what_else_a_command_says() -> None:
    (plain,) = bootstraps_in_command(["kafka-topics --list --bootstrap-server a:1"])
    (filed,) = bootstraps_in_command(["kafka-topics --bootstrap-server a:1 --command-config /tmp/c --list; x"])
    (said,) = bootstraps_in_command(["kcat -b a:1 -X security.protocol=sasl_ssl -L"])
    assert [(g.protocol, g.configured) for g in (plain, filed, said)] == [
        (None, False),
        (None, True),
        ("SASL_SSL", False),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "-" * 200_000,
        "--bootstrap-server " * 20_000,
        "kcat " * 30_000,
        "nc -z " * 30_000,
        "--" + "a" * 200_000,
        "\0" * 100_000,
    ],
)
def test_a_long_command_is_read_in_linear_time(text: str) -> None:
    assert bootstraps_in_command([text]) == ()


@each(
    "name",
    [
        "CONNECT_BOOTSTRAP_SERVERS",
        "KSQL_BOOTSTRAP_SERVERS",
        "SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS",
        "CONTROL_CENTER_KAFKA_DC1_BOOTSTRAP_SERVERS",
        "KAFKA_REST_BOOTSTRAP_SERVERS",
        "CDK_CLUSTERS_0_BOOTSTRAPSERVERS",
        "KAFKA_CLUSTERS_0_BOOTSTRAPSERVERS",
        "SPRING_KAFKA_BOOTSTRAP_SERVERS",
        "SPRING_KAFKA_PRODUCER_BOOTSTRAP-SERVERS",
        "SPRING_CLOUD_STREAM_KAFKA_BINDER_BROKERS",
        "MP_MESSAGING_CONNECTOR_SMALLRYE_KAFKA_BOOTSTRAP_SERVERS",
        "kafka.bootstrap.servers",
        "BOOTSTRAP.SERVERS",
        "Kafka__BootstrapServers",
        "KAFKA_BROKERS",
        "KAFKA_BROKER",
        "KAFKA_BROKER_LIST",
        "KAFKA_BROKERS_LIST",
        "KAFKA_BROKER_URL",
        "KAFKA_BROKERCONNECT",
        "KAFKA_URL",
        "KAFKA_ADDR",
        "KAFKA_SERVERS",
        "KSQL_LOG4J_PROCESSING_LOG_BROKERLIST",
        "SHOP_KAFKA_BROKERS",
        "DEFAULT_BROKERS",
        "bootstrap_servers",
    ],
)
def test_client_variables(name: str) -> None:
    assert is_bootstrap_variable(name)


@pytest.mark.parametrize(
    "name",
    [
        "KAFKA_CONTROLLER_QUORUM_BOOTSTRAP_SERVERS",
        "KAFKA_BROKER_ID",
        "KAFKA_BROKER_RACK",
        "KAFKA_ADVERTISED_HOST",
        "KAFKA_ADVERTISED_LISTENERS",
        "KAFKA_ZOOKEEPER_CONNECT",
        "KAFKA_REST_URL",
        "KAFKA_CONNECT_URL",
        "DATABASE_URL",
        "KAFKA_LISTENERS",
        "CELERY_RESULT_BACKEND",
    ],
)
def test_other_variables(name: str) -> None:
    assert not is_bootstrap_variable(name)


AKHQ = """\
akhq:
  connections:
    # bootstrap.servers: "old:9092"
    docker:
      properties:
        bootstrap.servers: "a:1,b:2"
        security.protocol: SASL_SSL
"""


@pytest.mark.parametrize(
    ("name", "value", "setting", "addresses"),
    [
        ("KAFKA_BROKERS", "a:1,b:2", "KAFKA_BROKERS", ["a:1", "b:2"]),
        ("AKHQ_CONFIGURATION", AKHQ, "bootstrap.servers in AKHQ_CONFIGURATION", ["a:1", "b:2"]),
        ("CONF", "{bootstrapServers: a:1}", "bootstrapServers in CONF", ["a:1"]),
        ("CONF", '{"spring.kafka.bootstrap-servers":"a:1"}', "spring.kafka.bootstrap-servers in CONF", ["a:1"]),
        ("CONF", r"{\"bootstrap.servers\":\"a:1\"}", "bootstrap.servers in CONF", ["a:1"]),
        ("CONF", "bootstrap.servers=a:1, b:2\nx=y", "bootstrap.servers in CONF", ["a:1", "b:2"]),
        ("CONF", "bootstrap_servers:\n  - a:1\n  - b:2\nx: 1", "bootstrap_servers in CONF", ["a:1", "b:2"]),
        ("CONF", 'kafka:\n  brokers: ["a:1", "b:2"]', "brokers in CONF", ["a:1", "b:2"]),
        ("CONF", "kafka:\n  brokers:\n    - a:1", "brokers in CONF", ["a:1"]),
        ("JAVA_OPTS", "-Xmx1g -Dkafka.bootstrap.servers=a:1 -Dx=y", "-Dkafka.bootstrap.servers in JAVA_OPTS", ["a:1"]),
        ("KAFKA_CLUSTER_MAIN", "a:1", "KAFKA_CLUSTER_MAIN", ["a:1"]),
        ("WAIT_HOSTS", "a:1, b:2", "WAIT_HOSTS", ["a:1", "b:2"]),
        ("SERVICE_PRECONDITION", "a:1", "SERVICE_PRECONDITION", ["a:1"]),
        ("KAFKA_REST_URL", "http://rest:8082", "", []),
        ("UPSTREAM", "a:1", "", []),
        ("KAFKA_LISTENERS", "PLAINTEXT://a:1", "", []),
        ("KAFKA_BROKERS", "${X}:1", "", []),
        ("CONF", "bootstrap.servers: ${X}", "", []),
        ("CONF", "brokers: 3", "", []),
    ],
)
def test_what_a_variable_tells(name: str, value: str, setting: str, addresses: list[str]) -> None:
    found = list(bootstraps_in_variables({name: value}))
    assert [(told.setting, [value[a.start : a.end] for a in told.addresses]) for told in found] == (
        [(setting, addresses)] if addresses else []
    )


@pytest.mark.parametrize(
    ("name", "certain", "waits"),
    [
        ("KAFKA_BROKERS", True, False),
        ("TASKS_KAFKA_CLUSTERS__DEFAULT__ADDRESS", False, False),
        ("WAIT_HOSTS", False, True),
        ("KAFKA_WAIT_FOR", False, True),
    ],
)
def test_how_sure_a_name_is(name: str, certain: bool, waits: bool) -> None:
    (told,) = bootstraps_in_variables({name: "kafka:9092"})
    assert (told.certain, told.waits) == (certain, waits)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"KAFKA_HOST": "kafka", "KAFKA_PORT": "9092"}, [("KAFKA_HOST and KAFKA_PORT", "kafka", 9092)]),
        ({"kafka_host": "kafka", "kafka_port": "9092"}, [("kafka_host and kafka_port", "kafka", 9092)]),
        ({"KAFKA_HOST": "kafka"}, []),
        ({"KAFKA_HOST": "kafka", "KAFKA_PORT": "any"}, []),
        ({"KAFKA_HOST": "kafka:9092", "KAFKA_PORT": "1"}, [("KAFKA_HOST", "kafka", 9092)]),
        ({"DB_HOST": "db", "DB_PORT": "5432"}, []),
    ],
)
def test_host_and_port_told_apart(variables: dict[str, str], expected: list[tuple[str, str, int]]) -> None:
    found = [(t.setting, a.host, a.port) for t in bootstraps_in_variables(variables) for a in t.addresses]
    assert found == expected


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"CONNECT_BOOTSTRAP_SERVERS": "a:1", "CONNECT_SECURITY_PROTOCOL": "SASL_SSL"}, "SASL_SSL"),
        ({"CONNECT_BOOTSTRAP_SERVERS": "a:1", "CONNECT_PRODUCER_SECURITY_PROTOCOL": "SASL_SSL"}, None),
        ({"KAFKA_CLUSTERS_0_BOOTSTRAPSERVERS": "a:1", "KAFKA_CLUSTERS_0_PROPERTIES_SECURITY_PROTOCOL": "SSL"}, "SSL"),
        ({"SPRING_KAFKA_BOOTSTRAP_SERVERS": "a:1", "SPRING_KAFKA_PROPERTIES_SECURITY_PROTOCOL": "ssl"}, "SSL"),
        ({"KAFKA_REST_BOOTSTRAP_SERVERS": "a:1", "KAFKA_REST_CLIENT_SECURITY_PROTOCOL": "SSL"}, "SSL"),
        ({"KAFKA_BROKERS": "a:1", "KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT"}, "SASL_PLAINTEXT"),
        ({"KAFKA_BROKERS": "a:1", "KAFKA_SECURITY_PROTOCOL": "TLS"}, None),
        ({"KAFKA_BROKERS": "a:1"}, None),
        ({"CONF": "bootstrap.servers=a:1\nsecurity.protocol=SASL_SSL"}, "SASL_SSL"),
        ({"CONF": "a.bootstrap.servers=a:1\nb.bootstrap.servers=a:2\nsecurity.protocol=SSL"}, None),
    ],
)
def test_the_protocol_declared_beside_a_list(variables: dict[str, str], expected: str | None) -> None:
    assert {told.protocol for told in bootstraps_in_variables(variables)} == {expected}


@pytest.mark.parametrize(
    "value", ["bootstrap" * 30_000, "a" * 300_000, "brokers:" * 30_000, "bootstrap.servers:" + " " * 200_000]
)
def test_a_long_value_is_read_in_linear_time(value: str) -> None:
    assert list(bootstraps_in_variables({"CONF": value})) == []


TEXT = """\
name: t
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    healthcheck: {{test: "{check}"}}
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      KAFKA_METRIC_REPORTERS: {reporters}
      CONFLUENT_METRICS_REPORTER_BOOTSTRAP_SERVERS: kafka:9092
  app:
    image: {image}
    {body}
"""


def shown(body: str, *, image: str = "shop/app", check: str = "exit 0", reporters: str = "none") -> list[str]:
    text = TEXT.format(body=body, image=image, check=check, reporters=reporters)
    deployment = deployment_of(text)
    kinds = (deployment.clients, deployment.waiting, deployment.health_checks)
    return [
        f"{letter} {d.member.name} {d.setting} {written(text, d, i)}"
        for letter, found in zip("cwh", kinds, strict=True)
        for d in found
        for i in range(len(d.bootstraps))
    ]


def written(text: str, dependent: KafkaClient, index: int) -> str:
    """The bytes of the file at the place of an address."""
    address = dependent.bootstraps[index]
    where = dependent.declared.at(address.start, address.end)
    assert isinstance(where, FileLocation)
    return text.encode()[where.start : where.end].decode()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("environment: {KAFKA_BROKERS: 'a:1, b:1'}", ["c app KAFKA_BROKERS a:1", "c app KAFKA_BROKERS b:1"]),
        ("environment: [KAFKA_BROKERS=kafka:9092]", ["c app KAFKA_BROKERS kafka:9092"]),
        ("command: kafka-topics --list --bootstrap-server kafka:1", ["c app --bootstrap-server in command kafka:1"]),
        ("command: [kcat, -b, 'kafka:1']", ["c app -b in command kafka:1"]),
        ("entrypoint: [sh, -c, 'kcat -b kafka:1']", ["c app -b in entrypoint kafka:1"]),
        ("healthcheck: {test: kcat -b kafka:1 -L}", ["c app -b in healthcheck kafka:1"]),
        ("healthcheck: {test: kcat -b localhost:1 -L}", []),
        ("healthcheck: {test: kcat -b app:1 -L}", []),
        ("healthcheck: {disable: true, test: kcat -b kafka:1 -L}", []),
        ("command: ./wait-for-it.sh kafka:1 -- app", ["w app wait in command kafka:1"]),
        ("environment: {WAIT_HOSTS: 'kafka:1'}", ["w app WAIT_HOSTS kafka:1"]),
        ("command: sleep 1d\n    environment: {KAFKA_BROKERS: 'kafka:1'}", []),
    ],
)
def test_what_a_service_shows(body: str, expected: list[str]) -> None:
    assert shown(body) == expected


def test_a_broker_checks_itself() -> None:
    check = "kafka-topics --list --bootstrap-server localhost:9092 && nc -z kafka 9092"
    assert shown("init: true", check=check) == [
        "h kafka --bootstrap-server in healthcheck localhost:9092",
        "h kafka wait in healthcheck kafka 9092",
    ]


def test_a_broker_that_reports_its_metrics_is_a_client() -> None:
    reporters = "io.confluent.metrics.reporter.ConfluentMetricsReporter"
    name = "CONFLUENT_METRICS_REPORTER_BOOTSTRAP_SERVERS"
    assert shown("init: true", reporters=reporters) == [f"c kafka {name} kafka:9092"]
    assert shown("init: true") == []


def test_a_job_in_a_brokers_image_is_a_client() -> None:
    body = "command: kafka-topics --create --topic t --bootstrap-server kafka:9092"
    assert shown(body, image="confluentinc/cp-kafka:7.9.2") == ["c app --bootstrap-server in command kafka:9092"]


FILES = {
    "output.kafka": ("connect.yaml", "output:\n  kafka:\n    addresses: [ 'redpanda:9092' ]\n    topic: t\n"),
    "seed_brokers": ("franz.yaml", "input:\n  kafka_franz:\n    seed_brokers:\n      - a:1\n      - b:2\n"),
    "console": ("console.yaml", 'kafka:\n  brokers: ["redpanda:9092"]\n  schemaRegistry: {urls: ["http://r:8081"]}\n'),
    "Connect": ("worker.properties", "# bootstrap.servers=old:1\nbootstrap.servers=kafka:29092\n"),
    "Kafka UI": ("dynamic.yaml", "kafka:\n  clusters:\n    - name: local\n      bootstrapServers: kafka:29092\n"),
    "AKHQ": ("application.yml", 'akhq: {connections: {local: {properties: {bootstrap.servers: "kafka:9092"}}}}\n'),
    "lag exporter": ("application.conf", 'clusters = [{ bootstrap-brokers = "kafka:9092" }]\n'),
    "Logstash": ("pipeline.conf", 'input { kafka { bootstrap_servers => "kafka:9092" } }\n'),
    "Beats": ("filebeat.yml", 'output.kafka:\n  hosts: ["kafka:9092"]\noutput.elasticsearch:\n  hosts: ["es:9200"]\n'),
    "Telegraf": ("telegraf.conf", '[[outputs.kafka]]\n  brokers = ["kafka:9092"]\n'),
    "Burrow": ("burrow.toml", '[cluster.local]\nclass-name="kafka"\nservers=[ "kafka:9092" ]\n'),
    "nothing": ("prometheus.yml", "scrape_configs: [{static_configs: [{targets: ['kafka:9404']}]}]\n"),
}


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("output.kafka", "redpanda:9092"),
        ("seed_brokers", "a:1 b:2"),
        ("console", "redpanda:9092"),
        ("Connect", "kafka:29092"),
        ("Kafka UI", "kafka:29092"),
        ("AKHQ", "kafka:9092"),
        ("lag exporter", "kafka:9092"),
        ("Logstash", "kafka:9092"),
        ("Beats", "kafka:9092"),
        ("Telegraf", "kafka:9092"),
        ("Burrow", "kafka:9092"),
        ("nothing", ""),
    ],
)
@pytest.mark.parametrize(
    "service",
    [
        "{image: app, volumes: ['./FILE:/etc/app/FILE:ro']}",
        "{image: app, command: 'run -c /etc/app/FILE', volumes: ['.:/etc/app']}",
        "{image: app, environment: {CONFIG_FILEPATH: /etc/app/FILE}, volumes: ['.:/etc/app']}",
        "{image: app, configs: [{source: own, target: /etc/app/FILE}]}",
    ],
)
def test_a_file_that_a_service_mounts_has_its_list(program: str, expected: str, service: str) -> None:
    name, text = FILES[program]
    stack = f"services: {{app: {service.replace('FILE', name)}}}\nconfigs: {{own: {{file: ./{name}}}}}\n"
    made = from_compose(load(Source("c.yml", stack)), read=lambda path: text.encode() if path.endswith(name) else None)
    assert " ".join(f"{a.host}:{a.port}" for c in made.clients for a in c.bootstraps) == expected
    for client in made.clients:
        first = client.bootstraps[0]
        place = client.declared.at(first.start, first.end)
        assert isinstance(place, FileLocation)
        assert place.path.endswith(name)
        assert text.encode()[place.start : place.end].decode() == expected.split()[0]
        assert client.setting.endswith(f" in {name}")


def test_a_variable_wins_over_a_file() -> None:
    text = "services: {app: {image: app, environment: {KAFKA_BROKERS: 'kafka:9092'}, volumes: ['./a.yml:/a/a.yml']}}\n"
    made = from_compose(load(Source("c.yml", text)), read=lambda path: b"brokers: [other:1]")
    assert [c.setting for c in made.clients] == ["KAFKA_BROKERS"]


def test_a_command_sets_the_addresses_of_redpanda_connect() -> None:
    (given,) = bootstraps_in_command(["run", "--set", "output.kafka.addresses=redpanda:9092", "/pipeline.yaml"])
    assert [(a.host, a.port) for a in given.addresses] == [("redpanda", 9092)]
