"""JUnit's XML: the counts are those of the cases, every input has a case, no text breaks it."""

from dataclasses import replace
from xml.etree.ElementTree import Element, fromstring

import pytest

from netdiag.render.findings.places import harmless, path_text
from netdiag.render.formats.xml import junit
from netdiag.render.report import Input, Report
from tests.render.golden import assert_golden
from tests.render.reports import EVERYTHING, FOREIGN, HOSTILE, RUNNING, SECRET, hostile

OUTCOMES = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def parsed(text: str) -> dict[str, list[Element]]:
    """The cases of each suite of a text whose counts are right."""
    root = fromstring(text.encode())
    assert root.tag == "testsuites"
    for element in (root, *root):
        counts = {"failures", "errors"} if element is root else {"failures", "errors", "skipped"}
        assert element.attrib.keys() == {"name", "tests", *counts}
        assert int(element.attrib["tests"]) == sum(1 for _ in element.iter("testcase"))
        for one, plural in OUTCOMES.items():
            assert plural not in counts or int(element.attrib[plural]) == sum(1 for _ in element.iter(one))
    for suite in root:
        assert suite.tag == "testsuite"
        for case in suite:
            assert case.tag == "testcase"
            assert case.attrib.keys() == {"classname", "name"}
            assert [child.tag for child in case] in ([], ["failure"], ["error"], ["skipped"], ["system-out"])
            for child in case:
                assert child.attrib.keys() <= {"type", "message"}
    assert len({suite.attrib["name"] for suite in root}) == len(root)
    return {suite.attrib["name"]: list(suite) for suite in root}


def outcomes(report: Report) -> dict[str, list[str]]:
    return {
        name: [child.tag for case in cases for child in case] for name, cases in parsed(junit(report)).items() if cases
    }


def test_everything() -> None:
    assert outcomes(EVERYTHING) == {
        "web.yml": [],
        "gone.yml": ["error"],
        "compose.yml": ["failure"] * 3,
        "kafka-9": ["system-out"],
        "vantages": ["skipped"],
    }
    assert_golden("everything.junit.xml", junit(EVERYTHING))


def test_a_clean_file_is_one_passed_case() -> None:
    assert outcomes(Report()) == {}
    (case,) = parsed(junit(Report(inputs=(Input(name="a.yml", brokers=("b",)),))))["a.yml"]
    assert case.attrib == {"classname": "a.yml", "name": "check-listeners"}


def test_a_note_fails_nothing() -> None:
    assert outcomes(Report(findings=(RUNNING, FOREIGN))) == {"compose.yml": ["failure"], "kafka-9": ["system-out"]}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text(text: str) -> None:
    suites = parsed(junit(hostile(text)))
    ((failure,),) = suites[harmless(path_text(f"a{text}.yml"))]
    assert failure.attrib["message"] == f"says {harmless(text)}"
    assert f"\nwhy: {harmless(text)}\n" in (failure.text or "")


def test_secrets_and_order() -> None:
    assert "hunter2" not in junit(SECRET)
    assert junit(replace(EVERYTHING, findings=EVERYTHING.findings[::-1])) == junit(EVERYTHING)
