"""The words of nft for what nf_tables gives as numbers.

Sources: linux/netfilter/nf_tables.h, nft(8).
"""

META_KEYS = dict(
    enumerate(
        (
            *("length", "protocol", "priority", "mark", "iif", "oif", "iifname", "oifname", "iiftype", "oiftype"),
            *("skuid", "skgid", "nftrace", "rtclassid", "secmark", "nfproto", "l4proto", "ibrname", "obrname"),
            *("pkttype", "cpu", "iifgroup", "oifgroup", "cgroup", "random", "ipsec", "iifkind", "oifkind"),
            *("ibrpvid", "ibrvproto", "time", "day", "hour", "sdif", "sdifname", "broute"),
        )
    )
)
CT_KEYS = dict(
    enumerate(
        (
            *("state", "direction", "status", "mark", "secmark", "expiration", "helper", "l3proto", "src", "dst"),
            *("protocol", "proto_src", "proto_dst", "label", "packets", "bytes", "avgpkt", "zone", "event"),
            *("src_ip", "dst_ip", "src_ip6", "dst_ip6", "id"),
        )
    )
)
PAYLOAD_BASES = {0: "link", 1: "network", 2: "transport", 3: "inner", 4: "tunnel"}
COMPARISONS = {0: "==", 1: "!=", 2: "<", 3: "<=", 4: ">", 5: ">="}
BITWISE = {0: "mask-xor", 1: "<<", 2: ">>", 3: "&", 4: "|", 5: "^"}
DIRECTIONS = {0: "original", 1: "reply"}
FIB_RESULTS = {1: "oif", 2: "oifname", 3: "type"}
REJECT_TYPES = {0: "icmp", 1: "tcp reset", 2: "icmpx"}
ICMP_REJECTS = {
    0: "net-unreachable",
    1: "host-unreachable",
    2: "prot-unreachable",
    3: "port-unreachable",
    9: "net-prohibited",
    10: "host-prohibited",
    13: "admin-prohibited",
}
ICMP6_REJECTS = {
    0: "no-route",
    1: "admin-prohibited",
    3: "addr-unreachable",
    4: "port-unreachable",
    5: "policy-fail",
    6: "reject-route",
}
ICMPX_REJECTS = {0: "no-route", 1: "port-unreachable", 2: "host-unreachable", 3: "admin-prohibited"}
OBJECTS = {
    1: "counter",
    2: "quota",
    3: "ct helper",
    4: "limit",
    5: "ct count",
    6: "tunnel",
    7: "ct timeout",
    8: "secmark",
    9: "ct expectation",
    10: "synproxy",
}
DYNSET = {0: "add", 1: "update", 2: "delete"}
RT_KEYS = {0: "classid", 1: "nexthop4", 2: "nexthop6", 3: "mtu", 4: "ipsec"}
SOCKET_KEYS = {0: "transparent", 1: "mark", 2: "wildcard", 3: "cgroupv2"}
VERDICTS = {0: "drop", 1: "accept", 3: "queue", -1: "continue", -2: "break", -3: "jump", -4: "goto", -5: "return"}
HOOKS = {0: "prerouting", 1: "input", 2: "forward", 3: "output", 4: "postrouting", 5: "ingress"}
NETDEV_HOOKS = {0: "ingress", 1: "egress"}
ARP_HOOKS = {0: "input", 1: "output", 2: "forward"}
POLICIES = {0: "drop", 1: "accept"}
