"""Errors say where, and are never findings."""

import pytest

from netdiag.errors import EngineError, InputError, MissingExtra, MissingRight, NetdiagError
from netdiag.findings import Finding


@pytest.mark.parametrize(
    ("where", "text"), [(None, "no such file"), ("compose.yml", "compose.yml: no such file"), ("", "no such file")]
)
def test_the_text_begins_with_the_place_where_there_is_one(where: str | None, text: str) -> None:
    error = NetdiagError("no such file", where=where, hint="name another")
    assert str(error) == text
    assert (error.message, error.where, error.hint) == ("no such file", where, "name another")


@pytest.mark.parametrize("kind", [InputError, MissingExtra, EngineError, MissingRight])
def test_every_kind_is_caught_as_could_not_look(kind: type[NetdiagError]) -> None:
    with pytest.raises(NetdiagError, match=r"^gone$"):
        raise kind("gone")


def test_a_finding_is_no_exception() -> None:
    assert not issubclass(Finding, BaseException)
    assert not issubclass(NetdiagError, Finding)
