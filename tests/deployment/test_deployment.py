"""Members and their ports, the vantages of a deployment, and engines that filter alike."""

import pytest

from netdiag.deployment.model.deployment import Generation, PublishedPort, generation_of
from netdiag.deployment.model.vantage import DOCKER_HOST, bootstraps, vantages
from netdiag.deployment.model.verdict import Address
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
    # What broker-3 misses leaves its listeners known; what broker-4 gives, its image refuses.
    text = five_brokers().replace("      KAFKA_BROKER_ID: 3\n      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181\n", "")
    text = text.replace("      KAFKA_BROKER_ID: 4\n", "      KAFKA_BROKER_ID: 4\n      KAFKA_ADVERTISED_PORT: 9\n")
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


def test_vantages_of_the_reference_cluster() -> None:
    labels = [v.label for v in vantages(deployment_of(five_brokers()))]
    assert labels == [
        "docker host",
        *(f"inside broker-{n}" for n in range(1, 6)),
        "container on kafka",
        "container elsewhere",
        "LAN machine",
    ]


def test_nobody_stands_inside_a_broker_that_is_down() -> None:
    labels = [v.label for v in vantages(deployment_of(five_brokers()).with_down({"broker-2"}))]
    assert "inside broker-2" not in labels
    assert "inside broker-1" in labels


def test_bootstraps_are_what_people_try() -> None:
    found = bootstraps(deployment_of(five_brokers()))
    for host, port in [
        ("broker-1", 29092),
        ("broker-5", 9095),
        ("localhost", 9093),
        ("localhost", 29092),
        (DOCKER_HOST, 9091),
    ]:
        assert Address(host=host, port=port) in found
    assert len(found) == len(set(found)) == 5 + 5 + 5 + 1 + 5


def test_the_declared_address_of_the_docker_host_is_used() -> None:
    found = bootstraps(deployment_of(five_brokers(), host_addresses=("192.168.8.133",)))
    assert Address(host="192.168.8.133", port=9091) in found


def test_hostile_ports_are_not_tried() -> None:
    deployment = deployment_of(five_brokers().replace("localhost:9091", "localhost:99999"))
    assert all(0 < address.port < 65536 for address in bootstraps(deployment))


@pytest.mark.parametrize(
    ("release", "generation"),
    [
        ("20.10.24+dfsg1", Generation.V20),
        ("27.5.1", Generation.V20),
        ("28.5.2", Generation.V28),
        ("29.7.2", Generation.V29),
        ("31.0.0-rc.1", Generation.V29),
        ("dev", None),
        ("", None),
    ],
)
def test_a_release_tells_how_the_engine_filters(release: str, generation: Generation | None) -> None:
    assert generation_of(release) is generation
