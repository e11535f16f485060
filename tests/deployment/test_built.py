"""Services that are built in the project are judged by the image below them; of others nothing is known."""

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.sources.compose import from_compose
from netdiag.findings import FileLocation
from netdiag.rules.declared import check_deployment

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
    assert made.brokers == ()
    assert check_deployment(made) == ()


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
