"""Where rules about captures begin to speak."""

import pytest

from netdiag.rules.wire import check_wire
from netdiag.traffic.facts import Skew, WireView


@pytest.mark.parametrize(
    ("partitions", "batches", "size", "is_told"),
    [
        (6, 100, 700_000, True),
        (6, 100, 690_000, False),
        (6, 99, 700_000, False),
        # Of three partitions, each has a third anyway.
        (3, 100, 800_000, False),
        (3, 100, 840_000, True),
        (2, 100, 1_000_000, False),
    ],
)
def test_a_hot_partition(partitions: int, batches: int, size: int, is_told: bool) -> None:
    skew = Skew(
        file="a.pcap", packet=1, last=0, client="c", broker="b", client_id="p",
        topic="t", partition=0, partitions=partitions, batches=batches, bytes=size, all_bytes=1_000_000,
    )  # fmt: skip
    assert [found.rule for found in check_wire(WireView(skews=(skew,)))] == ["wire-hot-partition"] * is_told
