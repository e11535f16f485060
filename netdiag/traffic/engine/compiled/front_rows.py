"""What the kernels of the front fill: the packets of a chunk, and what their interfaces are called."""

from typing import Any, NamedTuple

import numpy as np

from netdiag.traffic.engine.account import LAST_TIME, Account
from netdiag.traffic.engine.compiled.front_keys import KeyArrays, Keys
from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.layout import NOTHING, PACKET

Array = np.ndarray[Any, Any]

# What a scan says when it comes back: no record is whole from here on, or it is none that a kernel reads; there must be
# room for more rows; for more pairs; the number `state[VALUE]` needs a name.
END, ODD, ROWS, PAIRS, NAME = range(5)

UNKNOWN = -2
MOST_NAMES = 32_000
_LEAST_ROWS = 4096
_MUCH = 4


class NameArrays(NamedTuple):
    """Numbers of interfaces that are no names yet, hashed, with the number of the name that they have."""

    values: Array
    numbers: Array


class Names:
    """The names of interfaces by number, "" is number 0; a full list knows no further ones."""

    def __init__(self) -> None:
        self.names = [""]
        self._known = {"": 0}
        self._count = 0
        self.arrays = _names(64)

    def number(self, name: str) -> int:
        """The number of this name, NOTHING where there is no room for it."""
        number = self._known.get(name, NOTHING)
        if number == NOTHING and len(self.names) < MOST_NAMES:
            number = self._known[name] = len(self.names)
            self.names.append(name)
        return number

    def learn(self, value: int) -> bool:
        """Let the kernels know the name of a number; False where there is no room for it."""
        number = self.number(str(value))
        if number == NOTHING:
            return False
        if 2 * self._count >= len(self.arrays.values):
            old, self.arrays = self.arrays, _names(2 * len(self.arrays.values))
            for index in np.flatnonzero(old.values >= 0):
                _put(self.arrays, old.values[index], old.numbers[index])
        _put(self.arrays, value, number)
        self._count += 1
        return True


class Rows:
    """The packets of the chunk that is being made, in `packets[:count]`; `data` are its bytes.

    `strange`: the interfaces of packets that have no number.
    """

    def __init__(self, keys: Keys, names: Names) -> None:
        self.keys = keys
        self.names = names
        self.data: Array = np.zeros(0, np.uint8)
        self.packets = np.zeros(_LEAST_ROWS, PACKET)
        self.count = 0
        self.strange: dict[int, str] = {}

    def begin(self, data: memoryview) -> None:
        """The bytes of another chunk; room that only packets without payload have taken is given back."""
        if len(self.packets) > max(_LEAST_ROWS, _MUCH * self.count):
            self.packets = np.zeros(len(self.packets) // 2, PACKET)
        self.data, self.count, self.strange = np.frombuffer(data, np.uint8), 0, {}

    @property
    def table(self) -> KeyArrays:
        """The pairs, as kernels see them."""
        return self.keys.arrays

    @staticmethod
    def wanted(account: Account) -> tuple[int, int]:
        """From when on and until before when packets are wanted, in 64 bits."""
        return max(-1, min(account.since, LAST_TIME)), max(-1, min(account.until, LAST_TIME))

    def grow(self) -> None:
        """Make room for as many again."""
        more = np.zeros(2 * len(self.packets), PACKET)
        more[: self.count] = self.packets[: self.count]
        self.packets = more


def _names(size: int) -> NameArrays:
    return NameArrays(np.full(size, -1, np.int64), np.zeros(size, np.int32))


@kernel
def name_of(names: NameArrays, value: int) -> int:
    """The number of the name of this number, or UNKNOWN."""
    mask = len(names.values) - 1
    at = (value * 40503 >> 4) & mask
    while names.values[at] >= 0:
        if names.values[at] == value:
            return np.int64(names.numbers[at])  # type: ignore[return-value]
        at = (at + 1) & mask
    return -2


@kernel
def _put(names: NameArrays, value: int, number: int) -> None:
    mask = len(names.values) - 1
    at = (value * 40503 >> 4) & mask
    while names.values[at] >= 0:
        at = (at + 1) & mask
    names.values[at] = value
    names.numbers[at] = number
