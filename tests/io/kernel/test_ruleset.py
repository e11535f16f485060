"""Rules of a namespace, read and held against the tools that made them."""

import socket

from netdiag.io.kernel.channel import NETFILTER, Channel
from netdiag.io.kernel.ruleset import addresses, read_counters
from netdiag.io.netns import open_namespace
from netdiag.linux.netns import NamedNamespace
from netdiag.linux.ruleset import Origin, Ruleset
from tests.netlab.compare_rules import compare_rules
from tests.netlab.filtering import inside, made_namespace, restore, ruleset_of

RULES = (
    "-A FORWARD -s 10.0.0.0/8 ! -d 10.1.2.3/32 -i eth+ -p tcp -m tcp --dport 80 -j DROP",
    '-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -m comment --comment "let it <b>" -j ACCEPT',
    "-A FORWARD -p udp -m udp --sport 1024:2000 -j side",
    "-A side -m addrtype --dst-type LOCAL -j REJECT --reject-with icmp-port-unreachable",
    "-A OUTPUT -d 127.0.0.1/32 -j ACCEPT",
)
NAT = (
    "-A PREROUTING ! -i br-1 -p tcp -m tcp --dport 9092 -j DNAT --to-destination 172.18.0.2:9092",
    "-A POSTROUTING -s 172.18.0.0/16 ! -o br-1 -j MASQUERADE",
)


def test_an_empty_namespace_has_no_rules_and_gets_none() -> None:
    with made_namespace() as name:
        assert ruleset_of(name) == Ruleset()
        assert inside(name, "nft", "list", "ruleset") == ""
        assert run_proc(name) == ""


def run_proc(name: str) -> str:
    def read() -> str:
        with open("/proc/thread-self/net/ip_tables_names", encoding="utf-8") as names:
            return names.read()

    with open_namespace(NamedNamespace(name=name)) as opened:
        return opened.run(read)


def test_both_kinds_of_iptables_side_by_side() -> None:
    with made_namespace() as name:
        for command in ("iptables-legacy", "iptables-nft"):
            restore(name, command, "filter", RULES)
            restore(name, command, "nat", NAT)
        ruleset = ruleset_of(name)
        found = compare_rules(ruleset, name)
        assert found.equal, found
        assert found.compared == 2 * (len(RULES) + len(NAT))
        assert ruleset.unread == ()
        comments = [
            rule.comment for one in ruleset.tables for chain in one.chains for rule in chain.rules if rule.comment
        ]
        assert comments == ["let it <b>"] * 2


def test_counters_move_for_the_rules_that_a_packet_met() -> None:
    with made_namespace() as name:
        for command in ("iptables-legacy", "iptables-nft"):
            restore(name, command, "filter", RULES)
        ruleset = ruleset_of(name)

        def counters() -> dict[str, int]:
            with open_namespace(NamedNamespace(name=name)) as opened:

                def read() -> dict[str, int]:
                    with Channel(NETFILTER) as channel:
                        return {str(rule): count for rule, count in read_counters(channel, ruleset).items()}

                return opened.run(read)

        before = counters()
        assert len(before) == len(list(addresses(ruleset))) == 2 * len(RULES)
        inside(name, "nft", "add", "table", "ip", "more")
        knock(name)
        after = counters()
        moved = {rule for rule in after if after[rule] != before[rule]}
        assert moved == {
            f"{origin.value} ip filter OUTPUT #1" for origin in (Origin.IPTABLES_LEGACY, Origin.IPTABLES_NFT)
        }


def knock(name: str) -> None:
    """One packet to a port of loopback where nobody listens."""
    with (
        open_namespace(NamedNamespace(name=name)) as opened,
        opened.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as knocking,
    ):
        knocking.sendto(b"x", ("127.0.0.1", 9))
