"""Compose services as members: names, modes, ports, and values that know their place."""

from netdiag.deployment.model.deployment import NetworkMode
from netdiag.findings import FileLocation
from tests.deployment.stacks import deployment_of

TEXT = """\
name: shop
services:
  kafka:
    image: apache/kafka:3.9.1
    container_name: the-kafka
    hostname: broker
    networks:
      zone: {aliases: [k]}
      area:
    ports: ["127.0.0.1:19092:9092", "9093"]
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_LISTENERS: "A://0.0.0.0:9092"
  tool:
    image: apache/kafka:3.9.1
    command: kafka-topics.sh --list
  starter:
    image: confluentinc/cp-kafka:7.9.2
    command: /etc/confluent/docker/run
  app:
    image: shop/app
    environment: [KAFKA_BROKERS=the-kafka:9092, OTHER=kafka:1]
  side:
    image: shop/side
    network_mode: service:kafka
networks:
  zone:
  area: {internal: true}
"""


def test_only_services_that_start_a_broker_are_brokers() -> None:
    deployment = deployment_of(TEXT)
    assert [b.name for b in deployment.brokers] == ["kafka", "starter"]
    assert [m.name for m in deployment.others] == ["tool", "app", "side"]


def test_names_and_order_of_attachments() -> None:
    kafka = deployment_of(TEXT).brokers[0].member
    assert [a.network for a in kafka.attachments] == ["zone", "area"]  # the internal network comes last
    assert kafka.attachments[0].names == ("kafka", "the-kafka", "broker", "k")
    assert kafka.attachments[1].names == ("kafka", "the-kafka", "broker")
    assert kafka.hostnames == ("broker",)


def test_ports() -> None:
    first, second = deployment_of(TEXT).brokers[0].member.published
    assert (first.host_ip, first.published, first.target) == ("127.0.0.1", 19092, 9092)
    assert first.on_loopback
    assert not first.on_all_addresses
    assert (second.published, second.target) == (None, 9093)


def test_dependents_and_shared_namespaces() -> None:
    deployment = deployment_of(TEXT)
    (app,) = deployment.clients
    assert (app.member.name, [(a.host, a.port) for a in app.bootstraps]) == ("app", [("the-kafka", 9092)])
    side = next(m for m in deployment.others if m.name == "side")
    assert (side.mode, side.shares_with) == (NetworkMode.SHARED, "kafka")


def test_a_property_points_at_its_bytes_and_can_be_edited_there() -> None:
    broker = deployment_of(TEXT).brokers[0]
    (entry,) = broker.config.listeners
    place = broker.place("listeners", entry.host_start, entry.host_end)
    assert isinstance(place, FileLocation)
    assert TEXT.encode()[place.start : place.end] == b"0.0.0.0"
    assert (place.line, place.column) == (13, 29)
    (edit,) = broker.edit("listeners", entry.host_start, entry.host_end, "")
    assert (edit.start, edit.end, edit.replacement) == (place.start, place.end, "")


def test_a_property_that_nobody_wrote_points_at_the_service() -> None:
    broker = deployment_of(TEXT).brokers[0]
    place = broker.place("advertised.listeners")
    assert isinstance(place, FileLocation)
    assert (place.line, place.column) == (3, 3)
    assert broker.edit("advertised.listeners", 0, 1, "x") == ()
