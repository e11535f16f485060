"""The join of what the kernel has with what the engine and Kafka's configuration say.

Each part is a module of its own: places, cables, networks, published ports, Kafka listeners. Nothing is judged here;
what has no counterpart is kept, and named.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from netdiag.engine.container import Container
from netdiag.engine.network import EngineNetwork
from netdiag.topology.cables import cables, without_end
from netdiag.topology.graph import Topology
from netdiag.topology.inventory import Inventory
from netdiag.topology.kafka_listeners import kafka_listeners
from netdiag.topology.known import Known
from netdiag.topology.naming import Naming
from netdiag.topology.networks import network_views
from netdiag.topology.places import HOST, places, unseen
from netdiag.topology.published import published_ports

if TYPE_CHECKING:
    from netdiag.deployment.member import Deployment


def join(
    inventory: Inventory,
    *,
    containers: Iterable[Container] = (),
    networks: Iterable[EngineNetwork] = (),
    deployment: "Deployment | None" = None,
    docker_host: int | None = None,
    engine: str = "",
    userland_proxy: bool | None = None,
) -> Topology:
    """Everything joined.

    `docker_host` is the namespace of the engine that was asked, None without an engine on this kernel; then nothing
    that the engine says is looked for in the inventory. Containers without a process are kept, and are in no place.
    """
    everything = tuple(networks)
    known = Known(inventory=inventory, containers={c.id: c for c in containers}, host=docker_host)
    named = places(known)
    naming = Naming(known, named)
    views = network_views(known, naming, everything)
    ports = published_ports(known, naming, everything)
    listeners = kafka_listeners(known, naming, deployment, ports.published)
    return Topology(
        inventory=inventory,
        places=named,
        cables=cables(known),
        networks=views.views,
        published=ports.published,
        listeners=listeners.listeners,
        unmatched=(
            *unseen(known, naming),
            *without_end(known, naming),
            *views.unmatched,
            *ports.unmatched,
            *listeners.unmatched,
        ),
        host=HOST if docker_host in inventory.namespaces else "",
        engine=engine,
        userland_proxy=userland_proxy,
        containers=known.containers,
        deployment=deployment,
    )
