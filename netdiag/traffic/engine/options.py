"""What the engine is asked to do."""

from dataclasses import dataclass

from netdiag.traffic.places import NOWHERE, Places
from netdiag.traffic.tables import NAMES


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """Which rows are wanted, of which connections.

    `tables`: those to fill. `flow_class` (k, n): only connections whose number is k modulo n, so that n engines over
    the same packets share the work and give every row once. `ports`: only connections with one of these ports; empty
    means every TCP connection that turns out to speak Kafka. `clients`: client.id, address or address:port of the
    client. `brokers`: address or address:port of the broker. `topics`: names.
    Empty filters let everything through. `places`: what addresses are called.
    """

    tables: frozenset[str] = frozenset(NAMES)
    flow_class: tuple[int, int] = (0, 1)
    ports: frozenset[int] = frozenset()
    clients: frozenset[str] = frozenset()
    brokers: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    places: Places = NOWHERE
    max_connections: int = 200_000
