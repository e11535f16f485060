"""The order of findings."""

import pytest

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
