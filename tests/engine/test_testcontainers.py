"""Containers of Testcontainers: whose they are, and what their start scripts say, in the forms of five libraries."""

import time
from dataclasses import replace

import pytest

from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.sources.engine import from_engine, runs_kafka
from netdiag.engine.container import Container, parse_container
from netdiag.engine.testcontainers import (
    ADVERTISED,
    Library,
    awaited_script,
    exported,
    is_reaper,
    library_of,
    redpanda_start,
    session_of,
    with_script,
)
from tests.growth import grows_linearly

JAVA = "while [ ! -f /tmp/testcontainers_start.sh ]; do sleep 0.1; done; /tmp/testcontainers_start.sh"
SCRIPT = "#!/bin/bash\nexport KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://localhost:32771,BROKER://1f:9093\n/etc/kafka/docker/run\n"


def container(*words: str, labels: dict[str, str] | None = None, image: str = "apache/kafka:3.9.1") -> Container:
    """One that runs, with a command and labels."""
    return parse_container(
        {
            "Id": "1" * 64,
            "Name": "/brave_volta",
            "Config": {
                "Image": image,
                "Cmd": list(words),
                "Labels": labels or {},
                "Env": ["KAFKA_PROCESS_ROLES=broker,controller", "KAFKA_LISTENERS=PLAINTEXT://:9092,BROKER://:9093"],
            },
            "State": {"Status": "running", "Pid": 7},
        }
    )


def deployment(one: Container) -> Deployment:
    """Of one container."""
    return from_engine([one], [])


@pytest.mark.parametrize(
    ("words", "path"),
    [
        (("sh", "-c", JAVA), "/tmp/testcontainers_start.sh"),
        (("sh", "-c", "while [ ! -f /tc-start.sh ]; do sleep 0.1; done; sh /tc-start.sh"), "/tc-start.sh"),
        (
            (
                "-c",
                "while [ ! -f /usr/sbin/testcontainers_start.sh ]; do sleep 0.1; done; "
                "bash /usr/sbin/testcontainers_start.sh",
            ),
            "/usr/sbin/testcontainers_start.sh",
        ),
        (("-c", f"echo 'Waiting for script...'; {JAVA}"), "/tmp/testcontainers_start.sh"),
        (("while [ ! -f /testcontainers.sh ]; do sleep 0.1; done; /testcontainers.sh",), "/testcontainers.sh"),
        (("sh", "-c", "while [ ! -f /ready ]; do sleep 1; done; /etc/kafka/docker/run"), None),
        (("/etc/kafka/docker/run",), None),
    ],
)
def test_the_script_that_a_command_waits_for(words: tuple[str, ...], path: str | None) -> None:
    assert awaited_script(container(*words)) == path


def test_a_broker_is_one_while_it_waits_and_says_what_its_script_says() -> None:
    waiting = container("sh", "-c", JAVA)
    assert runs_kafka(waiting)
    (broker,) = deployment(waiting).brokers
    assert broker.config.is_unknown("advertised.listeners")
    (broker,) = deployment(replace(waiting, start_script=SCRIPT)).brokers
    assert [str(entry.endpoint) for entry in broker.config.advertised_listeners] == [
        "PLAINTEXT://localhost:32771",
        "BROKER://1f:9093",
    ]
    assert "/tmp/testcontainers_start.sh" in str(broker.place("advertised.listeners"))


def test_what_a_shell_computes_is_what_the_image_has_written() -> None:
    script = b"export KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://localhost:1,BROKER://$(hostname -i):9092\n"
    files = {"/tmp/testcontainers_start.sh": script}
    one = container("sh", "-c", JAVA)
    assert exported(with_script(one, files.get)) == {ADVERTISED: None}
    files["/etc/kafka/kafka.properties"] = (
        b"node.id=1\nadvertised.listeners=PLAINTEXT\\://localhost\\:1,BROKER://10.0.0.2:9092\n"
    )
    assert exported(with_script(one, files.get)) == {ADVERTISED: "PLAINTEXT://localhost:1,BROKER://10.0.0.2:9092"}


@pytest.mark.parametrize("filler", ["\n", " ", "advertised.listeners=x \n"])
def test_what_a_container_has_written_is_read_in_linear_time(filler: str) -> None:
    files = {"/tmp/testcontainers_start.sh": b"export KAFKA_ADVERTISED_LISTENERS=$A\n"}

    def seconds(size: int) -> float:
        files["/etc/kafka/kafka.properties"] = f"advertised.listeners=a{filler * size}b".encode()
        began = time.process_time()
        with_script(container("sh", "-c", JAVA), files.get)
        return time.process_time() - began

    assert grows_linearly(seconds, 8_000, least=0.002)


def test_quotes_are_the_shells() -> None:
    script = "export KAFKA_ZOOKEEPER_CONNECT='localhost:2181'\n export  A=\nexport B='open\nEXPORT C=1\n"
    told = exported(replace(container("sh", "-c", JAVA), start_script=script))
    assert told == {"KAFKA_ZOOKEEPER_CONNECT": "localhost:2181", "A": "", "B": None}


@pytest.mark.parametrize(
    ("lang", "label", "library", "session"),
    [
        ("java", "sessionId", Library.JAVA, "s"),
        ("java", "hash", Library.JAVA, None),
        ("python", "session-id", Library.PYTHON, "s"),
        ("go", "sessionId", Library.GO, "s"),
        ("node", "session-id", Library.NODE, "s"),
        ("dotnet", "resource-reaper-session", Library.DOTNET, "s"),
        ("cobol", "session-id", Library.OTHER, "s"),
    ],
)
def test_labels(lang: str, label: str, library: Library, session: str | None) -> None:
    base = "org.testcontainers"
    one = container(labels={base: "true", f"{base}.lang": lang, f"{base}.{label}": "s"})
    assert (library_of(one), session_of(one)) == (library, session)
    assert library_of(container(labels={"com.example": "true"})) is None


def test_the_reaper_is_known_by_label_or_image() -> None:
    mine = {"org.testcontainers": "true"}
    assert is_reaper(container(labels={**mine, "org.testcontainers.ryuk": "true"}))
    assert is_reaper(container(labels=mine, image="registry.example:5000/testcontainers/ryuk:0.14.0"))
    assert not is_reaper(container(labels=mine, image="testcontainers/sshd:1.3.0"))
    assert not is_reaper(container(image="testcontainers/ryuk:0.14.0"))


REDPANDA = "docker.redpanda.com/redpandadata/redpanda:v24.2.7"
# What Java, Go and Node.js copy into it.
REDPANDA_YAML = """\
# Injected by testcontainers
redpanda:
  kafka_api:
    - address: 0.0.0.0
      name: external
      port: 9092
      authentication_method: none
    - address: 0.0.0.0
      name: internal
      port: 9093
      authentication_method: none
    - address: 0.0.0.0
      name: redpanda
      port: 19092
  advertised_kafka_api:
    - address: localhost
      name: external
      port: 32771
    - address: 127.0.0.1
      name: internal
      port: 9093
    - address: redpanda
      name: redpanda
      port: 19092
schema_registry:
  schema_registry_api:
  - {address: "0.0.0.0", name: main, port: 8081}
"""
# Python's and .NET's.
REDPANDA_SCRIPT = """\
#!/bin/bash
/usr/bin/rpk redpanda start --mode dev-container --smp 1 --memory 1G \\
--kafka-addr PLAINTEXT://0.0.0.0:29092,OUTSIDE://0.0.0.0:9092 \\
--advertise-kafka-addr PLAINTEXT://127.0.0.1:29092,OUTSIDE://localhost:32771
"""
OF_FILE = ["external://localhost:32771", "internal://127.0.0.1:9093", "redpanda://redpanda:19092"]
OF_SCRIPT = ["PLAINTEXT://127.0.0.1:29092", "OUTSIDE://localhost:32771"]
NODE_SCRIPT = "#!/bin/bash\nrpk redpanda start --mode dev-container --smp=1 --memory=1G"
ENTRYPOINT = ("/entrypoint-tc.sh", "redpanda", "start", "--mode=dev-container", "--smp=1")
SHELL = ("-c", "while [ ! -f /testcontainers_start.sh ]; do sleep 0.1; done; /testcontainers_start.sh")
PYTHON_SHELL = (
    "-c",
    "while [ ! -f /var/lib/redpanda/tc-start.sh ]; do sleep 0.1; done; sh /var/lib/redpanda/tc-start.sh",
)
FILE, NODE_PATH, PYTHON_PATH = (
    "/etc/redpanda/redpanda.yaml",
    "/testcontainers_start.sh",
    "/var/lib/redpanda/tc-start.sh",
)
PACKAGED = "redpanda:\n  kafka_api: [{address: 0.0.0.0, port: 9092}]\n"


@pytest.mark.parametrize(
    ("words", "files", "advertised"),
    [
        (ENTRYPOINT, {FILE: REDPANDA_YAML}, OF_FILE),
        (ENTRYPOINT, {FILE: PACKAGED}, None),
        (ENTRYPOINT, {FILE: "# Injected by testcontainers\n["}, None),
        (SHELL, {NODE_PATH: NODE_SCRIPT, FILE: REDPANDA_YAML}, OF_FILE),
        (SHELL, {NODE_PATH: NODE_SCRIPT, FILE: PACKAGED}, None),
        (PYTHON_SHELL, {PYTHON_PATH: REDPANDA_SCRIPT, FILE: PACKAGED}, OF_SCRIPT),
        (PYTHON_SHELL, {FILE: PACKAGED}, None),
        (PYTHON_SHELL, {PYTHON_PATH: "rpk redpanda start 'unfinished"}, None),
    ],
)
def test_what_redpanda_advertises(words: tuple[str, ...], files: dict[str, str], advertised: list[str] | None) -> None:
    one = with_script(container(*words, image=REDPANDA), lambda path: files[path].encode() if path in files else None)
    assert runs_kafka(one)
    (broker,) = deployment(one).brokers
    assert broker.config.is_unknown("advertised.listeners") is (advertised is None)
    assert [str(entry.endpoint) for entry in broker.config.advertised_listeners] == (advertised or [])
    if advertised:
        assert {entry.endpoint.port for entry in broker.config.listeners} >= {9092}


def test_a_tool_of_redpanda_is_no_broker() -> None:
    assert not runs_kafka(container("-c", "rpk topic list", image=REDPANDA))


@pytest.mark.parametrize("flood", ["redpanda start {}", "{}redpanda start"])
def test_a_flood_of_words_and_lines_is_read_in_time(flood: str) -> None:
    def seconds(size: int) -> float:
        script = flood.format(("'a' " if flood.startswith("redpanda") else "x \\\n") * size)
        begin = time.perf_counter()
        assert redpanda_start(script)
        return time.perf_counter() - begin

    assert grows_linearly(seconds, 4_000, least=0.002)
