"""Rules about Kubernetes manifests: resources of Strimzi, brokers in pods, Services and clients."""

from collections.abc import Iterable

from netdiag.deployment.model.kubernetes import Manifests
from netdiag.findings import FileLocation, Finding, by_place
from netdiag.rules.declared import (
    advertised_empty_host,
    advertised_not_in_listeners,
    advertised_placeholder,
    advertised_wildcard,
    advertised_wildcard_uncaught,
    bitnami_legacy_switches,
    check_deployment,
    control_plane_misuse,
    image_env_alias_ignored,
    image_env_duplicate,
    image_env_rejected,
    image_env_wrong_prefix,
    image_gone,
    image_required_env_missing,
    image_version_breaks_mode,
    inter_broker_both_settings,
    inter_broker_not_advertised,
    kraft_controller_advertised,
    kraft_controller_listener_missing,
    kraft_controller_listener_wrong_role,
    kraft_controller_unmapped,
    kraft_inter_broker_is_controller,
    kraft_mode_ambiguous,
    kraft_role_invalid,
    kraft_voters_invalid,
    listener_bound_to_loopback,
    listener_name_duplicate,
    listener_name_odd,
    listener_name_unmapped,
    listener_port_conflict,
    listener_port_invalid,
    listener_unexpanded_or_quoted,
    listener_unparsable,
    protocol_map_drops_defaults,
    protocol_map_invalid,
    removed_address_property,
)
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
from netdiag.rules.rule import DeclaredRule, KubernetesRule

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
# What a broker makes of its own configuration, wherever its container runs.
_OF_ONE_BROKER: tuple[DeclaredRule, ...] = (
    advertised_empty_host,
    advertised_not_in_listeners,
    advertised_placeholder,
    advertised_wildcard,
    advertised_wildcard_uncaught,
    bitnami_legacy_switches,
    control_plane_misuse,
    image_env_alias_ignored,
    image_env_duplicate,
    image_env_rejected,
    image_env_wrong_prefix,
    image_gone,
    image_required_env_missing,
    image_version_breaks_mode,
    inter_broker_both_settings,
    inter_broker_not_advertised,
    kraft_controller_advertised,
    kraft_controller_listener_missing,
    kraft_controller_listener_wrong_role,
    kraft_controller_unmapped,
    kraft_inter_broker_is_controller,
    kraft_mode_ambiguous,
    kraft_role_invalid,
    kraft_voters_invalid,
    listener_bound_to_loopback,
    listener_name_duplicate,
    listener_name_odd,
    listener_name_unmapped,
    listener_port_conflict,
    listener_port_invalid,
    listener_unexpanded_or_quoted,
    listener_unparsable,
    protocol_map_drops_defaults,
    protocol_map_invalid,
    removed_address_property,
)


def check_manifests(manifests: Manifests, rules: Iterable[KubernetesRule] = KUBERNETES) -> tuple[Finding, ...]:
    """What is wrong in the file that is checked, and with the clients beside it that use its brokers, by place."""
    found = [finding for rule in rules for finding in rule.check(manifests)]
    if manifests.pods is not None:
        # What stays unexpanded is said once, and all that follows from it is not.
        spoiled = {one.broker for one in manifests.unexpanded}
        found += [f for f in check_deployment(manifests.pods, _OF_ONE_BROKER) if f.service not in spoiled]
    distinct: dict[tuple[object, ...], Finding] = {}
    for finding in found:
        if _concerns(finding, manifests.own):
            distinct.setdefault((finding.rule, finding.location, finding.message), finding)
    return tuple(sorted(distinct.values(), key=by_place))


def _concerns(finding: Finding, own: str) -> bool:
    """Whether a finding, or what it is measured against, stands in a file."""
    places = (finding.location, *(one.location for one in finding.related))
    return any(isinstance(place, FileLocation) and place.path == own for place in places)
