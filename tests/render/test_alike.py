"""Findings that tell the same are drawn once."""

from netdiag.findings import FileLocation, Finding, Location, Severity, TopologyLocation
from netdiag.render.findings.finding_text import grouped


def finding(location: Location, message: str, service: str | None = None) -> Finding:
    return Finding(rule="r", severity=Severity.ERROR, message=message, location=location, service=service)


def at(place: str, device: str = "", part: str = "") -> TopologyLocation:
    return TopologyLocation(place=place, device=device, part=part)


def line(number: int, path: str = "a.yml") -> FileLocation:
    return FileLocation(path=path, line=number, column=1, end_line=number, end_column=2, start=0, end=1)


def test_names_and_numbers_make_no_difference() -> None:
    found = [
        finding(at("host", "veth1"), "veth1 of host is down"),
        finding(at("other place", "vethx"), "vethx of other place is down"),
        finding(at("host", part="172.18.0.2:9092"), "172.18.0.2:9092 is dead"),
        finding(at("host", part="172.18.0.3:9093"), "172.18.0.3:9093 is dead"),
    ]
    assert [len(group) for group in grouped(found)] == [2, 2]
    assert [len(group) for group in grouped(found, full=True)] == [1, 1, 1, 1]


def test_services_of_one_file_go_together_and_files_do_not() -> None:
    found = [
        finding(line(1), "broker-1 binds 9091", "broker-1"),
        finding(line(9), "broker-2 binds 9092", "broker-2"),
        finding(line(1, "b.yml"), "broker-1 binds 9091", "broker-1"),
        finding(line(2), "broker-1 is odd", "broker-1"),
    ]
    assert [[each.location for each in group] for group in grouped(found)] == [
        [line(1), line(9)],
        [line(1, "b.yml")],
        [line(2)],
    ]
