"""The image behind an image: declared facts, Dockerfiles and services that are built from them."""

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.config import ExternalNetwork, Facts
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Unknown
from netdiag.deployment.prediction.client_namespace import Undeclared, resolve
from netdiag.deployment.sources.compose import from_compose, runs_kafka
from netdiag.deployment.sources.images import BuildStage, image_behind, read_dockerfile, with_images
from netdiag.findings import FileLocation, Severity
from netdiag.kafka.images.families import Sign
from netdiag.rules.declared import check_deployment


def read(text: str, *, target: str | None = None, **args: str | None) -> BuildStage:
    made = read_dockerfile(Source("Dockerfile", text), args, target)
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM a/b:1", "a/b:1"),
        ("# syntax=x\nfrom a/b:1\n", "a/b:1"),
        ("FROM --platform=linux/amd64 a/b:1 AS x", "a/b:1"),
        ("ARG T=1\nFROM a/b:$T", "a/b:1"),
        ("ARG T=1\nFROM a/b:${T}", "a/b:1"),
        ("FROM a/b:${T:-9}", "a/b:9"),
        ("FROM a/b:$T", None),
        ("ARG T\nFROM a/b:$T", None),
        ("ARG T=1\nARG I=a/b:$T\nFROM $I", "a/b:$T"),
        ("FROM a/b:1 AS one\nFROM c/d:2\nCOPY --from=one /x /y", "c/d:2"),
        ("FROM a/b:1 AS one\nFROM one", "a/b:1"),
        ("FROM \\\n  a/b:1\n", "a/b:1"),
    ],
)
def test_the_image_below(text: str, expected: str | None) -> None:
    image = read(text).image
    assert (image.value if image else None) == expected


def test_build_arguments_win_over_defaults() -> None:
    image = read("ARG T=1\nFROM a/b:$T", T="2").image
    assert image is not None
    assert image.value == "a/b:2"


def test_a_target_is_the_stage_that_is_built() -> None:
    text = "FROM a/b:1 AS one\nENV A=1\nFROM c/d:2 AS two\n"
    made = read(text, target="one")
    assert made.image is not None
    assert (made.image.value, made.environment["A"].value) == ("a/b:1", "1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ENV A=b", {"A": "b"}),
        ("ENV A b c", {"A": "b c"}),
        ('ENV A="b c" D=e', {"A": "b c", "D": "e"}),
        ("ENV A='b' \\\n  # note\n  D=e\\ f", {"A": "b", "D": "e f"}),
        ("ARG X=1\nENV A=$X B=${Y:-2}", {"A": "1", "B": "2"}),
        ("ENV A=1\nENV B=$A", {"A": "1", "B": "1"}),
        ("ENV A=$NOBODY", {}),
        ("ENV A=1\nENV A=$A$NOBODY", {"A": "1"}),
    ],
)
def test_environment(text: str, expected: dict[str, str]) -> None:
    assert {name: value.value for name, value in read(f"FROM a\n{text}\n").environment.items()} == expected


def test_a_value_that_doubles_itself_is_given_up() -> None:
    value = read("FROM a\nENV A=xx\n" + "ENV A=$A$A\n" * 900).environment["A"].value
    assert set(value) == {"x"}
    assert len(value) <= 16 * 1024


def test_a_value_knows_its_place() -> None:
    value = read("FROM a\nENV A=1 \\\n    B=kafka:9092\n").environment["B"]
    span = value.span_of(0, 5)
    assert (span.path, span.line, span.column) == ("Dockerfile", 3, 7)
    assert value.edit_span(6, 10) is not None


def test_what_is_started() -> None:
    made = read('FROM a\nCMD ["old"]\nENTRYPOINT ["run", "x"]\n')
    assert (made.entrypoint, made.command) == (("run", "x"), ())
    assert read("FROM a\nCMD run x").command == ("/bin/sh", "-c", "run x")
    assert read("FROM a").command is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("COPY server.properties /opt/x", True),
        ("RUN sed -i s/a/b/ /etc/kafka/kafka.properties", True),
        ("ADD redpanda.yaml /etc/redpanda/", True),
        ("COPY entrypoint.sh /", True),
        ("RUN apt-get install -y jq", False),
        ("COPY plugins /usr/share/java", False),
    ],
)
def test_changes_of_the_brokers_files(line: str, expected: bool) -> None:
    assert read(f"FROM a\n{line}").is_changed is expected


@pytest.mark.parametrize("data", [b"FROM \xff", b"x" * 300_000])
def test_what_is_no_dockerfile(data: bytes) -> None:
    assert read_dockerfile(Source("Dockerfile", data), {}) is None


def test_nothing_is_built_without_a_stage() -> None:
    assert read_dockerfile(Source("Dockerfile", "RUN x"), {}) is None


FROM = "ARG TAG=6.0.0\nFROM confluentinc/cp-kafka:$TAG\n"
ADVERTISED = "ENV KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://kafka:9092\n"


def deployment(dockerfile: str, build: str = "./k", more: str = "") -> Deployment:
    text = (
        "name: t\nservices:\n  zk: {image: 'confluentinc/cp-zookeeper:7.9.2'}\n"
        f"  kafka:\n    build: {build}\n    ports: ['9092:9092']\n{more}"
        "    environment: {KAFKA_ZOOKEEPER_CONNECT: 'zk:2181'}\n"
    )
    files = {"k/Dockerfile": dockerfile.encode(), "k/own": dockerfile.encode()}
    return from_compose(load(Source("compose.yml", text)), read=files.get)


@pytest.mark.parametrize(
    ("build", "image"),
    [
        ("./k", "confluentinc/cp-kafka:6.0.0"),
        ("{context: k}", "confluentinc/cp-kafka:6.0.0"),
        ("{context: k, dockerfile: own}", "confluentinc/cp-kafka:6.0.0"),
        ("{context: k, args: {TAG: 7.9.2}}", "confluentinc/cp-kafka:7.9.2"),
        ("{context: k, args: [TAG=7.9.2]}", "confluentinc/cp-kafka:7.9.2"),
    ],
)
def test_the_image_is_the_one_below(build: str, image: str) -> None:
    (broker,) = deployment(FROM + ADVERTISED, build).brokers
    assert broker.member.image == image


@pytest.mark.parametrize(
    ("dockerfile", "build", "more"),
    [
        (FROM, "https://example.org/repo.git", ""),
        (FROM, "{context: elsewhere}", ""),
        (FROM, "{context: k, dockerfile_inline: 'FROM x'}", ""),
        ("FROM ubuntu", "./k", ""),
        ("FROM confluentinc/cp-kafka:$T", "./k", ""),
        (FROM + 'CMD ["./own-start.sh"]', "./k", ""),
        (FROM, "./k", "    command: sleep infinity\n"),
    ],
)
def test_of_others_nothing_is_known(dockerfile: str, build: str, more: str) -> None:
    made = deployment(dockerfile, build, more)
    # Its port and its ZooKeeper tell of a broker, if it is not a job.
    assert [(broker.sign, broker.is_partial) for broker in made.brokers] == ([] if more else [(Sign.PORT, True)])
    assert [finding.rule for finding in check_deployment(made)] == ([] if more else ["broker-assumed"])


def test_env_lies_beneath_the_services_variables_and_is_pointed_at() -> None:
    (finding,) = check_deployment(deployment(FROM + ADVERTISED))
    assert finding.rule == "advertised-internal-name-for-host"
    assert isinstance(finding.location, FileLocation)
    assert (finding.location.path, finding.location.line) == ("k/Dockerfile", 3)


def test_a_changed_configuration_is_unknown() -> None:
    made = deployment(FROM + ADVERTISED + "COPY server.properties /etc/kafka/\n")
    assert [broker.is_partial for broker in made.brokers] == [True]
    assert check_deployment(made) == ()


def test_redpanda_with_an_entrypoint_of_its_own() -> None:
    (broker,) = deployment(
        'FROM redpandadata/redpanda:v24.2.4\nCMD ["redpanda","start","--kafka-addr","a://0.0.0.0:1"]'
    ).brokers
    assert [str(entry.endpoint) for entry in broker.config.listeners] == ["a://0.0.0.0:1"]


OWN = {"reg:5000/k": "confluentinc/cp-kafka", "reg:5000/k:x": "apache/kafka:4.0.0", "plain": "apache/kafka:3.9.1"}


@pytest.mark.parametrize(
    ("image", "behind"),
    [
        ("reg:5000/k:7.9.2", "confluentinc/cp-kafka:7.9.2"),
        ("reg:5000/k", "confluentinc/cp-kafka"),
        ("reg:5000/k:x", "apache/kafka:4.0.0"),
        ("reg:5000/k:7.9.2@sha256:00", "confluentinc/cp-kafka:7.9.2"),
        ("plain:anything", "apache/kafka:3.9.1"),
        ("other/plain", None),
        ("reg:5000", None),
    ],
)
def test_images(image: str, behind: str | None) -> None:
    assert image_behind(image, OWN) == behind


STACK = """\
services:
  kafka:
    image: plain:1
    networks: [out]
    environment:
      KAFKA_ZOOKEEPER_CONNECT: {zookeeper}:2181
  app:
    image: app
    networks: [out]
    environment: {{KAFKA_BOOTSTRAP_SERVERS: "{bootstrap}:9092"}}
networks:
  out: {{external: true, name: company}}
"""


def deployment_with(facts: Facts, **names: str) -> Deployment:
    text = STACK.format(**{"zookeeper": "zk", "bootstrap": "kafka", **names})
    return from_compose(with_images(load(Source("c.yml", text)), facts.images), facts=facts)


def test_a_broker_of_ones_own_is_one() -> None:
    assert deployment_with(Facts()).brokers == ()
    (broker,) = deployment_with(Facts(images=OWN)).brokers
    assert broker.member.image == "apache/kafka:3.9.1"


def test_the_value_keeps_its_place_and_cannot_be_edited_as_if_it_stood_there() -> None:
    project = with_images(load(Source("c.yml", STACK.format(zookeeper="z", bootstrap="k"))), OWN)
    image = project.services["kafka"].image
    assert image is not None
    assert (image.span.line, image.edit_span(0, 5)) == (3, None)
    assert runs_kafka(project.services["kafka"])


@pytest.mark.parametrize(
    ("networks", "kind"),
    [
        ({}, Unknown),
        ({"out": ExternalNetwork()}, Unknown),
        ({"out": ExternalNetwork(members=("db",))}, Undeclared),
        ({"company": ExternalNetwork(members=())}, Undeclared),
        ({"other": ExternalNetwork(members=())}, Unknown),
        ({"out": ExternalNetwork(members=("db", "zk"))}, Unknown),
    ],
)
def test_who_is_on_an_external_network(networks: dict[str, ExternalNetwork], kind: type) -> None:
    found = deployment_with(Facts(external_networks=networks))
    vantage = Vantage(kind=VantageKind.CONTAINER, label="x", networks=("out",))
    assert type(resolve(found, vantage, "zk")) is kind


def test_the_subnets_of_an_external_network() -> None:
    facts = Facts(external_networks={"company": ExternalNetwork(subnets=("10.9.0.0/16",))})
    assert deployment_with(facts).networks["out"].subnets == ("10.9.0.0/16",)


@pytest.mark.parametrize(("desktop", "severities"), [(None, [Severity.WARNING]), (True, []), (False, [Severity.ERROR])])
def test_docker_desktop_knows_the_host(desktop: bool | None, severities: list[Severity]) -> None:
    found = check_deployment(
        deployment_with(Facts(docker_desktop=desktop, images=OWN), bootstrap="host.docker.internal")
    )
    assert [f.severity for f in found if f.rule == "host-alias-portability"] == severities
