"""Sets put together from their elements."""

from netdiag.linux.nftables.elements import assemble_set
from netdiag.linux.nftables.messages import ElementMessage, Place, SetMessage
from netdiag.linux.ruleset import ElementSet, SetEntry


def assembled(
    flags: int, key_type: int, *elements: ElementMessage, lengths: tuple[int, ...] = (), data_type: int = 0
) -> ElementSet:
    message = SetMessage(
        place=Place("ip", "t"),
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
