"""Connections as rows have them."""

import numpy as np
import pytest

from netdiag.traffic.engine.compiled.ends import CONTEXT, Connections, Ends, ends_of

_FAR = bytes.fromhex("fe80000000000000000000000000000a")


@pytest.mark.parametrize(
    ("width", "address", "length", "ends"),
    [
        (4, bytes((10, 1, 2, 3)), 3, Ends(-5, "10.1.2.3:40000", "10.1.2.3:9092", "app")),
        (4, bytes((10, 1, 2, 3)), 0, Ends(-5, "10.1.2.3:40000", "10.1.2.3:9092", "")),
        (16, _FAR, -1, Ends(-5, "[fe80::a]:40000", "[fe80::a]:9092", None)),
    ],
)
def test_a_row_says_who_they_are(width: int, address: bytes, length: int, ends: Ends) -> None:
    rows = np.zeros(2, CONTEXT)
    rows["number"], rows["width"], rows["client_id_length"] = -5, width, length
    rows["source_port"], rows["destination_port"] = 40_000, 9092
    rows["client_id"][:, :3] = np.frombuffer(b"app", np.uint8)
    for name in ("source", "destination"):
        rows[name][:, :width] = np.frombuffer(address, np.uint8)
    assert ends_of(rows[0]) == ends
    both = Connections(np.array([4, 7]), np.array([1, 0]), rows, {7: ends._replace(number=1)})
    assert [both.ends(place).number for place in (0, 1)] == [-5, 1]
