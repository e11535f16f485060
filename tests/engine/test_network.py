"""Network documents as networks."""

from netdiag.engine.container import EngineNetwork, parse_network


def test_a_user_defined_bridge() -> None:
    document = {
        "Name": "held_kafka",
        "Id": "9d0a1c2b3e4f5566",
        "Driver": "bridge",
        "Internal": True,
        "IPAM": {"Config": [{"Subnet": "172.18.0.0/16", "Gateway": "172.18.0.1"}, {"Subnet": "fd00::/64"}]},
        "Options": {},
    }
    assert parse_network(document) == EngineNetwork(
        id="9d0a1c2b3e4f5566",
        name="held_kafka",
        driver="bridge",
        internal=True,
        subnets=("172.18.0.0/16", "fd00::/64"),
        gateways=("172.18.0.1",),
        default_bridge=False,
        bridge_name="br-9d0a1c2b3e4f",
    )


def test_the_default_bridge() -> None:
    options = {"com.docker.network.bridge.default_bridge": "true", "com.docker.network.bridge.name": "docker0"}
    network = parse_network({"Name": "bridge", "Id": "1", "Driver": "bridge", "Options": options})
    assert network.default_bridge
    assert network.bridge_name == "docker0"


def test_a_network_without_a_bridge() -> None:
    network = parse_network({"Name": "host", "Id": "2", "Driver": "host", "IPAM": {"Config": None}})
    assert network.bridge_name == ""
    assert network.subnets == ()


def test_a_gateway_with_a_prefix_length() -> None:
    document = {"IPAM": {"Config": [{"Gateway": "fd00::1/64"}]}}
    assert parse_network(document).gateways == ("fd00::1",)
