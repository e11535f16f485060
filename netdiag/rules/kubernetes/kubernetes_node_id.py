"""The id of a broker in a pod is no number, or the same in every replica.

Why: metadata.name is the name of the pod, such as kafka-0, and Kafka wants a number. A number that stands in the
template is that of every replica, and the second broker with an id cannot register.

Bad:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata:
      name: kafka
    spec:
      serviceName: kafka
      replicas: 3
      template:
        spec:
          containers:
            - name: kafka
              image: confluentinc/cp-kafka:7.9.2
              env:
                - name: KAFKA_BROKER_ID  # <- here
                  valueFrom: {fieldRef: {fieldPath: metadata.name}}
                - {name: KAFKA_ZOOKEEPER_CONNECT, value: "zookeeper:2181"}
                - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
                - {name: KAFKA_ADVERTISED_LISTENERS, value: "PLAINTEXT://$(POD_NAME).kafka:9092"}

Good:
    apiVersion: apps/v1
    kind: StatefulSet
    metadata:
      name: kafka
    spec:
      serviceName: kafka
      replicas: 3
      template:
        spec:
          containers:
            - name: kafka
              image: confluentinc/cp-kafka:7.9.2
              env:
                - name: KAFKA_BROKER_ID
                  valueFrom: {fieldRef: {fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']"}}
                - {name: KAFKA_ZOOKEEPER_CONNECT, value: "zookeeper:2181"}
                - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
                - {name: KAFKA_ADVERTISED_LISTENERS, value: "PLAINTEXT://$(POD_NAME).kafka:9092"}

Seen: Invalid value kafka-0 for configuration broker.id: Not a number of type INT

Sources: Kafka's `broker.id` and `node.id`; Kubernetes 1.34, "StatefulSets", pod index label.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, DeclaredValue
from netdiag.deployment.model.kubernetes import Manifests
from netdiag.findings import Finding, Severity
from netdiag.patterns import regex

ID = "kubernetes-node-id"
SEVERITY = Severity.ERROR
_VARIABLES = ("KAFKA_NODE_ID", "KAFKA_BROKER_ID", "KAFKA_CFG_NODE_ID", "KAFKA_CFG_BROKER_ID")
_NUMBER = regex(r"[+-]?\d{1,10}")
_HINT = "take it from metadata.labels['apps.kubernetes.io/pod-index'], or set it in a script: ${HOSTNAME##*-}"


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every template whose brokers cannot have the ids that it gives them."""
    for broker in manifests.pods.brokers if manifests.pods is not None else ():
        told = next((broker.declared[name] for name in _VARIABLES if name in broker.declared), None)
        if told is None or not told.value:
            continue
        pods = [one for one in manifests.brokers if one.where == broker.member.where]
        is_number = _NUMBER.fullmatch(told.value.strip()) is not None
        if is_number and (len(pods) < 2 or len({one.node_id for one in pods}) > 1):
            continue
        yield _finding(broker, told, replicas=len(pods) if is_number else 0)


def _finding(broker: Broker, told: DeclaredValue, *, replicas: int) -> Finding:
    said = f"all {replicas} replicas of {broker.name} have the same {told.variable}, {told.value}"
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=said if replicas else f'{told.variable} of {broker.name} is "{told.value}", which is no number',
        location=told.at(),
        why="brokers of one cluster need numbers of their own" if replicas else "Kafka takes a number only",
        hint=_HINT,
        service=broker.name,
    )
