"""Matches that only have a text."""

import struct

from netdiag.linux.xtables.blob import Blob
from netdiag.linux.xtables.rarer_matches import RARER


def test_negations_are_named() -> None:
    assert RARER["length"](Blob(struct.pack("=HHB", 1, 2, 1), 4), 0) == {"length": [1, 2], "not": ["length"]}


def test_unknown_revisions_and_modes() -> None:
    assert RARER["owner"](Blob(bytes(40), 4), 0) is None
    assert RARER["statistic"](Blob(struct.pack("=HHI", 9, 0, 0), 4), 0) is None
