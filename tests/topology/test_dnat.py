"""Rules that rewrite destinations, from the texts that the tools print."""

import pytest

from netdiag.linux.ruleset import Chain, FilterRule, Origin, Ruleset, Table
from netdiag.topology.dnat import DnatRule, dnat_rules


def ruleset(*texts: str, origin: Origin = Origin.IPTABLES_NFT, family: str = "ip") -> Ruleset:
    rules = tuple(
        FilterRule(number=number, handle=number, expressions=(), text=text) for number, text in enumerate(texts, 1)
    )
    return Ruleset(
        tables=(Table(family=family, name="nat", origin=origin, chains=(Chain(name="DOCKER", rules=rules),)),)
    )


def only(text: str, *, origin: Origin = Origin.IPTABLES_NFT) -> DnatRule:
    (rule,) = dnat_rules(ruleset(text, origin=origin))
    return rule


Said = tuple[str, str, range, str, int | None, str]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "-A DOCKER ! -i br-1 -p tcp -m tcp --dport 9091 -j DNAT --to-destination 172.18.0.2:29092",
            ("tcp", "", range(9091, 9092), "172.18.0.2", 29092, "br-1"),
            id="engine-20-to-29",
        ),
        pytest.param(
            "-A DOCKER -d 127.0.0.1/32 -p udp -m udp --dport 53 -j DNAT --to-destination 10.0.0.9:5353",
            ("udp", "127.0.0.1", range(53, 54), "10.0.0.9", 5353, ""),
            id="loopback-without-proxy",
        ),
        pytest.param(
            "-A DOCKER -d 0.0.0.0/0 -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.0.0.9:80",
            ("tcp", "", range(80, 81), "10.0.0.9", 80, ""),
            id="everywhere-written-out",
        ),
        pytest.param(
            "-A DOCKER ! -i br-1 -p tcp -m tcp --dport 80 -j DNAT --to-destination [fd00::2]:80",
            ("tcp", "", range(80, 81), "fd00::2", 80, "br-1"),
            id="ipv6",
        ),
        pytest.param(
            "-A X -i eth0 -p sctp -m sctp --dport 7000:7002 -j DNAT --to-destination 10.0.0.9",
            ("sctp", "", range(7000, 7003), "10.0.0.9", None, ""),
            id="a-range-that-keeps-its-ports",
        ),
        pytest.param(
            '-A X -p tcp -m comment --comment "-j DROP -d 1.1.1.1 \\" --dport 5" -m tcp --dport 80 -j DNAT '
            "--to-destination 10.0.0.9:80",
            ("tcp", "", range(80, 81), "10.0.0.9", 80, ""),
            id="a-comment-that-pretends",
        ),
    ],
)
def test_iptables(text: str, expected: Said) -> None:
    rule = only(text)
    assert (rule.protocol, rule.host_ip, rule.ports, rule.to_address, rule.to_port, rule.not_from) == expected
    assert rule.text == text
    assert str(rule.address) == "iptables-nft ip nat DOCKER #1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            'iifname != "br-1" tcp dport 9091 counter packets 0 bytes 0 dnat to 172.18.0.2:29092 comment "DNAT"',
            ("tcp", "", range(9091, 9092), "172.18.0.2", 29092, "br-1"),
            id="engine-29",
        ),
        pytest.param(
            "ip daddr 127.0.0.1 udp dport 53 counter packets 3 bytes 9 dnat to 10.0.0.9:5353",
            ("udp", "127.0.0.1", range(53, 54), "10.0.0.9", 5353, ""),
            id="one-address",
        ),
        pytest.param(
            "tcp dport 80 dnat ip6 to [fd00::2]:80",
            ("tcp", "", range(80, 81), "fd00::2", 80, ""),
            id="ipv6-in-inet",
        ),
        pytest.param(
            "tcp dport 7000-7002 dnat to fd00::2", ("tcp", "", range(7000, 7003), "fd00::2", None, ""), id="bare"
        ),
    ],
)
def test_nftables(text: str, expected: Said) -> None:
    rule = only(text, origin=Origin.NFTABLES)
    assert (rule.protocol, rule.host_ip, rule.ports, rule.to_address, rule.to_port, rule.not_from) == expected


@pytest.mark.parametrize(
    "text",
    [
        "-A DOCKER -i br-1 -j RETURN",
        "-A X -p tcp -m tcp --dport 80 -j REDIRECT --to-ports 8080",
        "-A X -p tcp -j DNAT --to-destination 10.0.0.9",
        "-A X -p tcp -m tcp ! --dport 80 -j DNAT --to-destination 10.0.0.9:80",
        "-A X ! -d 10.0.0.1/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.0.0.9:80",
        "-A X -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.0.0.2-10.0.0.9:80",
        "-A X -p tcp -m tcp --dport 80 -j DNAT --to-destination",
        "-A X -p tcp -m tcp --dport -j DNAT --to-destination 10.0.0.9:80",
        '-A X -p tcp -m comment --comment "-j DNAT --to-destination 10.0.0.9:80 --dport 80"',
        "",
    ],
)
def test_what_rewrites_to_no_single_place_is_passed_over(text: str) -> None:
    assert dnat_rules(ruleset(text)) == ()


@pytest.mark.parametrize(
    "text",
    [
        "tcp dport { 80, 81 } dnat to 10.0.0.9:80",
        "tcp dport != 80 dnat to 10.0.0.9:80",
        "dnat to tcp dport map { 80 : 10.0.0.9 }",
        "tcp dport 80 dnat to 10.0.0.2-10.0.0.9:80",
        'tcp dport 80 accept comment "dnat to 10.0.0.9:80"',
        "",
    ],
)
def test_what_nft_rewrites_to_no_single_place_is_passed_over(text: str) -> None:
    assert dnat_rules(ruleset(text, origin=Origin.NFTABLES)) == ()


def test_what_a_rule_takes() -> None:
    rule = only("-A X -d 127.0.0.1/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.0.0.9:80")
    assert rule.takes(protocol="tcp", host_ip="127.0.0.1", port=80)
    assert not rule.takes(protocol="udp", host_ip="127.0.0.1", port=80)
    assert not rule.takes(protocol="tcp", host_ip="127.0.0.2", port=80)
    assert not rule.takes(protocol="tcp", host_ip="127.0.0.1", port=81)
    everywhere = only("-A X -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.0.0.9:80")
    assert everywhere.takes(protocol="tcp", host_ip="0.0.0.0", port=80)
    assert not everywhere.takes(protocol="tcp", host_ip="::", port=80)
