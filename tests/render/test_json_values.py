"""Values of JSON documents: findings wherever they are, text that is no Unicode."""

import pytest

from netdiag.findings import (
    ContainerLocation,
    FileLocation,
    Finding,
    Location,
    Severity,
    TopologyLocation,
    WireLocation,
)
from netdiag.render.json_values import finding_value, sound

FILE = FileLocation(path="a.yml", line=1, column=2, end_line=1, end_column=3, start=1, end=2)


@pytest.mark.parametrize(
    ("location", "told"),
    [
        (FILE, {"path": "a.yml", "line": 1, "column": 2, "end_line": 1, "end_column": 3}),
        (ContainerLocation(container="kafka", part="log"), {"container": "kafka", "part": "log"}),
        (
            WireLocation(file="a.pcap", packet=None, time=1, client="a", broker="b"),
            {"file": "a.pcap", "packet": None, "time": 1, "client": "a", "broker": "b"},
        ),
        (TopologyLocation(place="host", device="br0"), {"place": "host", "device": "br0", "part": ""}),
    ],
)
def test_places(location: Location, told: dict[str, object]) -> None:
    finding = Finding(rule="r", severity=Severity.NOTE, message="password=x", location=location)
    value = finding_value(finding)
    assert (value["location"], value["severity"], value["message"]) == (told, "note", "password=[hidden]")


def test_lone_surrogates_are_replaced_at_every_depth() -> None:
    assert sound({"a": ["\udcff", {"b": "\ud83d\ude00"}], "c": 1}) == {"a": ["\ufffd", {"b": "\U0001f600"}], "c": 1}
