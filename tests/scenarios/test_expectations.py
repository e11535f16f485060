"""The stacks of the scenarios and their `expected.yml` fit each other; no engine needed."""

from __future__ import annotations

import difflib
from pathlib import Path

from ruamel.yaml import YAML

from tests.each import each
from tests.scenarios.expectations import CELL, JMX_CELL, SCENARIOS, SETTLED, Engine, Stack, stacks

STACKS = list(stacks())
ENGINES = [
    Engine(version=version, proxy=proxy, platform=platform)
    for version in ("20.10", "28", "29")
    for proxy in (True, False)
    for platform in ("linux", "desktop")
]
LISTENERS = ("KAFKA_LISTENERS", "KAFKA_ADVERTISED_LISTENERS")
# what comes with a second listener: its protocol, who uses it, and the clients that move to it
SECOND_LISTENER = (
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP",
    "KAFKA_INTER_BROKER_LISTENER_NAME",
    "KAFKA_CLUSTERS_0_BOOTSTRAPSERVERS",
)
# what else the repair of a scenario touches
REPAIRS = {
    "S05": {"ipv4_address", *LISTENERS},
    "S10a": {
        *LISTENERS,
        "KAFKA_NODE_ID",
        "KAFKA_PROCESS_ROLES",
        "KAFKA_CONTROLLER_LISTENER_NAMES",
        "KAFKA_CONTROLLER_QUORUM_VOTERS",
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP",
        "KAFKA_INTER_BROKER_LISTENER_NAME",
        "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR",
    },
    "S10b": {*LISTENERS, "ports"},
    "S11": {"networks"},
    "S12": {"network_mode"},
    "S13": {"networks", "open"},
    "S14": {"network_mode", "networks", "kafka", *LISTENERS, *SECOND_LISTENER},
    "S16": {"ports"},
    "S17": {
        "-ext san=dns",
        "KAFKA_LISTENER_NAME_LOGIN_SASL_ENABLED_MECHANISMS",
        "KAFKA_LISTENER_NAME_LOGIN_SCRAM___SHA___512_SASL_JAAS_CONFIG",
        "KAFKA_LISTENER_NAME_LOGIN_PLAIN_SASL_JAAS_CONFIG",
    },
    "S25": {"KAFKA_SSL_KEYSTORE_LOCATION"},
    "S20": {
        "test",
        "command",
        "KAFKA_CLUSTERS_0_BOOTSTRAPSERVERS",
        "CONNECT_BOOTSTRAP_SERVERS",
        "SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS",
        "KAFKA_REST_BOOTSTRAP_SERVERS",
    },
    "S21": {
        "command",
        "volumes",
        "server kafka",
        '[{"name"',
        "exec ssh -N -i /keys/id -o StrictHostKeyChecking=no -o ExitOnForwardFailure=yes -L 0.0.0.0",
    },
    "S22": {"volumes"},
    "S23": {"CONNECT_REST_ADVERTISED_HOST_NAME"},
    "S24": {"KAFKA_JMX_HOSTNAME", "-Dcom.sun.management.jmxremote.rmi.port=9101"},
}


def twin(file: Path) -> Path:
    return file.with_name(file.name.replace("broken", "repaired"))


TWINS = [stack for stack in STACKS if "broken" in stack.file.stem and twin(stack.file).exists()]


def environment(file: Path) -> dict[str, dict[str, str]]:
    services = YAML(typ="safe", pure=True).load(file)["services"]
    return {name: service["environment"] for name, service in services.items()}


def test_every_compose_file_is_expected() -> None:
    files = {path for path in SCENARIOS.glob("*/*.yml") if path.name != "expected.yml"}
    assert files == {stack.file for stack in STACKS}


@each("stack", STACKS, ids=lambda stack: stack.name)
def test_findings_point_into_their_service(stack: Stack) -> None:
    services = YAML(typ="rt", pure=True).load(stack.file)["services"]
    lines = stack.file.read_text().splitlines()
    for finding in stack.findings:
        if finding.rule == "relay-to-wrong-listener":
            # A relay's configuration need not stand in its service.
            file = stack.file.with_name(finding.file or stack.file.name)
            assert "29092" in file.read_text().splitlines()[finding.line - 1]
            continue
        first = services.lc.key(finding.service)[0] + 1
        after = [services.lc.key(name)[0] + 1 for name in services if services.lc.key(name)[0] >= first]
        assert first < finding.line < min([*after, len(lines) + 1])
        key, _, value = lines[finding.line - 1].strip().partition(": ")
        assert key not in LISTENERS or value == environment(stack.file)[finding.service][key]


@each("stack", STACKS, ids=lambda stack: stack.name)
def test_every_cell_is_one_word_of_the_matrix_on_every_engine(stack: Stack) -> None:
    assert stack.settled in SETTLED
    for cell in stack.cells:
        assert [cell.on(engine) for engine in ENGINES if not CELL.fullmatch(cell.on(engine))] == []


@each("stack", STACKS, ids=lambda stack: stack.name)
def test_every_cell_of_jmx_is_one_of_its_words(stack: Stack) -> None:
    assert [word for word in stack.jmx.values() if not JMX_CELL.fullmatch(word)] == []


@each("broken", TWINS, ids=lambda stack: stack.name)
def test_the_twin_differs_by_the_repair_alone(broken: Stack) -> None:
    repaired = twin(broken.file)
    one_listener = "PLAINTEXT://0.0.0.0:9092" in broken.file.read_text()
    changes = difflib.unified_diff(settings(broken.file), settings(repaired), lineterm="", n=0)
    touched = {line[1:].split(":")[0].strip() for line in changes if line[0] in "+-" and line[:3] not in ("---", "+++")}
    assert touched
    usual = {*LISTENERS, *SECOND_LISTENER} if one_listener else {*LISTENERS}
    assert touched <= REPAIRS.get(broken.scenario, usual)


def settings(file: Path) -> list[str]:
    """The lines of a file without comments and without the project's name, which is in no twin the same."""
    lines = (line.partition("#")[0].rstrip() for line in file.read_text().splitlines())
    return [line for line in lines if line and not line.startswith("name:") and "_0_NAME" not in line]
