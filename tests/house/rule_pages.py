"""docs/rules: a page for every rule and an index, made from the rules themselves.

`python -m tests.house.rule_pages` (`make docs`) writes them. What a page says netdiag prints, and the repair it
shows, is what the rule finds in its own bad example.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from netdiag.findings import Finding
from netdiag.render.findings.edits import repair, unified_diff
from netdiag.render.rule_pages import escaped, fenced, rule_markdown
from netdiag.rules.all_rules import ALL
from netdiag.rules.ci import CI, check_job
from netdiag.rules.compose import COMPOSE, check_project
from netdiag.rules.declared import DECLARED, check_deployment
from netdiag.rules.kubernetes import KUBERNETES, check_manifests
from netdiag.rules.observed import OBSERVED, REGISTERED, check_live
from netdiag.rules.rule import Rule, rule_page
from netdiag.rules.topology import TOPOLOGY, check_topology
from netdiag.rules.wire import WIRE, check_wire
from tests.ci.workflows import jobs_of
from tests.deployment.stacks import deployment_of, project_of
from tests.house.tree import ROOT
from tests.kubernetes.manifests import manifests_of
from tests.rules.recorded import view_of
from tests.rules.topology_recorded import Recorded
from tests.rules.wire_recorded import wire_view_of

FOLDER = ROOT / "docs" / "rules"
COMMAND = "make docs"
INDEX = "README.md"
_HEAD = f"""# Rules

`netdiag check-listeners` checks Compose files, CI files, Kubernetes manifests and running containers, `netdiag
analyze` packet captures, and `netdiag topology` the network of a machine. `netdiag explain RULE` prints the same page
in a terminal. The table gives the usual severity; a rule lowers it when it knows less. `{COMMAND}` generates these
pages from the rules.
"""
_FILE = "compose.yml"
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")


def pages() -> dict[str, str]:
    """The text of every file of docs/rules by its name."""
    return {INDEX: index(), **{f"{rule.ID}.md": page_of(rule) for rule in ALL}}


def index() -> str:
    """The list of the rules."""
    tables = (
        ("Brokers and listeners", DECLARED),
        ("Compose files", COMPOSE),
        ("Jobs of CI systems", CI),
        ("Kubernetes manifests", KUBERNETES),
        ("Running containers", OBSERVED),
        ("Packet captures", WIRE),
        ("Network of a machine", TOPOLOGY),
    )
    return "\n".join([_HEAD, *(line for title, rules in tables for line in (*_table(title, rules), ""))])


def page_of(rule: Rule) -> str:
    """The page of one rule."""
    page = rule_page(rule.__doc__ or "")
    findings = found(rule)
    where = "in Compose files and running containers"
    if rule in OBSERVED or rule in COMPOSE:
        where = "with `--live` only" if rule in OBSERVED else "in Compose files"
    if rule in CI:
        where = "in the jobs of CI files"
    if rule in KUBERNETES:
        where = "in Kubernetes manifests"
    if rule in REGISTERED:
        where = "in what brokers have registered (`netdiag registry`)"
    if rule in WIRE:
        where = "in packet captures (`netdiag analyze`)"
    if rule in TOPOLOGY:
        where = "in the network of a machine (`netdiag topology`)"
    says = f"netdiag says:\n\n{fenced(_said(findings), 'text')}"
    body = rule_markdown(page, after_bad=says, after_good=f"## Repair\n\n{_repair(findings, page.bad)}")
    return f"# {rule.ID}\n\n**{rule.SEVERITY.value}**, {where}\n\n{body}\n"


def found(rule: Rule) -> tuple[Finding, ...]:
    """What the rule finds in its bad example."""
    bad = rule_page(rule.__doc__ or "").bad
    if rule in COMPOSE:
        all_found = check_project(project_of(bad, path=_FILE))
    elif rule in CI:
        all_found = tuple(found for job in jobs_of(bad) for found in check_job(job))
    elif rule in KUBERNETES:
        all_found = check_manifests(manifests_of(bad, path=_FILE))
    elif rule in OBSERVED:
        all_found = check_live(view_of(bad))
    elif rule in WIRE:
        all_found = check_wire(wire_view_of(bad))
    elif rule in TOPOLOGY:
        all_found = check_topology(Recorded(bad).topology)
    else:
        all_found = check_deployment(deployment_of(bad, path=_FILE))
    return tuple(finding for finding in all_found if finding.rule == rule.ID)


def _table(title: str, rules: Sequence[Rule]) -> list[str]:
    rows = [
        f"| [{rule.ID}]({rule.ID}.md) | {rule.SEVERITY.value} | {escaped(rule_page(rule.__doc__ or '').title)} |"
        for rule in rules
    ]
    return [f"## {title}", "", "| Rule | Severity | What it finds |", "|---|---|---|", *rows]


def undated(message: str) -> str:
    """A message with a date of its own: certificates of examples are made today, and expire so many days from now."""
    return _DATE.sub("2025-10-22", message)


def _said(findings: Sequence[Finding]) -> str:
    lines = []
    for finding in findings:
        told = (("why", finding.why), ("the broker will print", finding.broker_prints))
        lines.append(f"{finding.severity.value}: {undated(finding.message)}")
        lines += [f"  {name}: {text}" for name, text in told if text]
    return "\n".join(lines)


def _repair(findings: Sequence[Finding], bad: str) -> str:
    hints = dict.fromkeys(finding.hint for finding in findings if finding.hint)
    blocks = ["\n".join(f"- {escaped(hint)}" for hint in hints)]
    sources = {_FILE: bad.encode()}
    changed = repair(findings, sources).files.get(_FILE)
    if changed is not None:
        patch = unified_diff(_FILE, sources[_FILE], changed).decode()
        blocks.append(f"netdiag can make this edit:\n\n{fenced(patch, 'diff')}")
    return "\n\n".join(block for block in blocks if block)


def main(folder: Path) -> None:
    """Write what is missing or differs, delete pages of rules that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    now = pages()
    for path in folder.glob("*.md"):
        if path.name not in now:
            path.unlink()
    for name, text in now.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else FOLDER)
