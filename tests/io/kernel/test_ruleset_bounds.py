"""What a kernel might answer instead: too much, nothing, not to us; played without one."""

import errno
from collections.abc import Iterator
from typing import cast

import pytest

from netdiag.errors import MissingRight, NetdiagError
from netdiag.io.kernel import ruleset as reading
from netdiag.io.kernel.channel import Channel, Refused
from netdiag.io.kernel.conntrack import MOST_CONNECTIONS, read_connections
from netdiag.io.kernel.ruleset import read_ruleset
from netdiag.linux.ruleset import Origin
from tests.linux.nftables import building
from tests.linux.nftables.building import attribute, data, number, payload, verdict, word

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
        CHAINS: [building.chain(2, "t", "c", hook=2)],
        **{{"rules": RULES, "sets": SETS, "elements": ELEMENTS}[name]: answer for name, answer in more.items()},
    }


def test_one_question_where_there_is_nothing() -> None:
    played = Played({})
    read_ruleset(cast(Channel, played))
    assert played.asked == [TABLES]


def test_without_the_right() -> None:
    found = read_ruleset(channel({TABLES: MissingRight("no")}))
    assert "nf_tables: only root may look at it" in found.unread


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EOPNOTSUPP])
def test_a_kernel_without_nf_tables_has_no_rules_of_it(number: int) -> None:
    found = read_ruleset(channel({TABLES: Refused("no", number=number)}))
    assert found == read_ruleset(channel({})) == read_ruleset(None)
    other = read_ruleset(channel({TABLES: Refused("busy", number=errno.EBUSY)}))
    assert "nf_tables: busy" in other.unread


def test_more_rules_than_we_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_RULES", 3)
    rules = [building.rule(2, "t", "c", handle, verdict(1)) for handle in range(5)]
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


def test_more_connections_than_we_take() -> None:
    one = payload(2, attribute(1, b""), attribute(2, b""))
    found, unread = read_connections(channel({1: [one] * (MOST_CONNECTIONS + 1)}))
    assert (len(found), len(unread)) == (MOST_CONNECTIONS, 1)
    assert read_connections(channel({1: MissingRight("root only")})) == ((), ("connections: root only",))


def test_flow_tables_are_told() -> None:
    found = read_ruleset(channel({**made(), 23: [payload(1, word(1, "t"), word(2, "f"))]}))
    assert "flowtable of inet t: connections that it carries pass no rules" in found.unread
