"""The small worlds: routes, rules, bridges, routers, sockets, macvlans, IPv6; those with packet filters are beside."""

from tests.reality.building import Asked, Listening, World, bridge, on_bridge, pair

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

SIX = World(
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

WORLDS = (ROUTES, BRIDGES, ROUTERS, SOCKETS, MACVLANS, SIX)
