"""What the seam makes of words of users."""

import sys
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from netdiag import __version__, distribution
from netdiag.errors import NetdiagError, UsageError
from netdiag.traffic import native
from netdiag.traffic.native import parse_time

TIMES = [
    ("1767323045", 1767323045_000000000),
    ("1767323045.5", 1767323045_500000000),
    ("1767323045.000000001", 1767323045_000000001),
    ("2026-01-02T03:04:05Z", 1767323045_000000000),
    ("2026-01-02T03:04:05", 1767323045_000000000),
    ("2026-01-02 03:04:05", 1767323045_000000000),
    ("2026-01-02T04:04:05+01:00", 1767323045_000000000),
    ("2026-01-02T03:04:05.000000006Z", 1767323045_000000006),
    ("2026-01-02T03:04:05.25+00:00", 1767323045_250000000),
    ("2026-01-02", 1767312000_000000000),
]


@pytest.mark.parametrize(("text", "expected"), TIMES)
def test_a_time(text: str, expected: int) -> None:
    assert parse_time(text) == expected


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "12:00", "1767323045.1234567890", "-5"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(UsageError, match="is not a time"):
        parse_time(text)


@pytest.fixture
def _engine_is_imported_anew() -> Iterator[None]:
    native._module.cache_clear()
    yield
    native._module.cache_clear()


@pytest.mark.usefixtures("_engine_is_imported_anew")
@pytest.mark.parametrize(
    ("engine", "message"),
    [
        (None, "which is not installed"),
        (SimpleNamespace(), f"the capture engine is of no version, and netdiag is {__version__}"),
        (SimpleNamespace(__version__="0.0.1"), f"the capture engine is 0.0.1, and netdiag is {__version__}"),
        (SimpleNamespace(__version__=__version__), f"built from another commit of netdiag {__version__}"),
        (SimpleNamespace(__version__=__version__, INTERFACE=0), "built from another commit"),
    ],
)
def test_an_engine_that_does_not_fit(
    monkeypatch: pytest.MonkeyPatch, engine: SimpleNamespace | None, message: str
) -> None:
    monkeypatch.setitem(sys.modules, native.MODULE, engine)
    with pytest.raises(NetdiagError, match=message) as raised:
        native.version()
    assert raised.value.hint == distribution.native_line()
