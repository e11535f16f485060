"""Options of all targets in the words of iptables-save."""

import pytest

from netdiag.linux.xtables.blob import Blob
from netdiag.linux.xtables.target_text import target_text
from netdiag.linux.xtables.targets import decode_target
from tests.linux.xtables.samples import TARGETS


@pytest.mark.parametrize(("name", "revision", "data", "text"), TARGETS)
def test_every_sample(name: str, revision: int, data: bytes, text: str) -> None:
    fields = decode_target(name, revision, Blob(data, 4))
    assert fields is not None
    assert target_text(name, fields, "ip") == text


def test_one_that_is_not_known_has_no_options() -> None:
    assert target_text("mystery", {}, "ip") == ""
