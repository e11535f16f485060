"""Losses are summed and bounded in number."""

from netdiag.traffic.engine.account import Account
from netdiag.traffic.engine.packet import Undecoded


def test_losses_are_bounded_and_none_is_forgotten() -> None:
    account = Account()
    for _ in range(5000):
        account.lose("damage", "no block", 3)
    account.lose("damage", "no block", 0)
    assert account.lost_bytes == 15_000
    assert sum(loss.bytes for loss in account.losses) == 15_000
    assert len(account.losses) == 1000
    assert account.losses[0] == Undecoded("damage", "no block", 3)
