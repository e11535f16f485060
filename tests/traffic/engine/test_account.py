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


def test_an_account_goes_on_with_that_of_the_bytes_that_follow() -> None:
    first, second = Account(), Account()
    for account, count in ((first, 2), (second, 3)):
        account.packets, account.packet_bytes, account.header_bytes = count, 10 * count, 100 * count
        account.filtered, account.filtered_bytes, account.dropped = 1, 5, count
        for _ in range(600):
            account.packets += 1
            account.lose("damage", "no block", count)
    first.add(second)
    assert (first.packets, first.packet_bytes, first.header_bytes) == (1205, 50, 500)
    assert (first.filtered, first.filtered_bytes, first.dropped, first.lost_bytes) == (2, 10, 5, 3000)
    assert len(first.losses) == 1000
    assert sum(loss.bytes for loss in first.losses) == 3000
