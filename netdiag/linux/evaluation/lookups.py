"""Whether a key is in a set, in three values: sets of single keys, of intervals, and of keys of several parts."""

from collections.abc import Iterator

from netdiag.linux.evaluation.bits import Bits, Ternary, both, within
from netdiag.linux.evaluation.situation import Situation
from netdiag.linux.ruleset import ElementSet, SetEntry
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`matches` None: it depends on what is not known. `entry` is the element, None where several may be it."""

    matches: Ternary
    entry: SetEntry | None = None


def look_up(elements: ElementSet, situation: Situation, register: int) -> Answer:
    """Look for what is in the registers from this one on."""
    possible, everything_else = False, None
    for entry in elements.entries:
        if not entry.key:
            everything_else = entry
            continue
        found = _inside(situation.read(register, len(entry.key)), entry, elements.field_lengths)
        if found is True and not possible:
            return Answer(matches=True, entry=entry)
        if found is not False:
            possible = True
    if possible or elements.partly or _changing(elements):
        return Answer(matches=None)
    if everything_else is not None:
        return Answer(matches=True, entry=everything_else)
    # Words without entries: written down by hand.
    return Answer(matches=None if elements.elements and not elements.entries else False)


def _changing(elements: ElementSet) -> bool:
    """Whether packets put elements into it."""
    return "dynamic" in elements.flags


def _inside(bits: Bits, entry: SetEntry, lengths: tuple[int, ...]) -> Ternary:
    answer: Ternary = True
    for start, end in _parts(len(entry.key), lengths):
        part = Bits(bits.value[start:end], bits.known[start:end])
        answer = both(answer, within(part, entry.key[start:end], entry.last[start:end]))
        if answer is False:
            return False
    return answer


def _parts(length: int, lengths: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Where each part of a key begins and ends; parts begin at multiples of four bytes."""
    if len(lengths) < 2:
        yield 0, length
        return
    start = 0
    for size in lengths:
        yield start, start + size
        start += -(-size // 4) * 4
