"""The front gives what the readers in plain Python give, packet for packet and byte for byte of the account."""

import pytest

from tests.traffic.engine.compiled.fronts import assert_same
from tests.traffic.engine.test_damaged_captures import FILES

SIZES = ([1], [7, 1, 300], [1460], [65_536], [1 << 22])


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("name", [name for name in FILES if not name.startswith("pcapng")])
def test_whole_files(name: str, sizes: list[int]) -> None:
    count, decoded = assert_same(FILES[name], sizes)
    assert count == 120
    assert decoded == 115
