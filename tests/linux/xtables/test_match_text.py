"""Options of all matches in the words of iptables-save."""

import pytest

from netdiag.linux.xtables.blob import Blob
from netdiag.linux.xtables.match_text import match_text
from netdiag.linux.xtables.matches import decode_match
from tests.linux.xtables.samples import MATCHES


@pytest.mark.parametrize(("name", "revision", "data", "text"), MATCHES)
def test_every_sample(name: str, revision: int, data: bytes, text: str) -> None:
    fields = decode_match(name, revision, Blob(data, 4))
    assert fields is not None
    assert match_text(name, fields, "ip") == text


def test_one_that_is_not_known_has_no_options() -> None:
    assert match_text("mystery", {}, "ip") == ""
