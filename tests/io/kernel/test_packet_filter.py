"""Rules of a namespace, held against the tools that made them, and against kernels that answer otherwise."""

import errno
import socket
from collections.abc import Iterator
from typing import cast

import pytest

from netdiag.errors import MissingRight, NetdiagError
from netdiag.io.kernel import packet_filter as reading
from netdiag.io.kernel.netlink import NETFILTER, Channel, Refused
from netdiag.io.kernel.netns import open_namespace
from netdiag.io.kernel.packet_filter import addresses, legacy_tables, read_counters, read_ruleset
from netdiag.linux.netns import NamedNamespace
from netdiag.linux.ruleset import Origin, Ruleset
from tests.linux.nftables import message_bytes
from tests.linux.nftables.message_bytes import attribute, data, number, payload, verdict, word
from tests.netlab.compare_rules import compare_rules
from tests.netlab.filtering import inside, made_namespace, restore, ruleset_of

SAVED_RULES = (
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
            restore(name, command, "filter", SAVED_RULES)
            restore(name, command, "nat", NAT)
        ruleset = ruleset_of(name)
        found = compare_rules(ruleset, name)
        assert found.equal, found
        assert found.compared == 2 * (len(SAVED_RULES) + len(NAT))
        assert ruleset.unread == ()
        comments = [
            rule.comment for one in ruleset.tables for chain in one.chains for rule in chain.rules if rule.comment
        ]
        assert comments == ["let it <b>"] * 2


def test_counters_move_for_the_rules_that_a_packet_met() -> None:
    with made_namespace() as name:
        for command in ("iptables-legacy", "iptables-nft"):
            restore(name, command, "filter", SAVED_RULES)
        ruleset = ruleset_of(name)

        def counters() -> dict[str, int]:
            with open_namespace(NamedNamespace(name=name)) as opened:

                def read() -> dict[str, int]:
                    with Channel(NETFILTER) as channel:
                        return {str(rule): count for rule, count in read_counters(channel, ruleset).items()}

                return opened.run(read)

        before = counters()
        assert len(before) == len(list(addresses(ruleset))) == 2 * len(SAVED_RULES)
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


def test_only_tables_that_are_there_are_asked_for() -> None:
    with made_namespace() as name:
        inside(name, "ip6tables-legacy", "-t", "mangle", "-A", "FORWARD", "-j", "DROP")
        with open_namespace(NamedNamespace(name=name)) as opened:
            tables, unread = opened.run(legacy_tables)
            assert opened.run(legacy_tables) == (tables, unread)
    assert [(table.family, table.name) for table in tables] == [("ip6", "mangle")]
    assert unread == ()
    (rule,) = [rule for chain in tables[0].chains for rule in chain.rules]
    assert rule.text == "-A FORWARD -j DROP"
    assert {chain.name: chain.priority for chain in tables[0].chains}["FORWARD"] == -150


TABLES, CHAINS, RULES, SETS, ELEMENTS = 1, 4, 7, 10, 13


class Played:
    """Answers by the kind of question; an error is raised."""

    interrupted = False

    def __init__(self, answers: dict[int, list[memoryview] | NetdiagError]) -> None:
        self.answers = answers
        self.asked: list[int] = []

    def dump(self, request: bytes) -> Iterator[tuple[int, memoryview]]:
        kind = request[4]
        self.asked.append(kind)
        answer = self.answers.get(kind, [])
        if isinstance(answer, NetdiagError):
            raise answer
        return iter([(0, message) for message in answer])


def channel(answers: dict[int, list[memoryview] | NetdiagError]) -> Channel:
    return cast(Channel, Played(answers))


def made(**more: list[memoryview] | NetdiagError) -> dict[int, list[memoryview] | NetdiagError]:
    """A table with a chain."""
    return {
        TABLES: [payload(2, word(1, "t"))],
        CHAINS: [message_bytes.chain(2, "t", "c", hook=2)],
        **{{"rules": RULES, "sets": SETS, "elements": ELEMENTS}[name]: answer for name, answer in more.items()},
    }


def test_one_question_where_there_is_nothing() -> None:
    played = Played({})
    read_ruleset(cast(Channel, played))
    assert played.asked == [TABLES]


def test_without_the_right() -> None:
    found = read_ruleset(channel({TABLES: MissingRight("no")}))
    assert "nf_tables: only root can read it" in found.unread


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EOPNOTSUPP])
def test_a_kernel_without_nf_tables_has_no_rules_of_it(number: int) -> None:
    found = read_ruleset(channel({TABLES: Refused("no", number=number)}))
    assert found == read_ruleset(channel({})) == read_ruleset(None)
    other = read_ruleset(channel({TABLES: Refused("busy", number=errno.EBUSY)}))
    assert "nf_tables: busy" in other.unread


def test_more_rules_than_we_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_RULES", 3)
    rules = [message_bytes.rule(2, "t", "c", handle, verdict(1)) for handle in range(5)]
    found = read_ruleset(channel(made(rules=rules)))
    assert len(found.tables[0].chains[0].rules) == 3
    assert "rules of nf_tables: more than 3, the rest is not shown" in found.unread


def test_more_elements_than_we_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_OF_A_SET", 2)
    sets = [payload(2, word(1, "t"), word(2, "s"), number(4, 13), number(5, 2))]
    elements = [
        payload(2, word(1, "t"), word(2, "s"), attribute(3, attribute(1, data(1, bytes([0, port])))))
        for port in range(1, 6)
    ]
    found = read_ruleset(channel(made(sets=sets, elements=elements)))
    (one,) = found.tables[0].sets
    assert (one.partly, len(one.elements)) == (True, 2)
    assert "set s of ip t: more than 2 elements, the rest is not shown" in found.unread


def test_elements_that_cannot_be_read() -> None:
    sets = [payload(2, word(1, "t"), word(2, "s"), number(4, 13), number(5, 2))]
    found = read_ruleset(channel(made(sets=sets, elements=NetdiagError("gone"))))
    assert found.tables[0].sets[0].partly
    assert "set s of ip t: gone" in found.unread


def test_an_answer_that_is_none() -> None:
    found = read_ruleset(channel({TABLES: [payload(2, b"\xff\xff\1\0")]}))
    assert all(table.origin is Origin.IPTABLES_LEGACY for table in found.tables)
    assert found.unread[0].startswith("nf_tables: attribute 1 of 65535 bytes")


def test_flow_tables_are_told() -> None:
    found = read_ruleset(channel({**made(), 23: [payload(1, word(1, "t"), word(2, "f"))]}))
    assert "flowtable of inet t: connections that it carries pass no rules" in found.unread
