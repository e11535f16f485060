"""Every output of every file at hand is valid: our stacks, every rule's bad example, hostile text, the corpus."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from netdiag.cli.outputs import Format
from netdiag.render.formats import sarif
from netdiag.render.report import Input, Report
from netdiag.rules.all_rules import ALL
from netdiag.rules.rule import Rule
from tests.app.checks import report_of
from tests.compose.tracing import CORPUS
from tests.each import each
from tests.house.rule_pages import found
from tests.house.tree import ROOT
from tests.render.every_format import RELATIVE, in_format
from tests.render.reports import EVERYTHING, HOSTILE, SECRET, hostile
from tests.render.schemas import PUBLISHED, SCHEMAS, strict_schema, unchanged
from tests.render.test_sarif import run_of

FOUND = sorted(CORPUS.glob("*/**/*.y*ml"))
STACKS = sorted(ROOT.glob("compose/**/*.yml"))
ADDRESS = "https://example.org/rules"


def renderings(report: Report, root: str) -> dict[str, str]:
    """The report in every format that has a schema."""
    return {
        form: in_format(Format(form), report, root) if form != Format.SARIF else sarif.render(report, root, ADDRESS)
        for form in SCHEMAS
    }


def complaints(report: Report, root: str = "") -> Iterator[str]:
    """What the schemas, and the structure that code scanning wants, have against the report's renderings."""
    for form, text in renderings(report, root).items():
        for error in SCHEMAS[form](text):
            yield f"{form}: {error}"
    try:
        run_of(sarif.render(report, root))
    except AssertionError as error:
        yield f"sarif: {error}"


@pytest.mark.parametrize("path", sorted(PUBLISHED.glob("*.json")), ids=lambda path: path.name)
def test_a_reader_of_today_accepts_a_field_of_tomorrow(path: Path) -> None:
    published = path.read_text(encoding="utf-8")
    assert '"additionalProperties": false' not in published
    assert json.dumps(strict_schema(path.name)) != json.dumps(json.loads(published))


def test_the_schemas_are_those_that_were_fetched() -> None:
    assert unchanged()


@pytest.mark.parametrize(
    ("form", "before", "after"),
    [
        ("sarif", '"level": "error"', '"level": "fatal"'),
        ("sarif", '"startLine": 6', '"startLine": 0'),
        ("sarif", '"version": "2.1.0"', '"version": "2.1"'),
        ("sarif", '"results"', '"outcomes"'),
        ("json", '"severity": "error"', '"severity": "fatal"'),
        ("gitlab", '"severity": "major"', '"severity": "error"'),
        ("gitlab", '"path": "', '"path": "./'),
        ("junit", "<testcase", "<case"),
        ("junit", 'errors="', 'mistakes="'),
        ("checkstyle", 'severity="info"', 'severity="note"'),
        ("checkstyle", 'line="', 'line="-'),
    ],
)
def test_the_schemas_notice(form: str, before: str, after: str) -> None:
    text = renderings(EVERYTHING, "")[form]
    assert not list(SCHEMAS[form](text))
    assert before in text
    broken = text.replace(before, after).replace("</testcase", "</case" if after == "<case" else "</testcase")
    assert list(SCHEMAS[form](broken))


@pytest.mark.parametrize("report", [Report(), EVERYTHING, SECRET, *map(hostile, HOSTILE)])
def test_reports(report: Report) -> None:
    assert not list(complaints(report))


@each("rule", ALL, ids=lambda rule: rule.ID)
def test_what_a_rule_finds(rule: Rule) -> None:
    findings = found(rule)
    assert findings
    assert not list(complaints(Report(inputs=(Input(name="compose.yml", brokers=("kafka",)),), findings=findings)))


def test_our_stacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert not list(_of_files(STACKS, ROOT))


@pytest.mark.skipif(not FOUND, reason="shared corpus absent")
def test_the_corpus(figure: Callable[[str, object], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CORPUS)
    wrong = list(_of_files(FOUND, CORPUS))
    figure("corpus files whose outputs fit five schemas", len(FOUND) - len({line.partition(":")[0] for line in wrong}))
    assert not wrong, "\n".join(wrong[:50])


def _of_files(files: Iterable[Path], folder: Path) -> Iterator[str]:
    """Each file alone, named as its users name it; read twice it gives the same bytes, without this machine's paths."""
    for name in (str(path.relative_to(folder)) for path in files):
        report, again = (report_of(name) for _ in range(2))
        for error in complaints(report, str(folder)):
            yield f"{name}: {error}"
        for form in RELATIVE:
            text = in_format(form, report, str(folder))
            if text != in_format(form, again, str(folder)):
                yield f"{name}: {form}: differs"
            if str(folder) in text:
                yield f"{name}: {form}: names the folder"
