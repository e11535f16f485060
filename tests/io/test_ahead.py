"""Values that a thread makes ahead."""

import os
import threading
from collections.abc import Generator

import pytest

from netdiag.io.ahead import ahead, has_cores


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


def test_cores_are_those_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3}, raising=False)
    assert has_cores(1)
    assert not has_cores(2)


def test_where_that_cannot_be_asked_they_are_those_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert has_cores(2)
    assert not has_cores(3)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert has_cores(1)
    assert not has_cores(2)
