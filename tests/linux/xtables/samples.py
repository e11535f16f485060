"""Extensions as the kernel gave them for rules that iptables 1.8.9 made: name, revision, struct, what it says."""

import struct

PORTS = struct.pack("=HHHH", 0, 65535, 80, 90)

# name, revision, blob, text of iptables-save
MATCHES = (
    ("tcp", 0, PORTS + bytes([0, 0, 0, 0]), "--dport 80:90"),
    ("tcp", 0, PORTS + bytes([0, 0x17, 2, 2 | 4]), "! --dport 80:90 ! --tcp-flags FIN,SYN,RST,ACK SYN"),
    ("tcp", 0, struct.pack("=HHHH", 0, 65535, 0, 65535) + bytes([2, 0, 0, 8]), "! --tcp-option 2"),
    ("udp", 0, PORTS + bytes([0, 0]), "--dport 80:90"),
    ("multiport", 1, struct.pack("=BB15H15BB", 1, 3, 80, 90, 95, *[0] * 12, 0, 1, *[0] * 13, 1), "! --dports 80,90:95"),
    ("multiport", 0, struct.pack("=BB15H", 0, 1, 80, *[0] * 14), "--sports 80"),
    ("addrtype", 1, struct.pack("=HHI", 0, 4, 2 | 4), "! --dst-type LOCAL --limit-iface-in"),
    ("addrtype", 0, struct.pack("=HHII", 4, 0, 1, 0), "! --src-type LOCAL"),
    ("state", 0, struct.pack("=I", 6), "--state RELATED,ESTABLISHED"),
    ("comment", 0, b'a "b"'.ljust(256, b"\0"), '--comment "a \\"b\\""'),
    ("mark", 1, struct.pack("=IIB", 16, 255, 1), "! --mark 0x10/0xff"),
    ("connmark", 1, struct.pack("=IIB", 3, 0xFFFFFFFF, 0), "--mark 0x3"),
    (
        "physdev",
        0,
        b"veth+".ljust(16, b"\0") + b"\xff\xff\xff\xff".ljust(16, b"\0") + bytes(32) + bytes([1, 1 | 8]),
        "--physdev-is-in ! --physdev-in veth+",
    ),
    ("icmp", 0, bytes([3, 4, 4, 0]), "--icmp-type 3/4"),
    ("icmp", 0, bytes([255, 0, 255, 0]), "--icmp-type any"),
    ("icmp6", 0, bytes([128, 0, 255, 1]), "! --icmpv6-type 128"),
    (
        "iprange",
        1,
        bytes([10, 0, 0, 1]).ljust(16, b"\0") + bytes([10, 0, 0, 9]).ljust(16, b"\0") + bytes(32) + bytes([0x11]),
        "! --src-range 10.0.0.1-10.0.0.9",
    ),
    ("pkttype", 0, struct.pack("=II", 1, 1), "! --pkt-type broadcast"),
    ("limit", 0, struct.pack("=II", 1000, 5), "--limit 10/sec"),
    ("limit", 0, struct.pack("=II", 120000, 20), "--limit 5/min --limit-burst 20"),
    ("owner", 1, struct.pack("=IIIIBB", 5, 9, 4, 4, 3, 1), "! --uid-owner 5-9 --gid-owner 4"),
    ("length", 0, struct.pack("=HHB", 10, 20, 0), "--length 10:20"),
    ("mac", 0, bytes([2, 0, 0xAA, 0, 0, 1, 0, 0]) + struct.pack("=I", 1), "! --mac-source 02:00:aa:00:00:01"),
    ("statistic", 0, struct.pack("=HHI", 0, 0, 0x40000000), "--mode random --probability 0.50000000000"),
    ("statistic", 0, struct.pack("=HHIII", 1, 1, 2, 1, 0), "--mode nth ! --every 3 --packet 1"),
    ("rpfilter", 0, bytes([9]), "--loose --invert"),
    ("helper", 0, struct.pack("=I30s", 0, b"ftp"), "--helper ftp"),
    ("dscp", 0, bytes([16, 1]), "! --dscp 0x10"),
    ("tos", 1, bytes([0x3F, 0x10, 0]), "--tos 0x10/0x3f"),
    ("ttl", 0, bytes([2, 5]), "--ttl-lt 5"),
    ("tcpmss", 0, struct.pack("=HHB", 100, 200, 0), "--mss 100:200"),
    (
        "connlimit",
        1,
        b"\xff\xff\xff\0".ljust(16, b"\0") + struct.pack("=II", 3, 3),
        "--connlimit-upto 3 --connlimit-mask 24 --connlimit-daddr",
    ),
    (
        "recent",
        1,
        struct.pack("=IIBB200sB", 60, 3, 1, 0, b"L", 0) + bytes([0]) + b"\xff" * 16,
        "--rcheck --seconds 60 --hitcount 3 --name L --mask 255.255.255.255 --rsource",
    ),
    ("quota", 0, struct.pack("=IIQ", 0, 0, 1000), "--quota 1000"),
)


def nat(flags: int, first: str = "", last: str = "", low: int = 0, high: int = 0) -> bytes:
    """struct nf_nat_range2 of IPv4."""

    def union(address: str) -> bytes:
        return bytes(map(int, address.split("."))).ljust(16, b"\0") if address else bytes(16)

    return struct.pack("=I", flags) + union(first) + union(last) + struct.pack("!HHHH", low, high, 0, 0)


def old_nat(flags: int, first: str, last: str, low: int = 0, high: int = 0) -> bytes:
    """struct nf_nat_ipv4_multi_range_compat."""
    addresses = b"".join(bytes(map(int, one.split("."))) for one in (first, last))
    return struct.pack("=II", 1, flags) + addresses + struct.pack("!HH", low, high)


TARGETS = (
    ("DNAT", 2, nat(3, "10.0.0.1", "10.0.0.1", 80, 80), "--to-destination 10.0.0.1:80"),
    ("DNAT", 2, nat(1 | 8, "10.0.0.1", "10.0.0.9"), "--to-destination 10.0.0.1-10.0.0.9 --persistent"),
    ("DNAT", 2, nat(2 | 4, low=80, high=90), "--to-destination :80-90 --random"),
    ("SNAT", 0, old_nat(1 | 16, "10.0.0.1", "10.0.0.1"), "--to-source 10.0.0.1 --random-fully"),
    ("MASQUERADE", 0, old_nat(0, "0.0.0.0", "0.0.0.0"), ""),
    ("REDIRECT", 0, old_nat(2, "0.0.0.0", "0.0.0.0", 80, 90), "--to-ports 80-90"),
    ("NETMAP", 0, old_nat(1, "10.7.0.0", "10.7.0.255"), "--to 10.7.0.0/24"),
    ("REJECT", 0, struct.pack("=I", 7), "--reject-with tcp-reset"),
    ("REJECT", 0, struct.pack("=I", 8), "--reject-with icmp-admin-prohibited"),
    (
        "LOG",
        0,
        struct.pack("=BB30s", 6, 1 | 32, b"a: "),
        '--log-prefix "a: " --log-level 6 --log-tcp-sequence --log-macdecode',
    ),
    ("MARK", 2, struct.pack("=II", 5, 15), "--set-xmark 0x5/0xf"),
    ("CONNMARK", 1, struct.pack("=IIIB", 7, 15, 0, 0), "--set-xmark 0x7/0xf"),
    ("CONNMARK", 1, struct.pack("=IIIB", 0, 15, 1, 1), "--save-mark --nfmask 0x1 --ctmask 0xf"),
    ("CONNMARK", 2, struct.pack("=IIIBBB", 0, 15, 1, 0, 0, 2), "--restore-mark --nfmask 0x1 --ctmask 0xf"),
    (
        "NFLOG",
        0,
        struct.pack("=IHHHH64s", 10, 5, 3, 1, 0, b"x"),
        "--nflog-prefix x --nflog-group 5 --nflog-size 10 --nflog-threshold 3",
    ),
    ("NFQUEUE", 3, struct.pack("=HHH", 3, 3, 1), "--queue-balance 3:5 --queue-bypass"),
    ("CT", 1, struct.pack("=HHII", 0, 5, 5, 0).ljust(64, b"\0"), "--ctevents new,destroy --zone 5"),
    ("TCPMSS", 0, struct.pack("=H", 0xFFFF), "--clamp-mss-to-pmtu"),
    ("TCPMSS", 0, struct.pack("=H", 1400), "--set-mss 1400"),
    ("CHECKSUM", 0, b"\1", "--checksum-fill"),
    ("DSCP", 0, b"\x10", "--set-dscp 0x10"),
    ("TOS", 1, b"\x10\xff", "--set-tos 0x10/0xff"),
    ("TTL", 0, bytes([1, 1]), "--ttl-inc 1"),
    ("CLASSIFY", 0, struct.pack("=I", 0x10010), "--set-class 0001:0010"),
    (
        "TPROXY",
        0,
        struct.pack("=II4s", 1, 1, bytes([10, 0, 0, 1])) + b"\x1f\x90",
        "--on-port 8080 --on-ip 10.0.0.1 --tproxy-mark 0x1/0x1",
    ),
    ("TRACE", 0, b"", ""),
)
UNCOMMON = (
    ("sctp", 0, struct.pack("=HHHH", 80, 80, 0, 0) + bytes(276) + struct.pack("=II", 2, 2), "! --dport 80"),
    ("esp", 0, struct.pack("=IIB", 5, 9, 0), "--espspi 5:9"),
    ("cpu", 0, struct.pack("=II", 3, 1), "! --cpu 3"),
    ("devgroup", 0, struct.pack("=IIIII", 1 | 4 | 8, 1, 0xFFFFFFFF, 2, 3), "--src-group 0x1 ! --dst-group 0x2/0x3"),
    ("socket", 3, bytes([3]), "--transparent --nowildcard"),
    (
        "connbytes",
        0,
        struct.pack("=QQBB", 20, 10, 1, 0),
        "! --connbytes 10:20 --connbytes-mode bytes --connbytes-dir original",
    ),
    ("policy", 0, bytes(304) + struct.pack("=HH", 2, 0), "--dir out --pol ipsec"),
    ("bpf", 1, struct.pack("=HHiHBBI", 0, 1, 0, 6, 0, 0, 0), '--bytecode "1,6 0 0 0"'),
    (
        "string",
        1,
        struct.pack("=HH16s128sBB", 5, 0xFFFF, b"bm", b'a"b', 3, 1 | 2),
        '! --string "a\\"b" --algo bm --from 5 --icase',
    ),
    ("string", 1, struct.pack("=HH16s128sBB", 0, 9, b"kmp", b"\1\2", 2, 0), '--hex-string "|0102|" --algo kmp --to 9'),
    (
        "time",
        0,
        struct.pack("=IIIIIBB", 0, 0xFFFFFFFF, 3600, 7200, 0xFFFFFFFE, 2 | 4, 1),
        "--timestart 01:00:00 --timestop 02:00:00 --weekdays Mon,Tue --kerneltz",
    ),
    ("cgroup", 2, struct.pack("=BBBBI", 0, 1, 0, 1, 7), "! --cgroup 7"),
    ("rt", 0, struct.pack("=IIIIBB", 0, 0, 0, 0, 1, 0), "--rt-type 0"),
)
