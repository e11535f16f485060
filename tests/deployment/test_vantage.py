"""Where clients stand and what they try first."""

from netdiag.deployment.model.contact import Address
from netdiag.deployment.model.vantage import DOCKER_HOST, bootstraps, vantages
from tests.deployment.stacks import deployment_of, five_brokers


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
