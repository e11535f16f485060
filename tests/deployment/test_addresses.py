"""Which member an address is, and which listener a port."""

from netdiag.deployment.prediction.listener_access import (
    DOCKER_HOST,
    ListeningAddress,
    listening_addresses,
    names_by_address,
)
from netdiag.deployment.sources.engine import from_engine
from netdiag.engine.container import PortBinding
from tests.deployment.test_from_engine import attached, container, network

PUBLISHED = (PortBinding(target=9092, protocol="tcp", host_ip="0.0.0.0", published=19092),)


def test_addresses_are_called_by_their_member() -> None:
    deployment = from_engine([container(networks=(attached("p_net", "172.18.0.5"),))], [network("p_net")])
    assert names_by_address(deployment)["172.18.0.5"] == deployment.brokers[0].name


def test_gateways_and_its_own_addresses_are_the_docker_host() -> None:
    deployment = from_engine([container()], [network("p_net")], host_addresses=("192.168.8.133",))
    names = names_by_address(deployment)
    assert names["192.168.8.133"] == DOCKER_HOST
    assert all(names[gateway] == DOCKER_HOST for gateway in deployment.networks["p_net"].gateways)


def test_an_address_of_two_members_is_nobodys() -> None:
    twins = [
        container("one", id="1" * 64, networks=(attached("p_net", "172.18.0.5"),)),
        container("two", id="2" * 64, networks=(attached("p_net", "172.18.0.5"),)),
    ]
    assert "172.18.0.5" not in names_by_address(from_engine(twins, [network("p_net")]))


def test_a_listener_is_found_on_the_network_and_where_it_is_published() -> None:
    made = container(networks=(attached("p_net", "172.18.0.5"),), ports=PUBLISHED)
    deployment = from_engine([made], [network("p_net")], host_addresses=("192.168.8.133",))
    (broker,) = deployment.brokers
    found = set(listening_addresses(deployment))
    name = {entry.endpoint.port: entry.endpoint.listener for entry in broker.config.listeners}[9092]
    for address in ("127.0.0.1", "192.168.8.133"):
        assert ListeningAddress(address=address, port=19092, broker=broker.name, listener=name, published=True) in found
    inside = ListeningAddress(address="172.18.0.5", port=9092, broker=broker.name, listener=name, published=False)
    assert inside in found
