"""A client needs a broker and gets its address, but never connects.

Why: A client that asks for the coordinator of its group, or for the leaders of its topics (repeatedly, or keeping the
connection open), needs these brokers. If it opens no connection, it cannot use their addresses: it cannot resolve the
name (and the capture does not show the lookup), or it may not use the address.

Bad:
    coverage: {last: 60}
    advertised_endpoints:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: billing, node_id: 1,  # <- here
         time: 1, last: 50, times: 40, host: kafka, port: 29092, coordinates: [billing]}
    request_counts:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: billing, api_key: 10, times: 40,
         time: 1, last: 50}

Good:
    coverage: {last: 60}
    advertised_endpoints:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: billing, node_id: 1,
         time: 1, last: 50, host: kafka, port: 29092, coordinates: [billing]}
    attempts:
      - {client: "10.0.0.9:40313", broker: "10.0.0.2:29092", opening: complete, protocol: kafka, responses: 20,
         time: 2, last: 60}
    request_counts:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: billing, api_key: 10, time: 1, last: 1}
      - {client: "10.0.0.9:40313", broker: "10.0.0.2:29092", client_id: billing, api_key: 11, time: 2, last: 50}

Seen: Error connecting to node kafka:29092 (id: 1 rack: null); Group coordinator kafka:29092 is unavailable

Sources: Kafka protocol guide, FindCoordinator and Metadata.
"""

from collections.abc import Iterator, Sequence

from netdiag.findings import Finding, Severity
from netdiag.rules.wire_findings import during, finding, requests_by_client, several, who
from netdiag.traffic.facts import SECOND, AdvertisedEndpoint, RequestCounts, WireView, host_of, port_of
from netdiag.traffic.second_hop import SecondHop, is_loopback, second_hops

ID = "wire-told-endpoint-untried"
SEVERITY = Severity.ERROR

_PRODUCE, _FETCH = 0, 1
_OF_COORDINATORS = frozenset({8, 9, 11, 12, 13, 14, 24, 25, 26, 28, 68})
# Clients connect to a coordinator at once; this is the longest wait before a new attempt (10 s), and more.
_PATIENCE = 15 * SECOND
# Clients refresh every few minutes, tools list topics once: so many requests in so short a time are a loop.
_LOOPS = 5
_LOOP_SECONDS = 2.0
# A client that asked once and then keeps the connection silent for so long is stuck; tools that list topics end.
_SILENCE = 30 * SECOND


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every broker that a client needs and does not connect to."""
    if view.coverage.lossy:
        return
    requests = requests_by_client(view)
    for hop in second_hops(view):
        told = hop.advertised
        need = _need(view, told, requests.get((told.client_host, told.client_id), ()))
        if need is None or view.coverage.last - told.time < _PATIENCE or _may_be_tried(hop):
            continue
        if is_loopback(told.host) or hop.unresolved:
            continue
        sure = bool(told.coordinates)
        yield finding(
            ID,
            SEVERITY if sure else Severity.WARNING,
            told,
            f"{who(told)} needs broker {told.node_id} ({need}) and gets its address "
            f'"{told.endpoint}" from {told.broker}, but opens no connection to it in '
            f"{during((view.coverage.last - told.time) / SECOND)}",
            why=f"the client cannot use {told.host}: it probably does not resolve the name, with a lookup that the "
            "capture does not show",
            hint=f"resolve {told.host} where the client runs, and advertise a name or address that works there",
        )


def _need(view: WireView, told: AdvertisedEndpoint, requests: Sequence[RequestCounts]) -> str | None:
    """What the client needs this broker for; None if nothing shows it, or if the client gets it."""
    mine = [each for each in requests if each.last >= told.time]
    if told.coordinates:
        served = any(each.api_key in _OF_COORDINATORS for each in mine)
        return None if served else f"coordinator of {several(told.coordinates)}"
    if not told.leads or any(each.api_key in (_PRODUCE, _FETCH) or each.api_key in _OF_COORDINATORS for each in mine):
        return None
    loops = told.times >= _LOOPS and told.seconds <= told.times * _LOOP_SECONDS
    if loops:
        return f"leader in {several(told.leads)}, requested {told.times} times"
    silent = all(each.last <= told.last + SECOND for each in mine) and view.coverage.last - told.last >= _SILENCE
    holds = any(
        each.open and each.protocol == "kafka" and each.broker == told.broker and each.client_host == told.client_host
        for each in view.attempts
    )
    return f"leader in {several(told.leads)}, silent since then" if silent and holds else None


def _may_be_tried(hop: SecondHop) -> bool:
    """Whether a connection of the client may be to this address, or to its port if the address is unknown."""
    told = hop.advertised
    if hop.attempts:
        return True
    if hop.addresses:
        return False
    # If nobody looked the name up, its address may be that of the broker that returned it.
    return bool(hop.same_port) or told.port == port_of(told.broker) or not host_of(told.client)
