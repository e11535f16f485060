"""Running rules over a deployment: all findings in a fixed order, and what follows for the brokers."""

from collections.abc import Iterable

from netdiag.deployment.member import Deployment
from netdiag.findings import ContainerLocation, FileLocation, Finding
from netdiag.rules.all_rules import DECLARED
from netdiag.rules.rule import DeclaredRule


def check(deployment: Deployment, rules: Iterable[DeclaredRule] = DECLARED) -> tuple[Finding, ...]:
    """Every finding of every rule, by place, then by rule."""
    found = (finding for rule in rules for finding in rule.check(deployment))
    return tuple(sorted(found, key=_order))


def condemned(findings: Iterable[Finding], deployment: Deployment) -> frozenset[str]:
    """The names of the brokers that will not start, because a finding says what they will print instead."""
    brokers = {broker.name for broker in deployment.brokers}
    return frozenset(f.service for f in findings if f.broker_prints and f.service in brokers)


def _order(finding: Finding) -> tuple[str, int, int, str, str]:
    match finding.location:
        case FileLocation(path=path, line=line, column=column):
            return (path, line, column, finding.rule, finding.message)
        case ContainerLocation(container=container, part=part):
            return (container, 0, 0, finding.rule, part + finding.message)
