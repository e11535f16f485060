"""A client in a pod is told a Service that there is not, and whose name is nearly that of one of the brokers.

Why: Strimzi calls the Service of a cluster CLUSTER-kafka-bootstrap. A name that no Service has does not resolve.

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
          - name: plain
            port: 9092
            type: internal
            tls: false
    ---
    apiVersion: kafka.strimzi.io/v1
    kind: KafkaBridge
    metadata:
      name: bridge
    spec:
      bootstrapServers: my-cluster-bootstrap:9092  # <- here

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
          - name: plain
            port: 9092
            type: internal
            tls: false
    ---
    apiVersion: kafka.strimzi.io/v1
    kind: KafkaBridge
    metadata:
      name: bridge
    spec:
      bootstrapServers: my-cluster-kafka-bootstrap:9092

Seen: Couldn't resolve server my-cluster-bootstrap:9092 from bootstrap.servers as DNS resolution failed

Sources: Strimzi 1.2 (`KafkaResources.bootstrapServiceName`); Kubernetes 1.34, "DNS for Services and Pods".
"""

from collections.abc import Iterator
from difflib import get_close_matches

from netdiag.deployment.model.kubernetes import KubernetesClient, Manifests
from netdiag.deployment.prediction.kubernetes import find_pod, find_service
from netdiag.findings import Finding, Related, Severity
from netdiag.rules.kubernetes_findings import edit_of, place_of

ID = "kubernetes-client-misspelled"
SEVERITY = Severity.WARNING
_CLOSE = 0.85
_SUFFIX = "-kafka-bootstrap"


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every address of a client whose host is nearly the name of a Service of brokers."""
    named = {one.name: one for one in manifests.services if one.brokers and one.is_bootstrap}
    for client in manifests.clients:
        place = place_of(client)
        for address in client.addresses:
            host = address.host.lower()
            name, dot, rest = host.partition(".")
            if find_service(manifests, place, host) or find_pod(manifests, place, host) or not _may_be_service(rest):
                continue
            meant = [one for one in get_close_matches(name, list(named), n=1, cutoff=_CLOSE) if _is_slip(name, one)]
            if not meant or not _is_near(client, named[meant[0]].namespace, rest):
                continue
            service = named[meant[0]]
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f'{client.kind} {client.name} is told "{address.host}", but the Service is {service.name}',
                location=client.declared.span_of(address.start, address.end),
                related=(Related(location=service.where, message="the brokers of this Service"),),
                why="no Service of these manifests has that name",
                hint=f"use {service.name}{dot}{rest}:{address.port}",
                service=client.name,
                edits=edit_of(
                    client.declared,
                    address.start,
                    address.end,
                    f"{address.scheme}://{service.name}{dot}{rest}:{address.port}".removeprefix("://"),
                    safe=False,
                ),
            )


def _is_slip(name: str, service: str) -> bool:
    """Whether a name is another's by a slip: clusters of one kind are called a and b, or 1 and 2."""
    if name.endswith(_SUFFIX) and service.endswith(_SUFFIX):
        name, service = name.removesuffix(_SUFFIX), service.removesuffix(_SUFFIX)
    differ = sum(a != b for a, b in zip(name, service, strict=False))
    is_sibling = len(name) == len(service) and differ == 1
    return not is_sibling and bool(get_close_matches(name, [service], cutoff=_CLOSE))


def _may_be_service(rest: str) -> bool:
    """Whether what follows the first dot of a host is no domain of the world."""
    return "." not in rest or rest.endswith((".svc", ".svc.cluster.local"))


def _is_near(client: KubernetesClient, namespace: str, rest: str) -> bool:
    """Whether a client may mean a Service of a namespace."""
    return rest.partition(".")[0] in ("", namespace) and (bool(rest) or client.namespace == namespace)
