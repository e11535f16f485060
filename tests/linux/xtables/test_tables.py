"""Tables of legacy iptables from the bytes that the kernel gives."""

import random
import struct
from contextlib import suppress

import pytest

from netdiag.errors import NetdiagError
from netdiag.linux.ruleset import Expression, Origin
from netdiag.linux.xtables.matches import decode_match, match_text
from netdiag.linux.xtables.rules import decode_extension, entry_text
from netdiag.linux.xtables.structs import (
    BadBlob,
    Blob,
    integer,
    listed,
    negation,
    network_text,
    option,
    pair,
    port_range,
    prefix_length,
    quoted,
    rate,
)
from netdiag.linux.xtables.tables import BadTable, TableInfo, decode_info, decode_table
from netdiag.linux.xtables.targets import decode_target, reject_kind, target_text
from tests.each import each


def target(name: str, info: bytes) -> bytes:
    padded = info.ljust(-(-len(info) // 8) * 8, b"\0")
    return struct.pack("=H29sB", 32 + len(padded), name.encode(), 0) + padded


def verdict(code: int) -> bytes:
    return target("", struct.pack("=i", code))


def entry(
    ending: bytes,
    *,
    source: bytes = bytes(4),
    mask: bytes = bytes(4),
    protocol: int = 0,
    flags: int = 0,
    matches: bytes = b"",
    packets: int = 0,
) -> bytes:
    ip = (
        source + bytes(4) + mask + bytes(4) + b"eth0".ljust(16, b"\0") + bytes(16) + b"\xff" * 3 + bytes(13) + bytes(16)
    )
    ip += struct.pack("=HBB", protocol, flags, 0)
    sizes = struct.pack("=HHI", 112 + len(matches), 112 + len(matches) + len(ending), 0)
    return ip + bytes(4) + sizes + struct.pack("=QQ", packets, 10 * packets) + matches + ending


def made() -> tuple[bytes, TableInfo]:
    """FORWARD with a jump, a drop with a source and a rule without a target; a chain called X; the end."""
    drop = entry(verdict(-1), source=bytes([10, 0, 0, 0]), mask=bytes([255, 0, 0, 0]), protocol=6, packets=3)
    sizes = len(entry(verdict(0)))
    jump_size = sizes
    error = entry(target("ERROR", b"X"))
    x_start = jump_size + len(drop) + sizes + sizes + len(error)
    nothing_at = jump_size + len(drop)
    parts = [
        entry(verdict(x_start)),
        drop,
        entry(verdict(nothing_at + sizes)),
        entry(verdict(-1), packets=9),
        error,
        entry(verdict(-2)),
        entry(verdict(-5)),
        entry(target("ERROR", b"ERROR")),
    ]
    data = b"".join(parts)
    policy = jump_size + len(drop) + sizes
    return data, TableInfo(name="filter", begins={"forward": 0}, policies={"forward": policy}, size=len(data))


def test_chains_rules_and_policies() -> None:
    data, info = made()
    table = decode_table(data, info, family="ip")
    assert table.origin is Origin.IPTABLES_LEGACY
    forward, other = table.chains
    assert (forward.name, forward.hook, forward.policy, forward.packets) == ("FORWARD", "forward", "drop", 9)
    assert [rule.text for rule in forward.rules] == [
        "-A FORWARD -i eth+ -j X",
        "-A FORWARD -s 10.0.0.0/8 -i eth+ -p tcp -j DROP",
        "-A FORWARD -i eth+",
    ]
    assert (forward.rules[1].packets, forward.rules[1].bytes) == (3, 30)
    assert (other.name, other.hook, [rule.text for rule in other.rules]) == ("X", "", ["-A X -i eth+ -j ACCEPT"])


def test_what_the_kernel_tells_first() -> None:
    data = b"nat".ljust(32, b"\0") + struct.pack("=I5I5III", 0b11, 0, 100, *[7] * 3, 50, 200, *[7] * 3, 4, 500)
    assert decode_info(data) == TableInfo(
        name="nat", begins={"prerouting": 0, "input": 100}, policies={"prerouting": 50, "input": 200}, size=500
    )
    with pytest.raises(BadTable):
        decode_info(data[:50])


def test_bytes_of_any_kind_give_an_error_of_ours() -> None:
    data, info = made()
    chance = random.Random(9)
    for _ in range(3000):
        broken = bytearray(data)
        for _ in range(chance.randrange(1, 8)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        cut = chance.choice((len(broken), chance.randrange(len(broken))))
        with suppress(NetdiagError):
            decode_table(bytes(broken[:cut]), info, family=chance.choice(("ip", "ip6")))


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


ENTRY = Expression(name="ip", fields={"source": "10.0.0.0/8", "out": "br0", "protocol": "tcp", "not": ["out"]})


def text(*expressions: Expression) -> str:
    return entry_text("X", expressions, family="ip")


def test_conditions_matches_target() -> None:
    tcp = Expression(name="xt:tcp", fields={"destination_ports": [80, 80]})
    dnat = Expression(name="xt:DNAT", fields={"first": "1.2.3.4", "last": "1.2.3.4", "target": True})
    expected = "-A X -s 10.0.0.0/8 ! -o br0 -p tcp -m tcp --dport 80 -j DNAT --to-destination 1.2.3.4"
    assert text(ENTRY, tcp, Expression(name="counter"), dnat) == expected


def test_verdicts() -> None:
    words = (("jump", "Y", "-j Y"), ("goto", "Y", "-g Y"), ("return", "", "-j RETURN"), ("accept", "", "-j ACCEPT"))
    for word, chain, expected in words:
        assert text(Expression(name="verdict", fields={"verdict": word, "chain": chain})) == f"-A X {expected}"


def test_aliases() -> None:
    state = Expression(name="xt:conntrack", fields={"states": ["NEW"], "alias": True})
    assert text(state) == "-A X -m state --state NEW"
    assert text(Expression(name="xt:CT", fields={"flags": 3, "target": True})) == "-A X -j NOTRACK"


def test_what_is_not_understood_is_shown_as_bytes() -> None:
    odd = Expression(name="xt:odd", fields={"revision": 1, "hex": "00ff"}, understood=False)
    assert text(odd, Expression(name="numgen")) == "-A X -m odd [revision 1: 00ff] [numgen]"


def test_fragments() -> None:
    assert text(Expression(name="ip", fields={"fragment": True, "not": ["fragment"]})) == "-A X ! -f"


@each(("name", "revision", "data", "text"), MATCHES)
def test_every_match(name: str, revision: int, data: bytes, text: str) -> None:
    fields = decode_match(name, revision, Blob(data, 4))
    assert fields is not None
    assert match_text(name, fields, "ip") == text


def test_a_match_that_is_not_known_has_no_options() -> None:
    assert match_text("mystery", {}, "ip") == ""


def test_a_hop_limit_has_its_own_word() -> None:
    assert match_text("hl", {"mode": 1, "ttl": 5}, "ip6") == "! --hl-eq 5"


@each(("name", "revision", "data", "text"), TARGETS)
def test_every_target(name: str, revision: int, data: bytes, text: str) -> None:
    fields = decode_target(name, revision, Blob(data, 4))
    assert fields is not None
    assert target_text(name, fields, "ip") == text


def test_a_target_that_is_not_known_has_no_options() -> None:
    assert target_text("mystery", {}, "ip") == ""


def test_negation() -> None:
    assert option({"not": ["x"]}, "x", "--x", "1") == "! --x 1"
    assert option({}, "x", "--x", "") == "--x"
    assert negation({"not": True}, "x") == ""


def test_quotation_marks_are_for_what_is_not_plain() -> None:
    assert [quoted(text) for text in ("a-b_1", "a b", "it's", "")] == ["a-b_1", '"a b"', '"it\\\'s"', '""']


def test_ranges() -> None:
    assert [port_range([1, 1]), port_range([1, 2]), port_range(None)] == ["1", "1:2", "None"]
    assert pair([1, 2]) == ("1", "2")
    assert (integer({"a": "x"}, "a"), listed({"a": 1}, "a")) == (0, [])


@pytest.mark.parametrize(
    ("average", "text"),
    [
        (10000, "1/sec"),
        (769, "13/sec"),
        (10169, "59/min"),
        (600000, "1/min"),
        (5142857, "7/hour"),
        (288000000, "3/day"),
    ],
)
def test_rates(average: int, text: str) -> None:
    assert rate(average) == text


def test_a_target_says_that_it_is_one() -> None:
    found = decode_extension("MASQUERADE", 0, bytes(28), family="ip6", target=True)
    assert (found.name, found.fields, found.understood) == ("xt:MASQUERADE", {"target": True}, True)


def test_what_is_not_known_keeps_its_bytes() -> None:
    found = decode_extension("mystery", 3, b"\1\2", family="ip", target=False)
    assert (found.fields, found.understood) == ({"revision": 3, "hex": "0102"}, False)


def test_bytes_of_any_kind_give_an_expression() -> None:
    chance = random.Random(5)
    for _ in range(3000):
        name, revision, data, _text = chance.choice((*MATCHES, *TARGETS))
        broken = bytearray(data[: chance.randrange(len(data) + 1)])
        for _ in range(chance.randrange(4)):
            if broken:
                broken[chance.randrange(len(broken))] = chance.randrange(256)
        family = chance.choice(("ip", "ip6"))
        found = decode_extension(name, revision, bytes(broken), family=family, target=name.isupper())
        assert found.name == f"xt:{name}"


def test_ports_that_mean_all_are_left_out() -> None:
    blob = Blob(PORTS + bytes([0, 0]), 4)
    assert decode_match("udp", 0, blob) == {"destination_ports": [80, 90]}


def test_connection_tracking() -> None:
    addresses = bytes([10, 0, 0, 1]).ljust(16, b"\0") + b"\xff\xff\xff\xff".ljust(16, b"\0") + bytes(96)
    numbers = struct.pack("=IIHHHHHHHHHHHHH", 5, 10, 6, 7, 0, 0, 0, 1 | 4 | 128 | 256 | 4096, 1, 8, 0, 9, 0, 0, 0)
    assert decode_match("conntrack", 3, Blob(addresses + numbers, 4)) == {
        "states": ["NEW"],
        "original_source": "10.0.0.1/32",
        "expires": [5, 10],
        "original_source_ports": [7, 9],
        "direction": "ORIGINAL",
        "not": ["states"],
    }


@pytest.mark.parametrize(("name", "revision"), [("mystery", 0), ("conntrack", 9), ("mark", 7), ("iprange", 0)])
def test_matches_that_are_not_known(name: str, revision: int) -> None:
    assert decode_match(name, revision, Blob(bytes(500), 4)) is None


def test_negations_are_named() -> None:
    assert decode_match("length", 0, Blob(struct.pack("=HHB", 1, 2, 1), 4)) == {"length": [1, 2], "not": ["length"]}


def test_unknown_revisions_and_modes() -> None:
    assert decode_match("owner", 0, Blob(bytes(40), 4)) is None
    assert decode_match("statistic", 0, Blob(struct.pack("=HHI", 9, 0, 0), 4)) is None


@pytest.mark.parametrize(("name", "revision", "data", "text"), UNCOMMON)
def test_matches_that_only_have_options(name: str, revision: int, data: bytes, text: str) -> None:
    fields = decode_match(name, revision, Blob(data, 4))
    assert fields == {"options": text}
    assert match_text(name, fields, "ip") == text


@pytest.mark.parametrize(
    ("name", "revision", "data"),
    [
        ("mystery", 0, b""),
        ("policy", 0, bytes(304) + struct.pack("=HH", 1, 2)),
        ("bpf", 1, struct.pack("=HHi", 1, 0, 5)),
        ("hashlimit", 1, bytes(400)),
        ("rt", 0, struct.pack("=IIIIBB", 0, 0, 0, 0, 8, 0)),
        ("connbytes", 0, struct.pack("=QQBB", 0, 0, 9, 0)),
    ],
)
def test_options_that_are_not_known(name: str, revision: int, data: bytes) -> None:
    assert decode_match(name, revision, Blob(data, 4)) is None


def test_options_of_any_bytes_give_an_expression() -> None:
    chance = random.Random(8)
    names = [*{name for name, *_ in UNCOMMON}, "u32", "hashlimit"]
    for _ in range(3000):
        data = bytes(chance.choice((0, 0, 0, 1, 5, 255)) for _ in range(chance.choice((8, 150, 320, 2000))))
        name = chance.choice(names)
        assert decode_extension(name, chance.randrange(4), data, family="ip", target=False).name == f"xt:{name}"


def test_both_structs_of_a_translation_say_the_same() -> None:
    expected = {"first": "10.0.0.1", "last": "10.0.0.1", "ports": [80, 80]}
    assert decode_target("DNAT", 2, Blob(nat(3, "10.0.0.1", "10.0.0.1", 80, 80), 4)) == expected
    assert decode_target("DNAT", 0, Blob(old_nat(3, "10.0.0.1", "10.0.0.1", 80, 80), 4)) == expected


def test_rejections_have_one_vocabulary() -> None:
    found = [reject_kind(word) for word in ("tcp-reset", "icmp-proto-unreachable", "icmp6-adm-prohibited")]
    assert found == ["tcp reset", "icmp prot-unreachable", "icmpv6 admin-prohibited"]


def test_targets_that_are_not_known() -> None:
    assert decode_target("MYSTERY", 0, Blob(b"", 4)) is None
    assert decode_target("SNAT", 0, Blob(struct.pack("=I", 2) + bytes(30), 4)) is None


def test_numbers_names_and_addresses() -> None:
    blob = Blob(struct.pack("=BHIQ", 1, 2, 3, 4) + b"\x1f\x90" + b"br0\0xx" + bytes([10, 0, 0, 1]), 4)
    assert (blob.u8(0), blob.u16(1), blob.u32(3), blob.u64(7), blob.port(15)) == (1, 2, 3, 4, 8080)
    assert blob.name(17, 6) == "br0"
    assert blob.address(23) == "10.0.0.1"
    assert Blob(bytes(15) + b"\1", 6).address(0) == "::1"


def test_what_is_too_short_is_an_error() -> None:
    for read in (lambda: Blob(b"", 4).u8(0), lambda: Blob(b"abc", 4).u32(0), lambda: Blob(b"abc", 4).address(0)):
        with pytest.raises(BadBlob):
            read()


@pytest.mark.parametrize(
    ("name", "mask", "device"),
    [
        (b"eth0\0", b"\xff" * 5, "eth0"),
        (b"eth+", b"\xff" * 3, "eth+"),
        (b"", b"", ""),
        (b"x" * 15, b"\xff" * 16, "x" * 15),
    ],
)
def test_devices_end_where_their_mask_does(name: bytes, mask: bytes, device: str) -> None:
    assert Blob(name.ljust(16, b"\0") + mask.ljust(16, b"\0"), 4).device(0, 16) == device


def test_masks_with_and_without_holes() -> None:
    assert prefix_length(b"\xff\xc0\0\0") == 10
    assert prefix_length(b"\xff\0\xff\0") is None
    assert network_text("10.0.0.0", "255.0.255.0") == "10.0.0.0/255.0.255.0"
    assert network_text("fd00::", "ff00::") == "fd00::/8"
