"""What the kernels of the rows know of connections, of topic ids, and of the numbers of fixed texts."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from netdiag.traffic.engine.compiled.arenas import Arenas
from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.layout import NOTHING

Numbers = npt.NDArray[Any]

EMPTY = 0
"""The number of the empty text."""

END = np.dtype(
    [
        ("connection", "i8"),
        ("client", "i4"),
        ("broker", "i4"),
        ("client_name", "i4"),
        ("broker_name", "i4"),
        ("listener", "i4"),
        ("client_id", "i4"),
        ("is_client", "u1"),
        ("is_broker", "u1"),
    ],
    align=True,
)
"""A connection: number, texts of its ends (-1 for no name) and of its first client id, what of it is asked for."""


class Words(NamedTuple):
    """`files`, `codecs`, `decoded`, `outcomes`: numbers of their texts. `clients` and `topics`: which texts are wanted.

    Of topic ids by number: the text of the `name`, `since` which pair it is known, the text of the `shape` of the id.
    """

    files: Numbers
    codecs: Numbers
    decoded: Numbers
    outcomes: Numbers
    clients: Numbers
    topics: Numbers
    name: Numbers
    since: Numbers
    shape: Numbers


@kernel
def name_of(words: Words, arenas: Arenas, topic: int, serial: int) -> Any:
    """The name of a topic as it is known when this pair comes, -1 where it is not."""
    if topic >= 0:
        return arenas.texts[topic]
    number = arenas.ids[-2 - topic]
    return words.name[number] if words.since[number] <= serial else -1


@kernel
def shape_of(words: Words, arenas: Arenas, topic: int) -> Any:
    """The text of a topic id, -1 for a topic that is a name."""
    return -1 if topic >= 0 else words.shape[arenas.ids[-2 - topic]]


@kernel
def shown(words: Words, arenas: Arenas, topic: int, serial: int) -> Any:
    """The name of a topic, its id where the name is not known."""
    name = name_of(words, arenas, topic, serial)
    if topic >= 0 or name > EMPTY:
        return name
    return shape_of(words, arenas, topic)


@kernel
def text_of(arenas: Arenas, number: int) -> Any:
    """The number of a text, -1 for none."""
    return arenas.texts[number] if number >= 0 else -1


@kernel
def look_up(keys: Numbers, known: Numbers, first: int, names: Numbers) -> int:
    """Write the names of api keys from `first` on; gives the place of the first that is not known."""
    for index in range(first, len(keys)):
        name = known[np.int64(keys[index]) & 0xFFFF]
        if name == NOTHING:
            return index
        names[index] = name
    return len(keys)
