"""Rules about what compose files and containers declare."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.sources.declared_services import PredictedRefusal
from netdiag.findings import FileLocation, Finding, Severity, by_place
from netdiag.rules.declared import (
    advertised_empty_host,
    advertised_host_unknown,
    advertised_internal_name_for_host,
    advertised_loopback_for_remote_clients,
    advertised_not_in_listeners,
    advertised_placeholder,
    advertised_port_differs_from_published,
    advertised_port_not_published,
    advertised_wildcard,
    advertised_wildcard_uncaught,
    ambiguous_name,
    bitnami_legacy_switches,
    broker_assumed,
    client_certificate_missing,
    client_protocol_mismatch,
    cluster_id_inconsistent,
    connect_group_shared,
    connect_topics_shared,
    control_plane_misuse,
    controller_wildcard_on_3_9_0,
    data_directory_not_writable,
    data_not_kept,
    default_bridge_no_dns,
    dependent_bootstrap_control_port,
    dependent_bootstrap_external_listener,
    dependent_bootstrap_localhost,
    dependent_bootstrap_scheme,
    dependent_bootstrap_unknown_host,
    dependent_bootstrap_wrong_port,
    dependent_reaches_some_brokers,
    duplicate_advertised_endpoint,
    duplicate_host_port,
    duplicate_node_id,
    ephemeral_or_range_port,
    healthcheck_wrong_endpoint,
    host_alias_portability,
    host_names_unchecked,
    host_network_mode,
    hostname_loopback,
    image_defaults_dropped,
    image_env_alias_ignored,
    image_env_duplicate,
    image_env_rejected,
    image_env_unknown,
    image_env_wrong_prefix,
    image_gone,
    image_not_kafka,
    image_required_env_missing,
    image_version_breaks_mode,
    inter_broker_both_settings,
    inter_broker_endpoint_unreachable,
    inter_broker_not_advertised,
    internal_network_published,
    jmx_hostname_unreachable,
    jmx_rmi_port_not_published,
    jmx_rmi_port_random,
    keystore_name_not_covered,
    keystore_not_checked,
    keystore_not_valid_now,
    keystore_untrusted,
    keystore_unusable,
    kraft_advertised_controller_differs,
    kraft_controller_advertised,
    kraft_controller_listener_missing,
    kraft_controller_listener_wrong_role,
    kraft_controller_unmapped,
    kraft_dynamic_quorum_unformattable,
    kraft_inter_broker_is_controller,
    kraft_mode_ambiguous,
    kraft_no_broker_advertised,
    kraft_node_id_missing_or_mismatch,
    kraft_role_invalid,
    kraft_voter_endpoint_mismatch,
    kraft_voters_inconsistent,
    kraft_voters_invalid,
    kraft_voters_loopback,
    listener_bound_to_foreign_address,
    listener_bound_to_loopback,
    listener_bound_to_one_network,
    listener_name_duplicate,
    listener_name_odd,
    listener_name_unmapped,
    listener_port_conflict,
    listener_port_invalid,
    listener_prefix_underscore,
    listener_sets_differ,
    listener_unexpanded_or_quoted,
    listener_unparsable,
    mounted_config_shadows_env,
    network_mode_none_or_shared,
    networks_not_shared,
    oauthbearer_url_not_allowed,
    protocol_map_drops_defaults,
    protocol_map_invalid,
    published_loopback_advertised_elsewhere,
    published_port_without_listener,
    published_port_wrong_listener,
    redpanda_listener_mismatch,
    relay_to_wrong_listener,
    removed_address_property,
    replicas_share_endpoint,
    rest_advertised_loopback,
    rest_advertised_shared,
    rest_advertised_unreachable,
    rest_url_unreachable,
    sasl_config_incomplete,
    sasl_jaas_missing,
    sasl_mechanism_not_enabled,
    sasl_scram_user_missing,
    sasl_user_unknown,
    schema_registry_listener_name,
    secrets_by_listener_name,
    shared_data_volume,
    stale_data_directory,
    static_ip_invalid,
    swarm_ingress_with_dnsrr,
    unstable_ip_advertised,
    wurstmeister_listeners_missing,
    zookeeper_connect_broken,
    zookeeper_data_not_kept,
)
from netdiag.rules.declared_clients import check_clients
from netdiag.rules.rule import DeclaredRule

OF_ONE_BROKER: tuple[DeclaredRule, ...] = (
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
"""What a broker makes of its own configuration, wherever its container runs."""
_OF_SURROUNDINGS: tuple[DeclaredRule, ...] = (
    advertised_host_unknown,
    advertised_internal_name_for_host,
    advertised_loopback_for_remote_clients,
    advertised_port_differs_from_published,
    advertised_port_not_published,
    ambiguous_name,
    broker_assumed,
    client_certificate_missing,
    client_protocol_mismatch,
    cluster_id_inconsistent,
    connect_group_shared,
    connect_topics_shared,
    controller_wildcard_on_3_9_0,
    data_directory_not_writable,
    data_not_kept,
    default_bridge_no_dns,
    dependent_bootstrap_control_port,
    dependent_bootstrap_external_listener,
    dependent_bootstrap_localhost,
    dependent_bootstrap_scheme,
    dependent_bootstrap_unknown_host,
    dependent_bootstrap_wrong_port,
    dependent_reaches_some_brokers,
    duplicate_advertised_endpoint,
    duplicate_host_port,
    duplicate_node_id,
    ephemeral_or_range_port,
    healthcheck_wrong_endpoint,
    host_alias_portability,
    host_names_unchecked,
    host_network_mode,
    hostname_loopback,
    image_defaults_dropped,
    image_env_unknown,
    image_not_kafka,
    inter_broker_endpoint_unreachable,
    internal_network_published,
    jmx_hostname_unreachable,
    jmx_rmi_port_not_published,
    jmx_rmi_port_random,
    keystore_name_not_covered,
    keystore_not_checked,
    keystore_not_valid_now,
    keystore_untrusted,
    keystore_unusable,
    kraft_advertised_controller_differs,
    kraft_dynamic_quorum_unformattable,
    kraft_no_broker_advertised,
    kraft_node_id_missing_or_mismatch,
    kraft_voter_endpoint_mismatch,
    kraft_voters_inconsistent,
    kraft_voters_loopback,
    listener_bound_to_foreign_address,
    listener_bound_to_one_network,
    listener_prefix_underscore,
    listener_sets_differ,
    mounted_config_shadows_env,
    network_mode_none_or_shared,
    networks_not_shared,
    oauthbearer_url_not_allowed,
    published_loopback_advertised_elsewhere,
    published_port_without_listener,
    published_port_wrong_listener,
    redpanda_listener_mismatch,
    relay_to_wrong_listener,
    replicas_share_endpoint,
    rest_advertised_loopback,
    rest_advertised_shared,
    rest_advertised_unreachable,
    rest_url_unreachable,
    sasl_config_incomplete,
    sasl_jaas_missing,
    sasl_mechanism_not_enabled,
    sasl_scram_user_missing,
    sasl_user_unknown,
    schema_registry_listener_name,
    secrets_by_listener_name,
    shared_data_volume,
    stale_data_directory,
    static_ip_invalid,
    swarm_ingress_with_dnsrr,
    unstable_ip_advertised,
    wurstmeister_listeners_missing,
    zookeeper_connect_broken,
    zookeeper_data_not_kept,
)
DECLARED: tuple[DeclaredRule, ...] = tuple(sorted((*OF_ONE_BROKER, *_OF_SURROUNDINGS), key=lambda rule: rule.ID))


def check_deployment(deployment: Deployment, rules: Iterable[DeclaredRule] = DECLARED) -> tuple[Finding, ...]:
    """What is wrong with a deployment, and with the clients that the user declares, by place, then by rule.

    Findings that say the same about one place (an endpoint that is written twice and reported at its service) are one.
    """
    refused = {b.name: b.config.refusal.prints for b in deployment.brokers if b.config.refusal is not None}
    found = (_as_first(finding, refused) for rule in rules for finding in rule.check(deployment))
    distinct: dict[tuple[object, ...], Finding] = {}
    for finding in (*found, *check_clients(deployment)):
        distinct.setdefault((finding.rule, finding.location, finding.message, finding.service), finding)
    return tuple(sorted(distinct.values(), key=by_place))


def _as_first(finding: Finding, refused: Mapping[str, str]) -> Finding:
    """A finding without what the broker would print, if its image exits before Kafka could."""
    prints = refused.get(finding.service or "", finding.broker_prints)
    return finding if finding.broker_prints in (None, prints) else replace(finding, broker_prints=None)


def failing_to_start(findings: Iterable[Finding], deployment: Deployment) -> frozenset[str]:
    """The names of the brokers that will not start.

    A finding says what they print instead, or that the engine refuses the address that they are to have.
    """
    brokers = {broker.name for broker in deployment.brokers}
    return frozenset(
        finding.service
        for finding in findings
        if finding.service in brokers and (finding.broker_prints or _is_refused_by_engine(finding))
    )


def startup_errors(findings: Iterable[Finding]) -> tuple[PredictedRefusal, ...]:
    """What brokers print instead of starting, as findings about files predict it."""
    return tuple(
        PredictedRefusal(
            rule=finding.rule,
            service=finding.service,
            prints=finding.broker_prints,
            message=finding.message,
            hint=finding.hint,
            where=finding.location,
        )
        for finding in findings
        if finding.broker_prints and finding.service and isinstance(finding.location, FileLocation)
    )


def _is_refused_by_engine(finding: Finding) -> bool:
    return finding.rule == static_ip_invalid.ID and finding.severity is Severity.ERROR
