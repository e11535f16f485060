"""Values that a thread makes ahead."""

import threading
from collections.abc import Generator

import pytest

from netdiag.io.ahead import ahead


def test_the_same_values_come_in_the_same_order() -> None:
    assert list(ahead(value for value in range(100))) == list(range(100))
    assert list(ahead(value for value in range(0))) == []


def test_an_error_comes_after_the_values_before_it() -> None:
    def failing() -> Generator[int, None, None]:
        yield 1
        yield 2
        raise OSError("no more")

    taken = ahead(failing())
    assert [next(taken), next(taken)] == [1, 2]
    with pytest.raises(OSError, match="no more"):
        next(taken)


def test_no_more_than_two_are_made_before_they_are_asked_for() -> None:
    made: list[int] = []

    def counted() -> Generator[int, None, None]:
        for index in range(20):
            made.append(index)
            yield index

    for value in ahead(counted()):
        assert len(made) <= value + 3


@pytest.mark.parametrize("stop", [1, 2, 5])
def test_who_stops_early_leaves_no_thread_behind(stop: int) -> None:
    closed = threading.Event()

    def endless() -> Generator[int, None, None]:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    before = set(threading.enumerate())
    taken = ahead(endless())
    for _ in range(stop):
        assert next(taken) == 1
    taken.close()
    assert set(threading.enumerate()) <= before
    assert closed.is_set()
