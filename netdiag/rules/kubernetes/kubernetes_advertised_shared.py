"""Several brokers in pods advertise the same address.

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

from collections.abc import Iterator

from netdiag.deployment.model.kubernetes import Manifests, PodBroker, PodListener
from netdiag.deployment.model.verdict import Address
from netdiag.findings import Finding, Related, Severity
from netdiag.rules.kubernetes_findings import by_listener

ID = "kubernetes-advertised-shared"
SEVERITY = Severity.ERROR


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every address that another broker of the cluster advertises, too."""
    seen: dict[tuple[str, Address], tuple[PodBroker, PodListener]] = {}
    for broker, listener in by_listener(manifests):
        told = listener.told
        if told is None or not told.port or not listener.is_overridden:
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
