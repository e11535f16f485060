"""A network as `GET /networks` tells it."""

from netdiag.engine.document import flag, sequence, text
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineNetwork:
    """One network. `bridge_name` is the interface on the docker host, where the engine says which.

    `parent` is the interface that a macvlan or ipvlan network stands on.
    `icc` is false where the containers on it are not to reach each other (com.docker.network.bridge.enable_icc),
    `gateway_mode` is that of IPv4 where one was chosen (com.docker.network.bridge.gateway_mode_ipv4,
    engine 27 and newer).
    """

    id: str
    name: str
    driver: str
    internal: bool
    subnets: tuple[str, ...]
    gateways: tuple[str, ...]
    default_bridge: bool
    bridge_name: str
    parent: str = ""
    icc: bool = True
    gateway_mode: str = ""
    ipv6: bool = False


def parse_network(document: object) -> EngineNetwork:
    """The network of one document; networks without a driver's bridge have an empty `bridge_name`."""
    pools = sequence(document, "IPAM", "Config")
    identifier, driver = text(document, "Id"), text(document, "Driver")
    named = text(document, "Options", "com.docker.network.bridge.name")
    return EngineNetwork(
        id=identifier,
        name=text(document, "Name"),
        driver=driver,
        internal=flag(document, "Internal"),
        subnets=tuple(subnet for pool in pools if (subnet := text(pool, "Subnet"))),
        # libnetwork appends the prefix length to some gateways.
        gateways=tuple(gateway.partition("/")[0] for pool in pools if (gateway := text(pool, "Gateway"))),
        default_bridge=text(document, "Options", "com.docker.network.bridge.default_bridge") == "true",
        bridge_name=named or (f"br-{identifier[:12]}" if driver == "bridge" and identifier else ""),
        parent=_parent(document, driver, identifier),
        icc=text(document, "Options", "com.docker.network.bridge.enable_icc").lower() != "false",
        gateway_mode=text(document, "Options", "com.docker.network.bridge.gateway_mode_ipv4"),
        ipv6=flag(document, "EnableIPv6"),
    )


def _parent(document: object, driver: str, identifier: str) -> str:
    """The one that was asked for; without one the engine makes a dummy of its own."""
    own = {"macvlan": "dm", "ipvlan": "di"}.get(driver)
    if own is None:
        return ""
    return text(document, "Options", "parent") or (f"{own}-{identifier[:12]}" if identifier else "")
