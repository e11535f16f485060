"""Bytes are copied as they are, and no others."""

import numpy as np

from netdiag.traffic.engine.compiled.copying import copy


def test_so_many_and_no_more() -> None:
    source = np.arange(200, dtype="u1")
    for count in (0, 1, 7, 64, 131):
        target = np.full(200, 255, "u1")
        copy(target, 5, source, 3, count)
        assert target[5 : 5 + count].tolist() == list(range(3, 3 + count))
        assert set(target[:5].tolist()) | set(target[5 + count :].tolist()) == {255}
