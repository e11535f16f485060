"""A broker is registered with another endpoint than it declares.

Why: Clients and brokers use what is registered. A broker registers when it starts, or when a dynamic setting changes: a
new file, or a container that was created again but did not get as far as registering, changes nothing of it.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      registered:
        zookeeper:
          controller: 1
          brokers:
            1: {at: ["PLAINTEXT://localhost:9092"]}  # <- here
        nodes:
          kafka: {now: {node: 1}}

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      registered:
        zookeeper:
          controller: 1
          brokers:
            1: {at: ["PLAINTEXT://kafka:9092"]}

Seen: clients are sent to the endpoint from before the change

Sources: `/brokers/ids` in ZooKeeper, or the metadata log of a KRaft cluster, and the configuration of the container.
"""

from collections.abc import Iterator

from netdiag.deployment.observation.live_view import LiveView
from netdiag.deployment.observation.registered import SeenNode
from netdiag.findings import ContainerLocation, Finding, Location, Severity
from netdiag.kafka.listeners import Endpoint
from netdiag.kafka.registry import UNNAMED, RegisteredNode, RegistryKind
from netdiag.rules.live_findings import listed

ID = "live-registered-endpoint"
SEVERITY = Severity.WARNING

_NOW = "it now advertises"


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every listener that is registered otherwise than its broker has it."""
    found = view.registered
    registry = found.registry if found else None
    if found is None or registry is None:
        return
    for broker in registry.brokers:
        members = found.of_node(broker.node_id)
        node = members[0] if len(members) == 1 else None
        if node is not None and not found.is_taken(node):
            # A listener tells only of those that it was asked at.
            partial = registry.kind is RegistryKind.LISTENER
            yield from _differences(node, broker, registry.source, partial=partial)


def _wanted(node: SeenNode) -> dict[str, list[tuple[Endpoint, str, Location | None]]]:
    """The endpoints that the broker has by its configuration, by listener: which, in whose words, and where."""
    found: dict[str, list[tuple[Endpoint, str, Location | None]]] = {}
    if node.in_file is not None:
        for end in node.in_file.endpoints:
            found.setdefault(end.listener, []).append((end, "its file has", node.in_file.where))
    for end in node.declared:
        found.setdefault(end.listener, []).append((end, "its container has", None))
    for end in (node.now.advertised if node.now else None) or ():
        found.setdefault(end.listener, []).append((end, _NOW, None))
    return found


def _differences(node: SeenNode, broker: RegisteredNode, source: str, *, partial: bool) -> Iterator[Finding]:
    registered = {end.listener: end for end in broker.endpoints}
    wanted = _wanted(node)
    if not wanted or UNNAMED in registered:
        return
    for listener in dict.fromkeys((*registered, *wanted)):
        end = registered.get(listener)
        if end is None and partial:
            continue
        # What a broker says that it advertises it has registered, but for a listener of the controller.
        others = [
            (other, said, place)
            for other, said, place in wanted.get(listener, [])
            if other != end and other.host and other.port and not (end is None and said is _NOW)
        ]
        if listener not in wanted:
            yield _finding(node, listener, f"{end}, and its configuration has no listener {listener}", source, None)
        elif others:
            words = listed(dict.fromkeys(f"{said} {other}" for other, said, _ in others))
            shown = str(end) if end else f"no listener {listener}"
            where = next((place for _, _, place in others if place is not None), None)
            yield _finding(node, listener, f"{shown}, but {words}", source, where)


def _finding(node: SeenNode, listener: str, words: str, source: str, where: Location | None) -> Finding:
    hint = f"restart {node.member}, then read the registry again"
    if where is not None:
        hint = f"run `docker compose up -d` so that {node.member} starts with the file"
    elif node.stopped:
        hint = f"find out why {node.member} does not start: the registration is from an earlier start"
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{node.member} is registered as node {node.node_id} with {words}",
        location=where or ContainerLocation(container=node.member, part=listener),
        why=f"a broker registers when it starts ({source}); clients get what is registered",
        hint=hint,
        service=node.member,
        listener=listener,
    )
