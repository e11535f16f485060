"""Files that lie on a base: what the base supplies is no finding."""

from pathlib import Path

import pytest

from netdiag.compose.fragments import fragment_note
from netdiag.findings import Severity
from netdiag.render.report import Report
from tests.app.checks import report_of
from tests.cli.shell import BROKEN, CLEAN

OVERRIDE = """services:
  kafka:
    environment:
      KAFKA_LISTENERS: EXTERNAL://1.2.3.4:9092
    networks: [backend]
  tool:
    image: nginx
    depends_on: [zookeeper]
    volumes: ["data:/data"]
    networks: [backend]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(**files: str) -> Report:
    """The report on these files (`_` for `.`), each named alone."""
    for name, text in files.items():
        Path(name.replace("_", ".")).write_text(text, encoding="utf-8")
    return report_of(*(name.replace("_", ".") for name in files))


@pytest.mark.parametrize("name", ["docker-compose_override_yml", "sasl_yml"])
def test_a_fragment_alone_is_not_blamed_for_what_its_base_supplies(name: str) -> None:
    report = checked(**{name: OVERRIDE})
    assert report.findings == ()
    assert report.notes == (fragment_note(name.replace("_", "."), frozenset({"kafka"})),)


def test_of_a_fragment_nothing_is_more_than_a_note() -> None:
    alone = BROKEN + "  other:\n    environment: {A: 1}\n"
    report = checked(sasl_yml=alone)
    assert [(f.rule, f.severity) for f in report.findings] == [("listener-bound-to-foreign-address", Severity.NOTE)]
    assert report.matrices == ()


def test_a_base_file_without_an_image_is_no_fragment() -> None:
    report = checked(compose_yaml="services: {kafka: {environment: {A: 1}}}\n")
    assert [(f.service, f.severity) for f in report.findings] == [("kafka", Severity.ERROR)]


def test_a_whole_file_under_any_name_is_no_fragment() -> None:
    assert [f.severity for f in checked(broken_yml=BROKEN).findings] == [Severity.ERROR]


def test_an_unset_image_is_an_image() -> None:
    report = checked(other_yml=BROKEN + "  other:\n    image: ${NOPE}\n")
    assert report.notes == ()
    assert Severity.ERROR in {f.severity for f in report.findings}


def test_a_service_that_extends_what_is_not_there_is_no_fragment() -> None:
    report = checked(other_yml="services: {app: {extends: {file: absent.yml, service: app}}}\n")
    assert report.notes == ()
    assert [(f.rule, f.service, f.severity) for f in report.findings] == [("compose-extends", "app", Severity.ERROR)]


def test_an_override_is_judged_on_its_base_once(folder: Path) -> None:
    override = "services: {kafka: {environment: {KAFKA_LISTENERS: 'EXTERNAL://1.2.3.4:9092'}}}\n"
    report = checked(**{"docker-compose_override_yml": override, "docker-compose_yml": CLEAN})
    (item,) = report.inputs
    assert (item.name, item.also_read) == ("docker-compose.yml", ("docker-compose.override.yml",))
    (finding,) = report.findings
    assert finding.rule == "listener-bound-to-foreign-address"
    assert getattr(finding.location, "path", "") == "docker-compose.override.yml"
