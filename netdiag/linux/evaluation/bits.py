"""Bytes of which only some bits are known, and comparing them in three values."""

from typing import NamedTuple

Ternary = bool | None


class Bits(NamedTuple):
    """`known` has a one for every bit of `value` that is known; the others of `value` are zero."""

    value: bytes
    known: bytes

    @property
    def complete(self) -> bool:
        """Whether every bit is known."""
        return not self.known.strip(b"\xff")


def known(value: bytes) -> Bits:
    """All bits known."""
    return Bits(value, b"\xff" * len(value))


def unknown(length: int) -> Bits:
    """No bit known."""
    return Bits(bytes(length), bytes(length))


def joined(parts: list[Bits]) -> Bits:
    """One after the other."""
    return Bits(b"".join(part.value for part in parts), b"".join(part.known for part in parts))


def masked(bits: Bits, mask: bytes, xor: bytes) -> Bits:
    """(bits & mask) ^ xor: what the mask takes away is known to be what `xor` says."""
    length = len(bits.value)
    keep, flip = _number(mask), _number(xor)
    value = (_number(bits.value) & keep) ^ flip
    certain = _number(bits.known) | (~keep & _ones(length))
    return Bits(_bytes(value & certain, length), _bytes(certain, length))


def equal(bits: Bits, other: bytes) -> Ternary:
    """Whether they are these bytes."""
    if (_number(bits.value) ^ _number(other)) & _number(bits.known):
        return False
    return True if bits.complete else None


def compare(bits: Bits, operator: str, other: bytes) -> Ternary:
    """What a comparison of big-endian numbers gives."""
    if operator in ("==", "!="):
        same = equal(bits, other)
        return same if operator == "==" or same is None else not same
    lowest = _number(bits.value)
    highest = lowest | (~_number(bits.known) & _ones(len(bits.value)))
    border = _number(other)
    match operator:
        case "<":
            return True if highest < border else False if lowest >= border else None
        case "<=":
            return True if highest <= border else False if lowest > border else None
        case ">":
            return True if lowest > border else False if highest <= border else None
        case ">=":
            return True if lowest >= border else False if highest < border else None
        case _:
            return None


def within(bits: Bits, first: bytes, last: bytes) -> Ternary:
    """Whether they are a number from `first` to `last`, both included."""
    return both(compare(bits, ">=", first), compare(bits, "<=", last))


def both(one: Ternary, other: Ternary) -> Ternary:
    """And, in three values."""
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def negated(value: Ternary, invert: bool) -> Ternary:
    """Not, in three values, if `invert`."""
    return None if value is None else value != invert


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _bytes(number: int, length: int) -> bytes:
    return number.to_bytes(length, "big")


def _ones(length: int) -> int:
    return (1 << 8 * length) - 1
