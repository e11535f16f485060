"""Files as people publish them: what is said once, which fix fits, and what only looks like a broker."""

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.sources.compose import from_compose
from netdiag.findings import FileLocation, Finding, Severity
from netdiag.rules.compose import check_project
from netdiag.rules.declared import check_deployment
from tests.deployment.stacks import deployment_of, project_of

ZOO = "  zoo:\n    image: zookeeper:3.9\n"


def findings_of(services: str, rule: str) -> list[Finding]:
    found = check_deployment(deployment_of(f"name: t\nservices:\n{services}"))
    return [finding for finding in found if finding.rule == rule]


def deployment_from(files: dict[str, str]) -> Deployment:
    read = {name: text.encode() for name, text in files.items()}.get
    project = load(Source("compose.yaml", files["compose.yaml"]), dotenv=None, environ={}, read=read)
    return from_compose(project, read=read)


def kafka(environment: dict[str, str], *, image: str = "confluentinc/cp-kafka:7.9.2", more: str = "") -> str:
    lines = "".join(f"      {name}: '{value}'\n" for name, value in environment.items())
    return (
        f"{ZOO}  kafka:\n    image: {image}\n{more}    environment:\n      KAFKA_ZOOKEEPER_CONNECT: zoo:2181\n{lines}"
    )


def two(first: str, second: str, protocols: str) -> dict[str, str]:
    """Two listeners, the first between brokers."""
    return {
        "KAFKA_LISTENERS": "IN://:29092,EXTERNAL://:9092",
        "KAFKA_ADVERTISED_LISTENERS": f"IN://{first},EXTERNAL://{second}",
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": protocols,
        "KAFKA_INTER_BROKER_LISTENER_NAME": "IN",
    }


PLAIN = "IN:PLAINTEXT,EXTERNAL:PLAINTEXT"
PORTS = "    ports: ['9092:9092']\n"
INTERNAL_NAME = "advertised-internal-name-for-host"


def test_of_two_listeners_with_a_containers_name_one_advertises_localhost() -> None:
    (found,) = findings_of(kafka(two("kafka:29092", "kafka:9092", PLAIN), more=PORTS), INTERNAL_NAME)
    assert found.hint == "advertise EXTERNAL://localhost:9092, and let containers use kafka:29092 of IN"


def test_a_listener_of_another_protocol_does_not_replace_one() -> None:
    text = kafka(two("kafka:29092", "kafka:9092", "IN:PLAINTEXT,EXTERNAL:SASL_PLAINTEXT"), more=PORTS)
    (found,) = findings_of(text, INTERNAL_NAME)
    # EXTERNAL is taken.
    assert "add a listener for the docker host, HOST://localhost:PORT" in (found.hint or "")


def test_a_listener_with_other_logins_does_not_replace_one() -> None:
    named = two("kafka:29092", "kafka:9092", "IN:SASL_PLAINTEXT,EXTERNAL:SASL_PLAINTEXT")
    own = {"KAFKA_LISTENER_NAME_EXTERNAL_SASL_ENABLED_MECHANISMS": "OAUTHBEARER"}
    hints = [findings_of(kafka({**named, **more}, more=PORTS), INTERNAL_NAME)[0].hint or "" for more in ({}, own)]
    assert hints[0].startswith("advertise EXTERNAL://localhost:9092, and let containers use kafka:29092")
    assert hints[1].startswith("add a listener for the docker host")


def test_a_port_that_leads_to_the_wrong_listener_is_told_once() -> None:
    text = kafka(two("kafka:29092", "localhost:9092", PLAIN), more="    ports: ['9092:29092']\n")
    assert not findings_of(text, INTERNAL_NAME)
    assert len(findings_of(text, "published-port-wrong-listener")) == 1


def test_a_wildcard_that_is_advertised_is_no_name_to_resolve() -> None:
    redpanda = (
        "  redpanda:\n    image: redpandadata/redpanda:v21.9.5\n    ports: ['9094:9094', '29092:29092']\n"
        "    command: redpanda start --kafka-addr IN://0.0.0.0:29092,OUT://0.0.0.0:9094"
        " --advertise-kafka-addr IN://redpanda:29092,OUT://0.0.0.0:9094\n"
    )
    (found,) = findings_of(redpanda, INTERNAL_NAME)
    assert found.hint == "stop publishing the port of IN: clients outside use listener OUT"
    (wildcard,) = findings_of(redpanda, "advertised-wildcard")
    assert wildcard.hint == (
        "advertise a name that clients resolve, for example OUT://localhost:9094 for the docker host"
    )


def test_a_loopback_that_nobody_publishes_says_nothing_of_a_published_port() -> None:
    whys = [
        found.why
        for more in ("", PORTS)
        for found in findings_of(
            kafka({"KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://localhost:9092"}, more=more),
            "advertised-loopback-for-remote-clients",
        )
    ]
    assert ["published port" in (why or "") for why in whys] == [False, True]


def test_a_broker_prints_the_first_entry_that_it_cannot_parse() -> None:
    found = findings_of(kafka(two("<host>:29092", "<host>:9092", PLAIN)), "advertised-placeholder")
    assert [one.severity for one in found] == [Severity.ERROR, Severity.ERROR]
    assert [one.broker_prints for one in found] == ["Unable to parse IN://<host>:29092 to a broker endpoint", None]


@pytest.mark.parametrize(
    ("more", "hints"),
    [
        ("", ["name only one of them, or set ZOO_SERVERS in each"]),
        ("    volumes: ['./zoo.cfg:/conf/zoo.cfg']\n", []),
        ("    environment: {ZOO_SERVERS: 'server.1=a:2888:3888'}\n", []),
    ],
)
def test_zookeepers_may_know_one_another_by_a_file(more: str, hints: list[str]) -> None:
    services = "".join(f"  {name}:\n    image: zookeeper:3.9\n{more}" for name in ("a", "b", "c"))
    broker = (
        "  kafka:\n    image: confluentinc/cp-kafka:7.9.2\n    environment:\n"
        "      KAFKA_ZOOKEEPER_CONNECT: a:2181,b:2181,c:2181\n"
        "      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092\n"
    )
    found = findings_of(services + broker, "zookeeper-connect-broken")
    assert [one.hint for one in found] == hints
    assert all("uses a, b and c as one ensemble" in one.message for one in found)


def test_a_prefix_belongs_into_the_bootstrap_servers_of_schema_registry() -> None:
    registry = (
        "  registry:\n    image: example/registry:1\n"
        "    volumes: ['./schema-registry.properties:/etc/schema-registry/schema-registry.properties']\n"
    )
    files = {
        "compose.yaml": f"name: t\nservices:\n{kafka(two('kafka:29092', 'localhost:9092', PLAIN))}{registry}",
        "schema-registry.properties": "kafkastore.bootstrap.servers=PLAINTEXT://kafka:29092\n",
    }
    deployment = deployment_from(files)
    assert [client.member.name for client in deployment.clients] == ["registry"]
    assert not [f for f in check_deployment(deployment) if f.rule == "dependent-bootstrap-scheme"]


def test_a_variable_that_is_required_needs_a_value_and_no_dollar_sign() -> None:
    text = "services:\n  a:\n    image: ${IMAGE:?which}\n    command: ${\n"
    hints = [f.hint for f in check_project(project_of(text)) if f.rule == "compose-interpolation"]
    assert hints == ["set the variable in .env or in the shell", "write $$ for a literal dollar sign"]


def test_services_that_load_the_variables_of_a_broker_are_its_clients() -> None:
    files = {
        "compose.yaml": "name: t\nservices:\n"
        "  kafka:\n    image: wurstmeister/kafka:2.13-2.8.1\n    env_file: kafka.env\n    ports: ['9092:9092']\n"
        "  app:\n    image: example/app\n    env_file: kafka.env\n    ports: ['80:80']\n    entrypoint: /app\n"
        "  job:\n    image: example/job\n    env_file: kafka.env\n",
        "kafka.env": "KAFKA_LISTENERS=IN://:9092\nKAFKA_ADVERTISED_LISTENERS=IN://kafka:9092\n"
        "KAFKA_ZOOKEEPER_CONNECT=zoo:2181\n",
    }
    assert [broker.name for broker in deployment_from(files).brokers] == ["kafka"]
    alone = {**files, "compose.yaml": files["compose.yaml"].replace("wurstmeister/kafka:2.13-2.8.1", "example/kafka")}
    assert [broker.name for broker in deployment_from(alone).brokers] == ["kafka", "app", "job"]


PROPERTIES = "broker.id=1\nzookeeper.connect=zoo:2181\nlisteners=A://:9092,B://:9093\nadvertised.listeners=A://kafka:9092,B://localhost:9093\n"
MAPPED = "listener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT\ninter.broker.listener.name=A\n"


@pytest.mark.parametrize(
    "mount",
    [
        "./kafka.properties:/opt/kafka/config/server.properties",
        "./kafka.properties:/kafka/config/kraft/server.properties:ro",
        "./config:/opt/kafka/config",
    ],
)
def test_a_mounted_properties_file_tells_a_broker_of_an_unknown_image(mount: str) -> None:
    files = {
        "compose.yaml": f"name: t\nservices:\n  kafka:\n    image: example/box:1\n    volumes: ['{mount}']\n"
        "    ports: ['9092:9092']\n",
        "kafka.properties": PROPERTIES + MAPPED,
        "config/server.properties": PROPERTIES + MAPPED,
    }
    deployment = deployment_from(files)
    (broker,) = deployment.brokers
    assert str(broker.config.advertised_listeners[0].endpoint) == "A://kafka:9092"
    found = {finding.rule: finding for finding in check_deployment(deployment)}
    assert found["broker-assumed"].message.endswith("looks like a Kafka broker: server.properties is mounted")
    where = found[INTERNAL_NAME].location
    assert isinstance(where, FileLocation)
    assert where.path.endswith(".properties")


def test_a_repair_does_not_read_a_properties_file_as_yaml() -> None:
    files = {
        "compose.yaml": "name: t\nservices:\n  kafka:\n    image: apache/kafka:3.9.1\n    ports: ['9092:9092']\n"
        "    volumes: ['./server.properties:/mnt/shared/config/server.properties']\n",
        "server.properties": "node.id=1\n# roles\nprocess.roles=broker,controller\n"
        "listeners=PLAINTEXT://:9092,CONTROLLER://:9093\nadvertised.listeners=PLAINTEXT://kafka:9092\n"
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT\n"
        "inter.broker.listener.name=PLAINTEXT\ncontroller.listener.names=CONTROLLER\n"
        "controller.quorum.voters=1@kafka:9093\n",
    }
    (found,) = (f for f in check_deployment(deployment_from(files)) if f.rule == INTERNAL_NAME)
    assert {edit.path for edit in found.edits} == {"compose.yaml", "server.properties"}


def test_a_repair_does_not_read_a_dockerfile_as_yaml() -> None:
    files = {
        "compose.yaml": "name: t\nservices:\n  kafka:\n    build: .\n    environment:\n"
        "      KAFKA_CFG_PROCESS_ROLES: broker,controller\n      KAFKA_CFG_ZOOKEEPER_CONNECT: zoo:2181\n"
        "      KAFKA_CFG_NODE_ID: '1'\n      KAFKA_CFG_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093\n"
        "      KAFKA_CFG_CONTROLLER_LISTENER_NAMES: CONTROLLER\n"
        "      KAFKA_CFG_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093\n",
        "Dockerfile": "FROM bitnamilegacy/kafka:3.6\n# settings\nENV A=1\n\nRUN true\n",
    }
    rules = {finding.rule for finding in check_deployment(deployment_from(files))}
    assert "kraft-mode-ambiguous" in rules


def test_a_port_that_another_service_publishes_may_be_relayed() -> None:
    text = kafka(two("kafka:29092", "localhost:9092", PLAIN))
    proxy = "  proxy:\n    image: ghcr.io/shopify/toxiproxy:2.12.0\n    ports: ['9092:9092']\n"
    rule = "advertised-port-not-published"
    assert [len(findings_of(services, rule)) for services in (text, text + proxy)] == [1, 0]


def test_other_properties_tell_no_broker() -> None:
    app = "name: t\nservices:\n  app:\n    image: example/app:1\n    volumes: ['./a:/app/kafka/server.properties']\n"
    assert not deployment_from({"compose.yaml": app, "a": "bootstrap.servers=kafka:9092\n"}).brokers
    job = app + "    command: kafka-topics.sh --list\n"
    assert not deployment_from({"compose.yaml": job, "a": PROPERTIES}).brokers


def test_an_image_that_is_built_out_of_sight() -> None:
    text = (
        "  kafka:\n    build: ../kafka\n    environment: {HOSTNAME_COMMAND: hostname, KAFKA_ZOOKEEPER_CONNECT: 'z:1'}\n"
    )
    (found,) = findings_of(text, "broker-assumed")
    assert found.why == "netdiag does not see what the image is built from, and checks only what the variables set"
    assert "set image beside build" in (found.hint or "")


def test_a_name_that_no_file_declares_is_a_condition() -> None:
    more = "    ports: ['29092:29092', '9092:9092']\n"
    (found,) = findings_of(kafka(two("kafka:29092", "host.docker.internal:9092", PLAIN), more=more), INTERNAL_NAME)
    assert found.hint == (
        'stop publishing the port of IN: clients outside use listener EXTERNAL, if they resolve "host.docker.internal"'
    )


def test_the_listener_for_containers_gets_a_port_that_is_free() -> None:
    text = kafka({"KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://localhost:29092"}, more="    ports: ['29092:29092']\n")
    (found,) = findings_of(text, "advertised-loopback-for-remote-clients")
    assert found.hint == (
        "advertise PLAINTEXT://kafka:29092 for containers, and EXTERNAL://localhost:29092 for the docker host: a "
        "second listener on port 29093, published as 29092:29093"
    )


def test_a_listener_of_redpanda_without_a_name() -> None:
    text = "  panda:\n    image: redpandadata/redpanda:v24.2.7\n    ports: ['9092:9092']\n    command: redpanda start\n"
    (found,) = findings_of(text, "advertised-loopback-for-remote-clients")
    assert found.message.startswith("the listener of panda sends every container")


def test_an_empty_host_beside_a_listener_for_containers_becomes_localhost() -> None:
    (found,) = findings_of(kafka(two("kafka:29092", ":9092", PLAIN), more=PORTS), "advertised-empty-host")
    assert found.message.endswith("so clients get the container ID")
    assert found.hint == "advertise EXTERNAL://localhost:9092 to the docker host"


def test_the_own_way_of_a_lone_broker_needs_no_port() -> None:
    ways = two("localhost:29092", "localhost:9092", PLAIN)
    assert findings_of(kafka(ways, more=PORTS), "advertised-port-not-published") == []


def test_jmx_on_the_port_of_a_listener() -> None:
    cases = {
        ("KAFKA_JMX_PORT", "9092", "confluentinc/cp-kafka:7.9.2"): 1,
        ("JMX_PORT", "9092", "wurstmeister/kafka:2.13-2.8.1"): 1,
        ("KAFKA_JMX_PORT", "9101", "confluentinc/cp-kafka:7.9.2"): 0,
    }
    for (variable, port, image), expected in cases.items():
        text = kafka({**two("kafka:29092", "localhost:9092", PLAIN), variable: port}, image=image, more=PORTS)
        found = findings_of(text, "listener-port-conflict")
        assert len(found) == expected
        assert all(f"which {variable} gives to JMX" in finding.message for finding in found)


def test_replicas_share_a_port_in_host_mode() -> None:
    # `docker compose config` keeps the mode and the replicas; the second container cannot have the port.
    more = "    ports: [{target: 9092, published: 9092, mode: host}]\n    deploy: {replicas: 2}\n"
    (found,) = findings_of(kafka(two("kafka:29092", "localhost:9092", PLAIN), more=more), "replicas-share-endpoint")
    said = [found.message, *(related.message for related in found.related)]
    assert any("port 9092 of the docker host" in one for one in said)


def test_all_that_an_image_misses_is_said_at_once() -> None:
    text = "  kafka:\n    image: confluentinc/cp-kafka:7.9.2\n"
    (found,) = findings_of(text, "image-required-env-missing")
    assert found.hint == "set KAFKA_ZOOKEEPER_CONNECT and KAFKA_ADVERTISED_LISTENERS"
    text += "    ports: ['9092:9092']\n    environment: {KAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://kafka:9092'}\n"
    assert len(findings_of(text, "image-required-env-missing")) == 1
    assert len(findings_of(text, INTERNAL_NAME)) == 1


def test_a_command_that_changes_the_start_script_may_mend_what_is_missing() -> None:
    kraft = "    environment: {KAFKA_PROCESS_ROLES: 'broker,controller', KAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://kafka:9092'}\n"
    commands = {
        "bash -c '/tmp/update_run.sh && /etc/confluent/docker/run'": 0,
        "bash -c 'sed -i /zk/d /etc/confluent/docker/ensure && /etc/confluent/docker/run'": 0,
        "bash -c 'mkdir -p /tmp/data && /etc/confluent/docker/run'": 1,
        "bash -c 'export CLUSTER_ID=$$(cat /tmp/id) && /etc/confluent/docker/run'": 0,
        "bash -c 'CLUSTER_ID=abc /etc/confluent/docker/run'": 0,
        "bash -c 'export OTHER=abc && /etc/confluent/docker/run'": 1,
    }
    for command, expected in commands.items():
        text = f"  kafka:\n    image: confluentinc/cp-kafka:7.4.0\n    command: {command}\n{kraft}"
        assert len(findings_of(text, "image-required-env-missing")) == expected


def test_a_command_that_starts_kafka_itself_leaves_variables_unread() -> None:
    """The image's script, which makes properties of variables, does not run, and nobody sees the file that is read."""
    variables = (
        "    environment: {KAFKA_CFG_PROCESS_ROLES: broker, KAFKA_CFG_ADVERTISED_LISTENERS: 'PLAINTEXT://kafka:9092'}\n"
    )
    start = "kafka-server-start.sh /kafka/config/kraft/server.properties"
    for command, found in ((f"bash -c '{start}'", 0), (f"bash -c '/etc/kafka/docker/configure && {start}'", 1)):
        text = f"  kafka:\n    image: apache/kafka:3.7.0\n    command: {command}\n{variables}"
        for rule in ("image-env-wrong-prefix", "image-defaults-dropped"):
            assert bool(findings_of(text, rule)) == bool(found)


def test_variables_that_are_set_twice_are_one_note() -> None:
    values = {"KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://kafka:9092", "KAFKA_NUM_PARTITIONS": "1"}
    doubled = {**values, "KAFKA_CFG_NUM_PARTITIONS": "1", "KAFKA_MIN_INSYNC_REPLICAS": "1"}
    doubled["KAFKA_CFG_MIN_INSYNC_REPLICAS"] = "1"
    (found,) = findings_of(kafka(doubled), "image-env-wrong-prefix")
    assert found.severity is Severity.NOTE
    assert "KAFKA_CFG_MIN_INSYNC_REPLICAS, KAFKA_CFG_NUM_PARTITIONS of kafka" in found.message
    assert len(found.edits) == 2


def test_names_on_a_shared_network_are_one_note() -> None:
    text = kafka({"KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://kafka:9092"}, more="    networks: [ours]\n")
    text = text.replace("zookeeper:3.9\n", "zookeeper:3.9\n    networks: [ours]\n")
    found = check_deployment(deployment_of(f"name: t\nservices:\n{text}networks: {{ours: {{external: true}}}}\n"))
    (one,) = [finding for finding in found if finding.rule == "ambiguous-name"]
    assert one.message.startswith('kafka uses "kafka" and "zoo" on network ours')
    assert one.hint == "give each an alias of its own there, for example t-kafka, and use the aliases"


def test_a_gap_for_a_port_is_filled_with_a_port() -> None:
    cases = {"localhost:${PORT}": "${PORT:-9092}", "${HOST}:9092": "${HOST:-kafka}"}
    for address, example in cases.items():
        text = kafka({"KAFKA_ADVERTISED_LISTENERS": f"PLAINTEXT://{address}"}, more=PORTS)
        (found,) = findings_of(text, "listener-unexpanded-or-quoted")
        assert (found.hint or "").endswith(example)


def test_one_reason_of_several_services_is_one_error() -> None:
    services = "".join(f"  {name}:\n    image: x\n    networks: [gone]\n" for name in ("a", "b"))
    volumes = "".join(f"  v{n}:\n    image: x\n    volumes: ['${{SECRETS}}:/etc/kafka/secrets']\n" for n in (1, 2))
    found = check_project(project_of(f"services:\n{services}{volumes}"))
    errors = {f.rule: f for f in found if f.severity is Severity.ERROR}
    assert set(errors) == {"compose-undefined-reference", "compose-schema"}
    assert errors["compose-undefined-reference"].message == "services 'a' and 'b' refer to undefined network 'gone'"
    assert errors["compose-schema"].hint == "set SECRETS in .env: an unset variable leaves a gap here"


def test_options_of_the_start_count_though_the_file_is_not_here() -> None:
    start = (
        "/opt/k/bin/kafka-server-start.sh /opt/k/server.properties --override listeners=PLAINTEXT://:9092 "
        "--override advertised.listeners=PLAINTEXT://kafka:9092 --override zookeeper.connect=zoo:2181"
    )
    text = f"  kafka:\n    image: example/machine:1\n    ports: ['9092:9092']\n    command: {start}\n"
    assert [f.listener for f in findings_of(text, INTERNAL_NAME)] == ["PLAINTEXT"]
    (found,) = findings_of(text, "broker-assumed")
    assert found.why == "netdiag cannot read the configuration file, and checks only what --override sets"


def test_what_looks_like_a_broker() -> None:
    start = {"compose.yaml": "services:\n  kafka:\n    image: example/kafka:1\n    build: .\n"}
    cases = {
        "built and called kafka": {**start, "Dockerfile": 'FROM debian:12\nENTRYPOINT ["/start"]\n'},
        "variables of a start script": {
            "compose.yaml": "services:\n  kafka:\n    build: ../kafka\n    environment:\n"
            "      HOSTNAME_COMMAND: hostname\n      KAFKA_ZOOKEEPER_CONNECT: zoo:2181\n"
        },
        "lenses": {"compose.yaml": "services:\n  box:\n    image: landoop/kafka-lenses-dev\n"},
    }
    for _, files in cases.items():
        assert len(deployment_from(files).brokers) == 1


@pytest.mark.parametrize(
    ("config", "path"),
    [
        (
            "\n    content: |\n      process.roles=broker\n      advertised.listeners=PLAINTEXT\\://0.0.0.0:${PORT:-9092}",
            "compose.yaml",
        ),
        (" {file: ./own.properties}", "own.properties"),
    ],
)
def test_a_config_of_the_project_is_the_file_of_a_broker(config: str, path: str) -> None:
    service = "  kafka:\n    image: apache/kafka:3.9.1\n"
    mount = "    configs: [{source: own, target: /mnt/shared/config/server.properties}]\n"
    files = {
        "compose.yaml": f"name: t\nservices:\n{service}{mount}configs:\n  own:{config}\n",
        "own.properties": "process.roles=broker\nadvertised.listeners=PLAINTEXT://0.0.0.0:9092\n",
    }
    found = [f.location for f in check_deployment(deployment_from(files)) if f.rule == "advertised-wildcard"]
    assert [files[at.path][at.start : at.end] for at in found if isinstance(at, FileLocation)] == ["0.0.0.0"]
    assert [at.path for at in found if isinstance(at, FileLocation)] == [path]


def test_a_config_from_elsewhere_is_a_file_that_nobody_reads() -> None:
    service = "  kafka:\n    image: apache/kafka:3.9.1\n"
    mount = "    configs: [{source: own, target: /mnt/shared/config/server.properties}]\n"
    text = f"name: t\nservices:\n{service}{mount}configs:\n  own: {{external: true}}\n"
    (broker,) = deployment_from({"compose.yaml": text}).brokers
    assert broker.is_partial


def test_a_misspelt_line_of_a_file_is_renamed_as_a_line() -> None:
    service = "  kafka:\n    image: apache/kafka:3.9.1\n"
    mount = "    volumes: ['./server.properties:/mnt/shared/config/server.properties']\n"
    lines = "process.roles=broker,controller\nadvertised.listener=PLAINTEXT://kafka:9092\n"
    files = {"compose.yaml": f"name: t\nservices:\n{service}{mount}", "server.properties": lines}
    hints = [f.hint for f in check_deployment(deployment_from(files)) if f.rule == "image-env-unknown"]
    assert hints == ["rename it to advertised.listeners if you mean advertised.listeners"]


@pytest.mark.parametrize(
    ("image", "variable", "prefix"),
    [
        ("confluentinc/cp-kafka:7.9.2", "KAFKA_ADVERTISED_LISTENER", "KAFKA_"),
        ("confluentinc/cp-kafka:7.9.2", "KAFKA_ADVERTISED__LISTENERS", "KAFKA_"),
        ("bitnamilegacy/kafka:3.9", "KAFKA_CFG_ADVERTISED_LISTENER", "KAFKA_CFG_"),
        ("lensesio/fast-data-dev", "KAFKA_ADVERTISED_LISTENER", "KAFKA_"),
    ],
)
def test_a_misspelt_variable_keeps_its_prefix(image: str, variable: str, prefix: str) -> None:
    (finding,) = findings_of(kafka({variable: "PLAINTEXT://kafka:9092"}, image=image), "image-env-unknown")
    assert finding.hint == f"rename it to {prefix}ADVERTISED_LISTENERS if you mean advertised.listeners"


@pytest.mark.parametrize(
    ("tag", "prints"),
    [("7.5.0", None), ("7.9.2", "Stored node id 2 doesn't match previous node id 1 in /data/meta.properties")],
)
def test_the_words_of_a_broker_are_predicted_where_its_release_prints_them(tag: str, prints: str | None) -> None:
    declared = {
        "KAFKA_BROKER_ID": "1",
        "KAFKA_LOG_DIRS": "/data",
        "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://kafka:9092",
    }
    services = kafka(declared, image=f"confluentinc/cp-kafka:{tag}", more="    volumes: [./d:/data]\n")
    files = {"compose.yaml": f"name: t\nservices:\n{services}", "d/meta.properties": "version=0\nbroker.id=2\n"}
    found = [one for one in check_deployment(deployment_from(files)) if one.rule == "stale-data-directory"]
    assert [one.broker_prints for one in found] == [prints]


@pytest.mark.parametrize(
    ("mounts", "expected"),
    [
        (["./d:/var/lib/kafka"], {"data-not-kept"}),
        # Something else is mounted at the VOLUME itself.
        (["./d:/var/lib/kafka", "./e:/var/lib/kafka/data"], {"stale-data-directory"}),
        (["./d:/var/lib/kafka", "/var/lib/kafka/data"], {"data-not-kept"}),
        (["./e:/var/lib/kafka/data"], {"stale-data-directory"}),
        (["./d:/etc/kafka/secrets"], set()),
    ],
)
def test_an_anonymous_volume_covers_what_is_mounted_above_it(mounts: list[str], expected: set[str]) -> None:
    declared = {"KAFKA_BROKER_ID": "1", "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://kafka:9092"}
    services = kafka(declared, more=f"    volumes: {mounts}\n")
    stale = "version=0\nbroker.id=2\n"
    files = {
        "compose.yaml": f"name: t\nservices:\n{services}",
        "d/data/meta.properties": stale,
        "e/meta.properties": stale,
    }
    about_data = {"data-not-kept", "stale-data-directory"}
    assert {one.rule for one in check_deployment(deployment_from(files))} & about_data == expected


@pytest.mark.parametrize(
    ("environment", "expected"), [("", 1), ("\n      KAFKA_LOG_DIRS: ${DIRS}", 0), ("\n      KAFKA_LOG_DIRS: /data", 0)]
)
def test_nobody_says_where_the_data_are_to_be(environment: str, expected: int) -> None:
    service = f"""
  kafka:
    image: apache/kafka:4.3.1
    volumes: ["./data:/var/lib/kafka/data"]
    environment:
      KAFKA_PROCESS_ROLES: broker
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092{environment}
"""
    assert len(findings_of(service, "data-not-kept")) == expected


@pytest.mark.parametrize(
    ("image", "target", "expected"),
    [
        ("zookeeper:3.9", "/data", 0),
        ("confluentinc/cp-zookeeper:7.9.2", "/var/lib/zookeeper", 1),
        ("confluentinc/cp-zookeeper:7.9.2", "/var/lib/zookeeper/data", 0),
        ("bitnamilegacy/zookeeper:3.9", "/bitnami", 0),
    ],
)
def test_a_zookeeper_with_a_mount_above_its_volumes_keeps_nothing(image: str, target: str, expected: int) -> None:
    declared = {"KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://kafka:9092"}
    broker = kafka(declared, more="    volumes: [./d:/var/lib/kafka/data]\n")
    port = "    environment: {ZOOKEEPER_CLIENT_PORT: 2181, ZOO_PORT: 2181}\n"
    mounted = broker.replace("image: zookeeper:3.9\n", f"image: {image}\n    volumes: [./z:{target}]\n{port}")
    assert len(findings_of(mounted, "zookeeper-data-not-kept")) == expected


def test_a_relay_that_no_listener_fits_needs_one_more() -> None:
    command = "    command: TCP-LISTEN:9092,fork TCP:kafka:9092\n"
    proxy = f"  proxy:\n    image: alpine/socat\n    ports: ['19092:9092']\n{command}"
    broker = kafka({"KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://kafka:9092"})
    hints = [found.hint for found in findings_of(broker + proxy, "relay-to-wrong-listener")]
    assert hints == ['give kafka a listener that advertises "localhost:19092", and lead it there']
