"""What files say of services, with the places."""

from netdiag.deployment.sources.declared_services import (
    DeclaredService,
    DeclaredServices,
    DeclaredText,
    declared_services,
)
from tests.deployment.stacks import project_of

FILE = """\
name: shop
services:
  kafka:
    image: apache/kafka:3.9.0
    networks: [inner, outer]
    ports: ["127.0.0.1:9093:9092", "9094"]
    environment: {KAFKA_NODE_ID: 1, FROM_OUTSIDE: }
  job:
    build: .
    network_mode: host
  plain:
    image: alpine
networks:
  inner:
  outer: {name: shared}
"""


def test_a_service_as_it_is_compared() -> None:
    kafka = declared_services(project_of(FILE))["kafka"]
    assert kafka.is_broker
    assert kafka.image is not None
    assert (kafka.image.value, kafka.image.where and kafka.image.where.line) == ("apache/kafka:3.9.0", 4)
    assert {name: text.value for name, text in kafka.environment.items()} == {"KAFKA_NODE_ID": "1"}
    assert [(p.target, p.published, p.host_ip, p.where and p.where.line) for p in kafka.ports] == [
        (9092, 9093, "127.0.0.1", 6),
        (9094, None, "", 6),
    ]
    assert list(kafka.networks) == ["shop_inner", "shared"]


def test_networks_are_called_as_the_project_that_runs() -> None:
    services = declared_services(project_of(FILE), "other")
    assert list(services["kafka"].networks) == ["other_inner", "shared"]
    assert list(services["plain"].networks) == ["other_default"]
    assert (services["job"].networks, services["job"].network_mode, services["job"].is_built) == ({}, "host", True)


def test_the_environment_is_not_shown_with_the_service() -> None:
    service = DeclaredService(name="kafka", where=None, environment={"A": DeclaredText(value="hunter2")})
    assert "hunter2" not in repr(DeclaredServices(services={"kafka": service}))
