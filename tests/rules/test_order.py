"""The order of findings."""

from netdiag.findings import (
    ContainerLocation,
    FileLocation,
    Finding,
    Location,
    Severity,
    TopologyLocation,
    WireLocation,
)
from netdiag.rules.order import by_place


def finding(location: Location, rule: str = "r", message: str = "m") -> Finding:
    return Finding(rule=rule, severity=Severity.NOTE, message=message, location=location)


def in_file(line: int) -> FileLocation:
    return FileLocation(path="b.yml", line=line, column=1, end_line=line, end_column=2, start=0, end=1)


def test_by_place_then_by_rule_then_by_what_is_said() -> None:
    wanted = [
        finding(ContainerLocation(container="a")),
        finding(in_file(2)),
        finding(in_file(10)),
        finding(WireLocation(file="c.pcap", packet=None, time=0, client="", broker="")),
        finding(WireLocation(file="c.pcap", packet=3, time=0, client="", broker="")),
        finding(TopologyLocation(place="d", device="br0")),
        finding(TopologyLocation(place="d", device="eth0")),
        finding(TopologyLocation(place="d"), rule="s"),
        finding(TopologyLocation(place="d"), rule="s", message="n"),
    ]
    found = [wanted[index] for index in (4, 8, 0, 6, 2, 7, 1, 5, 3)]
    assert sorted(found, key=by_place) == wanted
