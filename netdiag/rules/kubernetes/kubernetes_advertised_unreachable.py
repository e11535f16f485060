"""A broker in a pod sends its clients to an address that they cannot use.

Why: Whoever gets in is sent on to what the broker advertises. Names of Services and pods mean something to pods only;
those of pods need a headless Service, and a pod's name alone is known inside of that pod. Clients outside need an
address of a node or a load balancer; localhost is the client itself.

Bad:
    apiVersion: v1
    kind: Service
    metadata:
      name: kafka
    spec:
      type: NodePort
      selector: {app: kafka}
      ports: [{port: 9092, nodePort: 30092}]
    ---
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: kafka
    spec:
      selector: {matchLabels: {app: kafka}}
      template:
        metadata:
          labels: {app: kafka}
        spec:
          containers:
            - name: kafka
              image: apache/kafka:3.9.1
              env:
                - {name: KAFKA_NODE_ID, value: "1"}
                - name: KAFKA_LISTENERS
                  value: PLAINTEXT://:9092,CONTROLLER://:9093
                - name: KAFKA_ADVERTISED_LISTENERS
                  value: PLAINTEXT://kafka:9092  # <- here
                - {name: KAFKA_PROCESS_ROLES, value: "broker,controller"}
                - {name: KAFKA_CONTROLLER_LISTENER_NAMES, value: CONTROLLER}
                - {name: KAFKA_CONTROLLER_QUORUM_VOTERS, value: "1@localhost:9093"}
                - {name: KAFKA_LISTENER_SECURITY_PROTOCOL_MAP, value: "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"}

Good:
    apiVersion: v1
    kind: Service
    metadata:
      name: kafka
    spec:
      type: NodePort
      selector: {app: kafka}
      ports:
        - {name: inside, port: 9092, nodePort: 30093}
        - {name: outside, port: 30092, nodePort: 30092}
    ---
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: kafka
    spec:
      selector: {matchLabels: {app: kafka}}
      template:
        metadata:
          labels: {app: kafka}
        spec:
          containers:
            - name: kafka
              image: apache/kafka:3.9.1
              env:
                - {name: KAFKA_NODE_ID, value: "1"}
                - name: NODE_IP
                  valueFrom: {fieldRef: {fieldPath: status.hostIP}}
                - name: KAFKA_LISTENERS
                  value: PLAINTEXT://:9092,CONTROLLER://:9093,OUTSIDE://:30092
                - name: KAFKA_ADVERTISED_LISTENERS
                  value: PLAINTEXT://$(NODE_IP):30093,OUTSIDE://$(NODE_IP):30092
                - {name: KAFKA_PROCESS_ROLES, value: "broker,controller"}
                - {name: KAFKA_CONTROLLER_LISTENER_NAMES, value: CONTROLLER}
                - {name: KAFKA_CONTROLLER_QUORUM_VOTERS, value: "1@localhost:9093"}
                - name: KAFKA_LISTENER_SECURITY_PROTOCOL_MAP
                  value: PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,OUTSIDE:PLAINTEXT

Seen: Couldn't resolve server kafka:9092 from bootstrap.servers as DNS resolution failed for kafka

Sources: Kubernetes 1.34, "DNS for Services and Pods" and "Service"; KIP-103; Strimzi 1.2, `advertisedHost`.
"""

from collections.abc import Iterator

from netdiag.deployment.model.kubernetes import (
    ROUTED,
    ROUTED_PORT,
    Manifests,
    PodBroker,
    PodListener,
    ServiceKind,
)
from netdiag.deployment.model.vantage import Vantage
from netdiag.deployment.model.verdict import Address, Answered, Failed, Mechanism
from netdiag.deployment.prediction.kubernetes import (
    OUTSIDE,
    contact,
    is_for_the_world,
    node_address,
    pod_place,
)
from netdiag.findings import Finding, Location, Related, Severity
from netdiag.kafka.listeners import is_loopback
from netdiag.rules.kubernetes_findings import by_listener

ID = "kubernetes-advertised-unreachable"
SEVERITY = Severity.ERROR


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every listener whose clients in its namespace, or outside, are sent where they cannot get to."""
    for broker, listener in by_listener(manifests):
        told = listener.told
        if told is None or not listener.is_overridden:
            continue
        for place, where, entrance in _entrances(manifests, broker, listener):
            failure = contact(manifests, place, told)
            if not isinstance(failure, Failed) or (is_loopback(told.host) and _is_spare(manifests, broker, listener)):
                continue
            yield _finding(manifests, broker, listener, place, where, entrance, failure)
            break


def _entrances(
    manifests: Manifests, broker: PodBroker, listener: PodListener
) -> Iterator[tuple[Vantage, Location, str]]:
    """From where clients get in, through what, and the address in words: from pods of the namespace, from outside."""
    inside = pod_place(broker.namespace, "pods")
    found: list[tuple[Vantage, Location, str]] = []
    for service in manifests.services:
        if broker.key not in service.brokers:
            continue
        for port in service.ports:
            if port.target != listener.port:
                continue
            if not is_for_the_world(listener):
                found.append((inside, port.where, f"{service.name}:{port.port}"))
            if port.node_port is not None and service.kind is ServiceKind.NODE_PORT:
                found.append((OUTSIDE, port.where, str(node_address(service, port.node_port))))
            elif service.host:
                found.append((OUTSIDE, port.where, f"{service.host}:{port.port}"))
    if listener.exposure in ROUTED:
        found += [
            (OUTSIDE, listener.where, f"{h.host}:{ROUTED_PORT}") for h in manifests.routed if broker.key in h.brokers
        ]
    yield from found[:20]


def _is_spare(manifests: Manifests, broker: PodBroker, listener: PodListener) -> bool:
    """Whether a listener that advertises localhost is one more beside those for others: for kubectl port-forward."""
    for other in broker.listeners:
        if other is listener or other.told is None:
            continue
        for place in (pod_place(broker.namespace), OUTSIDE):
            if isinstance(contact(manifests, place, other.told), Answered):
                return True
    return False


def _finding(
    manifests: Manifests,
    broker: PodBroker,
    listener: PodListener,
    place: Vantage,
    where: Location,
    entrance: str,
    failure: Failed,
) -> Finding:
    who = "clients outside" if place is OUTSIDE else "pods"
    apart = where != listener.told_where
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"listener {listener.name} of {broker.pod} sends {who} to {listener.told}: {failure.because}",
        location=listener.told_where,
        related=(Related(location=where, message=f"they get in at {entrance}"),) if apart else (),
        why="whoever gets in is sent on to what the broker advertises",
        hint=_hint(manifests, broker, listener, place, failure),
        service=broker.owner,
        listener=listener.name,
    )


def _hint(manifests: Manifests, broker: PodBroker, listener: PodListener, place: Vantage, failure: Failed) -> str:
    if listener.exposure is not None:
        if failure.mechanism in (Mechanism.NOT_PUBLISHED, Mechanism.NOBODY_LISTENS):
            return "advertise a port that leads to the listener, or remove advertisedPort"
        return "advertise a name that these clients resolve, or remove advertisedHost"
    if place is OUTSIDE:
        return (
            "add a listener for clients outside that advertises the node (status.hostIP) and its node port, and keep "
            f"{listener.name} for pods"
        )
    named = next((s for s in manifests.services if s.kind is ServiceKind.HEADLESS and broker.key in s.brokers), None)
    told: Address | None = listener.told
    port = told.port if told is not None else listener.port
    if named is not None and broker.subdomain == named.name:
        return f"advertise {listener.name}://$(POD_NAME).{named.name}:{port}"
    alone = next((s for s in manifests.services if s.brokers == (broker.key,)), None)
    if alone is not None:
        return f"advertise {listener.name}://{alone.name}:{port}"
    return "advertise the pod below a headless Service, which is the serviceName of its StatefulSet"
