"""Brokers that a mounted file configures: which file an image reads, whether variables win, and what stays unknown."""

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.deployment.model.contact import Address
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.model.vantage import vantages
from netdiag.deployment.prediction.reachability import predict
from netdiag.deployment.sources.compose import from_compose
from netdiag.findings import FileLocation, Severity
from netdiag.rules.declared import check_deployment

KRAFT = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@localhost:9093
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
advertised.listeners=PLAINTEXT://localhost:9095
ssl.key.password=geheim
sasl.jaas.config=org.apache.kafka geheim
"""
APACHE = "apache/kafka:3.9.1"
CP = "confluentinc/cp-kafka:7.9.2"
SHARED = "./conf:/mnt/shared/config"


def deployment(
    *volumes: str, image: str = APACHE, command: str = "", environment: str = "", text: str | None = KRAFT
) -> Deployment:
    service = f'  kafka:\n    image: {image}\n    ports: ["9092:9092"]\n'
    service += f"    command: {command}\n" if command else ""
    service += f"    environment: {{{environment}}}\n" if environment else ""
    service += "    volumes:\n" + "".join(f"      - {volume}\n" for volume in volumes)
    files = {} if text is None else {"conf/server.properties": text.encode()}
    return from_compose(load(Source("compose.yml", "name: t\nservices:\n" + service)), read=files.get)


def broker(*volumes: str, **options: str) -> Broker:
    return deployment(*volumes, **options).brokers[0]


def advertised(found: Broker) -> str | None:
    return found.config.value("advertised.listeners")


def test_apache_reads_the_shared_folder_and_points_into_the_file() -> None:
    found = broker(SHARED)
    assert advertised(found) == "PLAINTEXT://localhost:9095"
    assert found.config.node_id == 1
    source = found.source_of("advertised.listeners")
    assert source is not None
    assert source.variable == "advertised.listeners in server.properties"
    place = found.place("advertised.listeners", 22, 26)
    assert isinstance(place, FileLocation)
    assert (place.path, place.line, place.column) == ("conf/server.properties", 6, 44)
    assert not found.is_configured_by_file


def test_apache_lets_a_variable_win() -> None:
    found = broker(SHARED, environment="KAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://localhost:9092'")
    assert advertised(found) == "PLAINTEXT://localhost:9092"
    # the start script derives listeners from it, which wins over the file as well
    assert found.config.value("listeners") == "PLAINTEXT://0.0.0.0:9092"
    assert found.config.value("node.id") == "1"


def test_a_command_that_starts_kafka_reads_the_file_that_it_names() -> None:
    found = broker(
        "./conf:/etc/own",
        image=CP,
        command="kafka-server-start /etc/own/server.properties --override node.id=7",
        environment="KAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://unused:1'",
    )
    assert advertised(found) == "PLAINTEXT://localhost:9095"
    assert found.config.node_id == 7
    assert found.config.refusal is None
    assert found.config_file is not None
    assert found.config_file.unused == ("KAFKA_ADVERTISED_LISTENERS",)


def test_secrets_of_the_file_are_not_kept() -> None:
    assert "geheim" not in repr(broker(SHARED).config.settings) + repr(broker(SHARED).declared.keys())
    assert not {"ssl.key.password", "sasl.jaas.config"} & broker(SHARED).config.settings.keys()


@pytest.mark.parametrize(
    ("volumes", "options"),
    [
        ((SHARED,), {"text": None}),
        (("/elsewhere:/mnt/shared/config",), {}),
        (("conf:/mnt/shared/config",), {}),
        ((SHARED,), {"text": "\udcff"}),
        (("./conf:/etc/own",), {"image": CP, "text": None, "command": "kafka-server-start /etc/own/server.properties"}),
        (
            ("./conf:/etc/own",),
            {"image": CP, "command": "[sh, -c, 'sed -i s/a/b/ /etc/own/server.properties; "
             "kafka-server-start /etc/own/server.properties']"},
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_read_stays_unknown(volumes: tuple[str, ...], options: dict[str, str | None]) -> None:
    text = options.get("text", KRAFT)
    made = {name: value for name, value in options.items() if name != "text" and value is not None}
    if text == "\udcff":
        files = {"conf/server.properties": b"listeners=\xff\xfe"}
        project = load(
            Source("c.yml", f"name: t\nservices:\n  kafka:\n    image: {APACHE}\n    volumes: ['{SHARED}']\n")
        )
        known = from_compose(project, read=files.get)
    else:
        known = deployment(*volumes, text=text, **made)
    assert known.brokers[0].is_partial
    assert known.serving == ()
    assert [f for f in check_deployment(known) if f.severity is not Severity.NOTE] == []
    cells = predict(known, vantages(known), [Address(host="kafka", port=9092)])
    assert {str(cell.predicted) for cell in cells if cell.vantage == "container on default"} == {"unknown"}


def test_a_mount_beside_the_configuration_changes_nothing() -> None:
    found = broker("./conf:/etc/kafka/secrets", "data:/var/lib/kafka")
    assert found.config_file is None
    assert not found.is_partial
    assert advertised(found) == "PLAINTEXT://localhost:9092"


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (deployment(SHARED), {"advertised-port-differs-from-published"}),
        (deployment(SHARED, text=KRAFT.replace("9095", "9092")), set()),
        (
            deployment(SHARED, text=KRAFT.replace("9095", "9092"), environment="KAFKA_NODE_ID: 1"),
            {"mounted-config-shadows-env"},
        ),
        (deployment(SHARED, text="listeners=PLAINTEXT://:9092\n"), set()),
        (deployment(SHARED, text=None, environment="KAFKA_LISTENERS: 'PLAINTEXT://:9092'"), set()),
        (
            deployment("./conf:/etc/own", image=CP, command="kafka-server-start /etc/own/server.properties"),
            {"advertised-port-differs-from-published"},
        ),
    ],
)
def test_rules_on_mounted_files(made: Deployment, expected: set[str]) -> None:
    loopback = "advertised-loopback-for-remote-clients"
    assert {f.rule for f in check_deployment(made)} - {loopback} == expected


def test_a_replaced_line_and_an_unused_variable_are_noted_at_the_variable() -> None:
    text = KRAFT.replace("9095", "9092")
    (note,) = [
        f
        for f in check_deployment(deployment(SHARED, text=text, environment="KAFKA_NODE_ID: 1"))
        if "shadows" in f.rule
    ]
    assert note.severity is Severity.NOTE
    assert "KAFKA_NODE_ID of kafka overrides node.id in the mounted server.properties" in note.message
    assert isinstance(note.location, FileLocation)
    assert note.location.line == 6
