"""Every format of every stack in this repository, held to its structure, the same bytes twice."""

from pathlib import Path

import pytest

from netdiag.render.formats import concise, github, gitlab, markdown, sarif, xml
from tests.app.checks import report_of
from tests.house.tree import ROOT
from tests.render import test_checkstyle, test_github, test_gitlab, test_junit
from tests.render.sarif_structure import run_of

STACKS = sorted(ROOT.glob("compose/**/*.yml"))


@pytest.mark.parametrize("stack", STACKS, ids=lambda path: "/".join(path.parts[-2:]))
def test_every_stack(stack: Path) -> None:
    report = report_of(str(stack))
    root = str(ROOT)
    count = len(report.findings)
    assert len(run_of(sarif.render(report, root))["results"]) == count
    assert len(test_gitlab.issues(gitlab.render(report, root))) == count
    assert len(test_github.commands(github.render(report, root))) == count
    assert len(concise.render(report, root).splitlines()) == count
    assert sum(map(len, test_checkstyle.parsed(xml.checkstyle(report, root)))) == count
    cases = [case for suite in test_junit.parsed(xml.junit(report, root)).values() for case in suite]
    assert len(cases) == max(count, 1)
    formats = (sarif.render, gitlab.render, github.render, concise.render, xml.junit, xml.checkstyle, markdown.render)
    for render in formats:
        text = render(report, root)
        assert text == render(report, root)
        assert root not in text
