"""A listener of Strimzi behind an Ingress or a TLSRoute has no host for one of its addresses.

Why: An Ingress or TLSRoute leads on by host name, so the bootstrap address and every broker need one. Of brokers, it
stands under `brokers` with the broker's id, or is made from `hostTemplate`. The operator refuses the resource
otherwise.

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
            type: ingress  # <- here
            tls: true
            configuration:
              bootstrap:
                host: bootstrap.example.com

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
            type: ingress
            tls: true
            configuration:
              hostTemplate: broker-{nodeId}.example.com
              bootstrap:
                host: bootstrap.example.com

Seen: listener external is missing a broker configuration with host properties which are required for Ingress …

Sources: Strimzi 1.2 (`ListenersValidator`).
"""

from collections.abc import Iterator

from netdiag.deployment.model.kubernetes import Exposure, Manifests, StrimziCluster, StrimziListener
from netdiag.deployment.sources.documents import items_in, key_span, text_in
from netdiag.deployment.sources.kubernetes.resources import known_number
from netdiag.deployment.sources.kubernetes.strimzi import bootstrap_setting
from netdiag.findings import Finding, Location, Severity
from netdiag.rules.kubernetes_findings import called, typed_listeners

ID = "strimzi-listener-host"
SEVERITY = Severity.ERROR


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for everything that such a listener lacks."""
    for cluster, listener, exposure in typed_listeners(manifests):
        if exposure not in (Exposure.INGRESS, Exposure.TLS_ROUTE):
            continue
        where = listener.type.span if listener.type is not None else listener.where
        if exposure is Exposure.TLS_ROUTE and _lacks(listener, "parentRefs"):
            yield _finding(cluster, listener, where, "parentRefs", "name the Gateway that its routes belong to")
        if bootstrap_setting(listener, "host") is None:
            yield _finding(cluster, listener, where, "bootstrap.host", "add configuration.bootstrap.host")
        if _lacks(listener, "hostTemplate"):
            yield from _brokers(cluster, listener, where)


def _brokers(cluster: StrimziCluster, listener: StrimziListener, where: Location) -> Iterator[Finding]:
    hint = "add configuration.hostTemplate, such as broker-{nodeId}.example.com"
    configuration = listener.configuration
    if configuration is None or configuration.get("brokers") is None:
        yield _finding(cluster, listener, where, "hosts of its brokers", hint)
        return
    named = {
        known_number(text_in(broker, "broker"))
        for broker in items_in(configuration, "brokers")
        if text_in(broker, "host") is not None
    }
    # With several pools, the ids depend on the order in which they were made.
    if cluster.nodes is None or len(cluster.pools) > 1:
        return
    missing = [node.node_id for node in cluster.nodes if node.is_broker and node.node_id not in named]
    if missing:
        numbers = ", ".join(map(str, missing[:5])) + (" and more" if missing[5:] else "")
        place = key_span(configuration, "brokers")
        yield _finding(cluster, listener, place, f"host of broker {numbers}", hint)


def _lacks(listener: StrimziListener, key: str) -> bool:
    return listener.configuration is None or listener.configuration.get(key) is None


def _finding(cluster: StrimziCluster, listener: StrimziListener, where: Location, what: str, hint: str) -> Finding:
    kind = listener.type.value if listener.type is not None else ""
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{called(listener)} of {cluster.name} has no {what}",
        location=where,
        why=f"a listener of type {kind} is reached by host names; Strimzi refuses the resource without them",
        hint=hint,
        service=cluster.name,
    )
