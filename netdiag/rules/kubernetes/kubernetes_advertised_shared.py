"""An address that a broker in a pod advertises leads to several brokers.

Why: A client asks one broker after the other for its partitions, each at the address that it advertises. A Service
leads to any of the pods that it selects, so with more than one broker behind an address, a client meets the wrong
one, and is told that it is not the leader.

Bad:
    apiVersion: v1
    kind: Service
    metadata:
      name: kafka
    spec:
      selector: {app: kafka}
      ports: [{port: 9092}]
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata:
      name: kafka
    spec:
      serviceName: kafka
      replicas: 3
      selector: {matchLabels: {app: kafka}}
      template:
        metadata:
          labels: {app: kafka}
        spec:
          containers:
            - name: kafka
              image: apache/kafka:3.9.1
              env:
                - name: KAFKA_NODE_ID
                  valueFrom: {fieldRef: {fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']"}}
                - name: KAFKA_CONTROLLER_QUORUM_VOTERS
                  value: 0@kafka-0.kafka:9093,1@kafka-1.kafka:9093,2@kafka-2.kafka:9093
                - name: KAFKA_LISTENERS
                  value: PLAINTEXT://:9092,CONTROLLER://:9093
                - name: KAFKA_ADVERTISED_LISTENERS
                  value: PLAINTEXT://kafka:9092  # <- here
                - {name: KAFKA_PROCESS_ROLES, value: "broker,controller"}
                - {name: KAFKA_CONTROLLER_LISTENER_NAMES, value: CONTROLLER}
                - {name: KAFKA_LISTENER_SECURITY_PROTOCOL_MAP, value: "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"}

Good:
    apiVersion: v1
    kind: Service
    metadata:
      name: kafka
    spec:
      clusterIP: None
      selector: {app: kafka}
      ports: [{port: 9092}]
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata:
      name: kafka
    spec:
      serviceName: kafka
      replicas: 3
      selector: {matchLabels: {app: kafka}}
      template:
        metadata:
          labels: {app: kafka}
        spec:
          containers:
            - name: kafka
              image: apache/kafka:3.9.1
              env:
                - name: KAFKA_NODE_ID
                  valueFrom: {fieldRef: {fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']"}}
                - name: KAFKA_CONTROLLER_QUORUM_VOTERS
                  value: 0@kafka-0.kafka:9093,1@kafka-1.kafka:9093,2@kafka-2.kafka:9093
                - name: POD_NAME
                  valueFrom: {fieldRef: {fieldPath: metadata.name}}
                - name: KAFKA_LISTENERS
                  value: PLAINTEXT://:9092,CONTROLLER://:9093
                - name: KAFKA_ADVERTISED_LISTENERS
                  value: PLAINTEXT://$(POD_NAME).kafka:9092
                - {name: KAFKA_PROCESS_ROLES, value: "broker,controller"}
                - {name: KAFKA_CONTROLLER_LISTENER_NAMES, value: CONTROLLER}
                - {name: KAFKA_LISTENER_SECURITY_PROTOCOL_MAP, value: "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"}

Seen: NOT_LEADER_OR_FOLLOWER: For requests intended only for the leader, this error indicates that …

Sources: Kafka's protocol (metadata, NOT_LEADER_OR_FOLLOWER); Strimzi 1.2, `advertisedHostTemplate`.
"""

from collections import Counter
from collections.abc import Iterator

from netdiag.deployment.model.kubernetes import Manifests, PodBroker, PodListener
from netdiag.deployment.model.verdict import Address
from netdiag.deployment.prediction.kubernetes import OUTSIDE, Landed, arrive, is_for_the_world, pod_place
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import is_loopback
from netdiag.rules.kubernetes_findings import by_listener

ID = "kubernetes-advertised-shared"
SEVERITY = Severity.ERROR


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every address that another broker advertises, too, or that leads to several of them."""
    yield from _leading_to_several(manifests)
    seen: dict[tuple[str, Address], tuple[PodBroker, PodListener]] = {}
    for broker, listener in by_listener(manifests):
        told = listener.told
        if told is None or not told.port or not listener.is_overridden or is_loopback(told.host):
            continue
        first = seen.setdefault((broker.cluster, told), (broker, listener))
        if first[0].key == broker.key:
            continue
        apart = listener.told_where != first[1].told_where
        hint = (
            "give each broker an address of its own: with advertisedHostTemplate, or an entry for each under brokers"
            if listener.exposure is not None
            else "advertise a name of the pod, such as $(POD_NAME).SERVICE with a headless Service"
        )
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{first[0].pod} and {broker.pod} both advertise {told} on {listener.name}",
            location=listener.told_where,
            related=(Related(location=first[1].told_where, message=f"that of {first[0].pod}"),) if apart else (),
            why="a client that wants one of them meets either",
            hint=hint,
            service=broker.owner,
            listener=listener.name,
        )


def _leading_to_several(manifests: Manifests) -> Iterator[Finding]:
    """What each broker advertises in its own words, and a Service divides among them; once for each listener."""
    seen: set[tuple[str, str]] = set()
    told = Counter((broker.cluster, one.told) for broker, one in by_listener(manifests))
    for broker, listener in by_listener(manifests):
        address = listener.told
        if address is None or not listener.is_overridden or told[broker.cluster, address] > 1:
            continue
        for place in (OUTSIDE,) if is_for_the_world(listener) else (pod_place(broker.namespace), OUTSIDE):
            landed = arrive(manifests, place, address.host, address.port)
            if not isinstance(landed, Landed) or len(landed.brokers) < 2 or (broker.cluster, listener.name) in seen:
                continue
            seen.add((broker.cluster, listener.name))
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f"{address}, which {broker.pod} advertises, leads to {len(landed.brokers)} brokers",
                location=listener.told_where,
                why="a client that wants one of them meets any",
                hint="make a Service for each pod (statefulset.kubernetes.io/pod-name in its selector)",
                service=broker.owner,
                listener=listener.name,
            )
