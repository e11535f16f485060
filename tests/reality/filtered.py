"""Small worlds with packet filters: drops and rejects at every hook, NAT there and back, bridged frames, both makes."""

from tests.reality.building import Asked, Listening, World, bridge, on_bridge, pair
from tests.reality.worlds import asked

_ON = "echo 1 > /proc/sys/net/ipv4/ip_forward"
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

SIX = World(
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

FILTERED = (IPTABLES, NFTABLES, NAT, LOCALNET, BRIDGED, UNBRIDGED, LEGACY, SIX)
