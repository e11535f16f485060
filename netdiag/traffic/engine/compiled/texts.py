"""Texts of rows by number, each once.

The numbers hold until the table is cleared, which whoever owns it does between two batches of rows: the texts of a
capture are without end, those of a batch are not.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

MOST = 350_000
MOST_CHARACTERS = 16_000_000
"""So many texts, so many characters, are worth starting anew."""


class Texts:
    """Begins with `fixed`, which keep their numbers for ever."""

    def __init__(self, fixed: Iterable[str], most: int = MOST) -> None:
        self._fixed = tuple(dict.fromkeys(fixed))
        self._most = most
        self.clear()

    def __len__(self) -> int:
        return len(self._order)

    @property
    def order(self) -> Sequence[str]:
        """All of them by their numbers."""
        return self._order

    def number(self, text: str) -> int:
        """Its number, a new one where it was not there yet."""
        known = self._numbers.get(text)
        if known is None:
            known = self._numbers[text] = len(self._order)
            self._order.append(text)
            self._characters += len(text)
        return known

    @property
    def is_full(self) -> bool:
        """Whether it is time to clear it."""
        return len(self._order) > self._most or self._characters > MOST_CHARACTERS

    def clear(self) -> None:
        """Forget all but the fixed ones."""
        self._order = list(self._fixed)
        self._numbers = {text: number for number, text in enumerate(self._order)}
        self._characters = 0
        self._packed = _packed(())

    def array(self) -> pa.StringArray:
        """All of them by their numbers, as Arrow has texts."""
        if len(self._packed) < len(self._order):
            new = _packed(self._order[len(self._packed) :])
            self._packed = pa.concat_arrays([self._packed, new]) if len(self._packed) else new
        return self._packed


def _packed(texts: Sequence[str]) -> pa.StringArray:
    # By hand: for the first list that it is given, Arrow imports pandas, which takes 0.2 s.
    data = [text.encode() for text in texts]
    bounds = np.zeros(len(data) + 1, np.int32)
    np.cumsum([len(each) for each in data], out=bounds[1:])
    return pa.StringArray.from_buffers(len(data), pa.py_buffer(bounds), pa.py_buffer(b"".join(data)))
