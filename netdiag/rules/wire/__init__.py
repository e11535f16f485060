"""Rules about what a packet capture shows."""

from collections.abc import Iterable

from netdiag.findings import Finding, by_place
from netdiag.rules.rule import WireRule
from netdiag.rules.wire import (
    wire_access_denied,
    wire_authentication_failing,
    wire_coordinator_flapping,
    wire_error_loop,
    wire_hot_partition,
    wire_idle_closed,
    wire_idle_dead,
    wire_leader_flapping,
    wire_metadata_storm,
    wire_plaintext_on_tls_port,
    wire_rebalance_storm,
    wire_removed_versions,
    wire_request_too_large,
    wire_resent_batches,
    wire_stale_leader_loop,
    wire_stranger_on_kafka_port,
    wire_throttled,
    wire_tiny_batches,
    wire_tls_on_plaintext_port,
    wire_told_endpoint_foreign,
    wire_told_endpoint_refused,
    wire_told_endpoint_shared,
    wire_told_endpoint_unanswered,
    wire_told_endpoint_unresolved,
    wire_told_endpoint_untried,
    wire_told_loopback,
    wire_uncompressed_bulk,
    wire_unknown_topic_loop,
    wire_weak_acks,
)
from netdiag.traffic.facts import WireView

WIRE: tuple[WireRule, ...] = (
    wire_access_denied,
    wire_authentication_failing,
    wire_coordinator_flapping,
    wire_error_loop,
    wire_hot_partition,
    wire_idle_closed,
    wire_idle_dead,
    wire_leader_flapping,
    wire_metadata_storm,
    wire_plaintext_on_tls_port,
    wire_rebalance_storm,
    wire_removed_versions,
    wire_request_too_large,
    wire_resent_batches,
    wire_stale_leader_loop,
    wire_stranger_on_kafka_port,
    wire_throttled,
    wire_tiny_batches,
    wire_tls_on_plaintext_port,
    wire_told_endpoint_foreign,
    wire_told_endpoint_refused,
    wire_told_endpoint_shared,
    wire_told_endpoint_unanswered,
    wire_told_endpoint_unresolved,
    wire_told_endpoint_untried,
    wire_told_loopback,
    wire_uncompressed_bulk,
    wire_unknown_topic_loop,
    wire_weak_acks,
)


def check_wire(view: WireView, rules: Iterable[WireRule] = WIRE) -> tuple[Finding, ...]:
    """What is wrong in a packet capture, worst first, then by place."""
    found = (finding for rule in rules for finding in rule.check(view))
    return tuple(sorted(found, key=lambda finding: (-finding.severity.rank, *by_place(finding))))
