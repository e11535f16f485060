"""Files that lie on a base: what the base supplies is no finding."""

from pathlib import Path

import pytest

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
def test_a_fragment_alone_has_one_note(name: str) -> None:
    report = checked(**{name: OVERRIDE})
    file = name.replace("_", ".")
    (finding,) = report.findings
    assert (finding.rule, finding.severity) == ("compose-undefined-reference", Severity.NOTE)
    assert finding.message == (
        f"{file} looks like an override, or a part, of another Compose file: kafka has no image, and it does not "
        "define network backend, service zookeeper, volume data"
    )
    assert finding.hint == f"check both together: -f BASE -f {file}"
    assert report.matrices == ()


def test_a_part_of_a_project_has_one_warning_for_all_that_it_does_not_define() -> None:
    text = "services: {app: {image: app, networks: [a, b], depends_on: [zookeeper]}}\n"
    (finding,) = checked(kafka_yml=text).findings
    assert finding.severity is Severity.WARNING
    assert finding.message.endswith("it does not define network a, network b, service zookeeper")


def test_a_slip_of_the_pen_is_no_part_of_a_project() -> None:
    (finding,) = checked(kafka_yml="services: {app: {image: app, networks: [kafak]}}\nnetworks: {kafka: }\n").findings
    assert (finding.severity, finding.message) == (
        Severity.ERROR,
        "service 'app' refers to undefined network 'kafak'",
    )


@pytest.mark.parametrize("base", ["docker-compose_yml", "compose_yaml"])
def test_a_fragment_is_checked_on_the_base_beside_it(base: str) -> None:
    override = "services: {kafka: {environment: {KAFKA_LISTENERS: 'EXTERNAL://1.2.3.4:9092'}}}\n"
    Path(base.replace("_", ".")).write_text(CLEAN + "  web: {image: 'nginx:$TAG'}\n", encoding="utf-8")
    report = checked(**{"docker-compose-kafka_yml": override})
    (item,) = report.inputs
    assert (item.name, item.brokers) == ("docker-compose-kafka.yml", ("kafka",))
    assert report.notes == (
        f"docker-compose-kafka.yml looks like an override of {base.replace('_', '.')}: checked together with it",
    )
    assert [f.rule for f in report.findings] == ["listener-bound-to-foreign-address"]
    assert len(report.matrices) == 1


def test_a_base_that_lacks_the_same_is_none() -> None:
    Path("compose.yml").write_text("services: {web: {image: nginx}}\n", encoding="utf-8")
    (finding,) = checked(sasl_yml=OVERRIDE).findings
    assert "looks like an override" in finding.message


def test_of_a_fragment_nothing_is_more_than_a_note() -> None:
    alone = BROKEN + "  other:\n    environment: {A: 1}\n"
    report = checked(sasl_yml=alone)
    assert {f.rule for f in report.findings} == {"listener-bound-to-foreign-address", "compose-undefined-reference"}
    assert {f.severity for f in report.findings} == {Severity.NOTE}
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


def test_a_name_that_no_file_defines_may_belong_to_a_missing_service() -> None:
    broker = (
        "services:\n  kafka2:\n    image: confluentinc/cp-server:7.9.2\n    depends_on: [ldap]\n    environment:\n"
        "      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181\n"
        "      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka2:9092\n"
        "  app: {image: app, environment: {KAFKA_BOOTSTRAP_SERVERS: 'kafka1:9092'}}\n"
    )
    rule = "dependent-bootstrap-unknown-host"

    def severities(text: str) -> dict[str, Severity]:
        return {finding.rule: finding.severity for finding in checked(compose_yml=text).findings}

    found = severities(broker)
    assert (found["compose-undefined-reference"], found[rule]) == (Severity.ERROR, Severity.NOTE)
    assert severities(broker.replace("    depends_on: [ldap]\n", ""))[rule] is Severity.ERROR


def test_several_services_without_an_image_are_told_in_the_plural() -> None:
    found = checked(compose_yml="services: {a: {ports: ['1:1']}, b: {ports: ['2:2']}}\n").findings
    assert "services 'a' and 'b' have neither an image nor a build context" in {one.message for one in found}
