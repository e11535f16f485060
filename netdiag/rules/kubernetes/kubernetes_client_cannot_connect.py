"""A client in a pod is told an address of brokers that does not work for it.

Why: The name of a Service alone counts in its own namespace; from another one it takes SERVICE.NAMESPACE.svc. A
Service has the ports that it declares, a certificate the names that are in it, and localhost is the pod of the client
itself.

Bad:
    apiVersion: kafka.strimzi.io/v1
    kind: KafkaNodePool
    metadata:
      name: dual
      namespace: kafka
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
      namespace: kafka
    spec:
      kafka:
        listeners:
          - name: plain
            port: 9092
            type: internal
            tls: false
    ---
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: payments
      namespace: shop
    spec:
      template:
        spec:
          containers:
            - name: payments
              image: example/payments
              env:
                - name: KAFKA_BOOTSTRAP_SERVERS
                  value: my-cluster-kafka-bootstrap:9092  # <- here

Good:
    apiVersion: kafka.strimzi.io/v1
    kind: KafkaNodePool
    metadata:
      name: dual
      namespace: kafka
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
      namespace: kafka
    spec:
      kafka:
        listeners:
          - name: plain
            port: 9092
            type: internal
            tls: false
    ---
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: payments
      namespace: shop
    spec:
      template:
        spec:
          containers:
            - name: payments
              image: example/payments
              env:
                - name: KAFKA_BOOTSTRAP_SERVERS
                  value: my-cluster-kafka-bootstrap.kafka.svc:9092

Seen: Couldn't resolve server my-cluster-kafka-bootstrap:9092 from bootstrap.servers as DNS resolution failed

Sources: Kubernetes 1.34, "DNS for Services and Pods"; Strimzi 1.2, names of its Services and of its certificates.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import BootstrapAddress
from netdiag.deployment.model.kubernetes import (
    KubernetesClient,
    KubernetesService,
    Manifests,
    PodBroker,
    service_names,
)
from netdiag.deployment.model.verdict import Address, Failed, Reason
from netdiag.deployment.prediction.kubernetes import contact, find_service
from netdiag.findings import Edit, Finding, Related, Severity
from netdiag.kafka.listeners import is_loopback
from netdiag.rules.kubernetes_findings import edit_of, place_of

ID = "kubernetes-client-cannot-connect"
SEVERITY = Severity.ERROR


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every address of a client that leads to brokers of the manifests, and not to a listener."""
    for client in manifests.clients:
        place = place_of(client)
        for address in client.addresses:
            if is_loopback(address.host):
                # Other containers of the pod may listen, and other things are on localhost, too.
                continue
            met = contact(manifests, place, Address(host=address.host, port=address.port))
            service = find_service(manifests, place, address.host.lower())
            if service is not None and not service.brokers:
                continue
            if isinstance(met, Failed) and manifests.brokers:
                yield _finding(manifests, client, address, service, met)


def _finding(
    manifests: Manifests,
    client: KubernetesClient,
    address: BootstrapAddress,
    service: KubernetesService | None,
    failed: Failed,
) -> Finding:
    hint, edits = _repair(manifests, client, address, service, failed)
    brokers = manifests.of(service.brokers) if service is not None else ()
    whose = service.where if service is not None else next((b.where for b in brokers), None)
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{client.kind} {client.name} cannot connect to {address.host}:{address.port}: {failed.because}",
        location=client.declared.span_of(address.start, address.end),
        related=(Related(location=whose, message="the brokers that it is told"),) if whose is not None else (),
        why="the client gets no connection at this address from its pod",
        hint=hint,
        service=client.name,
        edits=edits,
    )


def _repair(
    manifests: Manifests,
    client: KubernetesClient,
    address: BootstrapAddress,
    service: KubernetesService | None,
    failed: Failed,
) -> tuple[str, tuple[Edit, ...]]:
    """What helps, and the edit where there is only one way."""
    if service is None:
        return "use the name of a Service of the brokers", ()
    if failed.reason is Reason.UNRESOLVED:
        if not service.namespace:
            return "add the namespace of the Service to its name", ()
        name = service_names(service.name, service.namespace)[2]
        return f"use {name}:{address.port}", _to(client, address, Address(host=name, port=address.port))
    if failed.reason is Reason.TLS:
        return "use a name that is in the certificate, or add this one to bootstrap.alternativeNames", ()
    right = _ports(manifests, client, service)
    if len(right) == 1:
        return f"use port {right[0]}", _to(client, address, Address(host=address.host, port=right[0]))
    return f"use port {' or '.join(map(str, right))}" if right else "use a port of a listener", ()


def _ports(manifests: Manifests, client: KubernetesClient, service: KubernetesService) -> list[int]:
    """The ports of a Service at which the client finds a listener that speaks as it does."""
    brokers: tuple[PodBroker, ...] = manifests.of(service.brokers)
    found = []
    for port in service.ports:
        listener = brokers[0].listener(port.target or 0) if brokers else None
        if listener is not None and client.protocol in (None, listener.protocol):
            found.append(port.port)
    return found


def _to(client: KubernetesClient, address: BootstrapAddress, better: Address) -> tuple[Edit, ...]:
    scheme = f"{address.scheme}://" if address.scheme else ""
    return edit_of(client.declared, address.start, address.end, f"{scheme}{better}", safe=False)
