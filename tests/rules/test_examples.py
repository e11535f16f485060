"""Every rule's docstring is executed: Bad fires it at the marked lines, Good is silent under all rules."""

from collections.abc import Mapping

import pytest

from netdiag.app.repair import Repairs, tried
from netdiag.compose.dotenv import load_dotenv
from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.compose.problems import ComposeError
from netdiag.deployment.sources.compose import from_compose
from netdiag.findings import FileLocation, Finding, Severity, WireLocation
from netdiag.render.report import Input, Problem, Report
from netdiag.rules.ci import CI, check_job
from netdiag.rules.compose import COMPOSE, check_project
from netdiag.rules.declared import DECLARED, check_deployment
from netdiag.rules.kubernetes import KUBERNETES
from netdiag.rules.observed import OBSERVED, check_live
from netdiag.rules.rule import (
    CiRule,
    ComposeRule,
    DeclaredRule,
    KubernetesRule,
    ObservedRule,
    Rule,
    RulePage,
    TopologyRule,
    WireRule,
    rule_page,
)
from netdiag.rules.topology import TOPOLOGY, check_topology
from netdiag.rules.wire import WIRE, check_wire
from tests.ci.workflows import jobs_of
from tests.deployment.stacks import deployment_of, project_of
from tests.each import each
from tests.kubernetes.manifests import found_in
from tests.rules.recorded import view_of
from tests.rules.topology_recorded import Recorded
from tests.rules.wire_recorded import wire_view_of

BY_ID = {rule.ID: rule for rule in DECLARED}


def _page_of(rule: Rule) -> RulePage:
    assert rule.__doc__
    return rule_page(rule.__doc__)


@each("rule", DECLARED, ids=list(BY_ID))
def test_bad_example_fires_exactly_at_its_marks(rule: DeclaredRule) -> None:
    page = _page_of(rule)
    findings = [f for f in check_deployment(deployment_of(page.bad)) if f.rule == rule.ID]
    lines = tuple(sorted({f.location.line for f in findings if isinstance(f.location, FileLocation)}))
    assert page.bad_lines
    assert lines == page.bad_lines


@each("rule", DECLARED, ids=list(BY_ID))
def test_bad_example_has_no_other_defect_above_note(rule: DeclaredRule) -> None:
    others = [
        f
        for f in check_deployment(deployment_of(_page_of(rule).bad))
        if f.rule != rule.ID and f.severity != Severity.NOTE
    ]
    assert others == []


@each("rule", DECLARED, ids=list(BY_ID))
def test_good_example_is_silent_under_all_rules(rule: DeclaredRule) -> None:
    assert check_deployment(deployment_of(_page_of(rule).good)) == ()


@pytest.mark.parametrize("rule", OBSERVED, ids=lambda rule: rule.ID)
def test_bad_observation_fires_once_per_mark(rule: ObservedRule) -> None:
    page = _page_of(rule)
    assert [finding.rule for finding in check_live(view_of(page.bad))] == [rule.ID] * len(page.bad_lines) != []


@pytest.mark.parametrize("rule", OBSERVED, ids=lambda rule: rule.ID)
def test_good_observation_is_silent_under_all_rules(rule: ObservedRule) -> None:
    assert check_live(view_of(_page_of(rule).good)) == ()


@pytest.mark.parametrize("rule", COMPOSE, ids=lambda rule: rule.ID)
def test_bad_file_fires_exactly_at_its_marks(rule: ComposeRule) -> None:
    page = _page_of(rule)
    findings = check_project(project_of(page.bad))
    lines = tuple(f.location.line for f in findings if isinstance(f.location, FileLocation))
    assert page.bad_lines
    assert {finding.rule for finding in findings} == {rule.ID}
    assert {finding.severity for finding in findings} == {rule.SEVERITY}
    assert lines == page.bad_lines


@pytest.mark.parametrize("rule", COMPOSE, ids=lambda rule: rule.ID)
def test_good_file_is_silent_under_all_rules(rule: ComposeRule) -> None:
    good = _page_of(rule).good
    assert check_project(project_of(good)) == ()
    assert check_deployment(deployment_of(good)) == ()


@pytest.mark.parametrize("rule", CI, ids=lambda rule: rule.ID)
def test_bad_workflow_fires_exactly_at_its_marks(rule: CiRule) -> None:
    page = _page_of(rule)
    findings = [finding for job in jobs_of(page.bad) for finding in check_job(job)]
    lines = tuple(f.location.line for f in findings if isinstance(f.location, FileLocation))
    assert page.bad_lines
    assert {finding.rule for finding in findings} == {rule.ID}
    assert {finding.severity for finding in findings} == {rule.SEVERITY}
    assert lines == page.bad_lines


@pytest.mark.parametrize("rule", CI, ids=lambda rule: rule.ID)
def test_good_workflow_is_silent_under_all_rules(rule: CiRule) -> None:
    assert [finding for job in jobs_of(_page_of(rule).good) for finding in check_job(job)] == []


@pytest.mark.parametrize("rule", KUBERNETES, ids=lambda rule: rule.ID)
def test_bad_manifest_fires_exactly_at_its_marks(rule: KubernetesRule) -> None:
    page = _page_of(rule)
    findings = found_in(page.bad)
    lines = tuple(f.location.line for f in findings if isinstance(f.location, FileLocation))
    assert page.bad_lines
    assert {finding.rule for finding in findings} == {rule.ID}
    assert {finding.severity for finding in findings} == {rule.SEVERITY}
    assert tuple(sorted(set(lines))) == page.bad_lines


@pytest.mark.parametrize("rule", KUBERNETES, ids=lambda rule: rule.ID)
def test_good_manifest_is_silent_under_all_rules(rule: KubernetesRule) -> None:
    assert found_in(_page_of(rule).good) == ()


@each("rule", WIRE, ids=lambda rule: rule.ID)
def test_bad_capture_fires_exactly_at_its_marks(rule: WireRule) -> None:
    page = _page_of(rule)
    findings = check_wire(wire_view_of(page.bad))
    lines = tuple(f.location.packet for f in findings if isinstance(f.location, WireLocation))
    assert page.bad_lines
    assert {finding.rule for finding in findings} == {rule.ID}
    assert {finding.severity for finding in findings} <= {rule.SEVERITY, Severity.NOTE, Severity.WARNING}
    assert lines == page.bad_lines


@each("rule", WIRE, ids=lambda rule: rule.ID)
def test_good_capture_is_silent_under_all_rules(rule: WireRule) -> None:
    assert check_wire(wire_view_of(_page_of(rule).good)) == ()


@pytest.mark.parametrize("rule", TOPOLOGY, ids=lambda rule: rule.ID)
def test_bad_topology_fires_exactly_at_its_marks(rule: TopologyRule) -> None:
    page = _page_of(rule)
    recorded = Recorded(page.bad)
    findings = check_topology(recorded.topology)
    assert page.bad_lines
    assert {finding.rule for finding in findings} == {rule.ID}
    assert rule.SEVERITY in {finding.severity for finding in findings}
    assert tuple(sorted(recorded.line(finding) for finding in findings)) == page.bad_lines


@pytest.mark.parametrize("rule", TOPOLOGY, ids=lambda rule: rule.ID)
def test_good_topology_is_silent_under_all_rules(rule: TopologyRule) -> None:
    assert check_topology(Recorded(_page_of(rule).good).topology) == ()


FILE = "compose.yml"
OVERRIDE = "compose.override.yml"


def looked(files: Mapping[str, bytes]) -> Report:
    """What is found in a project: the compose file, its override where there is one, `.env`, and what they name."""

    def source(path: str) -> Source:
        return Source(path, files[path])

    try:
        dotenv = load_dotenv(source(".env"), {}) if ".env" in files else {}
        overrides = (source(OVERRIDE),) if OVERRIDE in files else ()
        project = load(source(FILE), overrides=overrides, dotenv=dotenv, read=files.get, default_name="t")
    except ComposeError as error:
        return Report(inputs=(Input(name=FILE, error=Problem(message=error.message)),), sources=files)
    if project.errors:
        message = "; ".join(problem.message for problem in project.errors)
        return Report(inputs=(Input(name=FILE, error=Problem(message=message)),), sources=files)
    return Report(inputs=(Input(name=FILE),), findings=check_deployment(from_compose(project)), sources=files)


def repaired(files: Mapping[str, bytes], *, unsafe: bool = True) -> Repairs:
    """The files with all repairs."""
    return tried(lambda replaced: looked({**files, **replaced}), {}, lambda path: True, unsafe=unsafe)


def findings(files: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """All findings."""
    return looked(files).findings
