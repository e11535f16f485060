"""What the engine is asked to do."""

from dataclasses import dataclass

from netdiag.traffic.places import NOWHERE, Places
from netdiag.traffic.tables import NAMES, PAYLOAD_NAMES


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """Which rows are wanted, of which connections.

    `tables`: those to fill. `flow_class` (k, n): only connections whose number is k modulo n, so that n engines over
    the same packets share the work and give every row once. `ports`: only connections with one of these ports; empty
    means every TCP connection that turns out to speak Kafka. `clients`: client.id, address or address:port of the
    client. `brokers`: address or address:port of the broker. `topics`: names.
    `payloads`: keys and values may be stored; without it the table `records` cannot be asked for.
    `all_sightings`: a connection that is seen at several places is told once for each of them.
    `lasting`: the state can be stored, see `Engine.save`.
    Empty filters let everything through. `places`: what addresses are called.
    `max_connections`: so many are held open at a time, about 10 kB each; the silent ones are let go first.
    """

    tables: frozenset[str] = frozenset(NAMES)
    flow_class: tuple[int, int] = (0, 1)
    ports: frozenset[int] = frozenset()
    clients: frozenset[str] = frozenset()
    brokers: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    places: Places = NOWHERE
    max_connections: int = 50_000
    payloads: bool = False
    all_sightings: bool = False
    lasting: bool = False

    def __post_init__(self) -> None:
        if not self.payloads and not self.tables.isdisjoint(PAYLOAD_NAMES):
            raise ValueError("keys and values are stored only where payloads are asked for")
