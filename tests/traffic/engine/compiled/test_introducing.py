"""Texts of addresses by the kernel are those of the plain engine."""

from random import Random

import numpy as np
import pytest

from netdiag.traffic.engine.compiled import strings
from netdiag.traffic.engine.compiled.ends import CONTEXT, ends_of
from netdiag.traffic.engine.compiled.introducing import MOST_ENDPOINT, introduce, sorted_out
from netdiag.traffic.engine.compiled.words import END


def test_they_are_told_as_objects_would_be() -> None:
    dice = Random(3)
    rows = np.zeros(300, CONTEXT)
    for row in rows:
        row["number"], row["width"] = dice.randrange(-(1 << 63), 1 << 63), 4
        for name in ("source", "destination"):
            row[name][:4] = [dice.choice([0, 1, 9, 10, 99, 100, 255]) for _ in range(4)]
            row[f"{name}_port"] = dice.choice([0, 7, 10, 80, 999, 9092, 10_000, 65_535])
        row["client_id_length"] = dice.choice([-1, 0, 1, 64])
        row["client_id"][:] = dice.choice(b"abc")
    indices = np.arange(300, 0, -1, dtype=np.int32)
    table, ends = strings.strings(), np.zeros(301, END)
    new = np.array([place for place in range(300) if place % 7], np.int64)
    introduce(rows, indices, new, table, ends, np.zeros(MOST_ENDPOINT, np.uint8))
    for place in new.tolist():
        end, told = ends[indices[place]], ends_of(rows[place])
        texts = [strings.text(table, int(end[name])) for name in ("client", "broker", "client_id")]
        assert (int(end["connection"]), *texts) == told
        assert [end[name] for name in ("client_name", "broker_name", "listener")] == [-1, -1, -1]
    assert not ends[indices[0]]["client"]


@pytest.mark.parametrize("plain", [True, False])
def test_connections_are_sorted_out_once(plain: bool) -> None:
    rows = np.zeros(5, CONTEXT)
    rows["stamp"], rows["width"] = [7, 8, 9, 3, 4], [4, 16, 4, 4, 0]
    indices, stamps = np.array([4, 0, 2, 1, 3], np.int32), np.zeros(6, np.int64)
    stamps[[2, 3]] = 9, 5
    new, others = np.zeros((2, 5), np.int64)
    counts = sorted_out(rows, indices, stamps, plain, new, others)
    assert (new[: counts[0]].tolist(), others[: counts[1]].tolist()) == (
        ([0, 3], [1, 4]) if plain else ([], [0, 1, 3, 4])
    )
    assert stamps.tolist() == [8, 3, 9, 4, 7, 0]
    assert sorted_out(rows, indices, stamps, plain, new, others) == (0, 0)
