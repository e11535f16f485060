"""Losses are summed and bounded in number."""

from netdiag.traffic.engine.account import Account
from netdiag.traffic.engine.packet import Undecoded


def test_losses_are_bounded_and_none_is_forgotten() -> None:
    account = Account()
    for _ in range(5000):
        account.packets += 1
        account.lose("damage", "no block", 3)
    account.lose("damage", "no block", 0)
    assert account.lost_bytes == 15_000
    assert sum(loss.bytes for loss in account.losses) == 15_000
    assert len(account.losses) == 1000
    assert account.losses[0] == Undecoded("damage", "no block", 3)


def test_a_loss_found_piece_by_piece_is_one() -> None:
    account = Account()
    for detail in ("no block", "no block", "another", "no block"):
        account.lose("damage", detail, 2)
    account.header_bytes += 12
    account.lose("damage", "no block", 2)
    assert [(loss.detail, loss.bytes) for loss in account.losses] == [
        ("no block", 4),
        ("another", 2),
        ("no block", 2),
        ("no block", 2),
    ]
