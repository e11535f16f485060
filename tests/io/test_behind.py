"""Rows that are made beside the engine are those that are made within it."""

import threading
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from netdiag.io.behind import Behind
from netdiag.traffic.engine.compiled.columns import Columns
from netdiag.traffic.engine.compiled.front import Front
from netdiag.traffic.engine.compiled.front_keys import Keys
from netdiag.traffic.engine.compiled.run import CompiledEngine
from netdiag.traffic.engine.options import EngineOptions
from tests.traffic.engine.compiled.compared import RECORDED, by_twin, harmed
from tests.traffic.engine.compiled.fronts import pieces


def read(data: bytes, sizes: Sequence[int], *, beside: bool) -> tuple[list[Any], dict[str, list[Any]]]:
    """The batches, and the rows of the plain engine; rows are asked for behind every piece."""
    options = EngineOptions()
    columns = Columns(options, ["a.pcap"])
    behind = Behind(columns, 20) if beside else None
    engine = CompiledEngine(options, ["a.pcap"], behind or columns)
    front, batches = Front(Keys()), []
    for piece in pieces(data, sizes):
        engine.feed(front.take(piece))
        engine.flush()
        if behind is None:
            batches += list(columns.drain(20).items())
        else:
            batches += list(behind.drain().items())
    engine.feed(front.end())
    engine.finish()
    if behind is not None:
        behind.stop()
        batches += list(behind.drain().items())
    batches += list(columns.drain().items())
    return [(name, batch.to_pylist()) for name, some in batches for batch in some], engine.drain()


def by_table(batches: list[Any]) -> dict[str, list[Any]]:
    """Batch behind batch, whenever they came."""
    names = sorted({name for name, _ in batches})
    return {name: [rows for other, rows in batches if other == name] for name in names}


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_rows_are_the_same(path: Any) -> None:
    dice = Random(path.name)
    data = path.read_bytes()
    for capture in (data, harmed(data, dice)):
        sizes = (dice.choice((700, 3000, 20_000)),)
        inside, rows = read(capture, sizes, beside=False)
        beside, same = read(capture, sizes, beside=True)
        assert rows == same
        assert by_table(beside) == by_table(inside)
        made = [row for name, batch in beside if name == "exchanges" for row in batch]
        assert len(made) == len(by_twin(capture)["exchanges"])


def test_an_error_in_the_thread_is_told_and_ends_nothing_else() -> None:
    class Failing(Columns):
        def emit(self, *_: object) -> None:
            raise ZeroDivisionError

    columns = Failing(EngineOptions(), ["a.pcap"])
    before = set(threading.enumerate())
    behind = Behind(columns, 1)
    engine = CompiledEngine(EngineOptions(), ["a.pcap"], behind)
    front = Front(Keys())
    engine.feed(front.take(RECORDED[0].read_bytes()))
    engine.feed(front.end())
    engine.finish()
    behind.stop()
    with pytest.raises(ZeroDivisionError):
        behind.drain()
    assert set(threading.enumerate()) <= before
