"""Names for the addresses in a capture, where somebody knows them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Named(NamedTuple):
    """What both ends of a connection are called; None where nobody knows."""

    client: str | None
    broker: str | None
    listener: str | None


NOBODY = Named(None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """`hosts`: name by address. `ports`: name and listener by address:port, which says more."""

    hosts: Mapping[str, str] = field(default_factory=dict)
    ports: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)

    def name(self, client: str, broker: str) -> Named:
        """The names of two ends, each address:port as the tables write it."""
        known = self.ports.get(broker)
        broker_name, listener = (self.hosts.get(_host(broker)), None) if known is None else known
        return Named(self.hosts.get(_host(client)), broker_name, listener)


NOWHERE = Places()


def _host(end: str) -> str:
    return end.rpartition(":")[0].strip("[]")
