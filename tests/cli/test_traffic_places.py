"""A running deployment as names for the ends of connections."""

from netdiag.cli.traffic_places import places_of
from netdiag.deployment.sources.engine import from_engine
from tests.deployment.test_addresses import PUBLISHED
from tests.deployment.test_from_engine import attached, container, network


def test_ends_are_called_by_container_and_listener() -> None:
    made = container(networks=(attached("p_net", "172.18.0.5"),), ports=PUBLISHED)
    deployment = from_engine([made], [network("p_net")])
    (broker,) = deployment.brokers
    names = places_of(deployment)
    assert names.hosts["172.18.0.5"] == broker.name
    inside, outside = names.endpoints["172.18.0.5:9092"], names.endpoints["127.0.0.1:19092"]
    assert inside == outside
    assert inside[0] == broker.name
    assert inside[1] is not None
