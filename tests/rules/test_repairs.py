"""What `--fix --unsafe-fixes` makes of every rule's bad example, however it is written."""

import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from netdiag.app.repair import Repairs
from netdiag.findings import Severity
from netdiag.rules.declared import DECLARED
from netdiag.rules.rule import rule_page
from tests.compose.test_oracle import ask_compose
from tests.deployment.stacks import deployment_of
from tests.each import each
from tests.figures import Report
from tests.rules.test_examples import FILE, OVERRIDE, findings, repaired

Files = Mapping[str, bytes]
_VARIABLE = re.compile(r"(?P<indent>      )(?P<key>[A-Z][A-Z0-9_]*): (?P<value>[^#\n]*?)(?P<rest>\s*(?:#.*)?)")
_ADDRESSES = re.compile(
    r"(?P<head>      [A-Z][A-Z0-9_]*: )(?P<value>[^#'\"\n${}]*://[^#'\"\n${}]*?)(?P<rest>\s*(?:#.*)?)"
)


def as_written(text: str) -> Files:
    """The example itself."""
    return {FILE: text.encode()}


def with_returns(text: str) -> Files:
    """Lines that end as on Windows, behind a byte order mark, the last one without an end."""
    return {FILE: b"\xef\xbb\xbf" + text.rstrip("\n").replace("\n", "\r\n").encode()}


def as_lists(text: str) -> Files:
    """`- KEY=value` in the place of `KEY: value`; not where mappings are merged, which lists cannot be."""
    if "<<: *" in text:
        return as_written(text)
    return {FILE: _per_line(text, _VARIABLE, _item).encode()}


def with_anchors(text: str) -> Files:
    """Every listener list as an alias of an anchor."""
    anchors: list[str] = []

    def alias(found: re.Match[str]) -> str:
        anchors.append(f"x-list-{len(anchors)}: &list{len(anchors)} {found['value']}\n")
        return f"{found['head']}*list{len(anchors) - 1}{found['rest']}"

    body = _per_line(text, _ADDRESSES, alias)
    return {FILE: ("".join(anchors) + body).encode()}


def with_dotenv(text: str) -> Files:
    """Every listener list out of `.env`."""
    lines: list[str] = ["# lists\n"]

    def variable(found: re.Match[str]) -> str:
        lines.append(f"LIST_{len(lines)}={found['value']}\n")
        return f"{found['head']}${{LIST_{len(lines) - 1}}}{found['rest']}"

    body = _per_line(text, _ADDRESSES, variable)
    return {FILE: body.encode(), ".env": "".join(lines).encode()}


def with_override(text: str) -> Files:
    """Every listener list in a second file, on top of the same one in the first."""
    services: dict[str, list[str]] = {}
    service = ""
    for line in text.splitlines():
        if re.fullmatch(r"  [\w.-]+:.*", line):
            service = line.partition(":")[0]
        if _ADDRESSES.fullmatch(line):
            services.setdefault(service, []).append(line)
    if not services:
        return as_written(text)
    over = "".join(f"{name}:\n    environment:\n" + "\n".join(lines) + "\n" for name, lines in services.items())
    return {FILE: text.encode(), OVERRIDE: f"# on top\nservices:\n{over}".encode()}


VARIANTS: tuple[Callable[[str], Files], ...] = (
    as_written,
    with_returns,
    as_lists,
    with_anchors,
    with_dotenv,
    with_override,
)


def _item(found: re.Match[str]) -> str:
    value = found["value"]
    quote = value[0] if value[:1] in ("'", '"') and value[-1:] == value[:1] else ""
    bare = value[1:-1] if quote else value
    if bare == "":
        return f"{found['indent']}- {found['key']}={found['rest']}"
    return f"{found['indent']}- {quote}{found['key']}={bare}{quote}{found['rest']}"


def _per_line(text: str, pattern: re.Pattern[str], change: Callable[[re.Match[str]], str]) -> str:
    """The text with those lines changed that stand in an `environment` and match as a whole."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if not line.startswith("      "):
            inside = line.strip() == "environment:"
        found = pattern.fullmatch(line) if inside else None
        lines.append(change(found) if found else line)
    return "\n".join(lines) + "\n"


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
# A line that a repair may change: a variable, Java's options in one, a list of ports, a relay's command, an anchored or
# `.env` list.
_MAY_CHANGE = re.compile(
    rb"\s*(- )?[\"']?[A-Z][A-Z0-9_]*[:=].*|\s+(?:ports|command):.*|\s+- [\"']?[\d:.-]+[\"']?.*|x-list-\d+:.*"
    rb"|\s+-D[\w.]+=.*|\s+endpoint_mode:.*"
)


@cache
def result(rule: str, variant: Callable[[str], Files]) -> tuple[Files, Repairs]:
    """The files of an example as they are, and with all repairs."""
    files = variant(PAGES[rule])
    return files, repaired(files)


REPAIRABLE = tuple(
    rule.ID for rule in DECLARED if any(finding.edits for finding in rule.check(deployment_of(PAGES[rule.ID])))
)


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
