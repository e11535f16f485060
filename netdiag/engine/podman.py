"""What Podman tells otherwise than Docker: `/version` and `/info` of its Docker API, and networks of its own API.

The Docker API of Podman 4.3 tells neither the device of a network nor whether other networks are kept out, and calls
the network "podman" "bridge" in the list of networks only. So networks are read from `NETWORKS_PATH`.
Sources: podman, pkg/api/handlers/compat; containers/common, libnetwork/types/network.go (Network).
"""

from netdiag.engine.container import EngineNetwork, flag, mapping, sequence, text
from netdiag.patterns import regex

NETWORKS_PATH = "/v4.0.0/libpod/networks/json"
# What an answer of status 500 says of a container that goes away just then.
GONE = b"no such container"
_PAUSE_IMAGE = regex(r"(?:localhost/)?podman-pause:.*")
_LABEL_OF_DOCKER_COMPOSE = "com.docker.compose.version"


def is_podman(document: object) -> bool:
    """Whether an answer to /version, or to /info, is Podman's."""
    named = any(text(one, "Name") == "Podman Engine" for one in sequence(document, "Components"))
    return named or bool(text(document, "BuildahVersion"))


def is_infra(image: str) -> bool:
    """Whether a container does nothing but hold the namespaces of a pod, by its image."""
    return _PAUSE_IMAGE.fullmatch(image) is not None


def parse_podman_network(document: object) -> EngineNetwork:
    """The network of one document; `isolated` is None where only the release of netavark would tell."""
    driver, device = text(document, "driver"), text(document, "network_interface")
    pools = sequence(document, "subnets")
    is_bridge = driver == "bridge"
    return EngineNetwork(
        id=text(document, "id"),
        name=text(document, "name"),
        driver=driver,
        internal=flag(document, "internal"),
        subnets=tuple(subnet for pool in pools if (subnet := text(pool, "subnet"))),
        gateways=tuple(gateway for pool in pools if (gateway := text(pool, "gateway"))),
        # What matters about Docker's default bridge is that names do not resolve there.
        default_bridge=is_bridge and not flag(document, "dns_enabled"),
        bridge_name=device if is_bridge else "",
        parent="" if is_bridge else device,
        ipv6=flag(document, "ipv6_enabled"),
        isolated=_is_isolated(document),
    )


def _is_isolated(document: object) -> bool | None:
    """The Docker API creates networks that keep each other's containers out; `podman network create` did not."""
    said = text(document, "options", "isolate")
    if said:
        return said != "false"
    return True if _LABEL_OF_DOCKER_COMPOSE in mapping(document, "labels") else None
