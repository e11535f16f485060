"""Rows as comma-separated values, read back by the standard library."""

import csv
import io

from netdiag.render.exchanges import csv_header, csv_lines
from netdiag.traffic.column import Column, Kind

COLUMNS = tuple(
    Column(name=kind.value, kind=kind, doc="")
    for kind in (Kind.TIME, Kind.STRING, Kind.STRINGS, Kind.BOOL, Kind.FLOAT64)
)


def test_a_reader_gets_back_what_was_written() -> None:
    rows = [(0, 'a "b", c', ("t", "u"), True, 0.25), (1, None, None, None, None)]
    text = csv_header(COLUMNS) + "".join(csv_lines(COLUMNS, rows))
    assert list(csv.reader(io.StringIO(text))) == [
        ["time", "string", "strings", "bool", "float64"],
        ["1970-01-01T00:00:00.000000000Z", 'a "b", c', "t;u", "true", "0.25"],
        ["1970-01-01T00:00:00.000000001Z", "", "", "", ""],
    ]


def test_no_control_character_gets_through() -> None:
    (line,) = csv_lines(COLUMNS, [(0, "\x1b]0;x\x07\n", ("\x9b",), False, 1.0)])
    assert line[:-1].isprintable()
