"""Members, published ports and where properties point."""

import pytest

from netdiag.deployment.model.deployment import PublishedPort
from netdiag.findings import ContainerLocation, FileLocation
from tests.deployment.stacks import deployment_of, five_brokers


@pytest.mark.parametrize(
    ("host_ip", "everywhere", "loopback"),
    [
        ("", True, True),
        ("0.0.0.0", True, True),
        ("::", True, True),
        ("127.0.0.1", False, True),
        ("10.0.0.1", False, False),
    ],
)
def test_where_a_port_is_offered(host_ip: str, everywhere: bool, loopback: bool) -> None:
    port = PublishedPort(target=1, published=1, host_ip=host_ip, protocol="tcp", where=ContainerLocation(container="c"))
    assert (port.on_all_addresses, port.on_loopback) == (everywhere, loopback)


def test_only_brokers_with_a_configuration_are_configured() -> None:
    text = five_brokers().replace(
        "      KAFKA_BROKER_ID: 4\n      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181\n", "      KAFKA_BROKER_ID: 4\n"
    )
    deployment = deployment_of(text)
    assert [b.name for b in deployment.configured] == ["broker-1", "broker-2", "broker-3", "broker-5"]
    assert deployment.broker("broker-4") is not None
    assert deployment.broker("nobody") is None
    assert [m.name for m in deployment.members][-1] == "zookeeper"


def test_a_derived_property_points_at_the_whole_of_its_source_and_cannot_be_edited() -> None:
    text = five_brokers()
    text = "\n".join(line for line in text.splitlines() if "KAFKA_LISTENERS" not in line)
    broker = deployment_of(text).brokers[0]
    place = broker.place("listeners", 3, 5)
    assert isinstance(place, FileLocation)
    assert text.encode()[place.start : place.end].startswith(b"INTERNAL://broker-1")
    assert broker.edit("listeners", 3, 5, "x") == ()
    assert broker.member.on("kafka") is not None
    assert broker.member.on("nowhere") is None
