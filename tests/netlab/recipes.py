"""What a namespace of a lab gets beside its veth: a kind of device, or names that nobody would choose.

Lines are those of `ip -batch`; `eth0` is there and up. A recipe whose lines the kernel refuses is lacking here.
"""

import subprocess
from dataclasses import dataclass
from functools import cache

_UNTRUSTED = ("e\x1b[31mx", "a<b>&\"'", "$(id)`x`", "\\u0000&amp;", "[red]x", "日本語")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """`kinds` are those of IFLA_INFO_KIND that it makes, `forwarding` lines of `bridge -batch`, `words` whole argvs."""

    name: str
    kinds: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    forwarding: tuple[str, ...] = ()
    words: tuple[tuple[str | bytes, ...], ...] = ()


RECIPES = (
    Recipe(
        name="bridge",
        kinds=("bridge", "veth"),
        lines=(
            "link add br0 type bridge stp_state 1 forward_delay 300 ageing_time 60000 priority 4096 group_fwd_mask 8",
            "link add p1 type veth peer name q1",
            "link add p2 mtu 1400 type veth peer name q2",
            "link add p3 type veth peer name q3",
            "link set p1 master br0 up",
            "link set p2 master br0 up",
            "link set p3 master br0",
            "link set p1 type bridge_slave hairpin on isolated on cost 7 priority 5",
            "link set p2 type bridge_slave learning off flood off mcast_flood off guard on root_block on",
            "link set q1 up",
            "link set br0 up",
            "link add br1 type bridge mcast_snooping 0 nf_call_iptables 1",
            "address add 172.31.0.1/16 dev br1",
            "link set br1 group 7 txqueuelen 77 alias backbone",
        ),
        forwarding=(
            "fdb add 02:00:00:00:00:01 dev p1 master static",
            "fdb add 02:00:00:00:00:02 dev p2 master permanent",
            "fdb add 02:00:00:00:00:03 dev p1 self permanent",
            "fdb add 02:00:00:00:00:04 dev br0 self",
        ),
    ),
    Recipe(
        name="bridge VLANs",
        kinds=("bridge",),
        lines=(
            "link add brv type bridge vlan_filtering 1 vlan_default_pvid 5",
            "link add w1 type veth peer name x1",
            "link add w2 type veth peer name x2",
            "link set w1 master brv up",
            "link set w2 master brv up",
            "link set brv up",
        ),
        forwarding=(
            "vlan add dev w1 vid 10 pvid untagged",
            "vlan add dev w1 vid 20-29",
            "vlan add dev w2 vid 4094 untagged",
            "vlan add dev brv vid 10 self",
            "fdb add 02:00:00:00:00:05 dev w1 master static vlan 20",
        ),
    ),
    Recipe(
        name="macvlan",
        kinds=("macvlan",),
        lines=(
            "link add mv0 link eth0 type macvlan mode bridge",
            "link add mv1 link eth0 type macvlan mode private",
            "link add mv2 link eth0 type macvlan mode source macaddr set 02:00:00:00:01:01 02:00:00:00:01:02",
            "link add mv3 link eth0 type macvlan mode vepa bcqueuelen 500",
            "address add 10.66.0.5/16 dev mv0",
            "link set mv0 up",
        ),
    ),
    Recipe(
        name="macvtap",
        kinds=("macvtap",),
        lines=("link add mt0 link eth0 type macvtap mode bridge", "link set mt0 up"),
    ),
    Recipe(
        name="vxlan",
        kinds=("vxlan",),
        lines=(
            "link add vx0 type vxlan id 42 dstport 4789 remote 10.64.0.9 local 10.64.0.8 dev eth0 ttl 9 tos 0x10",
            "link add vx1 type vxlan id 43 dstport 8472 group 239.1.1.1 dev eth0 srcport 40000 50000 ageing 77",
            "link add vx2 type vxlan id 44 dstport 4790 nolearning proxy rsc l2miss l3miss maxaddress 99 noudpcsum",
            "link add vx3 type vxlan external dstport 4791",
            "link add vx4 type vxlan id 45 dstport 4792 remote fd00:64::9 df set",
            "link set vx0 up",
        ),
        forwarding=(
            "fdb append 00:00:00:00:00:00 dev vx0 dst 10.64.0.10",
            "fdb append 02:00:00:00:02:01 dev vx0 dst 10.64.0.11 port 4444 vni 99 via eth0",
            "fdb add 02:00:00:00:02:02 dev vx4 dst fd00:64::5",
        ),
    ),
    Recipe(
        name="tun and tap",
        kinds=("tun",),
        lines=(
            "tuntap add tap0 mode tap user 65534",
            "tuntap add tap1 mode tap multi_queue vnet_hdr",
            "tuntap add tun0 mode tun pi group 65534",
            "address add 10.67.0.1 peer 10.67.0.2 dev tun0",
            "link set tun0 up",
            "link set tap0 up",
        ),
    ),
    Recipe(name="ifb", kinds=("ifb",), lines=("link add ifb7 type ifb", "link set ifb7 up")),
    Recipe(
        name="names",
        lines=(
            "link add first type veth peer name second",
            "link set first name renamed",
            "link property add dev renamed altname another altname a.third-name_that_is_longer_than_fifteen",
            "link set second alias peer-of-renamed",
            "link set renamed up",
            "link set second up",
        ),
    ),
    Recipe(
        name="hostile names",
        words=(
            *(("link", "add", name, "type", "veth") for name in _UNTRUSTED),
            ("link", "add", b"\xff\xfe\x80", "type", "veth"),
            ("link", "set", _UNTRUSTED[0], "alias", "</script>\x1b]0;x\x07\r\nsecond line"),
            ("link", "property", "add", "dev", _UNTRUSTED[1], "altname", "\x1b[2J" + "x" * 100),
        ),
    ),
    Recipe(
        name="dummy",
        kinds=("dummy",),
        lines=("link add dm0 type dummy", "address add 10.68.0.1/24 dev dm0", "link set dm0 up"),
    ),
    Recipe(
        name="vlan",
        kinds=("vlan",),
        lines=(
            "link add vl100 link eth0 type vlan id 100 egress-qos-map 1:2 3:4 ingress-qos-map 5:6",
            "link add vl200 link eth0 type vlan id 200 protocol 802.1ad reorder_hdr off gvrp on",
            "address add 10.69.0.1/24 dev vl100",
            "link set vl100 up",
        ),
    ),
    Recipe(
        name="bond",
        kinds=("bond",),
        lines=(
            "link add bd0 type bond mode active-backup miimon 100 updelay 200 downdelay 300",
            "link add bp1 type veth peer name bq1",
            "link add bp2 type veth peer name bq2",
            "link set bp1 master bd0",
            "link set bp2 master bd0",
            "link set bq1 up",
            "link set bq2 up",
            "link set bd0 up",
            "link add bd1 type bond mode 802.3ad lacp_rate fast xmit_hash_policy layer3+4 min_links 1 ad_select count",
            "link add bd2 type bond mode balance-rr arp_interval 500 arp_ip_target 10.64.0.1,10.64.0.2",
        ),
    ),
    Recipe(
        name="bond in LACP",
        kinds=("bond",),
        lines=(
            "link add bl0 type bond mode 802.3ad",
            "link add lp1 type veth peer name lq1",
            "link set lp1 master bl0",
            "link set lq1 up",
            "link set bl0 up",
        ),
    ),
    Recipe(
        name="ipvlan",
        kinds=("ipvlan",),
        lines=(
            # no device can be below both an ipvlan and a macvlan
            "link add iu0 type veth peer name iu1",
            "link add iv0 link iu0 type ipvlan mode l3 bridge",
            "link add iv1 link iu0 type ipvlan mode l3 private",
            "link set iv0 up",
        ),
    ),
    Recipe(
        name="ipvtap",
        kinds=("ipvtap",),
        lines=("link add is0 type veth peer name is1", "link add it0 link is0 type ipvtap mode l2"),
    ),
    Recipe(
        name="wireguard",
        kinds=("wireguard",),
        lines=("link add wg0 type wireguard", "address add 10.70.0.1/24 dev wg0", "link set wg0 up"),
    ),
    Recipe(
        name="netkit",
        kinds=("netkit",),
        lines=(
            "link add nk0 type netkit mode l3 forward peer name nk1",
            "link set nk0 up",
            "link set nk1 up",
        ),
        # a second one in the same batch is refused by iproute2 6.15, which remembers the mode of the first
        words=(
            ("link", "add", "nk2", "type", "netkit", "mode", "l2", "blackhole", "peer", "blackhole", "name", "nk3"),
        ),
    ),
    Recipe(
        name="vrf",
        kinds=("vrf",),
        lines=(
            "link add vrf0 type vrf table 777",
            "link add vp1 type veth peer name vq1",
            "link set vp1 master vrf0",
            "address add 10.71.0.1/24 dev vp1",
            "link set vrf0 up",
            "link set vp1 up",
            "link set vq1 up",
        ),
    ),
    Recipe(
        name="gre",
        kinds=("gre", "gretap", "erspan"),
        lines=(
            "link add gr1 type gre local 10.64.0.8 remote 10.64.0.9 ikey 5 okey 6 icsum ocsum ttl 64 tos 0x10 dev eth0",
            "link add gt1 type gretap remote 10.64.0.9 nopmtudisc",
            "link add er1 type erspan seq key 7 local 10.64.0.8 remote 10.64.0.9 erspan_ver 1 erspan 123",
            "link add er2 type erspan seq key 8 local 10.64.0.8 remote 10.64.0.9 erspan_ver 2 erspan_dir egress "
            "erspan_hwid 5",
            "link set gr1 up",
        ),
    ),
    Recipe(
        name="gre over IPv6",
        kinds=("ip6gre", "ip6gretap"),
        lines=(
            "link add gs1 type ip6gre local fd00:64::8 remote fd00:64::9 key 5 tclass 0x12 flowlabel 0x5 hoplimit 9",
            "link add gs2 type ip6gretap remote fd00:64::9 encaplimit none",
        ),
    ),
    Recipe(
        name="ipip",
        kinds=("ipip",),
        lines=(
            "link add ii1 type ipip local 10.64.0.8 remote 10.64.0.9 ttl 9 dev eth0",
            "link add ii2 type ipip external mode any",
            "link set ii1 up",
        ),
    ),
    Recipe(
        name="sit",
        kinds=("sit",),
        lines=("link add si1 type sit local 10.64.0.8 remote 10.64.0.9 ttl 9", "link set si1 up"),
    ),
    Recipe(
        name="ip6tnl",
        kinds=("ip6tnl",),
        lines=("link add i61 type ip6tnl local fd00:64::8 remote fd00:64::9 mode ipip6 hoplimit 5 encaplimit 3",),
    ),
    Recipe(
        name="vti",
        kinds=("vti",),
        lines=("link add vt1 type vti local 10.64.0.8 remote 10.64.0.9 ikey 4 okey 5",),
    ),
    Recipe(
        name="geneve",
        kinds=("geneve",),
        lines=(
            "link add gn0 type geneve id 9 remote 10.64.0.9 dstport 6081 ttl 5 tos 0x10",
            "link add gn1 type geneve id 10 remote fd00:64::9 dstport 6082 udp6zerocsumrx",
            "link add gn2 type geneve external dstport 6083",
            "link set gn0 up",
        ),
    ),
    Recipe(
        name="nexthops",
        lines=(
            "nexthop add id 7 via 10.64.0.2 dev eth0",
            "nexthop add id 8 via 10.64.0.3 dev eth0",
            "nexthop add id 9 group 7,3/8",
            "nexthop add id 10 blackhole",
            "route add 10.90.0.0/16 nhid 7",
            "route add 10.91.0.0/16 nhid 9",
        ),
    ),
    Recipe(
        name="encapsulating routes",
        lines=(
            "route add 10.92.0.0/16 encap mpls 100/200 via 10.64.0.2 dev eth0",
            "route add 10.93.0.0/16 encap ip id 30 dst 10.64.0.5 via 10.64.0.2 dev eth0",
            "route add 10.94.0.0/16 nexthop encap mpls 300 via 10.64.0.2 dev eth0 nexthop via 10.64.0.3 dev eth0",
        ),
    ),
    Recipe(name="nlmon", kinds=("nlmon",), lines=("link add nm0 type nlmon", "link set nm0 up")),
    Recipe(name="team", kinds=("team",), lines=("link add tm0 type team",)),
    Recipe(
        name="macsec",
        kinds=("macsec",),
        lines=("link add mu0 type veth peer name mu1", "link add ms0 link mu0 type macsec"),
    ),
)


@cache
def available() -> tuple[tuple[Recipe, ...], tuple[Recipe, ...]]:
    """Those that this kernel can make, and those that it lacks; each is tried in a namespace that ends with the try."""
    able: list[Recipe] = []
    lacking: list[Recipe] = []
    for recipe in RECIPES:
        (able if tried(recipe) else lacking).append(recipe)
    return tuple(able), tuple(lacking)


def script(recipe: Recipe) -> str:
    """What makes it for itself, for a shell in an empty namespace."""
    return "\n".join(
        (
            "set -e",
            "ip link set lo up",
            "ip link add eth0 type veth peer name eth1",
            "ip link set eth0 up",
            "ip link set eth1 up",
            "ip address add 10.64.0.8/16 dev eth0",
            "ip address add fd00:64::8/64 dev eth0 nodad",
            *(f"ip {line}" for line in recipe.lines),
            *(f"bridge {line}" for line in recipe.forwarding),
        )
    )


def tried(recipe: Recipe) -> bool:
    """Whether every line of it is taken."""
    done = subprocess.run(["unshare", "--net", "sh", "-c", script(recipe)], capture_output=True, timeout=60)
    return done.returncode == 0
