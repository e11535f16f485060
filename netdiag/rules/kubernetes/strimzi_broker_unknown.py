"""A listener of Strimzi configures a broker that the cluster does not have.

Why: `brokers` gives a broker its address by its id, which the operator gives out from 0 on, pool by pool. An entry
for another id has no effect, and the broker that it was meant for advertises what it would without.

Bad:
    apiVersion: kafka.strimzi.io/v1
    kind: KafkaNodePool
    metadata:
      name: dual
      labels:
        strimzi.io/cluster: my-cluster
    spec:
      replicas: 1
      roles: [controller, broker]
    ---
    apiVersion: kafka.strimzi.io/v1
    kind: Kafka
    metadata:
      name: my-cluster
    spec:
      kafka:
        listeners:
          - name: external
            port: 9094
            type: nodeport
            tls: false
            configuration:
              brokers:
                - broker: 1  # <- here
                  advertisedHost: node1.example.com

Good:
    apiVersion: kafka.strimzi.io/v1
    kind: KafkaNodePool
    metadata:
      name: dual
      labels:
        strimzi.io/cluster: my-cluster
    spec:
      replicas: 1
      roles: [controller, broker]
    ---
    apiVersion: kafka.strimzi.io/v1
    kind: Kafka
    metadata:
      name: my-cluster
    spec:
      kafka:
        listeners:
          - name: external
            port: 9094
            type: nodeport
            tls: false
            configuration:
              brokers:
                - broker: 0
                  advertisedHost: node1.example.com

Seen: Listener external contains configuration for brokers with IDs [1] that are currently not used

Sources: Strimzi 1.2 (`ListenersValidator.validateBrokerIDs`, `NodeIdAssignor`).
"""

from collections.abc import Iterator

from netdiag.deployment.model.kubernetes import Manifests
from netdiag.deployment.sources.documents import items_in, text_in
from netdiag.deployment.sources.kubernetes.resources import known_number
from netdiag.findings import Finding, Severity
from netdiag.rules.kubernetes_findings import called, strimzi_listeners

ID = "strimzi-broker-unknown"
SEVERITY = Severity.WARNING


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every entry for a broker that is not there; a note where several pools share the ids."""
    for cluster, listener in strimzi_listeners(manifests):
        if cluster.nodes is None or listener.configuration is None:
            continue
        known = [node.node_id for node in cluster.nodes if node.is_broker]
        for broker in items_in(listener.configuration, "brokers"):
            text = text_in(broker, "broker")
            number = known_number(text)
            if text is None or number is None or number in known:
                continue
            yield Finding(
                rule=ID,
                severity=SEVERITY if len(cluster.pools) < 2 else Severity.NOTE,
                message=f"{called(listener)} configures broker {number}, which {cluster.name} does not have",
                location=text.span,
                why="an entry for a broker that is not there has no effect",
                hint=f"the brokers are {', '.join(map(str, known[:10]))}" if known else "the cluster has no brokers",
                service=cluster.name,
            )
