"""Errors say where, and are never findings."""

import pytest

from netdiag.distribution import install_line
from netdiag.errors import EngineError, InputError, MissingExtra, MissingRight, NetdiagError, cannot_import
from netdiag.findings import Finding


@pytest.mark.parametrize(
    ("where", "text"), [(None, "no such file"), ("compose.yml", "compose.yml: no such file"), ("", "no such file")]
)
def test_the_text_begins_with_the_place_where_there_is_one(where: str | None, text: str) -> None:
    error = NetdiagError("no such file", where=where, hint="name another")
    assert str(error) == text
    assert (error.message, error.where, error.hint) == ("no such file", where, "name another")


@pytest.mark.parametrize(
    "error", [InputError("gone"), MissingExtra("gone", extra="live"), EngineError("gone"), MissingRight("gone")]
)
def test_every_kind_is_caught_as_could_not_look(error: NetdiagError) -> None:
    with pytest.raises(NetdiagError, match=r"^gone$"):
        raise error


def test_a_missing_extra_says_how_to_install_it_and_what_else_helps() -> None:
    assert MissingExtra("needs dns", extra="live").hint == install_line("live")
    assert (
        MissingExtra("is packed", extra="capture", instead="unpack it").hint
        == f"unpack it, or {install_line('capture')}"
    )


@pytest.mark.parametrize(
    ("module", "kind", "said"),
    [
        ("dns.resolver", MissingExtra, "--live needs dns, which is not installed"),
        ("fcntl", NetdiagError, "--live needs fcntl that this system does not have"),
        (None, NetdiagError, "--live needs a part that this system does not have"),
    ],
)
def test_what_cannot_be_imported_is_an_extra_only_if_one_brings_it(
    module: str | None, kind: type[NetdiagError], said: str
) -> None:
    error = cannot_import("--live", ImportError(name=module), extra="live")
    assert (type(error), str(error)) == (kind, said)


def test_a_finding_is_no_exception() -> None:
    assert not issubclass(Finding, BaseException)
    assert not issubclass(NetdiagError, Finding)
