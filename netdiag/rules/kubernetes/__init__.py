"""Rules about Kubernetes manifests: resources of Strimzi, brokers in pods, Services and clients."""

from collections.abc import Iterable

from netdiag.deployment.model.kubernetes import Manifests
from netdiag.findings import FileLocation, Finding, by_place
from netdiag.rules.declared import OF_ONE_BROKER, check_deployment
from netdiag.rules.kubernetes import (
    kubernetes_advertised_shared,
    kubernetes_advertised_unreachable,
    kubernetes_client_cannot_connect,
    kubernetes_client_misspelled,
    kubernetes_client_protocol,
    kubernetes_node_id,
    kubernetes_node_port,
    kubernetes_node_port_tls,
    kubernetes_service_no_pods,
    kubernetes_service_target_port,
    kubernetes_variable_unexpanded,
    strimzi_broker_unknown,
    strimzi_listener_host,
    strimzi_listener_name,
    strimzi_listener_option,
    strimzi_listener_port,
    strimzi_listener_tls,
    strimzi_listener_type,
    strimzi_node_pool,
)
from netdiag.rules.rule import KubernetesRule

KUBERNETES: tuple[KubernetesRule, ...] = (
    kubernetes_advertised_shared,
    kubernetes_advertised_unreachable,
    kubernetes_client_cannot_connect,
    kubernetes_client_misspelled,
    kubernetes_client_protocol,
    kubernetes_node_id,
    kubernetes_node_port,
    kubernetes_node_port_tls,
    kubernetes_service_no_pods,
    kubernetes_service_target_port,
    kubernetes_variable_unexpanded,
    strimzi_broker_unknown,
    strimzi_listener_host,
    strimzi_listener_name,
    strimzi_listener_option,
    strimzi_listener_port,
    strimzi_listener_tls,
    strimzi_listener_type,
    strimzi_node_pool,
)


def check_manifests(manifests: Manifests, rules: Iterable[KubernetesRule] = KUBERNETES) -> tuple[Finding, ...]:
    """What is wrong in the file that is checked, and with the clients beside it that use its brokers, by place."""
    found = [finding for rule in rules for finding in rule.check(manifests)]
    if manifests.pods is not None:
        # What stays unexpanded is said once, and all that follows from it is not.
        spoiled = {one.broker for one in manifests.unexpanded}
        found += [f for f in check_deployment(manifests.pods, OF_ONE_BROKER) if f.service not in spoiled]
    distinct: dict[tuple[object, ...], Finding] = {}
    for finding in found:
        if _concerns(finding, manifests.own):
            distinct.setdefault((finding.rule, finding.location, finding.message), finding)
    return tuple(sorted(distinct.values(), key=by_place))


def _concerns(finding: Finding, own: str) -> bool:
    """Whether a finding, or what it is measured against, stands in a file."""
    places = (finding.location, *(one.location for one in finding.related))
    return any(isinstance(place, FileLocation) and place.path == own for place in places)
