"""A kernel joined with whatever an engine may say: no exception, and nothing that refers to nothing."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from netdiag.deployment.from_engine import from_engine
from netdiag.engine.container import parse_container
from netdiag.engine.network import parse_network
from netdiag.topology.join import join
from netdiag.topology.names import names_on, resolve
from netdiag.topology.selection import narrow
from tests.topology.five_brokers import machine
from tests.topology.spaces import ROOT

INVENTORY = machine().inventory()
IDS = st.sampled_from(["", "a" * 64, "b" * 64, "c" * 64, "0001" * 16, "x y"])
NAMES = st.sampled_from(["", "/web", "/host", "/lan", "/netns:lan", "/shop-broker-1-1", "/\x1b[31m</svg>"])
NETWORKS = st.sampled_from(["", "shop_kafka", "bridge", "host", "none", "<b>"])
ADDRESSES = st.sampled_from(
    ["", "172.18.0.2", "172.18.0.3", "172.18.0.256", "fd00::1", "FD00:0::1", "nonsense", "0.0.0.0"]
)
PORTS = st.sampled_from(["9091/tcp", "9091/udp", "1/sctp", "x/tcp", "99999999999/tcp", "9091", ""])
HOST_PORTS = st.sampled_from(["9091", "9092", "", "0", "-1", "8000-8010", "99999999999", "x"])


def mapped(keys: st.SearchStrategy[str], values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(keys, values, max_size=3)


BINDINGS = mapped(
    PORTS, st.none() | st.lists(st.fixed_dictionaries({"HostIp": ADDRESSES, "HostPort": HOST_PORTS}), max_size=2)
)
CONTAINERS = st.fixed_dictionaries(
    {
        "Id": IDS,
        "Name": NAMES,
        "State": st.fixed_dictionaries(
            {
                "Status": st.sampled_from(["running", "paused", "exited", "new"]),
                "Pid": st.sampled_from([0, -1, 1, 5010, 5020, 2**70]),
            }
        ),
        "Config": st.fixed_dictionaries(
            {
                "Image": st.sampled_from(["apache/kafka:3.9.1", "x", ""]),
                "Cmd": st.just(["/etc/kafka/docker/run"]),
                "Env": st.lists(
                    st.sampled_from(
                        ["KAFKA_NODE_ID=1", "KAFKA_PROCESS_ROLES=broker", "KAFKA_LISTENERS=A://:9091,A://:1,:::9"]
                    ),
                    max_size=3,
                ),
                "Labels": mapped(st.just("com.docker.compose.service"), st.sampled_from(["web", ""])),
            }
        ),
        "HostConfig": st.fixed_dictionaries(
            {
                "NetworkMode": st.sampled_from(
                    ["host", "none", "", "bridge", "container:", "container:" + "a" * 64, "container:web"]
                ),
                "PortBindings": BINDINGS,
                "PublishAllPorts": st.booleans(),
            }
        ),
        "NetworkSettings": st.fixed_dictionaries(
            {
                "Ports": BINDINGS,
                "Networks": mapped(
                    NETWORKS,
                    st.fixed_dictionaries(
                        {
                            "NetworkID": st.sampled_from(["", "02" * 32, "gone"]),
                            "IPAddress": ADDRESSES,
                            "GlobalIPv6Address": ADDRESSES,
                            "Aliases": st.none() | st.lists(st.sampled_from(["", "web", "WEB"]), max_size=2),
                        }
                    ),
                ),
            }
        ),
    }
)
NETWORK_DOCUMENTS = st.fixed_dictionaries(
    {
        "Id": st.sampled_from(["", "02" * 32, "03" * 32]),
        "Name": NETWORKS,
        "Driver": st.sampled_from(["bridge", "macvlan", "host", "null", "overlay", ""]),
        "IPAM": st.fixed_dictionaries(
            {"Config": st.none() | st.lists(st.fixed_dictionaries({"Subnet": ADDRESSES}), max_size=2)}
        ),
        "Options": mapped(
            st.sampled_from(["com.docker.network.bridge.name", "com.docker.network.bridge.default_bridge", "parent"]),
            st.sampled_from(["docker0", "true", "eth0", ""]),
        ),
    }
)


@settings(max_examples=100)
@given(
    documents=st.lists(CONTAINERS, max_size=4),
    others=st.lists(NETWORK_DOCUMENTS, max_size=3),
    host=st.sampled_from([None, ROOT, 1]),
)
def test_whatever_an_engine_says(documents: list[Any], others: list[Any], host: int | None) -> None:
    containers = [parse_container(document) for document in documents]
    networks = [parse_network(document) for document in others]
    topology = join(
        INVENTORY,
        containers=containers,
        networks=networks,
        deployment=from_engine(containers, networks),
        docker_host=host,
    )
    assert len({place.name for place in topology.places}) == len(INVENTORY.namespaces)
    assert len({port.key for port in topology.published}) == len(topology.published)
    known = {identifier for place in topology.places for identifier in place.containers}
    assert known <= set(topology.containers)
    for view in topology.networks:
        said = {address for addresses in names_on(topology, view).values() for address in addresses}
        endpoints = (e for m in view.members for e in topology.containers[m.container].networks)
        assert said <= {address for endpoint in endpoints for address in endpoint.addresses}
        for at in (view.bridge, *(end for member in view.members for end in (member.inside, member.port))):
            assert at is None or INVENTORY.link(at) is not None
    for place in topology.places:
        resolve(topology, place.netns, "web", "")
    for container in topology.containers.values():
        if container.name:
            narrowed = narrow(topology, containers=[container.name])
            assert container.id in narrowed.containers
