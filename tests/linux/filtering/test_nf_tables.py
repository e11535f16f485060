"""Expressions of nf_tables, one by one."""

import pytest

from netdiag.linux.filtering.nf_tables import STATE_BITS, address_type, look_up, step
from netdiag.linux.filtering.packet import (
    NOTHING_KNOWN,
    Bits,
    ConnectionState,
    Decision,
    Evaluation,
    NamespaceView,
    Packet,
    known,
    native_number,
    unknown,
)
from netdiag.linux.rtnetlink import Detail
from netdiag.linux.ruleset import ElementSet, Expression, SetEntry
from tests.each import each

PACKET = Packet(
    family=4,
    protocol="tcp",
    source="10.0.0.1",
    destination="10.0.0.2",
    destination_port=80,
    in_link="eth0",
    out_link="br0",
    mark=5,
)
SETS = {
    "ports": ElementSet(name="ports", key_type="inet_service", entries=(SetEntry(key=b"\0\x50", last=b"\0\x50"),)),
    "ways": ElementSet(
        name="ways",
        key_type="inet_service",
        data_type="verdict",
        entries=(SetEntry(key=b"\0\x50", last=b"\0\x50", verdict="jump", chain="X"),),
    ),
    "places": ElementSet(
        name="places",
        key_type="inet_service",
        data_type="ipv4_addr",
        entries=(SetEntry(key=b"\0\x50", last=b"\0\x50", value=bytes([1, 2, 3, 4])),),
    ),
}
HERE = NamespaceView(is_local=lambda address: address == "10.0.0.2", ifindexes={"eth0": 7})


def run(*steps: tuple[str, dict[str, Detail]], packet: Packet = PACKET) -> tuple[bool | Decision | None, Evaluation]:
    evaluation = Evaluation(packet=packet, hook="prerouting", namespace=HERE, sets=SETS)
    answer: bool | Decision | None = True
    for name, fields in steps:
        answer = step(Expression(name=name, fields=fields), evaluation)
        if answer is not True:
            break
    return answer, evaluation


PORT: tuple[str, dict[str, Detail]] = ("payload", {"dreg": 1, "base": "transport", "offset": 2, "len": 2})


def same(data: bytes, register: int = 1, op: str = "==") -> tuple[str, dict[str, Detail]]:
    return ("cmp", {"sreg": register, "op": op, "data": data.hex()})


def meta(key: str) -> tuple[str, dict[str, Detail]]:
    return ("meta", {"key": key, "dreg": 1})


@each(
    ("steps", "answer"),
    [
        ((PORT, same(b"\0\x50")), True),
        ((PORT, same(b"\0\x51")), False),
        ((PORT, ("range", {"sreg": 1, "op": "==", "from": "0010", "to": "0060"})), True),
        ((PORT, ("range", {"sreg": 1, "op": "!=", "from": "0010", "to": "0060"})), False),
        ((meta("iifname"), same(b"eth0" + bytes(12))), True),
        ((meta("iifname"), same(b"et")), True),
        ((meta("oifname"), same(b"eth0" + bytes(12))), False),
        ((meta("iif"), same(native_number(7))), True),
        ((meta("oif"), same(native_number(7))), None),
        ((meta("mark"), same(native_number(5))), True),
        ((meta("nfproto"), same(b"\2")), True),
        ((meta("l4proto"), same(b"\6")), True),
        ((meta("protocol"), same(b"\x08\0")), True),
        ((meta("skuid"), same(bytes(4))), None),
        ((("ct", {"key": "state", "dreg": 1}), same(native_number(8))), True),
        (
            (
                ("ct", {"key": "state", "dreg": 1}),
                ("bitwise", {"sreg": 1, "dreg": 1, "len": 4, "mask": native_number(6).hex(), "xor": "00000000"}),
                same(bytes(4), op="!="),
            ),
            False,
        ),
        ((("ct", {"key": "direction", "dreg": 1}), same(b"\0")), True),
        ((("ct", {"key": "expiration", "dreg": 1}), same(bytes(4))), None),
        ((("fib", {"dreg": 1, "result": "type", "flags": 2}), same(native_number(2))), True),
        ((("fib", {"dreg": 1, "result": "oif", "flags": 2}), same(native_number(2))), None),
        ((PORT, ("lookup", {"set": "ports", "sreg": 1})), True),
        ((PORT, ("lookup", {"set": "ports", "sreg": 1, "invert": True})), False),
        ((PORT, ("lookup", {"set": "nothing", "sreg": 1})), None),
        ((("limit", {}),), None),
        ((("numgen", {"dreg": 1}), same(bytes(4))), None),
        ((("byteorder", {"sreg": 1, "dreg": 2, "len": 4, "size": 4}),), True),
        ((("objref", {"type": "counter"}), ("objref", {"type": "quota"})), None),
    ],
)
def test_conditions(steps: tuple[tuple[str, dict[str, Detail]], ...], answer: bool | None) -> None:
    assert run(*steps)[0] is answer


def test_a_verdict_by_a_map() -> None:
    answer, _ = run(PORT, ("lookup", {"set": "ways", "sreg": 1, "dreg": 0}))
    assert answer == Decision(word="jump", chain="X")


def test_a_translation_by_a_map() -> None:
    answer, evaluation = run(
        PORT,
        ("lookup", {"set": "places", "sreg": 1, "dreg": 1}),
        ("immediate", {"dreg": 2, "data": "2383"}),
        ("nat", {"type": "dnat", "address_min": 1, "port_min": 2}),
    )
    assert answer == Decision(word="accept")
    assert (evaluation.packet.destination, evaluation.packet.destination_port) == ("1.2.3.4", 9091)


def test_a_mark_is_seen_by_later_rules() -> None:
    _, evaluation = run(
        ("immediate", {"dreg": 1, "data": native_number(99).hex()}),
        ("meta", {"key": "mark", "sreg": 1}),
        ("ct", {"key": "mark", "sreg": 1}),
    )
    assert (evaluation.packet.mark, evaluation.packet.connection_mark) == (99, 99)


def test_what_ends_elsewhere_and_what_is_refused() -> None:
    assert run(("queue", {}))[0] == Decision(word="unknown", because="handed to another program or device")
    assert run(("reject", {"kind": "tcp reset"}))[0] == Decision(word="reject", kind="tcp reset")
    assert run(("verdict", {"verdict": "stolen"}))[0] == Decision(word="unknown", because="verdict stolen")


def test_masquerade_and_redirect() -> None:
    assert run(("masq", {}))[0] == Decision(word="accept")
    answer = run(("redir", {}))[0]
    assert isinstance(answer, Decision)
    assert answer.word == "unknown"


def test_types_of_addresses() -> None:
    evaluation = run()[1]
    found = [address_type(a, evaluation) for a in ("10.0.0.2", "10.0.0.3", "224.0.0.1", "255.255.255.255", "odd")]
    assert found == [2, 1, 5, 3, None]
    assert STATE_BITS[ConnectionState.RELATED] == 4


def test_the_tuple_before_translation() -> None:
    packet = Packet(
        family=4,
        protocol="tcp",
        source="10.0.0.1",
        destination="10.0.0.2",
        original_destination="10.0.0.9",
        original_destination_port=9,
    )
    address = ("ct", {"key": "dst", "dreg": 1, "direction": "original"})
    port = ("ct", {"key": "proto_dst", "dreg": 1, "direction": "original"})
    assert run(address, same(bytes([10, 0, 0, 9])), packet=packet)[0] is True  # type: ignore[arg-type]
    assert run(port, same(b"\0\x09"), packet=packet)[0] is True  # type: ignore[arg-type]


PLAIN = ElementSet(
    name="s",
    key_type="inet_service",
    entries=(SetEntry(key=b"\0\x50", last=b"\0\x50"), SetEntry(key=b"\1\0", last=b"\2\0")),
)
PAIRS = ElementSet(
    name="p",
    key_type="ipv4_addr . inet_service",
    field_lengths=(4, 2),
    entries=(SetEntry(key=b"\x0a\0\0\0\0\x50\0\0", last=b"\x0a\0\0\xff\0\x51\0\0"),),
)


def evaluation(bits: Bits) -> Evaluation:
    packet = Packet(family=4, protocol="tcp", source="10.0.0.1", destination="10.0.0.2")
    made = Evaluation(packet=packet, hook="input", namespace=NOTHING_KNOWN)
    made.load(1, bits)
    return made


@pytest.mark.parametrize(
    ("bits", "answer"),
    [
        (known(b"\0\x50"), True),
        (known(b"\1\x50"), True),
        (known(b"\0\x51"), False),
        (unknown(2), None),
        (Bits(b"\xf0\0", b"\xf0\0"), False),
    ],
)
def test_values_and_intervals(bits: Bits, answer: bool | None) -> None:
    assert look_up(PLAIN, evaluation(bits), 1).matches is answer


@pytest.mark.parametrize(
    ("key", "answer"),
    [(b"\x0a\0\0\x07\0\x51\0\0", True), (b"\x0a\0\0\x07\0\x52\0\0", False), (b"\x0a\0\1\x07\0\x50\0\0", False)],
)
def test_keys_of_several_parts_are_compared_part_by_part(key: bytes, answer: bool) -> None:
    assert look_up(PAIRS, evaluation(known(key)), 1).matches is answer


def test_an_element_for_all_others() -> None:
    rest = SetEntry(key=b"", last=b"", verdict="drop")
    found = look_up(
        ElementSet(name="m", key_type="mark", data_type="verdict", entries=(rest,)), evaluation(known(b"a")), 1
    )
    assert found.entry is rest


def test_sets_that_are_not_known_whole() -> None:
    for elements in (
        ElementSet(name="s", key_type="mark", partly=True),
        ElementSet(name="s", key_type="mark", flags=("dynamic",)),
        ElementSet(name="s", key_type="mark", elements=(("1", None),)),
    ):
        assert look_up(elements, evaluation(known(b"abcd")), 1).matches is None
    assert look_up(ElementSet(name="s", key_type="mark"), evaluation(known(b"abcd")), 1).matches is False
