"""What became of the addresses that clients were told: looked up, dialled, answered.

A told host is matched with connections by its address: itself, or what the name service told this very client. Where a
capture holds neither (a name from /etc/hosts, or from Docker's own name server, which is asked inside the container),
`addresses` is empty, and nothing is said of what came of it beyond ports.
"""

import ipaddress
from collections.abc import Iterator

from netdiag.traffic.facts import AdvertisedEndpoint, Attempts, NameLookup, WireView, port_of
from netdiag.values import dataclass

_NO_ERROR = "NOERROR"
_UNANSWERED = "unanswered"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondHop:
    """One told address with what the same client address did about it afterwards.

    `addresses`: where it leads, if that is known. `asked`: its questions for the name. `attempts`: its connections to
    these addresses and the port. `same_port`: connections to the port at addresses that may or may not be meant.
    """

    advertised: AdvertisedEndpoint
    addresses: tuple[str, ...]
    lookups: tuple[NameLookup, ...]
    attempts: tuple[Attempts, ...]
    same_port: tuple[Attempts, ...]

    @property
    def unresolved(self) -> tuple[NameLookup, ...]:
        """The questions that failed, where none gave an address and the very name was asked for.

        A search domain that does not have it says nothing: the name itself may have been answered before.
        """
        failed = tuple(each for each in self.lookups if each.result not in (_NO_ERROR, _UNANSWERED))
        name = self.advertised.host.lower().rstrip(".")
        if any(each.addresses for each in self.lookups) or not any(each.name == name for each in failed):
            return ()
        return failed

    def opened(self, *openings: str) -> tuple[Attempts, ...]:
        """The connections to the known addresses that opened in one of these ways."""
        return tuple(each for each in self.attempts if each.opening in openings)

    @property
    def answered(self) -> bool:
        """Whether a connection to one of the known addresses was established, or was there before the capture."""
        return bool(self.opened("complete", "half", "unseen"))


def second_hops(view: WireView) -> Iterator[SecondHop]:
    """The hop of every told address, in the order of the view."""
    attempts: dict[str, list[Attempts]] = {}
    for attempt in view.attempts:
        attempts.setdefault(attempt.client_host, []).append(attempt)
    asked: dict[str, list[NameLookup]] = {}
    for question in view.name_lookups:
        asked.setdefault(question.client_host, []).append(question)
    for advertised in view.advertised_endpoints:
        yield _second_hop(advertised, asked.get(advertised.client_host, []), attempts.get(advertised.client_host, []))


def is_loopback(host: str) -> bool:
    """Whether a host means the machine itself to whoever reads it: localhost, 127.0.0.0/8, ::1, 0.0.0.0, ::."""
    if host.lower().rstrip(".") == "localhost" or host.lower().endswith(".localhost"):
        return True
    address = _address(host)
    return address is not None and (address.is_loopback or address.is_unspecified)


def is_gateway_of(client: str, broker: str) -> bool:
    """Whether a client may be the gateway of the broker's network, whose address Docker gives to the host's clients.

    The capture does not tell the length of the network's prefix: an address that ends in .1 in the same /16 will do.
    """
    one, other = _address(client), _address(broker)
    if not isinstance(one, ipaddress.IPv4Address) or not isinstance(other, ipaddress.IPv4Address):
        return False
    return int(one) & 0xFF == 1 and int(one) >> 16 == int(other) >> 16


def kafka_addresses(view: WireView) -> frozenset[str]:
    """The addresses where Kafka was answered without TLS in this capture, under all their names."""
    return frozenset(
        address
        for each in view.attempts
        if each.protocol == "kafka" and each.responses
        for address in (each.broker, *each.also)
    )


def _second_hop(advertised: AdvertisedEndpoint, asked: list[NameLookup], attempts: list[Attempts]) -> SecondHop:
    name = advertised.host.lower().rstrip(".")
    literal = _address(advertised.host)
    questions: tuple[NameLookup, ...] = ()
    if literal is None:
        # A resolver tries the search domains first.
        questions = tuple(each for each in asked if each.name == name or each.name.startswith(f"{name}."))
    resolved = [address for each in questions for address in each.addresses]
    addresses = (str(literal),) if literal is not None else tuple(dict.fromkeys(resolved))
    wanted = {_joined(address, advertised.port) for address in addresses}
    later = [each for each in attempts if each.last >= advertised.time]
    met = tuple(each for each in later if wanted & {each.broker, *each.also})
    there = {advertised.broker}.union(*(each.also for each in later if each.broker == advertised.broker))
    same_port = tuple(
        each
        for each in later
        if advertised.port in {port_of(address) for address in (each.broker, *each.also)} and each.broker not in there
    )
    return SecondHop(advertised=advertised, addresses=addresses, lookups=questions, attempts=met, same_port=same_port)


def _joined(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
