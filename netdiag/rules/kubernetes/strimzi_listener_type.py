"""A listener of Strimzi has a type that there is not.

Why: The type decides what leads to a listener and what clients are told. Kubernetes refuses a resource with any other
than internal, cluster-ip, nodeport, loadbalancer, route, tlsroute and ingress.

Bad:
    apiVersion: kafka.strimzi.io/v1
    kind: Kafka
    metadata:
      name: my-cluster
    spec:
      kafka:
        listeners:
          - name: external
            port: 9094
            type: NodePort  # <- here
            tls: false

Good:
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

Seen: spec.kafka.listeners[0].type: Unsupported value: "NodePort": supported values: "internal", …

Sources: Strimzi 1.2 (`KafkaListenerType`).
"""

from collections.abc import Iterator
from difflib import get_close_matches

from netdiag.deployment.model.kubernetes import Exposure, Manifests
from netdiag.deployment.sources.kubernetes.strimzi import exposure_of
from netdiag.findings import Finding, Severity
from netdiag.rules.kubernetes_findings import called, edit_of, is_known, strimzi_listeners

ID = "strimzi-listener-type"
SEVERITY = Severity.ERROR
_TYPES = tuple(one.value for one in Exposure)


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every listener without a type, or with one that Strimzi does not know."""
    for cluster, listener in strimzi_listeners(manifests):
        kind = listener.type
        if exposure_of(listener) is not None or (kind is not None and not is_known(kind)):
            continue
        meant = get_close_matches(kind.value.lower(), _TYPES, n=1) if kind is not None else []
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f'{called(listener)} of {cluster.name} is of type "{kind.value}", which there is not'
            if kind is not None
            else f"{called(listener)} of {cluster.name} has no type",
            location=kind.span if kind is not None else listener.where,
            why="the type decides what leads to a listener and what clients are told; Kubernetes refuses others",
            hint=f"use {meant[0]}" if meant else f"use one of {', '.join(_TYPES)}",
            service=cluster.name,
            edits=edit_of(kind, 0, len(kind), meant[0], safe=False) if kind is not None and meant else (),
        )
