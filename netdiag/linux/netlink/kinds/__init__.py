"""What the kinds of devices say of themselves, by the names of `ip -d -j link` (linux/if_link.h, linux/if_tunnel.h).

A kind that is in neither table is told by its name; its facts stay undecoded.
"""

from collections.abc import Mapping

from netdiag.linux.netlink.kinds.bond import BOND, BOND_PORT
from netdiag.linux.netlink.kinds.bridge import BRIDGE, BRIDGE_PORT
from netdiag.linux.netlink.kinds.overlay import GENEVE, VXLAN
from netdiag.linux.netlink.kinds.stacked import IPVLAN, MACVLAN, NETKIT, VLAN, VRF, VRF_PORT
from netdiag.linux.netlink.kinds.tun import TUN
from netdiag.linux.netlink.kinds.tunnels import GRE, GRE6, IP6TNL, IPIP, VTI
from netdiag.linux.netlink.readers import Fields

KINDS: Mapping[str, Fields] = {
    "bond": BOND,
    "bridge": BRIDGE,
    "erspan": GRE,
    "geneve": GENEVE,
    "gre": GRE,
    "gretap": GRE,
    "ip6erspan": GRE6,
    "ip6gre": GRE6,
    "ip6gretap": GRE6,
    "ip6tnl": IP6TNL,
    "ipip": IPIP,
    "ipvlan": IPVLAN,
    "ipvtap": IPVLAN,
    "macvlan": MACVLAN,
    "macvtap": MACVLAN,
    "netkit": NETKIT,
    "sit": IPIP,
    "tun": TUN,
    "vlan": VLAN,
    "vrf": VRF,
    "vti": VTI,
    "vti6": VTI,
    "vxlan": VXLAN,
}
PORTS: Mapping[str, Fields] = {"bond": BOND_PORT, "bridge": BRIDGE_PORT, "vrf": VRF_PORT}
