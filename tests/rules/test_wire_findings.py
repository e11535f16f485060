"""The words of wire rules."""

import pytest

from netdiag.findings import Severity, WireLocation
from netdiag.rules.wire_findings import during, finding, request, several, size, times, who
from netdiag.traffic.facts import Sighting

SEEN = Sighting(client="10.0.0.9:4000", broker="10.0.0.2:9092", client_id="app", packet=7, file="a.pcap", time=5)


def test_a_finding_names_its_culprit() -> None:
    found = finding("r", Severity.NOTE, SEEN, "m")
    assert found.location == WireLocation(
        file="a.pcap", packet=7, time=5, client="10.0.0.9:4000", broker="10.0.0.2:9092"
    )
    assert (found.service, found.listener) == ("app", "10.0.0.2:9092")
    nameless = finding("r", Severity.NOTE, Sighting(client="10.0.0.9:4000"), "m")
    assert (nameless.service, nameless.listener) == ("10.0.0.9", None)


def test_a_client_is_its_id_and_its_address() -> None:
    assert who(SEEN) == "client app at 10.0.0.9"
    assert who(Sighting(client="10.0.0.9:4000")) == "a client at 10.0.0.9"
    assert who(Sighting()) == "a client at an unknown address"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "less than a second"), (90, "90 s"), (600, "10 min"), (9000, "2.5 h")]
)
def test_spans(seconds: float, words: str) -> None:
    assert during(seconds) == words


def test_counts_sizes_and_lists() -> None:
    assert [times(count) for count in (1, 2, 3)] == ["once", "twice", "3 times"]
    assert [size(count) for count in (12, 1500, 2e6, 3e9)] == ["12 bytes", "1.5 kB", "2.0 MB", "3.0 GB"]
    assert (several("ab"), several("abcde")) == ("a, b", "a, b, c and 2 more")
    assert (request(3), request(999)) == ("Metadata", "API_KEY(999)")
