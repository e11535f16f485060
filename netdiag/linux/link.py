"""A network device as rtnetlink(7) tells it (linux/if_link.h, linux/if.h)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

IFF_UP, IFF_LOOPBACK, IFF_RUNNING, IFF_PROMISC, IFF_LOWER_UP = 0x1, 0x8, 0x40, 0x100, 0x10000

# What JSON can hold, and nothing else: numbers, words, truth values, lists and tables of these.
Detail = None | bool | int | float | str | list["Detail"] | dict[str, "Detail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One device.

    `kind` is IFLA_INFO_KIND ("veth", "bridge"), empty for hardware and loopback. `type` is ARPHRD_*. `master` is the
    ifindex of the bridge, bond or VRF that it is a port of. `link` is IFLA_LINK: the peer of a veth, the parent of a
    vlan or macvlan, and of a vxlan the device below; None also where the kernel says 0, or the device itself, and means
    none. `link_netnsid` numbers the namespace of `link` as
    this namespace does, None where it is this one; -1 is one that has no number here. `details` are the kind's own
    facts (IFLA_INFO_DATA), `port` those as a port of its master (IFLA_INFO_SLAVE_DATA), both under the names that
    `ip -d -j link` gives them; `port_kind` is IFLA_INFO_SLAVE_KIND. `operstate` is the word of `ip` ("UP", "UNKNOWN",
    "LOWERLAYERDOWN"). `address` is the hardware address, empty where there is none. `undecoded` are attributes whose
    meaning is not known here, by number, as hexadecimal digits of at most 64 bytes.
    """

    ifindex: int
    ifname: str
    kind: str = ""
    type: int = 1
    flags: int = 0
    mtu: int = 0
    address: str = ""
    broadcast: str = ""
    operstate: str = "UNKNOWN"
    master: int | None = None
    link: int | None = None
    link_netnsid: int | None = None
    altnames: tuple[str, ...] = ()
    alias: str = ""
    qdisc: str = ""
    txqlen: int = 0
    group: int = 0
    details: Mapping[str, Detail] = field(default_factory=dict)
    port_kind: str = ""
    port: Mapping[str, Detail] = field(default_factory=dict)
    undecoded: Mapping[str, str] = field(default_factory=dict)

    @property
    def up(self) -> bool:
        """Whether somebody has switched it on."""
        return bool(self.flags & IFF_UP)

    @property
    def carrier(self) -> bool:
        """Whether the other end of the line is there."""
        return bool(self.flags & IFF_LOWER_UP)

    @property
    def loopback(self) -> bool:
        """Whether it is lo."""
        return bool(self.flags & IFF_LOOPBACK)
