"""Running rules over a deployment: all findings in a fixed order, and what follows for the brokers."""

from collections.abc import Iterable
from dataclasses import replace

from netdiag.compose.project import Project
from netdiag.deployment.live_view import LiveView
from netdiag.deployment.member import Deployment
from netdiag.findings import ContainerLocation, Finding, Related, Severity
from netdiag.rules.all_rules import COMPOSE, DECLARED, OBSERVED, WIRE
from netdiag.rules.declared import static_ip_invalid
from netdiag.rules.declared_clients import check_clients
from netdiag.rules.live_files import written_for
from netdiag.rules.observed import live_config_crash
from netdiag.rules.order import by_place
from netdiag.rules.rule import ComposeRule, DeclaredRule, WireRule
from netdiag.traffic.facts import WireView


def check(deployment: Deployment, rules: Iterable[DeclaredRule] = DECLARED) -> tuple[Finding, ...]:
    """Every finding of every rule, and of the clients that the user declares, by place, then by rule.

    Two that say the same of one place (an endpoint that is written twice, and shown at its service) are one.
    """
    found = (each for rule in rules for each in rule.check(deployment))
    told: dict[tuple[object, ...], Finding] = {}
    for finding in (*found, *check_clients(deployment)):
        told.setdefault((finding.rule, finding.location, finding.message, finding.service), finding)
    return tuple(sorted(told.values(), key=by_place))


def check_project(project: Project, rules: Iterable[ComposeRule] = COMPOSE) -> tuple[Finding, ...]:
    """What compose itself would say of the files, and what it takes otherwise than it was meant."""
    found = (finding for rule in rules for finding in rule.check(project))
    return tuple(sorted(found, key=by_place))


def check_live(view: LiveView) -> tuple[Finding, ...]:
    """What the running configuration and the observation give together.

    A stopped broker whose log holds the sentence that a declared finding foretold is that finding, confirmed, and
    not a second one.
    """
    declared = [_confirmed(finding, view) for finding in check(view.deployment)]
    foretold = {f.service for f in declared if f.service in view.stopped and _is_foretold(f, view)}
    observed = [
        finding
        for rule in OBSERVED
        for finding in rule.check(view)
        if not (finding.rule == live_config_crash.ID and finding.service in foretold)
    ]
    return tuple(sorted((*declared, *observed), key=by_place))


def check_wire(view: WireView, rules: Iterable[WireRule] = WIRE) -> tuple[Finding, ...]:
    """What a packet capture shows, worst first, then by place."""
    found = (finding for rule in rules for finding in rule.check(view))
    return tuple(sorted(found, key=lambda finding: (-finding.severity.rank, *by_place(finding))))


def _is_foretold(finding: Finding, view: LiveView) -> bool:
    prints, service = finding.broker_prints, finding.service or ""
    said = (view.stopped.get(service, ""), *view.logs.get(service, ())) if service in view.stopped else ()
    return prints is not None and any(prints in line for line in said)


def _confirmed(finding: Finding, view: LiveView) -> Finding:
    """The finding with the log line that proves it, where there is one, and the line of the files behind it."""
    if finding.service is None or not _is_foretold(finding, view):
        return finding
    location = ContainerLocation(container=finding.service, part="log")
    proof = Related(location=location, message=f"and so it did: {view.stopped[finding.service]}")
    return replace(finding, related=(*finding.related, proof, *written_for(view, finding)))


def condemned(findings: Iterable[Finding], deployment: Deployment) -> frozenset[str]:
    """The names of the brokers that will not start: a finding says what they will print instead, or that the engine
    refuses the address that they are to have."""
    brokers = {broker.name for broker in deployment.brokers}
    return frozenset(f.service for f in findings if f.service in brokers and (f.broker_prints or _is_refused(f)))


def _is_refused(finding: Finding) -> bool:
    return finding.rule == static_ip_invalid.ID and finding.severity is Severity.ERROR
