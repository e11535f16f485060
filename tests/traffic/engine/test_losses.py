"""Losses are summed; the number of details is bounded, their bytes are not lost."""

from netdiag.traffic.engine.losses import MAX_DETAILS, OTHERS, Losses


def test_the_same_loss_is_one_row() -> None:
    losses = Losses()
    losses.add(file="a", kind="gap", bytes=10, time=5, connection=1, direction="request")
    losses.add(file="a", kind="gap", bytes=20, time=3, connection=1, direction="request")
    losses.add(file="a", kind="gap", bytes=1, times=4, time=9, connection=1, direction="response")
    rows = losses.drain()
    assert [(row.direction, row.bytes, row.times, row.time) for row in rows] == [
        ("request", 30, 2, 3),
        ("response", 1, 4, 9),
    ]
    assert losses.drain() == []


def test_details_are_bounded() -> None:
    losses = Losses()
    for number in range(3 * MAX_DETAILS):
        losses.add(file="a", kind="unsupported-link", bytes=1, detail=f"ethertype {number}")
    rows = losses.drain()
    assert len(rows) == MAX_DETAILS + 1
    assert sum(row.bytes for row in rows) == 3 * MAX_DETAILS
    assert [row.times for row in rows if row.detail == OTHERS] == [2 * MAX_DETAILS]
