"""Texts of rows by number, each once.

The numbers hold until the table is cleared, which whoever owns it does between two batches of rows: the texts of a
capture are without end, those of a batch are not.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from netdiag.traffic.engine.compiled import strings
from netdiag.traffic.engine.compiled.arenas import Numbers
from netdiag.traffic.engine.compiled.arenas import Strings as Others
from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.strings import Strings

MOST = 350_000
MOST_CHARACTERS = 16_000_000
"""So many texts, so many bytes, are worth starting anew."""


class Texts:
    """Begins with `fixed`, which keep their numbers for ever."""

    _table: Strings

    def __init__(self, fixed: Iterable[str], most: int = MOST) -> None:
        self._fixed = tuple(dict.fromkeys(fixed))
        self._most = most
        self.clear()

    def __len__(self) -> int:
        return int(self._table.counts[0])

    def text(self, number: int) -> str:
        """The text that has this number."""
        return strings.raw(self._table, number).decode()

    def number(self, text: str) -> int:
        """Its number, a new one where it was not there yet."""
        known = self._numbers.get(text)
        if known is None:
            data = np.frombuffer(bytearray(text.encode()), np.uint8)
            known = self._numbers[text] = strings.add_bytes(self.with_room(1, len(data)), data, 0, len(data))
        return known

    def follow(self, others: Others, begin: int, end: int, numbers: Numbers) -> None:
        """The numbers of those of another table from `begin` to before `end`."""
        size = int(others.bounds[end] - others.bounds[begin])
        _follow(self.with_room(end - begin, size), others.data, others.bounds, begin, end, numbers)

    def with_room(self, texts: int, size: int) -> Strings:
        """The table, with room for so many texts of so many bytes together."""
        table = self._table
        count = int(table.counts[0]) + texts
        needed = int(table.bounds[table.counts[0]]) + size
        if count >= len(table.bounds) or needed > len(table.data):
            room, most = len(table.bounds) - 1, len(table.data)
            while room <= count:
                room *= 2
            while most < needed:
                most *= 2
            self._table = strings.grown(table, room, most)
        return self._table

    @property
    def is_full(self) -> bool:
        """Whether it is time to clear it."""
        return len(self) > self._most or int(self._table.bounds[len(self)]) > MOST_CHARACTERS

    def clear(self) -> None:
        """Forget all but the fixed ones."""
        self._table = strings.strings()
        self._numbers: dict[str, int] = {}
        self._bounds = np.zeros(64, np.int32)
        self._known = 0
        for text in self._fixed:
            self.number(text)

    def array(self) -> pa.StringArray:
        """All of them by their numbers, as Arrow has texts."""
        count, table = len(self), self._table
        if count >= len(self._bounds):
            bounds = np.zeros(2 * count + 1, np.int32)
            bounds[: self._known + 1] = self._bounds[: self._known + 1]
            self._bounds = bounds
        self._bounds[self._known + 1 : count + 1] = table.bounds[self._known + 1 : count + 1]
        self._known = count
        # What is there stays as it is: more is only ever put behind it.
        bounds, data = self._bounds[: count + 1], table.data[: table.bounds[count]]
        return pa.StringArray.from_buffers(count, pa.py_buffer(bounds), pa.py_buffer(data))


@kernel
def _follow(table: Strings, data: Numbers, bounds: Numbers, begin: int, end: int, numbers: Numbers) -> None:
    for each in range(begin, end):
        numbers[each] = strings.add_bytes(table, data, bounds[each], bounds[each + 1] - bounds[each])
