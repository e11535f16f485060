"""Errors say where, and are never findings."""

import pytest

from netdiag import distribution
from netdiag.distribution import NAME, install_command, install_line
from netdiag.errors import EngineError, InputError, MissingExtra, MissingRight, NetdiagError, cannot_import
from netdiag.findings import (
    ContainerLocation,
    FileLocation,
    Finding,
    Location,
    Severity,
    TopologyLocation,
    WireLocation,
    by_place,
)


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
        ("docker.errors", MissingExtra, "--live needs docker, which is not installed"),
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


def finding_at(location: Location, rule: str = "r", message: str = "m") -> Finding:
    return Finding(rule=rule, severity=Severity.NOTE, message=message, location=location)


def in_file(line: int) -> FileLocation:
    return FileLocation(path="b.yml", line=line, column=1, end_line=line, end_column=2, start=0, end=1)


def test_by_place_then_by_rule_then_by_what_is_said() -> None:
    wanted = [
        finding_at(ContainerLocation(container="a")),
        finding_at(in_file(2)),
        finding_at(in_file(10)),
        finding_at(WireLocation(file="c.pcap", packet=None, time=0, client="", broker="")),
        finding_at(WireLocation(file="c.pcap", packet=3, time=0, client="", broker="")),
        finding_at(TopologyLocation(place="d", device="br0")),
        finding_at(TopologyLocation(place="d", device="eth0")),
        finding_at(TopologyLocation(place="d"), rule="s"),
        finding_at(TopologyLocation(place="d"), rule="s", message="n"),
    ]
    found = [wanted[index] for index in (4, 8, 0, 6, 2, 7, 1, 5, 3)]
    assert sorted(found, key=by_place) == wanted


WORST_FIRST = [Severity.ERROR, Severity.WARNING, Severity.NOTE]


def test_the_words_are_those_of_the_json() -> None:
    assert [severity.value for severity in Severity] == ["error", "warning", "note"]


@pytest.mark.parametrize("one", WORST_FIRST)
@pytest.mark.parametrize("other", WORST_FIRST)
def test_at_least_follows_the_order(one: Severity, other: Severity) -> None:
    assert one.at_least(other) == (WORST_FIRST.index(one) <= WORST_FIRST.index(other))
    assert one.at_least(other) == (one.rank >= other.rank)


def test_until_it_is_published_a_clone_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distribution, "PUBLISHED", False)
    assert install_command() == "pip install ."
    assert install_command("live", "capture") == "pip install '.[live,capture]'"
    assert install_line("live") == "in a clone of netdiag, run pip install '.[live]'"


def test_once_it_is_published_its_name_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distribution, "PUBLISHED", True)
    assert NAME == "netdiag-kafka"
    assert install_command() == f"pip install {NAME}"
    assert install_line("live") == install_command("live") == f"pip install '{NAME}[live]'"
