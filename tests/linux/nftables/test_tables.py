"""Tables put together from their chains and rules, sets from their elements."""

from netdiag.linux.nftables.messages import ElementMessage, SetMessage, TableId, decode_chain, decode_rule, decode_table
from netdiag.linux.nftables.tables import Dump, assemble, assemble_set
from netdiag.linux.ruleset import ElementSet, Origin, SetEntry
from tests.linux.nftables.message_bytes import (
    COUNTED,
    TCP_PORT_80,
    attribute,
    chain,
    expression,
    payload,
    rule,
    verdict,
    word,
)


def test_rules_are_numbered_in_their_chains() -> None:
    comment = expression("match", word(1, "comment"), attribute(3, b"why\0"))
    dump = Dump(
        tables=[decode_table(payload(2, word(1, "filter")))],
        chains=[decode_chain(chain(2, "filter", "FORWARD", hook=2)), decode_chain(chain(2, "filter", "X"))],
        rules=[
            decode_rule(rule(2, "filter", "FORWARD", 5, *TCP_PORT_80, COUNTED, verdict(1))),
            decode_rule(rule(2, "filter", "X", 6, comment, verdict(0))),
            decode_rule(rule(2, "filter", "FORWARD", 7, verdict(-3, "X"))),
            decode_rule(rule(2, "other", "FORWARD", 8)),
        ],
    )
    (table,) = assemble(dump)
    assert table.origin is Origin.IPTABLES_NFT
    assert [(one.number, one.handle, one.text, one.packets) for one in table.chains[0].rules] == [
        (1, 5, "-A FORWARD -p tcp -m tcp --dport 80 -j ACCEPT", 5),
        (2, 7, "-A FORWARD -j X", None),
    ]
    assert table.chains[1].rules[0].comment == "why"


def assembled(
    flags: int, key_type: int, *elements: ElementMessage, lengths: tuple[int, ...] = (), data_type: int = 0
) -> ElementSet:
    message = SetMessage(
        place=TableId("ip", "t"),
        name="s",
        flags=flags,
        key_type=key_type,
        key_length=4,
        data_type=data_type,
        data_length=0,
        field_lengths=lengths,
    )
    return assemble_set(message, elements)


def port(number: int, *, closes: bool = False, **more: object) -> ElementMessage:
    return ElementMessage(key=number.to_bytes(2, "big"), closes=closes, **more)  # type: ignore[arg-type]


def test_intervals_are_joined_whatever_the_order() -> None:
    found = assembled(
        4, 13, port(101, closes=True), port(80), port(2000), port(81, closes=True), port(90), port(0, closes=True)
    )
    assert found.elements == (("80", None), ("90-100", None), ("2000-65535", None))
    assert found.entries[1] == SetEntry(key=b"\0\x5a", last=b"\0\x64")


def test_neighbouring_intervals() -> None:
    found = assembled(4, 13, port(80), port(90, closes=True), port(90), port(100, closes=True))
    assert found.elements == (("80-89", None), ("90-99", None))


def test_prefixes_and_parts() -> None:
    first, last = bytes([10, 0, 0, 0, 0, 80, 0, 0]), bytes([10, 0, 0, 255, 0, 90, 0, 0])
    found = assembled(4, 7 << 6 | 13, ElementMessage(key=first, last=last), lengths=(4, 2))
    assert found.elements == (("10.0.0.0/24 . 80-90", None),)
    assert found.key_type == "ipv4_addr . inet_service"


def test_maps() -> None:
    found = assembled(8, 13, port(80, value=bytes([10, 0, 0, 1])), data_type=7)
    assert (found.data_type, found.elements) == ("ipv4_addr", (("80", "10.0.0.1"),))
    jump = port(80, verdict="jump", chain="X")
    rest = ElementMessage(key=b"", rest=True, verdict="drop")
    found = assembled(8, 13, jump, rest, data_type=0xFFFFFF00)
    assert (found.data_type, found.elements) == ("verdict", (("80", "jump X"), ("*", "drop")))
    assert found.entries[1].key == b""
    assert assembled(64, 13, port(80, object_name="c")).elements == (("80", '"c"'),)


def test_patterns_of_names() -> None:
    first, last = b"eth".ljust(16, b"\0"), b"eth".ljust(16, b"\xff")
    assert assembled(4, 41, ElementMessage(key=first, last=last)).elements == (('"eth*"', None),)
