"""How a broker is started: command lines, mounted files, properties, and which of them wins."""

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.compose.project import Service
from netdiag.compose.values import no_files
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.model.vantage import bootstraps, vantages
from netdiag.deployment.model.verdict import Address
from netdiag.deployment.prediction.reachability import predict
from netdiag.deployment.sources.compose import from_compose
from netdiag.deployment.sources.startup import Line, command_lines, mounted_file, read_properties
from netdiag.findings import FileLocation, Severity
from netdiag.kafka.images.families import Sign
from netdiag.rules.declared import check_deployment

TEXT = """\
services:
  a:
    image: x
    environment: {{LISTENERS: "A://:9092"}}
    {command}
"""


def lines(command: str) -> tuple[Line, ...]:
    project = load(Source("compose.yml", TEXT.format(command=command.replace("\n", "\n    "))))
    return command_lines(project.services["a"])


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("x: 1", []),
        ("command: a b  c", [["a", "b", "c"]]),
        ("command: [a, b c]", [["a", "b c"]]),
        ("""command: a 'b c' "d e"f g\\ h""", [["a", "b c", "d ef", "g h"]]),
        ("command: a '' b", [["a", "", "b"]]),
        # Compose expands nothing and knows no end of a command
        ("command: a $$B; c", [["a", "$B;", "c"]]),
        ("entrypoint: a\ncommand: b", [["a", "b"]]),
        ("entrypoint: [sh, -c]\ncommand: ['a b; c && d | e']", [["a", "b"], ["c"], ["d"], ["e"]]),
        ("command: [tini, --, /bin/bash, -ec, 'a b']", [["a", "b"]]),
        ("command: [tini, a, b, c, /bin/bash, -ec, 'a b']", [["tini", "a", "b", "c", "/bin/bash", "-ec", "a b"]]),
        ("command: [bash, run.sh, -c, x]", [["bash", "run.sh", "-c", "x"]]),
        ("command:\n  - bash\n  - -c\n  - |\n    # note\n    a \\\\\n    b 'c # d' # e\n    f",
         [["a", "b", "c # d"], ["f"]]),
        ("command: [sh, -c, 'a --l=$$LISTENERS $${LISTENERS}x']", [["a", "--l=A://:9092", "A://:9092x"]]),
        ("command: [sh, -c, \"a '$$LISTENERS'\"]", [["a", "$LISTENERS"]]),
    ],
)  # fmt: skip
def test_words(command: str, expected: list[list[str]]) -> None:
    if command == "x: 1":
        command = "tty: true"
    assert [[word.value for word in line] for line in lines(command.replace("\\\\\n", "\\\n"))] == expected


def test_flags_behind_a_substitution_are_still_there() -> None:
    ((_, flag, last),) = lines("command: [sh, -c, 'a --x=$$(hostname -i | cut -d\" \" -f1):1 --y']")
    assert flag.is_open
    assert last.value == "--y"


@pytest.mark.parametrize("word", ["$$HOST:1", "$${HOST}", "$$(hostname):1", "`hostname`", "$${HOST:-x}"])
def test_what_only_a_shell_knows_leaves_the_word_open(word: str) -> None:
    ((first, second),) = lines(f"command: [sh, -c, 'a \"{word}\"']")
    assert not first.is_open
    assert second.is_open


def test_a_word_knows_its_place_and_an_expanded_one_where_its_value_is() -> None:
    ((_, flag),) = lines("command: [sh, -c, 'run --l=$$LISTENERS']")
    value = flag.slice(4, len(flag.value))
    assert value.value == "A://:9092"
    assert value.text.span_of(0, 9).line == 5
    edit = value.text.edit_span(0, 1)
    assert edit is not None
    assert edit.line == 4


def test_a_program_is_not_taken_apart() -> None:
    assert lines("command: [sh, -c, '" + "a " * 40000 + "']") == ()


FILES = {
    "conf/server.properties": b"in the folder",
    "one.properties": b"the file",
    "data/config/server.properties": b"x",
}
PATH = "/mnt/shared/config/server.properties"


def service(*volumes: str) -> Service:
    text = "services:\n  a:\n    image: x\n    volumes:\n" + "".join(f"      - {volume}\n" for volume in volumes)
    return load(Source("compose.yml", text + "volumes:\n  named:\n")).services["a"]


@pytest.mark.parametrize(
    ("volumes", "expected"),
    [
        (("./conf:/mnt/shared/config",), b"in the folder"),
        (("./conf/:/mnt/shared/config/:ro",), b"in the folder"),
        (("./one.properties:/mnt/shared/config/server.properties",), b"the file"),
        # the nearer mount stands above the other
        (("./conf:/mnt/shared/config", "./one.properties:/mnt/shared/config/server.properties"), b"the file"),
        (("./data:/mnt/shared",), b"x"),
        # nobody can read these
        (("/etc/kafka:/mnt/shared/config",), None),
        (("../conf:/mnt/shared/config",), None),
        (("named:/mnt/shared/config",), None),
        (("./empty:/mnt/shared/config",), None),
        # and these say nothing of the file
        (("./empty:/mnt/shared",), "absent"),
        (("named:/mnt",), "absent"),
        (("./conf:/mnt/shared/config/other",), "absent"),
        (("./conf:/mnt/shared/config2",), "absent"),
        (("named:/var/lib/kafka",), "absent"),
    ],
)
def test_mounted_files(volumes: tuple[str, ...], expected: object) -> None:
    found = mounted_file(service(*volumes), PATH, FILES.get)
    if expected == "absent":
        assert found is None
    else:
        assert found is not None
        assert (found.source.data if found.source else None) == expected


def test_without_a_reader_everything_is_unread() -> None:
    found = mounted_file(service("./conf:/mnt/shared/config"), PATH, no_files)
    assert found is not None
    assert found.source is None


def read(text: str) -> dict[str, str]:
    return {name: value.value for name, value in read_properties(Source("server.properties", text)).items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", {"a": "b"}),
        ("a = b \n", {"a": "b"}),
        ("a: b", {"a": "b"}),
        ("a b", {"a": "b"}),
        ("a =: b", {"a": ": b"}),
        ("a", {"a": ""}),
        ("a=", {"a": ""}),
        ("  a=b", {"a": "b"}),
        ("# a=b\n! c=d\n", {}),
        ("a=b # c", {"a": "b # c"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=b,\\\n   c", {"a": "b,c"}),
        ("a=b,\\\r\n\tc\r\nd=e", {"a": "b,c", "d": "e"}),
        ("a=b\\\n# no comment", {"a": "b# no comment"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("a\\=b=c", {"a=b": "c"}),
        ("a\\ b=c", {"a b": "c"}),
        ("a=\\u0041\\tb", {"a": "A\tb"}),
        ("a=x=y://z:1", {"a": "x=y://z:1"}),
        ("a=b\\", {"a": "b"}),
        ("\r\n\r\na=b\rc=d", {"a": "b", "c": "d"}),
        ("", {}),
    ],
)
def test_values(text: str, expected: dict[str, str]) -> None:
    assert read(text) == expected


def test_a_value_over_two_lines_points_at_and_is_edited_in_each() -> None:
    text = "# é\nlisteners = A://:1,\\\n  B://:2\n"
    value = read_properties(Source("p", text))["listeners"]
    assert value.value == "A://:1,B://:2"
    first, second = value.span_of(0, 6), value.span_of(7, 13)
    assert (first.line, first.column, second.line, second.column) == (2, 13, 3, 3)
    edit = value.edit_span(12, 13)
    assert edit is not None
    assert text.encode()[edit.start : edit.end] == b"2"
    assert value.edit_span(5, 8) is None


def test_a_long_value_stays_in_few_pieces() -> None:
    value = read_properties(Source("p", "a=" + "é" * 20_000 + "\\:b"))["a"]
    assert value.value == "é" * 20_000 + ":b"
    assert len(value.segments) == 3


def test_an_escaped_character_is_not_edited() -> None:
    value = read_properties(Source("p", "a=b\\:c"))["a"]
    assert value.value == "b:c"
    assert value.edit_span(1, 2) is None
    assert value.edit_span(2, 3) is not None


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


SCRIPTED = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    command: {command}
    {ports}
    environment:
      KAFKA_BROKER_ID: 1
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    volumes: ["./run.sh:/run.sh"]
"""
STARTS = b"#!/bin/sh\nexport A=b\nexec /etc/confluent/docker/run\n"
PORTS = 'ports: ["9092:9092"]'


@pytest.mark.parametrize(
    ("script", "ports", "sign", "listens"),
    [
        (None, PORTS, Sign.SCRIPT, None),
        (None, "tty: true", None, None),
        (STARTS, PORTS, Sign.IMAGE, "PLAINTEXT://0.0.0.0:9092"),
        (STARTS, "tty: true", Sign.IMAGE, "PLAINTEXT://0.0.0.0:9092"),
        (b'#!/bin/sh\nsleep 5\nexec "$@"\n', PORTS, Sign.SCRIPT, None),
        (b"#!/bin/sh\nkafka-topics --create\n", PORTS, None, None),
    ],
)
@pytest.mark.parametrize("command", ["/run.sh", "bash -e /run.sh now", "[tini, --, /run.sh]"])
def test_a_script_in_the_place_of_the_image_s_own(
    command: str, script: bytes | None, ports: str, sign: Sign | None, listens: str | None
) -> None:
    project = load(Source("compose.yml", SCRIPTED.format(command=command, ports=ports)))
    brokers = from_compose(project, read=lambda path: script if path.endswith("run.sh") else None).brokers
    assert [(broker.sign, broker.config.value("listeners")) for broker in brokers] == (
        [(sign, listens)] if sign else []
    )


def test_a_script_of_a_folder_of_programs_is_read() -> None:
    text = SCRIPTED.format(command="kafka-entry.sh", ports="tty: true").replace(
        "/run.sh:/run.sh", "/e.sh:/bin/kafka-entry.sh"
    )
    project = load(Source("compose.yml", text))
    assert [b.sign for b in from_compose(project).brokers] == [Sign.SCRIPT]
    assert [b.sign for b in from_compose(project, read=lambda path: STARTS).brokers] == [Sign.IMAGE]
    assert from_compose(project, read=lambda path: b"echo").brokers == ()


@pytest.mark.parametrize(
    "service",
    [
        "{image: 'confluentinc/cp-kafka:7.4.0', env_file: absent.env, environment: {ENTRIES}}",
        "{image: 'wurstmeister/kafka:2.13-2.8.1', env_file: absent.env, environment: {ENTRIES}}",
        "{image: 'example/kafka:1', environment: {ENTRIES}}",
    ],
)
def test_what_a_start_script_or_an_absent_file_may_add_is_unknown(service: str) -> None:
    entries = (
        "KAFKA_BROKER_ID: 1, KAFKA_ZOOKEEPER_CONNECT: 'z:2181', KAFKA_LISTENERS: 'INSIDE://:9092,OUTSIDE://:9094',"
        " KAFKA_ADVERTISED_LISTENERS: 'INSIDE://:9092,OUTSIDE://_{HOSTNAME_COMMAND}:9094'"
    )
    made = from_compose(load(Source("c.yml", f"services: {{kafka: {service.replace('ENTRIES', entries)}}}")))
    (broker,) = made.brokers
    assert broker.config.is_unknown("advertised.listeners")
    assert broker.config.is_unknown("listener.security.protocol.map")
    assert {f.rule for f in check_deployment(made) if f.severity is Severity.ERROR} == set()
    cells = predict(made, vantages(made), bootstraps(made))
    assert not [c for c in cells if c.predicted and "has no security protocol" in c.predicted.bootstrap.because]


def test_kafka_on_a_machine_that_is_no_image_of_it() -> None:
    text = """\
services:
  kafka:
    image: ubuntu:22.04
    command: /opt/kafka/bin/kafka-server-start.sh /opt/kafka/server.properties
    volumes: ["./server.properties:/opt/kafka/server.properties"]
"""
    project = load(Source("compose.yml", text))
    (broker,) = from_compose(project).brokers
    assert (broker.sign, broker.is_partial) == (Sign.COMMAND, True)
    (broker,) = from_compose(project, read=lambda path: b"advertised.listeners=A://kafka:9092\n").brokers
    assert [entry.endpoint.host for entry in broker.config.advertised_listeners] == ["kafka"]
    assert not broker.is_partial
