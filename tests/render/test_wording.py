"""Short names for many things."""

from collections.abc import Sequence

import pytest

from netdiag.render.wording import address_with_n, addresses_text, gathered_text, n_of, names_text, numbers_text, with_n
from tests.render.literals import address


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([1, 2, 3], "1..3"), ([3, 1], "1,3"), ([1, 2], "1,2"), ([5, 1, 2, 3], "1..3,5"), ([7], "7"), ([], "")],
)
def test_numbers(numbers: Sequence[int], text: str) -> None:
    assert numbers_text(numbers) == text


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["broker-1", "broker-2", "broker-3"], "broker-1..3"),
        (["broker-1", "broker-2", "broker-5"], "broker-{1,2,5}"),
        (["k1.lan", "k2.lan", "k3.lan"], "k{1..3}.lan"),
        (["alpha", "beta"], "alpha, beta"),
        (["a1", "b2"], "a1, b2"),
        (["broker-01", "broker-02"], "broker-01, broker-02"),
        (["only"], "only"),
    ],
)
def test_names(names: Sequence[str], text: str) -> None:
    assert names_text(names) == text


@pytest.mark.parametrize(
    ("addresses", "text"),
    [
        (["localhost:9092"], "localhost:9092"),
        (["localhost:9091", "localhost:9092", "localhost:9093"], "localhost:9091..9093"),
        (["localhost:9091", "localhost:29092"], "localhost:{9091,29092}"),
        (["broker-1:29092", "broker-2:29092", "broker-3:29092"], "broker-{1..3}:29092"),
        (["k1:9091", "k2:9092", "k3:9093"], "k{1..3}:9091..9093"),
        (["a:1", "b:2"], "a:1, b:2"),
        (["[::1]:9092", "[::1]:9093"], "[::1]:{9092,9093}"),
    ],
)
def test_addresses(addresses: Sequence[str], text: str) -> None:
    assert addresses_text([address(a) for a in addresses]) == text


def test_n_stands_for_the_number_of_each() -> None:
    five = range(1, 6)
    assert address_with_n([address(f"broker-{n}:909{n}") for n in five], list(five)) == "broker-N:909N"
    assert address_with_n([address(f"broker-{n}:29092") for n in five], list(five)) == "broker-N:29092"
    assert address_with_n([address(f"localhost:909{n}") for n in five], list(five)) == "localhost:909N"
    assert with_n(["inside broker-1", "inside broker-2"], [1, 2]) == "inside broker-N"


def test_n_is_refused_where_it_would_lie() -> None:
    assert address_with_n([address("localhost:9092"), address("localhost:9091")], [1, 2]) is None
    assert address_with_n([address("k1:9092"), address("k2:9094")], [1, 2]) is None
    assert with_n(["broker-2", "broker-1"], [1, 2]) is None
    assert with_n(["alpha", "beta"], [1, 2]) is None


def test_the_number_of_a_name() -> None:
    assert [n_of(name) for name in ("inside broker-12", "k3.lan", "alpha", "x99999999999")] == [12, 3, None, None]


@pytest.mark.parametrize(
    ("addresses", "text"),
    [
        (["a:1", "a:2", "b:1"], "a:{1,2}, b:1"),
        (["k-1:9", "k-1:11", "k-2:9", "k-2:12", "k-3:9", "k-3:13"], "k-{1..3}:9, k-1:11, k-2:12, k-3:13"),
        (["localhost:1", "localhost:3", "k:1", "localhost:2", "k:1"], "localhost:1..3, k:1"),
        (["only:1"], "only:1"),
    ],
)
def test_many_addresses(addresses: Sequence[str], text: str) -> None:
    assert gathered_text([address(one) for one in addresses]) == text
