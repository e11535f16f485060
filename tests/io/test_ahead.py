"""Values that a thread makes ahead."""

import threading
from collections.abc import Iterator

import pytest

from netdiag.io.ahead import ahead


def test_the_same_values_come_in_the_same_order() -> None:
    assert list(ahead(iter(range(100)))) == list(range(100))
    assert list(ahead(iter(()))) == []


def test_an_error_comes_after_the_values_before_it() -> None:
    def failing() -> Iterator[int]:
        yield 1
        yield 2
        raise OSError("no more")

    taken = ahead(failing())
    assert [next(taken), next(taken)] == [1, 2]
    with pytest.raises(OSError, match="no more"):
        next(taken)


def test_no_more_than_two_are_made_before_they_are_asked_for() -> None:
    made: list[int] = []

    def counted() -> Iterator[int]:
        for index in range(20):
            made.append(index)
            yield index

    for value in ahead(counted()):
        assert len(made) <= value + 3


def test_who_stops_early_leaves_no_thread_behind() -> None:
    closed = threading.Event()

    def endless() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    before = set(threading.enumerate())
    values = endless()
    taken = ahead(values)
    assert next(taken) == 1
    taken.close()  # type: ignore[attr-defined]
    assert set(threading.enumerate()) <= before
    values.close()  # type: ignore[attr-defined]
    assert closed.is_set()
