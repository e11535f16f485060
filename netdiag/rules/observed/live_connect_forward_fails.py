"""A Connect worker gets no answer at the URL that another worker of its group has registered.

Why: The broker that manages the group tells the URL of every worker. netdiag connects to each from the namespace of the
others, as a worker does that forwards a request. rest-advertised-loopback and rest-advertised-unreachable report what
the configuration foretells; this rule reports what it does not: a firewall, a worker of another machine, a worker that
runs with an older configuration.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      connect-1:
        image: confluentinc/cp-kafka-connect:7.9.2
        environment: &connect
          CONNECT_BOOTSTRAP_SERVERS: kafka:9092
          CONNECT_GROUP_ID: connect
          CONNECT_REST_ADVERTISED_HOST_NAME: connect-1
      connect-2:
        image: confluentinc/cp-kafka-connect:7.9.2
        environment:
          <<: *connect
          CONNECT_REST_ADVERTISED_HOST_NAME: connect-2  # <- here
    x-observed:
      groups:
        - group: connect
          workers:
            - {of: connect-1, at: "http://connect-1:8083", leads: true}
            - {of: connect-2, at: "http://connect-2:8083"}
          forwards:
            - {from: connect-1, at: "http://connect-2:8083", fails: timeout}
            - {from: connect-2, at: "http://connect-1:8083"}

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      connect-1:
        image: confluentinc/cp-kafka-connect:7.9.2
        environment: &connect
          CONNECT_BOOTSTRAP_SERVERS: kafka:9092
          CONNECT_GROUP_ID: connect
          CONNECT_REST_ADVERTISED_HOST_NAME: connect-1
      connect-2:
        image: confluentinc/cp-kafka-connect:7.9.2
        environment:
          <<: *connect
          CONNECT_REST_ADVERTISED_HOST_NAME: connect-2
    x-observed:
      groups:
        - group: connect
          workers:
            - {of: connect-1, at: "http://connect-1:8083", leads: true}
            - {of: connect-2, at: "http://connect-2:8083"}
          forwards:
            - {from: connect-1, at: "http://connect-2:8083"}
            - {from: connect-2, at: "http://connect-1:8083"}

Seen: IO Error trying to forward REST request

Sources: the group as DescribeGroups tells it, and each URL, tried from the network namespace of each worker.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment, RestNeighbour
from netdiag.deployment.model.verdict import Failed
from netdiag.deployment.neighbours import Neighbourhood
from netdiag.deployment.observation.live_view import LiveView, SeenGroup, SeenUrl, SeenWorker
from netdiag.findings import Finding, Related, Severity
from netdiag.rules.live_findings import listed

ID = "live-connect-forward-fails"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every URL that fails from other workers of the group, at one of them that is asked about."""
    neighbours = {one.name: one for one in view.deployment.neighbours}
    for group in view.groups:
        for worker in group.workers:
            failing = [
                one
                for one in group.forwards
                if one.url == worker.url and one.source != worker.member and isinstance(one.contact, Failed)
            ]
            target = neighbours.get(worker.member)
            foretold = _foretold(view.deployment, target)
            failing = [one for one in failing if one.source not in foretold]
            place = target or next((neighbours[one.source] for one in failing if one.source in neighbours), None)
            if failing and place is not None:
                yield _finding(group, worker, failing, place)


def _foretold(deployment: Deployment, target: RestNeighbour | None) -> frozenset[str]:
    """The workers of which the configuration tells that they do not get there."""
    return (
        frozenset(one.source.name for one in Neighbourhood(deployment).failing_forwards(target))
        if target
        else frozenset()
    )


def _finding(group: SeenGroup, worker: SeenWorker, failing: list[SeenUrl], place: RestNeighbour) -> Finding:
    first = failing[0].contact
    who = worker.member or f"the worker at {worker.client_host}"
    own = place.name == worker.member
    url = place.config.advertised
    at = place.place(url.host_property, url.host_start, url.host_end) if own and url else place.member.where
    leads = ", which leads the group," if worker.leads else ""
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{listed(sorted(one.source for one in failing))} cannot forward to {who}{leads} at "{worker.url}": '
        f"{first.because}",
        location=at,
        related=(Related(location=place.place("group.id"), message=f"group {group.group}"),),
        why="a worker that does not lead forwards to the URL of the leader, and any worker can lead",
        hint=f"make {worker.url} reachable from the other workers, or let {who} advertise a URL that is",
        service=place.name,
    )
