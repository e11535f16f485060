"""Facts about the wire: what they say of themselves."""

import pytest

from netdiag.traffic.facts import SECOND, AdvertisedEndpoint, Coverage, NameLookup, WireView, host_of, port_of


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        ("10.0.0.1:9092", "10.0.0.1", 9092),
        ("[fd00::1]:9092", "fd00::1", 9092),
        ("fd00::1:9092", "fd00::1", 9092),
        ("10.0.0.1:", "10.0.0.1", 0),
        ("", "", 0),
        ("a:b", "a", 0),
    ],
)
def test_an_address_is_taken_apart(address: str, host: str, port: int) -> None:
    assert (host_of(address), port_of(address)) == (host, port)


def test_an_endpoint_is_written_as_clients_write_it() -> None:
    assert AdvertisedEndpoint(node_id=1, host="broker-1", port=9092).endpoint == "broker-1:9092"
    assert AdvertisedEndpoint(node_id=1, host="fd00::1", port=9092).endpoint == "[fd00::1]:9092"


def test_a_sighting_knows_its_host_and_its_span() -> None:
    asked = NameLookup(name="a", result="NXDOMAIN", client="10.0.0.9:53000", time=SECOND, last=3 * SECOND)
    assert (asked.client_host, asked.seconds) == ("10.0.0.9", 2.0)


def test_a_capture_is_lossy_from_one_byte_in_a_thousand_on() -> None:
    assert not Coverage(bytes=100_000, lost_bytes=100).lossy
    assert Coverage(bytes=100_000, lost_bytes=101).lossy
    assert not Coverage().lossy
    assert WireView().advertised_endpoints == ()
