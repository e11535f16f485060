"""What was found says whether it can be used."""

from netdiag.machine import Found


def test_what_has_a_reason_against_it_is_not_there() -> None:
    assert Found(what="1.0").is_there
    assert not Found(why_not="none").is_there
