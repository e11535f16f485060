"""Programs for messages that are there as a whole: those of the machine, with fewer and larger steps.

A step is eight numbers: the operation; how many bytes to go over first; kind and size of the number that is read then,
NO_NUMBER for none; three operands. What is rare (tagged fields) has no steps: who meets it leaves the message to the
machine.
"""

from collections.abc import Iterator, Sequence

from netdiag.traffic.engine.compiled import opcodes as do

SIZE = 8

(
    QUICK_END,  # the body is read; a: it has records
    QUICK_ARRAY,  # of so many elements as the length says, each of b bytes at least; c: where it ends; a: as of ARRAY
    QUICK_AGAIN,  # the next element, at a
    QUICK_TAGS,  # no tagged fields; a: the next element is there, below 0 without
    QUICK_NUMBER,  # do a with the number, b being what a needs
    QUICK_TEXT,  # of the length that was read; a: 1 compact, 2 it is the group, too; do b with it, c being what b needs
    QUICK_OVER,  # as many bytes as the length says; a: it was compact
    QUICK_RECORDS,  # of the length that was read; a: it was compact; b: their batches are told; c: has a row
    QUICK_ID,  # 16 bytes that are the id of a topic
    QUICK_MANY,  # over as many times a bytes as the array has elements, without b
    QUICK_JUMP_BELOW,  # to a if the number is below 0
    QUICK_OPEN,  # a row of arena a
    QUICK_CLOSE,  # the row
    QUICK_STEP,  # nothing but what to go over
    QUICK_LEAVE,  # the message is for the machine
) = range(15)

VARINT, COMPACT, NO_NUMBER = range(10, 13)
"""Kinds of numbers beside those of `opcodes`: a varint, one of which 1 is taken off."""

_SIZES = (*do.KIND_SIZES, 1, 1, 0)
Step = tuple[int, int, int, int]
_TARGETS = {do.ARRAY: 3, do.AGAIN: 1, do.JUMP_BELOW: 1}
_LEFT_OUT = frozenset({do.TAG, do.IF_TAG, do.OVER_TAG, do.END_TAG, do.JUMP, do.STRANGE})


class _Unknown(Exception):
    """A step that none of these here stands for."""


def quickened(code: Sequence[int], start: int, base: int) -> list[int]:
    """The steps of a program whose first one has number `start`, from number `base` on; none where it has no such."""
    try:
        return _Quick(code, start, base).made() if code else []
    except _Unknown:
        return []


class _Quick:
    def __init__(self, code: Sequence[int], start: int, base: int) -> None:
        self._steps = list(_without_tags(code, start))
        self._base = base
        self._made: list[list[int]] = []
        self._places: dict[int, int] = {}
        self._over = 0
        self._has_records = 0

    def made(self) -> list[int]:
        targets = {step[_TARGETS[step[0]]] for _, step in self._steps if step[0] in _TARGETS}
        index = 0
        while index < len(self._steps):
            number = self._steps[index][0]
            if number in targets and self._over:
                self._emit(QUICK_STEP)
            self._places[number] = len(self._made)
            index = self._take(index, targets)
        operands = {QUICK_ARRAY: 6, QUICK_AGAIN: 4, QUICK_JUMP_BELOW: 4, QUICK_TAGS: 4}
        for step in self._made:
            place = operands.get(step[0])
            if place is not None and step[place] >= 0:
                step[place] = self._base + self._places[step[place]]
        return [number for step in self._made for number in step]

    def _emit(self, step: int, kind: int = NO_NUMBER, a: int = 0, b: int = 0, c: int = 0) -> None:
        self._made.append([step, self._over, kind, _SIZES[kind], a, b, c, 0])
        self._over = 0

    def _take(self, index: int, targets: set[int]) -> int:
        """Write what stands for the steps from `index` on; gives where the next one begins."""
        step, a, b, c = self._steps[index][1]
        if step in (do.STEP, do.SKIP):
            self._over += a
        elif step == do.NEED:
            pass
        elif step == do.BODY:
            self._has_records = b
        elif step == do.READ and b == do.LENGTH:
            return self._measured(index, a, targets)
        elif step == do.READ and a == do.UUID:
            if b == do.TOPIC:
                self._emit(QUICK_ID)
            else:
                self._over += do.KIND_SIZES[do.UUID]
        elif step == do.READ:
            self._emit(QUICK_NUMBER, a, b, c)
        elif step == do.DO:
            self._emit(QUICK_NUMBER, NO_NUMBER, b, c)
        else:
            self._single(step, a, b)
        return index + 1

    def _single(self, step: int, a: int, b: int) -> None:
        if step == do.AGAIN:
            self._emit(QUICK_AGAIN, NO_NUMBER, a)
        elif step == do.NUMBERS:
            self._emit(QUICK_LEAVE)
        elif step == do.MANY:
            self._emit(QUICK_MANY, NO_NUMBER, a, b)
        elif step == do.JUMP_BELOW:
            self._emit(QUICK_JUMP_BELOW, NO_NUMBER, a)
        elif step == do.OPEN:
            self._emit(QUICK_OPEN, NO_NUMBER, a)
        elif step == do.CLOSE:
            self._emit(QUICK_CLOSE)
        elif step == do.END:
            self._emit(QUICK_END, NO_NUMBER, self._has_records)
        else:
            raise _Unknown

    def _measured(self, index: int, kind: int, targets: set[int]) -> int:
        """A length, and what is of that length."""
        index += 1
        if self._steps[index][1][0] == do.VARINT:
            kind = COMPACT if self._steps[index][1][1] else VARINT
            index += 1
        number, (step, a, b, c) = self._steps[index]
        if number in targets:
            raise _Unknown
        if step == do.TEXT:
            self._emit(QUICK_TEXT, kind, a, b, c)
        elif step == do.OVER:
            self._emit(QUICK_OVER, kind, a)
        elif step == do.ARRAY:
            self._emit(QUICK_ARRAY, kind, a, b, c)
        elif step == do.RECORDS and self._steps[index + 1][1][0] == do.ENTRIES:
            self._emit(QUICK_RECORDS, kind, a, self._steps[index + 1][1][1], c)
            index += 1
        elif step == do.TAGS:
            following, (next_step, begin, _, _) = self._steps[index + 1]
            if next_step == do.AGAIN and following not in targets:
                self._emit(QUICK_TAGS, kind, begin)
                index += 1
            else:
                self._emit(QUICK_TAGS, kind, -1)
        else:
            raise _Unknown
        return index + 1


def _without_tags(code: Sequence[int], start: int) -> Iterator[tuple[int, Step]]:
    """The steps to the end of the body, with their numbers, but for those of tagged fields."""
    at = 0
    while True:
        step = (code[at * do.SIZE], code[at * do.SIZE + 1], code[at * do.SIZE + 2], code[at * do.SIZE + 3])
        if step[0] in _LEFT_OUT:
            raise _Unknown
        yield start + at, step
        if step[0] == do.END:
            return
        at = step[3] - start if step[0] == do.TAGS else at + 1
