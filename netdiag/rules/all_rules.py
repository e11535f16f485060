"""The written-out lists of every rule."""

from netdiag.rules.declared import (
    advertised_empty_host,
    advertised_internal_name_for_host,
    advertised_loopback_for_remote_clients,
    advertised_not_in_listeners,
    advertised_port_differs_from_published,
    advertised_port_not_published,
    advertised_wildcard,
    dependent_bootstrap_control_port,
    dependent_bootstrap_external_listener,
    dependent_bootstrap_localhost,
    dependent_bootstrap_unknown_host,
    dependent_bootstrap_wrong_port,
    duplicate_advertised_endpoint,
    duplicate_host_port,
    image_defaults_dropped,
    image_env_rejected,
    image_required_env_missing,
    inter_broker_endpoint_unreachable,
    inter_broker_not_advertised,
    kraft_controller_listener_missing,
    listener_bound_to_foreign_address,
    listener_bound_to_loopback,
    listener_bound_to_one_network,
    listener_name_duplicate,
    listener_name_unmapped,
    listener_port_conflict,
    listener_unparsable,
    networks_not_shared,
    protocol_map_invalid,
)
from netdiag.rules.observed import (
    live_bound_sockets_differ,
    live_config_crash,
    live_differs_from_predicted,
)
from netdiag.rules.rule import DeclaredRule, ObservedRule, Rule

DECLARED: tuple[DeclaredRule, ...] = (
    advertised_empty_host,
    advertised_internal_name_for_host,
    advertised_loopback_for_remote_clients,
    advertised_not_in_listeners,
    advertised_port_differs_from_published,
    advertised_port_not_published,
    advertised_wildcard,
    dependent_bootstrap_control_port,
    dependent_bootstrap_external_listener,
    dependent_bootstrap_localhost,
    dependent_bootstrap_unknown_host,
    dependent_bootstrap_wrong_port,
    duplicate_advertised_endpoint,
    duplicate_host_port,
    image_defaults_dropped,
    image_env_rejected,
    image_required_env_missing,
    inter_broker_endpoint_unreachable,
    inter_broker_not_advertised,
    kraft_controller_listener_missing,
    listener_bound_to_foreign_address,
    listener_bound_to_loopback,
    listener_bound_to_one_network,
    listener_name_duplicate,
    listener_name_unmapped,
    listener_port_conflict,
    listener_unparsable,
    networks_not_shared,
    protocol_map_invalid,
)

OBSERVED: tuple[ObservedRule, ...] = (
    live_bound_sockets_differ,
    live_config_crash,
    live_differs_from_predicted,
)

ALL: tuple[Rule, ...] = (*DECLARED, *OBSERVED)
