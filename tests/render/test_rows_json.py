"""Rows as JSON lines."""

import json

from netdiag.render.exchanges import json_lines
from netdiag.traffic.tables import table

COLUMNS = tuple(
    column for column in table("exchanges").columns if column.name in ("time", "client_id", "topics", "latency_ms")
)


def test_one_object_a_line_in_the_order_of_the_columns() -> None:
    lines = list(json_lines(COLUMNS, [(1, "a", 0.5, ("t", "u")), (2, None, None, None)]))
    assert [line.count("\n") for line in lines] == [1, 1]
    assert [list(json.loads(line)) for line in lines] == [["time", "client_id", "latency_ms", "topics"]] * 2
    assert json.loads(lines[0])["topics"] == ["t", "u"]
    assert json.loads(lines[1])["client_id"] is None


def test_nothing_but_printable_ascii() -> None:
    (line,) = json_lines(COLUMNS, [(1, "\x1b[31m\x7f\x9b‮\n", 0.5, ())])
    assert line[:-1].isascii()
    assert line[:-1].isprintable()
    assert json.loads(line)["client_id"] == "\x1b[31m\x7f\x9b‮\n"
