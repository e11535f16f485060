"""What became of told addresses: by address, by name, under other names of the same connection."""

import pytest

from netdiag.traffic.facts import SECOND, AdvertisedEndpoint, Attempts, NameLookup, WireView
from netdiag.traffic.second_hop import SecondHop, is_gateway_of, is_loopback, kafka_addresses, second_hops

CLIENT = "10.0.0.9:40000"


def advertised(host: str, port: int = 9092, broker: str = "10.0.0.2:9092") -> AdvertisedEndpoint:
    return AdvertisedEndpoint(client=CLIENT, broker=broker, node_id=1, host=host, port=port, time=SECOND, last=SECOND)


def attempt(broker: str, opening: str = "complete", *also: str, last: int = 9, responses: int = 0) -> Attempts:
    return Attempts(client=CLIENT, broker=broker, opening=opening, also=also, last=last * SECOND, responses=responses)


def hop(one: AdvertisedEndpoint, *attempts: Attempts, lookups: tuple[NameLookup, ...] = ()) -> SecondHop:
    (found,) = second_hops(WireView(advertised_endpoints=(one,), attempts=attempts, name_lookups=lookups))
    return found


def test_an_address_is_met_by_connections_to_it() -> None:
    there = attempt("10.0.0.3:9092", "refused")
    found = hop(advertised("10.0.0.3"), there, attempt("10.0.0.3:9093"), attempt("10.0.0.4:9092"))
    assert (found.addresses, found.attempts, found.answered) == (("10.0.0.3",), (there,), False)


def test_a_connection_is_met_under_every_name_it_has() -> None:
    """A published port: told as the host's address, seen as the container's."""
    there = attempt("172.18.0.2:9092", "complete", "192.168.8.133:29092")
    assert hop(advertised("192.168.8.133", 29092), there).attempts == (there,)


def test_a_name_is_met_by_what_this_client_was_answered() -> None:
    mine = NameLookup(client="10.0.0.9:53000", name="kafka.corp", result="NOERROR", addresses=("10.0.0.3",))
    others = NameLookup(client="10.0.0.8:53000", name="kafka", result="NOERROR", addresses=("10.0.0.4",))
    there = attempt("10.0.0.3:9092")
    found = hop(advertised("Kafka."), there, attempt("10.0.0.4:9092"), lookups=(mine, others))
    assert (found.addresses, found.attempts, found.unresolved) == (("10.0.0.3",), (there,), ())


def test_what_ended_before_does_not_count() -> None:
    assert hop(advertised("10.0.0.3"), attempt("10.0.0.3:9092", last=0)).attempts == ()


def test_a_name_without_an_address_is_unresolved_unless_nobody_answered() -> None:
    failed = NameLookup(client=CLIENT, name="kafka", result="NXDOMAIN")
    unheard = NameLookup(client=CLIENT, name="kafka", result="unanswered")
    assert hop(advertised("kafka"), lookups=(failed, unheard)).unresolved == (failed,)
    assert hop(advertised("kafka"), lookups=(unheard,)).unresolved == ()
    assert hop(advertised("kafkas"), lookups=(failed,)).lookups == ()


def test_a_search_domain_that_lacks_a_name_says_nothing_of_the_name() -> None:
    searched = NameLookup(client=CLIENT, name="kafka.corp", result="NXDOMAIN")
    assert hop(advertised("kafka"), lookups=(searched,)).unresolved == ()
    failed = NameLookup(client=CLIENT, name="kafka", result="SERVFAIL")
    assert hop(advertised("kafka"), lookups=(searched, failed)).unresolved == (searched, failed)


def test_connections_to_whoever_told_it_are_not_taken_for_the_told_broker() -> None:
    bootstrap = attempt("10.0.0.2:9092", "complete", "10.0.0.200:29092")
    other = attempt("10.0.0.5:9092")
    assert hop(advertised("kafka"), bootstrap, other).same_port == (other,)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "127.0.0.1", "127.1.2.3", "::1", "0.0.0.0", "a.localhost"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["kafka", "10.0.0.1", "128.0.0.1", "localhost.example.net", "::2", ""])
def test_not_loopback(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("client", "broker", "expected"),
    [
        ("172.18.0.1", "172.18.0.2", True),
        ("192.168.96.1", "192.168.96.9", True),
        ("172.18.0.5", "172.18.0.2", False),
        ("172.19.0.1", "172.18.0.2", False),
        ("fd00::1", "fd00::2", False),
        ("nobody", "172.18.0.2", False),
    ],
)
def test_gateways(client: str, broker: str, expected: bool) -> None:
    assert is_gateway_of(client, broker) is expected


def test_kafka_is_where_it_was_answered() -> None:
    plain = Attempts(broker="a:1", also=("b:2",), opening="complete", protocol="kafka", responses=1)
    silent = Attempts(broker="c:3", opening="complete", protocol="kafka")
    assert kafka_addresses(WireView(attempts=(plain, silent))) == {"a:1", "b:2"}
