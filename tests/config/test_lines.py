"""Lines of keys: a table of small files."""

import time

import pytest

from netdiag.config.parse import column_of, line_of

TEXT = """\
# select = 1
select = [
  "kraft-",
  'listener-',
]
per-file-ignores = { "a/b.yml" = ["x"] }
images."reg.example:5000/k" = "i"

[severity]  # how bad
kraft-role-invalid = "note"

[external-networks."my net"]
members = ["z"]
[[odd]]
deep.er = 1
"""


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (["select"], None, 2),
        (["select"], "kraft-", 3),
        (["select"], "listener-", 4),
        (["select"], "not there", 2),
        (["per-file-ignores"], None, 6),
        (["per-file-ignores", "a/b.yml"], None, 6),
        (["images"], None, 7),
        (["images", "reg.example:5000/k"], None, 7),
        (["severity"], None, 9),
        (["severity", "kraft-role-invalid"], None, 10),
        (["external-networks", "my net"], None, 12),
        (["external-networks", "my net", "members"], "z", 13),
        (["external-networks"], None, 12),
        (["odd", "deep", "er"], None, 15),
        (["nowhere"], None, None),
    ],
)
def test_lines(path: list[str], value: str | None, line: int | None) -> None:
    assert line_of(TEXT, path, value) == line


def test_columns() -> None:
    assert column_of(TEXT, 3, "kraft-") == 4
    assert column_of(TEXT, 3, "listener-") is None


def test_carriage_returns_are_no_part_of_a_header() -> None:
    assert line_of("[a]\r\nb = 1\r\n", ["a", "b"]) == 2


def test_a_hostile_file_is_searched_in_little_time() -> None:
    begin = time.process_time()
    line_of('"\\' * 100_000 + "\n" + "a." * 50_000 + "\n" + " " * 100_000, ["x"])
    line_of("a = 1\n" * 40_000, ["x"])
    assert time.process_time() - begin < 5
