"""The packet that rules are asked about, and what they ask of the namespace beside it."""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from enum import Enum

from netdiag.values import dataclass


class ConnectionState(Enum):
    """How connection tracking sees the packet; the value is the word of nft and iptables, in small letters."""

    NEW = "new"
    ESTABLISHED = "established"
    RELATED = "related"
    INVALID = "invalid"
    UNTRACKED = "untracked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """One packet at one hook.

    `family` is 4 or 6, `protocol` "tcp", "udp", "icmp", "icmpv6" or a number as text. A port is None where it is not
    known yet (the port that the kernel will choose for a client). `in_link` and `out_link` are names of devices, ""
    where the hook has none; `in_port` and `out_port` the ports of a bridge that the packet came by and leaves by. An
    answer (`reply`) is established. `tcp_flags` None stands for SYN in the first packet of a connection, and is not
    known in others. `original_destination` is where the first packet of the connection went before it was translated,
    "" if it was not; `original_source` likewise.
    """

    family: int
    protocol: str
    source: str
    destination: str
    source_port: int | None = None
    destination_port: int | None = None
    in_link: str = ""
    out_link: str = ""
    in_port: str = ""
    out_port: str = ""
    state: ConnectionState = ConnectionState.NEW
    reply: bool = False
    tcp_flags: int | None = None
    mark: int | None = 0
    connection_mark: int | None = 0
    original_destination: str = ""
    original_destination_port: int | None = None
    original_source: str = ""
    original_source_port: int | None = None

    @property
    def dialled(self) -> "Packet":
        """The connection's first packet before any translation: its addresses and ports."""
        turned = (
            replace(
                self,
                source=self.destination,
                source_port=self.destination_port,
                destination=self.source,
                destination_port=self.source_port,
            )
            if self.reply
            else self
        )
        if self.original_source:
            turned = replace(turned, source=self.original_source, source_port=self.original_source_port)
        if self.original_destination:
            turned = replace(
                turned, destination=self.original_destination, destination_port=self.original_destination_port
            )
        return turned

    @property
    def destination_translated(self) -> bool:
        """Whether the connection is to somewhere else than its client dialled."""
        return bool(self.original_destination)

    @property
    def source_translated(self) -> bool:
        """Whether the connection is from somebody else than its server sees."""
        return bool(self.original_source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What rules ask of the namespace. What is not given is not known.

    `is_local` tells whether an address is one of the namespace's own. `address_of` is the address that a device would
    give as source, "" for none: MASQUERADE takes it, REDIRECT sends there. `ifindexes` are the devices by name.
    """

    is_local: Callable[[str], bool] | None = None
    address_of: Callable[[str], str] | None = None
    ifindexes: Mapping[str, int] = field(default_factory=dict)


NOWHERE = Surroundings()
