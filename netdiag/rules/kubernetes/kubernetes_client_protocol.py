"""A client in a pod speaks another security protocol than the listener that it is told.

Why: A client without TLS at a listener with TLS, or the other way round, is disconnected or waits in vain; so is one
without the login that the listener asks for.

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
          - name: tls
            port: 9093
            type: internal
            tls: true
    ---
    apiVersion: kafka.strimzi.io/v1
    kind: KafkaConnect
    metadata:
      name: my-connect
    spec:
      bootstrapServers: my-cluster-kafka-bootstrap:9093  # <- here

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
          - name: tls
            port: 9093
            type: internal
            tls: true
    ---
    apiVersion: kafka.strimzi.io/v1
    kind: KafkaConnect
    metadata:
      name: my-connect
    spec:
      bootstrapServers: my-cluster-kafka-bootstrap:9093
      tls:
        trustedCertificates:
          - secretName: my-cluster-cluster-ca-cert
            pattern: "*.crt"

Seen: Bootstrap broker my-cluster-kafka-bootstrap:9093 (id: -1 rack: null) disconnected

Sources: Strimzi 1.2, `tls` and `authentication` of its clients; Kafka's security.protocol.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import BootstrapAddress
from netdiag.deployment.model.kubernetes import KubernetesClient, Manifests, PodListener
from netdiag.deployment.prediction.kubernetes import Landed, arrive
from netdiag.findings import Edit, Finding, Related, Severity
from netdiag.rules.kubernetes_findings import edit_of, place_of

ID = "kubernetes-client-protocol"
SEVERITY = Severity.ERROR


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every address of a client whose listener speaks otherwise."""
    for client in manifests.clients:
        if client.protocol is None:
            continue
        for address in client.addresses:
            landed = arrive(manifests, place_of(client), address.host, address.port)
            if not isinstance(landed, Landed):
                continue
            listener = landed.brokers[0].listener(landed.port)
            if listener is None or listener.protocol in (None, client.protocol):
                continue
            yield _finding(manifests, client, address, landed, listener)


def _finding(
    manifests: Manifests, client: KubernetesClient, address: BootstrapAddress, landed: Landed, listener: PodListener
) -> Finding:
    broker = landed.brokers[0]
    port = _other_port(manifests, client, address, landed)
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{client.kind} {client.name} speaks {client.protocol} to listener {listener.name} of {broker.owner}, "
        f"which requires {listener.protocol}",
        location=client.declared.span_of(address.start, address.end),
        related=(Related(location=listener.where, message="the listener"),),
        why="a client and a listener have to speak the same security protocol",
        hint=_hint(client, listener) + (f", or use port {port}" if port is not None else ""),
        service=client.name,
        edits=_edit(client, address, port),
    )


def _hint(client: KubernetesClient, listener: PodListener) -> str:
    wanted, spoken = listener.protocol or "", client.protocol or ""
    if wanted.endswith("SSL") != spoken.endswith("SSL"):
        return "configure TLS in the client" if wanted.endswith("SSL") else "remove TLS from the client"
    return "give the client a login" if wanted.startswith("SASL") else "remove the login from the client"


def _other_port(
    manifests: Manifests, client: KubernetesClient, address: BootstrapAddress, landed: Landed
) -> int | None:
    """The one port by which the same host leads to a listener that speaks as the client does."""
    found = []
    for other in landed.brokers[0].listeners:
        if other.protocol == client.protocol:
            there = arrive(manifests, place_of(client), address.host, other.port)
            if isinstance(there, Landed) and there.port == other.port:
                found.append(other.port)
    return found[0] if len(found) == 1 else None


def _edit(client: KubernetesClient, address: BootstrapAddress, port: int | None) -> tuple[Edit, ...]:
    if port is None:
        return ()
    old = str(address.port)
    return edit_of(client.declared, address.end - len(old), address.end, str(port), safe=False)
