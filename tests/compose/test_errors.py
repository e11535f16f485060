"""A compose error says where."""

import pytest

from netdiag.compose.positions import Source
from netdiag.compose.problems import ComposeError, decoded
from netdiag.errors import NetdiagError


def test_where() -> None:
    span = Source("f.yaml", b"a\nbc").span(3, 4)
    error = ComposeError("bad", span=span, hint="do this")
    assert isinstance(error, NetdiagError)
    assert (str(error), error.where, error.hint) == ("f.yaml:2:2: bad", "f.yaml:2:2", "do this")
    assert ComposeError("bad").span is None


def test_bytes_that_are_no_text() -> None:
    assert decoded(Source("f", "\ufeff\u00e9".encode())) == "\u00e9"
    for data in (b"ab\xff", "\ufeff".encode() + b"\xff"):
        with pytest.raises(ComposeError, match="byte 0xff") as caught:
            decoded(Source("f", data))
        assert caught.value.span is not None
        assert caught.value.span.start == len(data) - 1
