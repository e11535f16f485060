"""What the members of a cluster say to each other: every edge between brokers, controllers and ZooKeeper.

An edge is seen from inside the namespace of its source, which is why a cluster may look whole from every client and
still be cut.
"""

from dataclasses import dataclass
from enum import StrEnum

from netdiag.deployment.observations import Address, Contact


class EdgeKind(StrEnum):
    """What the source wants of the target; the value is the word users see.

    INTER_BROKER: replication and forwarded requests, to the endpoint that the target advertises on its inter-broker
    listener. CONTROLLER: the KRaft quorum, to an entry of controller.quorum.voters or bootstrap.servers. ZOOKEEPER: an
    entry of zookeeper.connect. COORDINATOR: a client, to the broker that coordinates a consumer group.
    """

    INTER_BROKER = "inter-broker"
    CONTROLLER = "controller"
    ZOOKEEPER = "zookeeper"
    COORDINATOR = "coordinator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One way of talking. `source` and `target` are member names, `target` "" where nobody shown has the address.

    `node_id` is who has to answer there, None where any answer will do.
    """

    kind: EdgeKind
    source: str
    target: str
    address: Address
    predicted: Contact | None = None
    observed: Contact | None = None
    node_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mesh:
    """All edges of what was looked at, by kind, source and target; `skipped` tells by source why it was not entered."""

    edges: tuple[Edge, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
