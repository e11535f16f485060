"""Rules about what a live check observed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from netdiag.deployment.model.verdict import Answered, Cell, Contact
from netdiag.deployment.observation.live_view import LiveView
from netdiag.deployment.observation.registered import Registered
from netdiag.findings import ContainerLocation, Finding, Related, by_place
from netdiag.rules.declared import check_deployment
from netdiag.rules.live_findings import written_for
from netdiag.rules.observed import (
    live_accept_then_close,
    live_advertised_drift,
    live_advertised_unreachable,
    live_ambiguous_name,
    live_bootstrap_dns,
    live_bootstrap_refused,
    live_bootstrap_timeout,
    live_bound_sockets_differ,
    live_broker_fenced,
    live_broker_starting,
    live_cluster_id_differs,
    live_config_crash,
    live_connect_forward_fails,
    live_controller_lost,
    live_dependent_cannot_connect,
    live_differs_from_predicted,
    live_duplicate_registration,
    live_file_drift,
    live_flapping,
    live_listener_not_found,
    live_mesh_cut,
    live_not_kafka,
    live_other_cluster_answers,
    live_registered_endpoint,
    live_rest_url_fails,
    live_sasl_mechanism,
    live_security_mismatch,
    live_silent_address,
    live_testcontainers_listener,
    live_wrong_broker,
    tls_expired,
    tls_expires_soon,
    tls_name_not_covered,
    tls_not_yet_valid,
    tls_unknown_authority,
    tls_weak,
)
from netdiag.rules.rule import ObservedRule
from netdiag.rules.testcontainers import in_words

_ABOUT_CLIENTS = ("dependent-bootstrap-external-listener", live_dependent_cannot_connect.ID)

OBSERVED: tuple[ObservedRule, ...] = (
    live_accept_then_close,
    live_advertised_drift,
    live_advertised_unreachable,
    live_ambiguous_name,
    live_bootstrap_dns,
    live_bootstrap_refused,
    live_bootstrap_timeout,
    live_bound_sockets_differ,
    live_broker_fenced,
    live_broker_starting,
    live_cluster_id_differs,
    live_config_crash,
    live_connect_forward_fails,
    live_controller_lost,
    live_dependent_cannot_connect,
    live_differs_from_predicted,
    live_duplicate_registration,
    live_file_drift,
    live_flapping,
    live_listener_not_found,
    live_mesh_cut,
    live_not_kafka,
    live_other_cluster_answers,
    live_registered_endpoint,
    live_rest_url_fails,
    live_sasl_mechanism,
    live_security_mismatch,
    live_silent_address,
    live_testcontainers_listener,
    live_wrong_broker,
    tls_expired,
    tls_expires_soon,
    tls_name_not_covered,
    tls_not_yet_valid,
    tls_unknown_authority,
    tls_weak,
)

REGISTERED: tuple[ObservedRule, ...] = (
    live_broker_fenced,
    live_cluster_id_differs,
    live_controller_lost,
    live_duplicate_registration,
    live_registered_endpoint,
)
"""Those that need what `netdiag registry` reads."""


def check_live(view: LiveView, registered: Iterable[Registered] = ()) -> tuple[Finding, ...]:
    """What is wrong with the running configuration and with what was observed, by place, then by rule.

    `registered` is what each cluster has registered, beside that of the view. What is found there is told once.
    Where the log of a stopped broker holds the sentence that a finding about its configuration predicts, that finding
    is confirmed, and there is no second one. What fails at a broker that is still starting is not judged, and what
    fails sometimes by one rule only.
    """
    view = _without_flapping(_without_starting(view))
    declared = [_confirmed(finding, view) for finding in check_deployment(view.deployment)]
    clusters = [check_registered(replace(view, registered=one)) for one in registered]
    found = [_confirmed(finding, view) for findings in clusters for finding in findings]
    predicted = {f.service for f in (*declared, *found) if f.service in view.stopped and _is_in_log(f, view)}
    observed = [
        finding
        for rule in OBSERVED
        for finding in rule.check(view)
        if not (finding.rule == live_config_crash.ID and finding.service in predicted)
    ]
    told = [finding for finding in found if not _is_told(finding, view, observed)]
    everything = (*_without_told_clients((*declared, *observed), view), *told)
    return tuple(sorted((in_words(finding, view.deployment) for finding in everything), key=by_place))


def check_registered(view: LiveView) -> tuple[Finding, ...]:
    """What is wrong with what the cluster has registered, by place, then by rule."""
    found = (finding for rule in REGISTERED for finding in rule.check(view))
    return tuple(sorted(found, key=by_place))


def _without_told_clients(findings: Iterable[Finding], view: LiveView) -> Iterator[Finding]:
    """Without what is said of clients that live-testcontainers-listener tells about."""
    clients = live_testcontainers_listener.clients_told(view)
    return (f for f in findings if f.service not in clients or f.rule not in _ABOUT_CLIENTS)


def _is_told(finding: Finding, view: LiveView, observed: Sequence[Finding]) -> bool:
    """Whether what was found in a registry is what another finding is about, or will pass."""
    if finding.rule == live_broker_fenced.ID:
        return finding.service in view.stopped or finding.service in view.starting
    if finding.rule == live_registered_endpoint.ID:
        drifts = (one for one in observed if one.rule == live_advertised_drift.ID)
        return any((one.service, one.listener) == (finding.service, finding.listener) for one in drifts)
    return False


def _without_starting(view: LiveView) -> LiveView:
    """Without the contacts that failed, while they are predicted to end at a broker that is starting."""

    def fails_for_now(predicted: Contact, observed: Contact) -> bool:
        ends = isinstance(predicted, Answered) and predicted.member in view.starting
        return ends and not isinstance(observed, Answered)

    def waits(cell: Cell) -> bool:
        if cell.predicted is None or cell.observed is None:
            return False
        seen = {one.endpoint.address: one.contact for one in cell.observed.endpoints}
        pairs = [(cell.predicted.bootstrap, cell.observed.bootstrap)]
        pairs += [(e.contact, seen[e.endpoint.address]) for e in cell.predicted.endpoints if e.endpoint.address in seen]
        return any(fails_for_now(*pair) for pair in pairs)

    if not view.starting:
        return view
    edges = tuple(e for e in view.mesh.edges if e.target not in view.starting) if view.mesh else ()
    return replace(
        view,
        cells=tuple(cell for cell in view.cells if not waits(cell)),
        mesh=None if view.mesh is None else replace(view.mesh, edges=edges),
        ports={name: ports for name, ports in view.ports.items() if name not in view.starting},
    )


def _without_flapping(view: LiveView) -> LiveView:
    """Without the cells that live-flapping tells of."""
    told = {(one.vantage, one.address) for one in view.flapping}
    return replace(view, cells=tuple(cell for cell in view.cells if (cell.vantage, cell.bootstrap) not in told))


def _confirmed(finding: Finding, view: LiveView) -> Finding:
    """The finding with the log line that proves it, where there is one, and the line of the files behind it."""
    if finding.service is None or not _is_in_log(finding, view):
        return finding
    location = ContainerLocation(container=finding.service, part="log")
    proof = Related(location=location, message=f"the log confirms it: {view.stopped[finding.service]}")
    return replace(finding, related=(*finding.related, proof, *written_for(view, finding)))


def _is_in_log(finding: Finding, view: LiveView) -> bool:
    """Whether a stopped broker printed what the finding predicts."""
    prints, service = finding.broker_prints, finding.service or ""
    if prints is None or service not in view.stopped:
        return False
    return any(prints in line for line in (view.stopped[service], *view.logs.get(service, ())))
