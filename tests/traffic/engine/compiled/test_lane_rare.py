"""Records of what is rare can be written for one direction, and the others say nothing."""

import numpy as np

from netdiag.traffic.engine.compiled.lane_rare import TROUBLE, UNFINISHED


def test_what_was_not_written_says_nothing() -> None:
    for record in (TROUBLE, UNFINISHED):
        rows = np.zeros(3, record)
        for name in record.fields or ():
            rows[name][1] = 1
        assert rows.tolist() == [tuple([each] * len(record.names or ())) for each in (0, 1, 0)]
