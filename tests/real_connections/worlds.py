"""The small worlds: routes, rules, bridges, routers, sockets, macvlans, IPv6.

FILTERED are those with packet filters: drops and rejects at every hook, NAT there and back, bridged frames, both
makes.
"""

from tests.real_connections.building import Asked, Listening, World, bridge, on_bridge, pair

_ON = "echo 1 > /proc/sys/net/ipv4/ip_forward"
_ON6 = "echo 1 > /proc/sys/net/ipv6/conf/all/forwarding"


def _targets(text: str) -> tuple[tuple[str, int], ...]:
    """ "10.0.0.1:80 [::1]:80" as pairs."""
    parts = (word.rpartition(":") for word in text.split())
    return tuple((host.strip("[]"), int(port)) for host, _, port in parts)


def asked(sources: str, targets: str) -> Asked:
    """From each of these to each of those."""
    return Asked(sources=tuple(sources.split()), targets=_targets(targets))


ROUTES = World(
    name="routes",
    spaces=("a", "r", "s", "b"),
    script=(
        *pair("a eth0 10.0.0.1/24 10.0.5.1/24", "r a0 10.0.0.254/24"),
        *pair("a eth1 10.1.0.1/24", "s a1 10.1.0.254/24"),
        *pair("r b0 10.2.0.254/24", "b eth0 10.2.0.1/24"),
        *pair("s b0 10.3.0.254/24", "b eth1 10.3.0.1/24"),
        f"r: {_ON}",
        f"s: {_ON}",
        "b: ip addr add 10.9.0.1/32 dev lo; ip addr add 10.9.1.1/32 dev lo; ip addr add 10.9.2.1/32 dev lo",
        "b: ip addr add 10.9.3.1/32 dev lo; ip addr add 10.9.4.1/32 dev lo; ip addr add 10.9.5.1/32 dev lo",
        "b: ip route add 10.0.0.0/24 via 10.2.0.254; ip route add 10.1.0.0/24 via 10.3.0.254",
        "r: ip route add 10.9.0.0/16 via 10.2.0.1; ip route add 10.66.0.0/16 via 10.2.0.77",
        "s: ip route add 10.9.0.0/16 via 10.3.0.1",
        "r: ip route add unreachable 10.50.0.0/16; ip route add prohibit 10.51.0.0/16",
        "r: ip route add blackhole 10.52.0.0/16",
        "a: ip route add 10.9.0.0/16 via 10.0.0.254 metric 10; ip route add 10.9.0.0/16 via 10.1.0.254 metric 5",
        "a: ip route add 10.9.1.0/24 via 10.0.0.254; ip route add 10.9.2.0/24 via 10.0.0.254 src 10.0.5.1",
        "a: ip route add unreachable 10.40.0.0/16; ip route add prohibit 10.41.0.0/16",
        "a: ip route add blackhole 10.42.0.0/16; ip route add throw 10.43.0.0/16",
        "a: ip route add 10.44.0.0/16 via 10.0.0.77; ip route add 10.48.0.0/12 via 10.0.0.254",
        "a: ip route add 10.66.0.0/16 via 10.0.0.254; ip route add 10.67.0.0/16 dev eth0",
        "a: ip route add 10.2.0.0/24 via 10.0.0.254; ip route add 10.3.0.0/24 via 10.1.0.254",
        "a: ip route add default via 10.0.0.254 table 100; ip rule add to 10.9.3.0/24 lookup 100 pref 50",
        "a: ip rule add dport 9999 ipproto tcp unreachable pref 60; ip rule add to 10.9.4.1 prohibit pref 61",
        "a: ip rule add to 10.9.5.1 blackhole pref 62; ip rule add from 10.0.5.1 to 10.9.1.1 lookup 101 pref 63",
        "a: ip route add 10.9.1.1 via 10.0.0.77 table 101; ip rule add fwmark 7 unreachable pref 64",
        "a: ip rule add iif eth0 unreachable pref 65; ip rule add not to 10.0.0.0/8 lookup 102 pref 66",
        "a: ip route add 192.0.2.0/24 via 10.0.0.254 table 102; ip rule add iif lo to 10.46.0.0/16 prohibit pref 67",
        "a: ip rule add goto 32766 to 10.9.6.0/24 pref 40; ip rule add to 10.9.6.0/24 prohibit pref 68",
        "b: ip addr add 10.9.6.1/32 dev lo",
    ),
    listening=(Listening(space="b", address="0.0.0.0", port=9092), Listening(space="a", address="0.0.0.0", port=9092)),
    asked=(
        asked(
            "a",
            "10.0.0.1:9092 10.0.0.1:1 127.0.0.1:9092 127.9.9.9:9092 127.0.0.1:1 10.9.0.1:9092 10.9.0.1:1 10.9.1.1:9092 "
            "10.9.2.1:9092 10.9.3.1:9092 10.9.0.1:9999 10.9.4.1:9092 10.9.5.1:9092 10.40.0.1:9092 10.41.0.1:9092 "
            "10.42.0.1:9092 10.43.0.1:9092 10.44.0.1:9092 10.50.0.1:9092 10.51.0.1:9092 10.52.0.1:9092 10.53.0.1:9092 "
            "10.66.0.1:9092 10.67.0.1:9092 10.2.0.1:9092 10.2.0.77:9092 10.3.0.1:9092 10.0.0.254:9092 10.0.0.77:1 "
            "192.0.2.1:9092 203.0.113.1:9092 10.46.0.1:9092 10.9.6.1:9092 10.0.0.255:9092 0.0.0.0:9092 224.0.0.5:9092",
        ),
        asked("b", "10.0.0.1:9092 10.0.5.1:9092 10.1.0.1:9092 10.0.0.254:9092 10.1.0.254:1 10.9.0.1:9092 8.8.8.8:1"),
        asked("r", "10.0.0.1:9092 10.0.5.1:9092 10.9.0.1:9092 10.3.0.1:9092 10.50.0.1:1 10.51.0.1:1 10.52.0.1:1"),
        asked("s", "10.1.0.1:9092 10.9.0.1:9092 10.2.0.1:9092 10.1.0.33:9092"),
    ),
)

BRIDGES = World(
    name="bridges",
    spaces=("h", "a", "b", "c", "d", "e", "f"),
    script=(
        *bridge("h", "br0", "10.0.0.254/24"),
        *(line for n, m in enumerate("abcdef", 1) for line in on_bridge(m, "h", "br0", f"10.0.0.{n}/24")),
        "h: bridge link set dev toa isolated on; bridge link set dev tob isolated on",
        "h: bridge link set dev tod state 4",
        "e: ip link set eth0 down",
        "f: ip addr add 10.7.0.6/32 dev lo",
        "a: ip route add 10.7.0.0/24 dev eth0",
        "c: ip neigh add 10.0.0.2 lladdr 02:dd:dd:dd:dd:dd dev eth0 nud permanent",
        "c: ip neigh add 10.0.0.66 lladdr 02:dd:dd:dd:dd:ee dev eth0 nud permanent",
        "h: bridge fdb add 02:dd:dd:dd:dd:ee dev toa master static",
        "b: ip neigh add 10.0.0.6 lladdr 02:dd:dd:dd:dd:aa dev eth0 nud permanent",
    ),
    listening=tuple(Listening(space=m, address="0.0.0.0", port=9092) for m in "habcdef"),
    asked=(
        asked(
            "h a b c d e f",
            "10.0.0.1:9092 10.0.0.2:9092 10.0.0.3:9092 10.0.0.4:9092 10.0.0.5:9092 10.0.0.6:9092 10.0.0.254:9092 "
            "10.0.0.3:1",
        ),
        asked("a", "10.7.0.6:9092 10.7.0.7:9092"),
        asked("c", "10.0.0.66:9092"),
    ),
    tools=("ip", "bridge"),
)

ROUTERS = World(
    name="routers",
    spaces=("a", "r", "b", "n", "c", "l"),
    script=(
        *pair("a eth0 10.0.0.1/24", "r a0 10.0.0.254/24"),
        *pair("r b0 10.1.0.254/24", "b eth0 10.1.0.1/24"),
        *pair("a eth1 10.2.0.1/24", "n a0 10.2.0.254/24"),
        *pair("n c0 10.3.0.254/24", "c eth0 10.3.0.1/24"),
        f"r: {_ON}",
        "a: ip route add 10.1.0.0/24 via 10.0.0.254; ip route add 10.3.0.0/24 via 10.2.0.254",
        "a: ip route add 10.88.0.0/16 via 10.0.0.254; ip route add 10.77.0.0/16 via 10.2.0.254",
        # c knows the way back, its router does not route; b believes nobody it would not answer by the same device
        "c: ip route add default via 10.3.0.254",
        "b: ip route add 10.0.0.0/25 via 10.1.0.254; echo 1 > /proc/sys/net/ipv4/conf/all/rp_filter",
        "a: ip addr add 10.0.0.200/24 dev eth0; ip route add 10.1.0.5 via 10.0.0.254 src 10.0.0.200",
        "b: ip addr add 10.1.0.5/24 dev eth0",
        "r: echo 1 > /proc/sys/net/ipv4/conf/all/rp_filter; ip addr add 10.60.0.1/32 dev lo",
        "a: ip addr add 10.61.0.1/32 dev lo; ip route add 10.60.0.1 via 10.0.0.254 src 10.61.0.1",
        "l: ip link set lo down; ip link add eth0 type veth peer name eth1",
        "l: ip addr add 10.4.0.1/24 dev eth0; ip link set eth0 up; ip link set eth1 up",
    ),
    listening=tuple(Listening(space=m, address="0.0.0.0", port=9092) for m in "arbncl"),
    asked=(
        asked(
            "a", "10.1.0.1:9092 10.1.0.1:1 10.1.0.5:9092 10.1.0.9:9092 10.3.0.1:9092 10.2.0.254:9092 10.3.0.254:9092"
        ),
        asked("a", "10.88.0.1:9092 10.77.0.1:9092 10.60.0.1:9092 10.1.0.254:9092 10.1.0.254:1"),
        asked("b", "10.0.0.1:9092 10.0.0.200:9092 10.0.0.254:9092 10.2.0.1:9092"),
        asked("c", "10.3.0.254:9092 10.2.0.1:9092 10.2.0.254:9092 10.99.0.1:1"),
        asked("l", "127.0.0.1:9092 10.4.0.1:9092 10.4.0.2:9092"),
    ),
)

SOCKETS = World(
    name="sockets",
    spaces=("a", "b"),
    script=(
        *pair("a eth0 10.0.0.1/24 fd00::1/64", "b eth0 10.0.0.2/24 fd00::2/64"),
        *pair("a eth1 10.1.0.1/24", "b eth1 10.1.0.2/24"),
        "b: ip addr add 10.0.0.3/24 dev eth0",
    ),
    listening=(
        Listening(space="b", address="0.0.0.0", port=1000),
        Listening(space="b", address="127.0.0.1", port=1001),
        Listening(space="b", address="10.0.0.2", port=1002),
        Listening(space="b", address="::", port=1003),
        Listening(space="b", address="::", port=1004, v6only=True),
        Listening(space="b", address="::1", port=1005),
        Listening(space="b", address="fd00::2", port=1006),
        Listening(space="b", address="0.0.0.0", port=1007, device="eth1"),
        Listening(space="b", address="::ffff:10.0.0.3", port=1008),
    ),
    asked=(
        asked("a b", " ".join(f"10.0.0.2:{port}" for port in range(1000, 1010))),
        asked("a b", " ".join(f"10.0.0.3:{port}" for port in (1000, 1002, 1003, 1008))),
        asked("a b", " ".join(f"10.1.0.2:{port}" for port in (1000, 1002, 1007))),
        asked("a b", " ".join(f"[fd00::2]:{port}" for port in (1000, 1003, 1004, 1005, 1006))),
        asked("b", " ".join(f"127.0.0.1:{port}" for port in range(1000, 1008))),
        asked("b", " ".join(f"[::1]:{port}" for port in range(1000, 1008))),
    ),
)

MACVLANS = World(
    name="macvlans",
    spaces=("h", "lan", "a", "b", "p"),
    script=(
        *pair("h eth0 10.0.0.254/24", "lan eth0 10.0.0.9/24"),
        "ip -n {h} link add link eth0 name mva type macvlan mode bridge",
        "ip -n {h} link add link eth0 name mvb type macvlan mode bridge",
        "ip -n {h} link set mva netns {a} name eth0; ip -n {h} link set mvb netns {b} name eth0",
        "a: ip addr add 10.0.0.1/24 dev eth0; ip link set eth0 up",
        "b: ip addr add 10.0.0.2/24 dev eth0; ip link set eth0 up",
        *pair("h eth1 10.1.0.254/24", "lan eth1 10.1.0.9/24"),
        "ip -n {h} link add link eth1 name mvp type macvlan mode private",
        "ip -n {h} link set mvp netns {p} name eth0",
        "p: ip addr add 10.1.0.1/24 dev eth0; ip link set eth0 up",
    ),
    listening=tuple(Listening(space=m, address="0.0.0.0", port=9092) for m in ("h", "lan", "a", "b", "p")),
    asked=(
        asked("h lan a b", "10.0.0.1:9092 10.0.0.2:9092 10.0.0.9:9092 10.0.0.254:9092 10.0.0.2:1"),
        asked("h lan p", "10.1.0.1:9092 10.1.0.9:9092 10.1.0.254:9092"),
    ),
)

IPV6 = World(
    name="six",
    spaces=("a", "r", "b", "d"),
    script=(
        *pair("a eth0 fd00::1/64", "r a0 fd00::254/64"),
        *pair("r b0 fd01::254/64", "b eth0 fd01::1/64"),
        *pair("a eth1 10.0.0.1/24", "d eth0 10.0.0.2/24"),
        f"r: {_ON6}",
        "a: ip -6 route add fd01::/64 via fd00::254; ip -6 route add fd09::/64 via fd00::254",
        "a: ip -6 route add unreachable fd08::/64; ip -6 route add blackhole fd07::/64",
        "a: ip -6 route add prohibit fd06::/64",
        "b: ip -6 route add default via fd01::254",
        "r: ip -6 route add unreachable fd0a::/64; ip -6 route add prohibit fd0b::/64",
        "a: ip -6 route add fd0a::/64 via fd00::254; ip -6 route add fd0b::/64 via fd00::254",
        "d: echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6",
    ),
    listening=tuple(Listening(space=m, address="::", port=9092) for m in "arb"),
    asked=(
        asked("a", "[::1]:9092 [::1]:1 [fd00::1]:9092 [fd00::254]:9092 [fd00::99]:9092 [fd01::1]:9092 [fd01::1]:1"),
        asked(
            "a", "[fd01::99]:9092 [fd09::1]:1 [fd08::1]:1 [fd07::1]:1 [fd06::1]:1 [fd0a::1]:1 [fd0b::1]:1 [fd0c::1]:1"
        ),
        asked("b", "[fd00::1]:9092 [fd01::254]:9092 [fd00::254]:9092 [fd05::1]:9092"),
        asked("d", "[::1]:9092 [fd00::1]:9092 10.0.0.1:9092 10.0.0.1:1"),
    ),
)

WORLDS = (ROUTES, BRIDGES, ROUTERS, SOCKETS, MACVLANS, IPV6)


# Short for what the scripts below would repeat.
_SHORT = {
    " DNAT ": " -j DNAT --to-destination ",
    " TO-SELF ": " -m addrtype --dst-type LOCAL ",
    "OLDNAT ": "iptables-legacy -t nat -A ",
    " NAT ": " iptables-nft -t nat -A ",
}
_TOOLS = ("ip", "iptables-nft", "ip6tables-nft", "nft")

# a and c are clients of b, beyond the router r.
_THREE = (
    *pair("a eth0 10.0.0.1/24", "r a0 10.0.0.254/24"),
    *pair("r b0 10.1.0.254/24", "b eth0 10.1.0.1/24"),
    *pair("r c0 10.2.0.254/24", "c eth0 10.2.0.1/24"),
    "a: ip route add default via 10.0.0.254",
    "b: ip route add default via 10.1.0.254",
    "c: ip route add default via 10.2.0.254",
    f"r: {_ON}",
)


def _spelled(*lines: str) -> tuple[str, ...]:
    """Lines of a script, written out."""
    for short, long in _SHORT.items():
        lines = tuple(line.replace(short, long) for line in lines)
    return lines


def _listening(spaces: str, ports: range) -> tuple[Listening, ...]:
    return tuple(Listening(space=space, address="0.0.0.0", port=port) for space in spaces.split() for port in ports)


_REJECTS = ("icmp-port-unreachable", "icmp-host-unreachable", "icmp-net-unreachable", "icmp-admin-prohibited")

IPTABLES = World(
    name="iptables",
    spaces=("a", "r", "b", "c"),
    script=_spelled(
        *_THREE,
        "b: iptables-nft -A INPUT -p tcp --dport 1000 -j DROP",
        "b: iptables-nft -A INPUT -p tcp --dport 1001 -j REJECT --reject-with tcp-reset",
        *(
            f"b: iptables-nft -A INPUT -p tcp --dport {port} -j REJECT --reject-with {kind}"
            for port, kind in enumerate(_REJECTS, 1002)
        ),
        "r: iptables-nft -P FORWARD DROP",
        "r: iptables-nft -A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",
        "r: iptables-nft -A FORWARD -i a0 -o b0 -p tcp -m multiport --dports 1000:1006 -j ACCEPT",
        "r: iptables-nft -A FORWARD -i a0 -p tcp --dport 1007 -j REJECT --reject-with icmp-host-prohibited",
        "r: iptables-nft -A FORWARD -i a0 -p tcp --dport 1008 -j REJECT --reject-with tcp-reset",
        "r: iptables-nft -N INNER; iptables-nft -A FORWARD -p tcp --dport 1009 -j INNER",
        "r: iptables-nft -A INNER -s 10.0.0.0/24 -j RETURN; iptables-nft -A INNER -s 10.2.0.1 -j ACCEPT",
        "r: iptables-nft -A FORWARD -p tcp --dport 1010 ! -s 10.0.0.1 -j ACCEPT",
        "r: iptables-nft -A INPUT ! -i lo -p tcp --dport 1000 -j DROP",
        "r: iptables-nft -A OUTPUT -p tcp --sport 1001 -j DROP",
        "a: iptables-nft -A OUTPUT -p tcp --dport 1006 -d 10.1.0.1 -j DROP",
        "a: iptables-nft -A OUTPUT -p tcp --dport 1010 -j REJECT --reject-with tcp-reset",
        "a: iptables-nft -A OUTPUT -p tcp --dport 1012 -j REJECT",
        "c: iptables-nft -A INPUT -p tcp --sport 1009 -j DROP",
        "c: iptables-nft -t raw -A OUTPUT -p tcp --dport 1011 -j NOTRACK",
        "r: iptables-nft -A FORWARD -p tcp --dport 1011 -j ACCEPT",
        "r: iptables-nft -t raw -A PREROUTING -p tcp --dport 1005 -j DROP",
    ),
    listening=_listening("r b", range(1000, 1013)),
    asked=(
        asked("a c", " ".join(f"10.1.0.1:{port}" for port in range(1000, 1014))),
        asked("a b", "10.0.0.254:1000 10.0.0.254:1001 10.0.0.254:1002 10.0.0.254:1013 10.1.0.254:1000 10.2.0.1:1002"),
        asked("r", "10.1.0.1:1000 10.1.0.1:1002 10.1.0.1:1006 127.0.0.1:1000 127.0.0.1:1001 10.0.0.254:1000"),
    ),
    tools=_TOOLS,
)

_NFT = """
table inet f {
  set blocked { type inet_service; elements = { 1000, 1001 }; }
  chain refuse { reject with tcp reset; }
  map verdicts { type inet_service : verdict; elements = { 1002 : drop, 1003 : jump refuse, 1004 : accept }; }
  chain early { type filter hook prerouting priority -150; tcp dport 1005 drop; }
  chain on {
    type filter hook forward priority 0; policy drop;
    ct state established,related accept
    tcp dport @blocked reject with icmpx type admin-prohibited
    tcp dport vmap @verdicts
    ip saddr 10.0.0.0/24 tcp dport 1006-1007 accept
    iifname "c0" oifname "b0" tcp dport { 1006, 1008 } counter accept
    meta l4proto tcp ip daddr 10.1.0.1 tcp dport 1009 ct state new accept
    tcp dport 1010 meta mark 7 accept
  }
  chain marking { type filter hook prerouting priority -140; ip saddr 10.2.0.1 tcp dport 1010 meta mark set 7; }
  chain late { type filter hook forward priority 10; tcp dport 1009 ip saddr 10.2.0.0/24 drop; }
}
"""

NFTABLES = World(
    name="nft",
    spaces=("a", "r", "b", "c"),
    script=_spelled(
        *_THREE,
        "r: nft -f - <<'END'\n" + _NFT + "\nEND\n",
    ),
    listening=_listening("r b", range(1000, 1013)),
    asked=(
        asked("a c", " ".join(f"10.1.0.1:{port}" for port in range(1000, 1013))),
        asked("a", "10.0.0.254:1000 10.0.0.254:1005"),
    ),
    tools=_TOOLS,
)

NAT = World(
    name="nat",
    spaces=("a", "r", "b", "c"),
    script=_spelled(
        *_THREE,
        "r: NAT PREROUTING -p tcp --dport 2000 -d 10.0.0.254 DNAT 10.1.0.1:1000",
        "r: NAT PREROUTING -p tcp --dport 2001 -d 10.0.0.254 DNAT 10.1.0.1:1",
        "r: NAT PREROUTING -p tcp --dport 2002 -d 10.0.0.254 DNAT 10.1.0.77:1000",
        "r: NAT PREROUTING -p tcp --dport 2003 TO-SELF DNAT 10.0.0.1:1000",
        "r: NAT PREROUTING -p tcp --dport 2004 -j REDIRECT --to-ports 1000",
        "r: NAT PREROUTING -p tcp --dport 2005 DNAT 127.0.0.1:1000",
        "r: NAT PREROUTING -p tcp --dport 2006 -d 10.0.0.254 DNAT 10.2.0.1:1000",
        "r: NAT OUTPUT -p tcp --dport 2000 TO-SELF DNAT 10.1.0.1:1000",
        "r: NAT OUTPUT -p tcp --dport 2007 DNAT 10.1.0.1:1000",
        "r: NAT POSTROUTING -o c0 -j MASQUERADE",
        "r: NAT POSTROUTING -o b0 -p tcp --dport 1001 -j SNAT --to-source 10.1.0.254:5000-5100",
        "r: NAT POSTROUTING -o b0 -p tcp --dport 1002 -j SNAT --to-source 10.77.0.1",
        "r: NAT POSTROUTING -o a0 -s 10.0.0.1 -d 10.0.0.1 -j MASQUERADE",
        # who is asked without an address of a's network: b knows no other way to it
        "c: ip route del default; ip route add 10.1.0.0/24 via 10.2.0.254",
        "b: NAT INPUT -p tcp --dport 1003 -j SNAT --to-source 10.1.0.200",
        "a: NAT OUTPUT -p tcp --dport 2009 DNAT 10.1.0.1:1000",
        "a: NAT OUTPUT -p tcp --dport 2010 -j REDIRECT --to-ports 1000",
        "a: NAT OUTPUT -p tcp --dport 2011 -d 10.1.0.1 DNAT 10.99.0.1:1000",
    ),
    listening=_listening("a b c r", range(1000, 1004)),
    asked=(
        asked("a", " ".join(f"10.0.0.254:{port}" for port in (*range(2000, 2007), 2009, 2010, 1000))),
        asked("a", "10.1.0.1:1001 10.1.0.1:1002 10.1.0.1:1003 10.2.0.1:1000 10.1.0.1:2004 10.1.0.1:2009 10.1.0.1:2010"),
        asked("a", "10.1.0.1:2011 127.0.0.1:2009 127.0.0.1:2010 10.0.0.1:2010"),
        asked("r", "10.0.0.254:2000 127.0.0.1:2000 127.0.0.1:2007 10.1.0.1:2007 10.2.0.1:1000 10.1.0.1:1001"),
        asked("b", "10.0.0.1:1000 10.1.0.254:2003 10.1.0.254:2004 10.1.0.254:2005 10.2.0.1:1000 10.0.0.254:2000"),
        asked("c", "10.0.0.254:2000 10.1.0.1:1000 10.2.0.254:2004 10.1.0.1:1001 10.2.0.254:2003"),
    ),
    tools=_TOOLS,
)

LOCALNET = World(
    name="localnet",
    spaces=("a", "r", "b"),
    script=_spelled(
        *pair("a eth0 10.0.0.1/24", "r a0 10.0.0.254/24"),
        *pair("r b0 10.1.0.254/24", "b eth0 10.1.0.1/24"),
        "a: ip route add default via 10.0.0.254",
        f"r: {_ON}; cd /proc/sys/net/ipv4/conf; echo 1 > b0/route_localnet; echo 1 > a0/route_localnet",
        "r: NAT OUTPUT -p tcp --dport 2000 -d 127.0.0.0/8 DNAT 10.1.0.1:1000",
        "r: NAT POSTROUTING -o b0 -m addrtype --src-type LOCAL -j MASQUERADE",
        "r: NAT PREROUTING -p tcp --dport 2005 DNAT 127.0.0.1:1000",
        "r: NAT OUTPUT -p tcp --dport 2001 -d 127.0.0.0/8 DNAT 10.0.0.1:1000",
    ),
    listening=_listening("a b r", range(1000, 1001)),
    asked=(
        asked("r", "127.0.0.1:2000 127.0.0.1:2001 10.1.0.1:1000 127.0.0.1:1000"),
        asked("a", "10.0.0.254:2005 10.0.0.254:1000 10.1.0.1:1000"),
    ),
    tools=_TOOLS,
)


def _bridged(name: str, called: str) -> World:
    """Containers on two bridges as an engine makes them; frames meet the packet filter, or not."""
    return World(
        name=name,
        spaces=("h", "a", "b", "c", "lan"),
        script=_spelled(
            *bridge("h", "br0", "10.0.0.254/24"),
            *bridge("h", "br1", "10.1.0.254/24"),
            *on_bridge("a", "h", "br0", "10.0.0.1/24"),
            *on_bridge("b", "h", "br0", "10.0.0.2/24"),
            *on_bridge("c", "h", "br1", "10.1.0.1/24"),
            *pair("h eth0 192.168.8.1/24", "lan eth0 192.168.8.2/24"),
            *(f"{m}: ip route add default via 10.{n}.0.254" for m, n in (("a", 0), ("b", 0), ("c", 1))),
            f"h: {_ON}; echo {called} > /proc/sys/net/bridge/bridge-nf-call-iptables",
            "h: iptables-nft -P FORWARD DROP",
            "h: iptables-nft -A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",
            "h: iptables-nft -A FORWARD -i br0 -o br0 -p tcp --dport 1001 -j DROP",
            "h: iptables-nft -A FORWARD -i br0 -o br0 -m physdev --physdev-in tob -p tcp --dport 1002 -j REJECT",
            "h: iptables-nft -A FORWARD -o br0 -p tcp --dport 1003 -j REJECT --reject-with tcp-reset",
            "h: NAT PREROUTING TO-SELF -p tcp --dport 2003 DNAT 10.0.0.2:1003",
            "h: iptables-nft -A FORWARD -i br0 -o br0 -j ACCEPT",
            "h: iptables-nft -A FORWARD -i br1 ! -o br1 -j ACCEPT; iptables-nft -A FORWARD -i br0 -o eth0 -j ACCEPT",
            "h: iptables-nft -A FORWARD -d 10.0.0.2/32 ! -i br0 -o br0 -p tcp --dport 1000 -j ACCEPT",
            "h: NAT POSTROUTING -s 10.0.0.0/24 ! -o br0 -j MASQUERADE",
            "h: NAT POSTROUTING -s 10.0.0.2/32 -d 10.0.0.2/32 -p tcp --dport 1000 -j MASQUERADE",
            "h: NAT PREROUTING TO-SELF -p tcp --dport 2000 DNAT 10.0.0.2:1000",
            "h: NAT OUTPUT TO-SELF -p tcp --dport 2000 DNAT 10.0.0.2:1000",
            "h: NAT PREROUTING ! -i br0 TO-SELF -p tcp --dport 2001 DNAT 10.0.0.2:1000",
            "h: bridge link set dev tob hairpin on",
            "h: NAT PREROUTING TO-SELF -p tcp --dport 2002 DNAT 10.0.0.1:1000",
        ),
        listening=_listening("h a b c", range(1000, 1003)) + _listening("lan", range(1000, 1001)),
        asked=(
            Asked(
                sources=("h", "a", "b", "c", "lan"),
                targets=(
                    *(("10.0.0.2", port) for port in range(1000, 1004)),
                    *(("10.0.0.254", port) for port in (1000, 2000, 2001, 2002, 2003)),
                    *(("10.1.0.254", port) for port in (2000, 2002)),
                    *(("192.168.8.1", port) for port in (2000, 2001, 2002)),
                    *(("10.1.0.1", 1000), ("192.168.8.2", 1000), ("127.0.0.1", 2000)),
                ),
            ),
        ),
        tools=("ip", "iptables-nft", "bridge"),
    )


BRIDGED = _bridged("bridged", "1")
UNBRIDGED = _bridged("unbridged", "0")

LEGACY = World(
    name="legacy",
    spaces=("a", "r", "b", "c"),
    script=_spelled(
        *_THREE,
        "r: iptables-legacy -A FORWARD -p tcp --dport 1000 -j DROP",
        "r: iptables-legacy -A FORWARD -p tcp --dport 1001 -j REJECT --reject-with icmp-net-unreachable",
        "r: OLDNAT PREROUTING -p tcp --dport 2000 -d 10.0.0.254 DNAT 10.1.0.1:1002",
        "r: OLDNAT POSTROUTING -o c0 -j MASQUERADE",
    ),
    listening=_listening("b c", range(1000, 1003)),
    asked=(
        asked("a c", "10.1.0.1:1000 10.1.0.1:1001 10.1.0.1:1002 10.0.0.254:2000"),
        asked("a b", "10.2.0.1:1002 10.2.0.1:1000"),
    ),
    tools=("ip", "iptables-legacy"),
)

FILTERED_IPV6 = World(
    name="six-filtered",
    spaces=("a", "r", "b"),
    script=_spelled(
        *pair("a eth0 fd00::1/64", "r a0 fd00::254/64"),
        *pair("r b0 fd01::254/64", "b eth0 fd01::1/64"),
        "a: ip -6 route add default via fd00::254",
        "b: ip -6 route add default via fd01::254",
        "r: echo 1 > /proc/sys/net/ipv6/conf/all/forwarding",
        "b: ip6tables-nft -A INPUT -p tcp --dport 1000 -j DROP",
        "b: ip6tables-nft -A INPUT -p tcp --dport 1001 -j REJECT --reject-with tcp-reset",
        "b: ip6tables-nft -A INPUT -p tcp --dport 1002 -j REJECT --reject-with icmp6-port-unreachable",
        "r: ip6tables-nft -A FORWARD -p tcp --dport 1003 -j REJECT --reject-with icmp6-adm-prohibited",
        "r: ip6tables-nft -A FORWARD -p tcp --dport 1004 -j REJECT --reject-with icmp6-no-route",
        "r: ip6tables-nft -A FORWARD -p tcp --dport 1005 -j REJECT --reject-with icmp6-addr-unreachable",
        "r: ip6tables-nft -t nat -A PREROUTING -p tcp --dport 2000 -d fd00::254 DNAT '[fd01::1]:1006'",
        "r: ip6tables-nft -t nat -A POSTROUTING -o b0 -j MASQUERADE",
    ),
    listening=tuple(Listening(space="b", address="::", port=port) for port in range(1000, 1007)),
    asked=(
        Asked(
            sources=("a", "r"),
            targets=(*(("fd01::1", port) for port in range(1000, 1008)), ("fd00::254", 2000)),
        ),
    ),
    tools=_TOOLS,
)

FILTERED = (IPTABLES, NFTABLES, NAT, LOCALNET, BRIDGED, UNBRIDGED, LEGACY, FILTERED_IPV6)
