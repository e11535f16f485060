"""Rules about jobs of CI systems: what their steps get from the brokers that are their services."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from netdiag.deployment.sources.ci.job import CiJob
from netdiag.findings import Finding, Severity, by_place
from netdiag.rules.ci import (
    ci_service_not_awaited,
    ci_services_isolated,
    ci_steps_cannot_connect,
    ci_steps_wrong_address,
)
from netdiag.rules.declared import (
    DECLARED,
    advertised_host_unknown,
    advertised_internal_name_for_host,
    advertised_loopback_for_remote_clients,
    advertised_port_differs_from_published,
    advertised_port_not_published,
    check_deployment,
    default_bridge_no_dns,
    dependent_bootstrap_external_listener,
    ephemeral_or_range_port,
    failing_to_start,
    host_alias_portability,
    host_names_unchecked,
    host_network_mode,
    network_mode_none_or_shared,
    networks_not_shared,
    published_loopback_advertised_elsewhere,
    published_port_without_listener,
)
from netdiag.rules.rule import CiRule, DeclaredRule

CI: tuple[CiRule, ...] = (
    ci_service_not_awaited,
    ci_services_isolated,
    ci_steps_cannot_connect,
    ci_steps_wrong_address,
)
# What these say of clients on the docker host, on the LAN or in other containers, a job answers for its own places.
_OF_OTHER_PLACES: tuple[DeclaredRule, ...] = (
    advertised_host_unknown,
    advertised_internal_name_for_host,
    advertised_port_differs_from_published,
    advertised_port_not_published,
    default_bridge_no_dns,
    ephemeral_or_range_port,
    host_alias_portability,
    host_names_unchecked,
    host_network_mode,
    network_mode_none_or_shared,
    networks_not_shared,
    published_loopback_advertised_elsewhere,
)
_ALIKE = tuple(rule for rule in DECLARED if rule not in _OF_OTHER_PLACES)


def check_job(job: CiJob, rules: Iterable[CiRule] = CI) -> tuple[Finding, ...]:
    """What is wrong with a job, by place, then by rule; what a finding of a job's own says is said once."""
    declared = check_deployment(job.deployment, () if job.followed else _ALIKE)
    down = failing_to_start(declared, job.deployment)
    up = replace(job, deployment=job.deployment.with_down(down)) if down else job
    own = [finding for rule in rules for finding in rule.check(up)]
    return tuple(sorted((*own, *_besides(job, own, declared)), key=by_place))


def _besides(job: CiJob, own: Iterable[Finding], declared: Iterable[Finding]) -> Iterator[Finding]:
    """The findings about declarations that no finding of the job says already; ports that nobody needs harm nobody."""
    failing = {finding.service for finding in own if finding.rule == ci_steps_cannot_connect.ID}
    for finding in declared:
        if finding.rule == advertised_loopback_for_remote_clients.ID and (
            finding.service in failing or finding.severity is Severity.NOTE
        ):
            continue
        if failing and finding.rule == dependent_bootstrap_external_listener.ID and finding.service == job.steps.member:
            continue
        harmless = finding.rule == published_port_without_listener.ID
        yield replace(finding, severity=Severity.NOTE) if harmless else finding


def agreed(judged: Iterable[tuple[CiJob, tuple[Finding, ...]]]) -> Iterator[Finding]:
    """The findings of one job as several executors may run it: what only one of them does is a note."""
    everyone = tuple(judged)
    executors = tuple(dict.fromkeys(job.executor for job, _ in everyone))
    saying: dict[tuple[object, ...], set[str]] = {}
    for job, findings in everyone:
        for finding in findings:
            saying.setdefault(_said(finding), set()).add(job.executor)
    for job, findings in everyone:
        for finding in findings:
            if saying[_said(finding)] == set(executors):
                if job.executor == executors[0]:
                    yield finding
            else:
                message = f"{finding.message} ({job.executor} executor only)"
                yield replace(finding, severity=Severity.NOTE, message=message, edits=())


def _said(finding: Finding) -> tuple[object, ...]:
    return (finding.rule, finding.service, finding.location)
