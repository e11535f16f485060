"""A listener of Strimzi is configured with what its type does not have.

Why: A node port, the address of a load balancer or the host of a router mean nothing to a listener of another type.
The operator refuses the whole resource, and the cluster stays as it was.

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
            type: internal
            tls: false
            configuration:
              bootstrap:
                nodePort: 32094  # <- here

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
            configuration:
              bootstrap:
                nodePort: 32094

Seen: Listener configuration is not valid: [listener external cannot configure bootstrap.nodePort because …

Sources: Strimzi 1.2 (`ListenersValidator`).
"""

from collections.abc import Iterator

from netdiag.compose.values import Mapping, Scalar, Sequence
from netdiag.deployment.model.kubernetes import Exposure, Manifests
from netdiag.deployment.sources.documents import items_in, key_span, mapping_in
from netdiag.findings import Finding, Severity
from netdiag.rules.kubernetes_findings import called, typed_listeners

ID = "strimzi-listener-option"
SEVERITY = Severity.ERROR
_ROUTED = (Exposure.ROUTE, Exposure.INGRESS, Exposure.TLS_ROUTE)
_BALANCED = (Exposure.LOAD_BALANCER,)
_ON_NODES = (Exposure.NODE_PORT,)
_ON_EITHER = (Exposure.NODE_PORT, Exposure.LOAD_BALANCER)
_WITH_SERVICES = tuple(one for one in Exposure if one is not Exposure.INTERNAL)
_OPTIONS: dict[str, tuple[Exposure, ...]] = {
    "useServiceDnsDomain": (Exposure.INTERNAL, Exposure.CLUSTER_IP),
    "createBootstrapService": _BALANCED,
    "ipFamilyPolicy": _WITH_SERVICES,
    "ipFamilies": _WITH_SERVICES,
    "controllerClass": (Exposure.INGRESS, Exposure.LOAD_BALANCER),
    "preferredNodePortAddressType": _ON_NODES,
    "publishNotReadyAddresses": _WITH_SERVICES,
    "externalTrafficPolicy": _ON_EITHER,
    "loadBalancerSourceRanges": _BALANCED,
    "allocateLoadBalancerNodePorts": _BALANCED,
    "finalizers": _BALANCED,
    "hostTemplate": _ROUTED,
    "perBrokerLabelsTemplate": _WITH_SERVICES,
    "perBrokerAnnotationsTemplate": _WITH_SERVICES,
    "parentRefs": (Exposure.TLS_ROUTE,),
}
_OF_ADDRESSES: dict[str, tuple[Exposure, ...]] = {
    "host": _ROUTED,
    "loadBalancerIP": _BALANCED,
    "nodePort": _ON_EITHER,
    "externalIPs": _ON_NODES,
    "labels": _WITH_SERVICES,
    "annotations": _WITH_SERVICES,
}


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every option that the type of its listener does not take."""
    for cluster, listener, exposure in typed_listeners(manifests):
        configuration = listener.configuration
        if configuration is None:
            continue
        parts = [("", configuration, _OPTIONS)]
        bootstrap = mapping_in(configuration, "bootstrap")
        parts += [("bootstrap.", bootstrap, _OF_ADDRESSES)] if bootstrap is not None else []
        parts += [("brokers[].", broker, _OF_ADDRESSES) for broker in items_in(configuration, "brokers")]
        for before, mapping, options in parts:
            for option, kinds in options.items():
                if exposure in kinds or not _is_set(mapping, option):
                    continue
                yield Finding(
                    rule=ID,
                    severity=SEVERITY,
                    message=f"{called(listener)} of {cluster.name} has type {exposure}, which has no {before}{option}",
                    location=key_span(mapping, option),
                    why=f"{option} is for {' and '.join(kinds)}; Strimzi refuses the resource"
                    if len(kinds) < 4
                    else f"{option} is for Services, which a listener of type internal does not have of its own",
                    hint=f"remove {option}, or choose another type",
                    service=cluster.name,
                )


def _is_set(mapping: Mapping, option: str) -> bool:
    """Whether the operator takes an option for given: not without a value, and not an empty list or mapping."""
    match mapping.get(option):
        case None:
            return False
        case Scalar() as scalar if option == "createBootstrapService":
            return scalar.value == "false"
        case Scalar() as scalar:
            return scalar.kind != "null"
        case Sequence() as sequence:
            return bool(sequence.items) or option in ("ipFamilies", "parentRefs", "externalIPs")
        case Mapping() as inner:
            return bool(inner.entries)
