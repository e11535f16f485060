"""What a topic is called when a pair comes."""

import numpy as np

from netdiag.traffic.engine.compiled.naming import Naming
from netdiag.traffic.engine.compiled.words import EMPTY, name_of, shape_of, shown, text_of
from netdiag.traffic.engine.options import EngineOptions
from tests.traffic.engine.compiled.test_joining import arenas


def test_an_id_is_shown_until_its_name_is_told() -> None:
    naming = Naming(EngineOptions(), [])
    number, other = naming.identify(bytes(15) + b"\x02"), naming.identify(bytes(15) + b"\x03")
    assert naming.texts.number("") == EMPTY
    naming.learn([(bytes(15) + b"\x02", "orders"), (bytes(15) + b"\x03", "")], 7)
    words, some = naming.words(), arenas([])._replace(ids=np.array([number, other], np.int32))
    called = naming.texts.number("orders")
    assert [name_of(words, some, -2, serial) for serial in (6, 7)] == [-1, called]
    assert [shown(words, some, -2, serial) for serial in (6, 7)] == [words.shape[number], called]
    assert shape_of(words, some, -2) == words.shape[number]
    # An empty name is a name in the tables, and none to show.
    assert name_of(words, some, -3, 9) == EMPTY
    assert shown(words, some, -3, 9) == words.shape[other]


def test_a_name_is_itself() -> None:
    naming, some = Naming(EngineOptions(), []), arenas([])
    words = naming.words()
    assert name_of(words, some, 3, 0) == shown(words, some, 3, 0) == 13
    assert shape_of(words, some, 3) == -1
    assert [text_of(some, number) for number in (-1, 2)] == [-1, 12]
