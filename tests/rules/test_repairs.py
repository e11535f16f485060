"""What `--fix --unsafe-fixes` makes of every rule's bad example, however it is written."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from netdiag.app.repair import Repairs
from netdiag.findings import Severity
from netdiag.rules.declared import DECLARED
from netdiag.rules.rule import rule_page
from tests.compose.oracle import ask_compose
from tests.each import each
from tests.figures import Report
from tests.rules.repaired import FILE, OVERRIDE, findings, repaired
from tests.rules.variants import VARIANTS, Files, as_written

# What to do there is a decision, or no text that is there tells what is meant.
DECISIONS = frozenset(
    (
        "client-protocol-mismatch",
        "control-plane-misuse",
        "default-bridge-no-dns",
        "dependent-reaches-some-brokers",
        "duplicate-advertised-endpoint",
        "duplicate-node-id",
        "healthcheck-wrong-endpoint",
        "host-alias-portability",
        "host-network-mode",
        "image-defaults-dropped",
        "image-version-breaks-mode",
        "internal-network-published",
        "kraft-dynamic-quorum-unformattable",
        "kraft-inter-broker-is-controller",
        "kraft-voters-inconsistent",
        "listener-name-duplicate",
        "listener-port-conflict",
        "listener-port-invalid",
        "listener-sets-differ",
        "mounted-config-shadows-env",
        "networks-not-shared",
        "protocol-map-invalid",
        "published-port-without-listener",
        "redpanda-listener-mismatch",
        "static-ip-invalid",
    )
)
PAGES = {rule.ID: rule_page(rule.__doc__ or "").bad for rule in DECLARED}
# A line that a repair may change: a variable, a list of ports, a relay's command, an anchored or `.env` list.
_MAY_CHANGE = re.compile(
    rb"\s*(- )?[\"']?[A-Z][A-Z0-9_]*[:=].*|\s+(?:ports|command):.*|\s+- [\"']?[\d:.-]+[\"']?.*|x-list-\d+:.*"
)


@cache
def result(rule: str, variant: Callable[[str], Files]) -> tuple[Files, Repairs]:
    """The files of an example as they are, and with all repairs."""
    files = variant(PAGES[rule])
    return files, repaired(files)


def has_edits(rule: str) -> bool:
    return any(finding.edits for finding in findings(as_written(PAGES[rule])) if finding.rule == rule)


REPAIRABLE = tuple(rule for rule in PAGES if has_edits(rule))


def after(files: Files, made: Repairs) -> dict[str, bytes]:
    return {**files, **made.after}


def serious(files: Files) -> set[tuple[str, str | None]]:
    return {(f.rule, f.service) for f in findings(files) if f.severity is not Severity.NOTE}


CASES = [pytest.param(rule, variant, id=f"{rule}-{variant.__name__}") for rule in REPAIRABLE for variant in VARIANTS]


@each(("rule", "variant"), CASES)
def test_the_finding_is_gone_and_nothing_new_is_there(rule: str, variant: Callable[[str], Files]) -> None:
    files, made = result(rule, variant)
    now = after(files, made)
    assert rule in {finding.rule for finding in findings(files)}
    assert rule not in {finding.rule for finding in made.left}
    assert serious(now) <= serious(files)


@each(("rule", "variant"), CASES)
def test_all_other_lines_keep_their_bytes(rule: str, variant: Callable[[str], Files]) -> None:
    _, made = result(rule, variant)
    for path, (before, data) in made.changed.items():
        assert _others(before) == _others(data), path
        assert data.count(b"#") <= before.count(b"#")
        if b"\r\n" in before:
            assert data.count(b"\n") == data.count(b"\r\n")
        assert before.endswith(b"\n") == data.endswith(b"\n")


@each(("rule", "variant"), CASES)
def test_a_second_time_nothing_changes(rule: str, variant: Callable[[str], Files]) -> None:
    files, made = result(rule, variant)
    assert repaired(after(files, made)).changed == {}


@each("rule", PAGES)
def test_safe_repairs_alone_make_nothing_worse(rule: str) -> None:
    files = as_written(PAGES[rule])
    made = repaired(files, unsafe=False)
    assert all(edit.applicability.value == "safe" for finding in made.repaired for edit in finding.edits)
    assert serious(after(files, made)) <= serious(files)


def test_what_is_listed_as_a_decision_has_no_repair() -> None:
    without = {rule for rule in PAGES if rule in {finding.rule for finding in result(rule, as_written)[1].left}}
    assert DECISIONS - without == set(), "there is a repair now: take it off the list"
    assert len(REPAIRABLE) >= 50


def test_figures(figure: Report) -> None:
    for variant in VARIANTS:
        gone = sum(rule not in {f.rule for f in result(rule, variant)[1].left} for rule in REPAIRABLE)
        figure(f"bad examples repaired, {variant.__name__.replace('_', ' ')}", gone)
    figure("rules with examples", len(PAGES))


@pytest.mark.lab
def test_compose_takes_every_repaired_file(compose_v2: Path, tmp_path: Path, figure: Report) -> None:
    jobs = []
    for number, (rule, variant) in enumerate((rule, variant) for rule in REPAIRABLE for variant in VARIANTS):
        files, made = result(rule, variant)
        folder = tmp_path / str(number)
        folder.mkdir()
        for path, data in after(files, made).items():
            (folder / path).write_bytes(data)
        names = tuple(path for path in (FILE, OVERRIDE) if path in files)
        jobs.append((f"{rule} {variant.__name__}", folder, names))
    with ThreadPoolExecutor(4) as pool:
        verdicts = list(pool.map(lambda job: ask_compose(compose_v2, job[1], job[2], {}), jobs))
    refused = {job[0]: verdict.message for job, verdict in zip(jobs, verdicts, strict=True) if verdict.model is None}
    figure("repaired files that compose takes", len(jobs) - len(refused))
    assert refused == {}


def _others(data: bytes) -> list[bytes]:
    return [line for line in data.splitlines(keepends=True) if not _MAY_CHANGE.fullmatch(line.rstrip(b"\r\n"))]
