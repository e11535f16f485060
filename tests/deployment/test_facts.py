"""Images behind images, and what declared facts change in the model."""

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.config.document import ExternalNetwork, Facts
from netdiag.deployment.model.contact import Failed, Unknown
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.prediction.client_namespace import resolve
from netdiag.deployment.sources.compose import from_compose, runs_kafka
from netdiag.deployment.sources.images import image_behind, with_images
from netdiag.findings import Severity
from netdiag.rules.declared import check_deployment

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


def deployment(facts: Facts, **names: str) -> Deployment:
    text = STACK.format(**{"zookeeper": "zk", "bootstrap": "kafka", **names})
    return from_compose(with_images(load(Source("c.yml", text)), facts.images), facts=facts)


def test_a_broker_of_ones_own_is_one() -> None:
    assert deployment(Facts()).brokers == ()
    (broker,) = deployment(Facts(images=OWN)).brokers
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
        ({"out": ExternalNetwork(members=("db",))}, Failed),
        ({"company": ExternalNetwork(members=())}, Failed),
        ({"other": ExternalNetwork(members=())}, Unknown),
        ({"out": ExternalNetwork(members=("db", "zk"))}, Unknown),
    ],
)
def test_who_is_on_an_external_network(networks: dict[str, ExternalNetwork], kind: type) -> None:
    found = deployment(Facts(external_networks=networks))
    vantage = Vantage(kind=VantageKind.CONTAINER, label="x", networks=("out",))
    assert isinstance(resolve(found, vantage, "zk"), kind)


def test_the_subnets_of_an_external_network() -> None:
    facts = Facts(external_networks={"company": ExternalNetwork(subnets=("10.9.0.0/16",))})
    assert deployment(facts).networks["out"].subnets == ("10.9.0.0/16",)


@pytest.mark.parametrize(("desktop", "severities"), [(None, [Severity.WARNING]), (True, []), (False, [Severity.ERROR])])
def test_docker_desktop_knows_the_host(desktop: bool | None, severities: list[Severity]) -> None:
    found = check_deployment(deployment(Facts(docker_desktop=desktop, images=OWN), bootstrap="host.docker.internal"))
    assert [f.severity for f in found if f.rule == "host-alias-portability"] == severities
