"""Clients of a node port with TLS cannot check the broker's name.

Why: Strimzi advertises the address of the node that a broker's pod happens to be on, and cannot put it into the
broker's certificate. Clients that check names, as Java's and librdkafka's do, refuse it.

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
          - name: external  # <- here
            port: 9094
            type: nodeport
            tls: true

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
            tls: true
            configuration:
              bootstrap:
                alternativeNames: [node1.example.com]
              brokers:
                - broker: 0
                  advertisedHost: node1.example.com

Seen: java.security.cert.CertificateException: No subject alternative names matching IP address 168.72.15.231 found

Sources: Strimzi 1.2, "Troubleshooting TLS hostname verification with node ports".
"""

from collections.abc import Iterator

from netdiag.compose.values import Mapping
from netdiag.deployment.model.kubernetes import Exposure, Manifests
from netdiag.deployment.prediction.kubernetes import is_certified
from netdiag.deployment.sources.documents import mapping_in, texts_in
from netdiag.findings import Finding, Severity
from netdiag.rules.kubernetes_findings import by_listener

ID = "kubernetes-node-port-tls"
SEVERITY = Severity.NOTE


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every such listener that advertises an address which is not in its certificate."""
    seen = set()
    for broker, listener in by_listener(manifests):
        if (
            listener.exposure is not Exposure.NODE_PORT
            or listener.told is None
            or (broker.cluster, listener.name) in seen
        ):
            continue
        if is_certified(listener, listener.told.host) or _names_nodes(manifests, broker.cluster):
            continue
        seen.add((broker.cluster, listener.name))
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"clients of listener {listener.name} of {broker.owner} cannot check the names of brokers",
            location=listener.where,
            why="Strimzi does not know the nodes that its pods are on, so their addresses are in no certificate",
            hint="advertise hosts (advertisedHost), add addresses of nodes to bootstrap.alternativeNames, or set "
            "ssl.endpoint.identification.algorithm= in clients",
            service=broker.owner,
            listener=listener.name,
        )


def _names_nodes(manifests: Manifests, cluster: str) -> bool:
    """Whether somebody adds names to the certificates, which may be those of the nodes."""
    return any(
        f"Kafka {one.namespace}/{one.name}" == cluster
        and any(listener.configuration is not None and _has_names(listener.configuration) for listener in one.listeners)
        for one in manifests.clusters
    )


def _has_names(configuration: Mapping) -> bool:
    bootstrap = mapping_in(configuration, "bootstrap")
    return bootstrap is not None and bool(texts_in(bootstrap, "alternativeNames"))
