"""A client on another machine gets localhost as a broker's address.

Why: localhost means the machine or container that the client runs in. After the first response the client connects to
itself, where nothing listens, or something else does.

Bad:
    coverage: {last: 60}
    advertised_endpoints:
      - {client: "172.18.0.5:40312", broker: "172.18.0.2:9092", client_id: orders, node_id: 1,  # <- here
         host: localhost, port: 9092}

Good:
    coverage: {last: 60}
    advertised_endpoints:
      - {client: "172.18.0.5:40312", broker: "172.18.0.2:29092", client_id: orders, node_id: 1,
         host: broker-1, port: 29092}
      - {client: "127.0.0.1:40313", broker: "127.0.0.1:9092", client_id: host-tool, node_id: 1,
         host: localhost, port: 9092}

Seen: Connection to node 1 (localhost/127.0.0.1:9092) could not be established. Node may not be available.

Sources: Kafka protocol guide, Metadata; KIP-103.
"""

from collections.abc import Iterator, Sequence

from netdiag.findings import Finding, Severity
from netdiag.rules.wire_findings import finding, requests_by_client, who
from netdiag.traffic.facts import AdvertisedEndpoint, RequestCounts, WireView, host_of
from netdiag.traffic.second_hop import is_gateway_of, is_loopback

ID = "wire-told-loopback"
SEVERITY = Severity.ERROR

# Requests that a client sends only to a broker from the metadata: Produce to TxnOffsetCommit.
_WORK = frozenset({0, 1, 2, 8, 9, 11, 12, 13, 14, 24, 25, 26, 28, 68})


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client and loopback address that it gets."""
    requests = requests_by_client(view)
    for told in view.advertised_endpoints:
        mine = requests.get((told.client_host, told.client_id), ())
        if not is_loopback(told.host) or _is_local(view, told) or _works(told, mine):
            continue
        # On the docker host localhost may be right: published ports lead to it.
        unsure = is_gateway_of(told.client_host, host_of(told.broker))
        if unsure and not told.leads and not told.coordinates:
            continue
        yield finding(
            ID,
            Severity.WARNING if unsure else SEVERITY,
            told,
            f'{who(told)} gets "{told.endpoint}" from {told.broker} as the address of broker {told.node_id}, '
            + ("and sends no requests to brokers after that" if unsure else "but that is the client itself"),
            why="localhost means the machine or container that the client runs in"
            + ("; a gateway's address may be the docker host, for which localhost is right" if unsure else ""),
            hint=f"advertise an address of broker {told.node_id} that {told.client_host} can reach, on a separate "
            f"listener "
            "if clients on the docker host need localhost",
        )


def _is_local(view: WireView, told: AdvertisedEndpoint) -> bool:
    """Whether the client is on the broker's own machine, as far as its connections show."""
    if told.client_host == host_of(told.broker) or is_loopback(told.client_host):
        return True
    alike = (each for each in view.attempts if each.broker == told.broker and each.client_host == told.client_host)
    return any(is_loopback(host_of(address)) for each in alike for address in each.also)


def _works(told: AdvertisedEndpoint, requests: Sequence[RequestCounts]) -> bool:
    """Whether the client sends requests that it can only have sent through such an address."""
    return any(each.api_key in _WORK and each.last >= told.time for each in requests)
