"""From files to a report, in process."""

from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from netdiag.app.check import check
from netdiag.app.configuration import CheckOptions
from netdiag.app.reports import merged
from netdiag.deployment.model.deployment import Firewall, Generation, HostKind, Platform, PlatformOptions
from netdiag.deployment.model.verdict import Mechanism
from netdiag.errors import InputError
from netdiag.io.files.projects import ProjectReader, ReadOptions
from netdiag.render.report import Input, Report
from netdiag.rules.selection import Choice
from tests.app.checks import Recorder, report_of, rules_of
from tests.cli.shell import BROKEN, CLEAN
from tests.deployment.stacks import five_brokers
from tests.render.test_matrix import shown

HAIRPIN = Mechanism.HAIRPIN_DROPPED


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_brokers_findings_cells_and_sources(folder: Path) -> None:
    (folder / "a.yml").write_text(BROKEN, encoding="utf-8")
    report = report_of("a.yml")
    assert report.inputs == (Input(name="a.yml", brokers=("kafka",)),)
    assert rules_of(report) == ["listener-bound-to-foreign-address"]
    assert report.matrices[0].not_running == {"kafka": "listener-bound-to-foreign-address"}
    assert report.sources == {"a.yml": BROKEN.encode()}


def test_what_compose_refuses_is_a_finding(folder: Path) -> None:
    (folder / "a.yml").write_text(CLEAN + "    ports: ['1:1']\n", encoding="utf-8")
    found = rules_of(report_of("a.yml"))
    assert found.count("compose-duplicate-key") == 1


@pytest.mark.parametrize("text", ["", "[", "- a\n", "\xff", "services: " + "[" * 5000])
def test_a_file_that_is_none_gives_an_input_with_an_error(folder: Path, text: str) -> None:
    (folder / "a.yml").write_text(text, encoding="latin-1")
    (item,) = report_of("a.yml").inputs
    assert item.error is not None
    assert "\n" not in item.error.message


def test_reports_are_merged_in_order() -> None:
    first, second = Report(inputs=(Input(name="a"),), sources={"a": b""}), Report(inputs=(Input(name="b"),))
    both = merged([first, second])
    assert [item.name for item in both.inputs] == ["a", "b"]
    assert both.sources == {"a": b""}


def test_an_input_that_cannot_be_read_does_not_stop_the_others(folder: Path) -> None:
    (folder / "broken.yml").write_text(BROKEN, encoding="utf-8")
    report = report_of("gone.yml", "broken.yml")
    assert [(item.name, item.error is None) for item in report.inputs] == [("gone.yml", False), ("broken.yml", True)]
    assert rules_of(report) == ["listener-bound-to-foreign-address"]


def test_dotenv_env_files_the_environment_and_profiles_count(folder: Path) -> None:
    text = BROKEN.replace("1.2.3.4", "${BIND}").replace("ports:", "profiles: [kafka]\n    ports:")
    (folder / "compose.yml").write_text(text, encoding="utf-8")
    (folder / ".env").write_text("BIND=1.2.3.4\n", encoding="utf-8")
    (folder / "good.env").write_text("BIND=0.0.0.0\n", encoding="utf-8")

    def rules(**options: Any) -> list[str]:
        return rules_of(report_of(read=ReadOptions(**options), rules=Choice(select=("listener-",))))

    foreign = ["listener-bound-to-foreign-address"]
    assert rules() == foreign
    assert rules(env_files=("good.env",)) == []
    assert rules(environ={"BIND": "0.0.0.0"}) == []
    assert rules(profiles=("other",)) == []
    assert rules(profiles=("kafka",)) == foreign


def test_a_declared_host_address_gets_its_row_and_a_matrix_can_be_left_out(folder: Path) -> None:
    (folder / "compose.yml").write_text(CLEAN, encoding="utf-8")
    (matrix,) = report_of(host_addresses=("192.168.8.133",)).matrices
    assert "192.168.8.133:9092" in {str(cell.bootstrap) for cell in matrix.cells}
    assert report_of(matrix=False).matrices == ()


@pytest.mark.parametrize(
    ("stated", "vantage", "bootstrap", "expected", "mechanism"),
    [
        (PlatformOptions(), "container elsewhere", "192.168.8.133:9091", "unknown", None),
        (PlatformOptions(generation=Generation.V28), "container elsewhere", "192.168.8.133:9091", "bootstrap", HAIRPIN),
        (PlatformOptions(generation=Generation.V29), "container elsewhere", "192.168.8.133:9091", "advertised", None),
        (PlatformOptions(userland_proxy=True), "container elsewhere", "192.168.8.133:9091", "advertised", None),
        (PlatformOptions(kind=HostKind.DESKTOP), "docker host", "localhost:9091", "ok", None),
    ],
)
def test_predictions_follow_what_is_said_of_the_engine(
    folder: Path, stated: PlatformOptions, vantage: str, bootstrap: str, expected: str, mechanism: Mechanism | None
) -> None:
    (folder / "compose.yml").write_text(five_brokers(), encoding="utf-8")
    engine = replace(stated, userland_proxy=bool(stated.userland_proxy))
    (matrix,) = report_of(engine=engine, host_addresses=("192.168.8.133",)).matrices
    (cell,) = (c for c in matrix.cells if (c.vantage, str(c.bootstrap)) == (vantage, bootstrap))
    assert cell.predicted is not None
    assert cell.predicted.word.value == expected
    assert getattr(cell.predicted.bootstrap, "mechanism", None) is mechanism


def test_what_is_stated_goes_before_what_is_found() -> None:
    stated = PlatformOptions(
        kind=HostKind.WSL2, generation=Generation.V28, userland_proxy=False, firewall=Firewall.NFTABLES
    )
    found = Platform(generation=Generation.V20, userland_proxy=True, bridge_filter=False)
    assert stated.over(found) == Platform(
        kind=HostKind.WSL2,
        generation=Generation.V28,
        userland_proxy=False,
        firewall=Firewall.NFTABLES,
        bridge_filter=False,
    )
    assert PlatformOptions().over(found) == found


def test_an_interrupt_is_in_the_report_of_every_input_not_reached(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(reader: ProjectReader) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(ProjectReader, "read", interrupt)
    report = report_of("a.yml", "b.yml")
    assert report.interrupted
    assert [item.error and item.error.message for item in report.inputs] == ["interrupted", "interrupted"]


def test_listeners_hear_what_is_read_and_why_it_could_not_be(folder: Path) -> None:
    heard = Recorder()
    check(CheckOptions(files=("gone.yml",)), heard)
    assert heard.details == ["reading gone.yml"]
    assert [type(error) for error in heard.errors] == [InputError]
    check(CheckOptions(), heard)
    assert heard.notices == [
        "nothing to check: no compose.yaml, compose.yml, docker-compose.yml, docker-compose.yaml in this folder or one "
        "above"
    ]


@pytest.mark.parametrize(
    "service", ["{image: acme/kafka, ports: [9092:9092]}", "{image: a, environment: [ADVERTISED_HOST=k]}"]
)
def test_a_broker_of_which_nothing_is_known_has_a_note_in_the_place_of_its_matrix(folder: Path, service: str) -> None:
    (folder / "a.yml").write_text(f"services: {{kafka: {service}}}\n", encoding="utf-8")
    report = report_of("a.yml")
    assert report.inputs[0].brokers == ("kafka",)
    assert report.matrices == ()
    assert report.notes == ("a.yml: no matrix, because netdiag does not know what kafka listens on",)


CLIENTS = """\
networks: {front: , back: }
services:
  kafka:
    image: confluentinc/cp-kafka:7.9.2
    networks: [back]
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zk:2181
      KAFKA_LISTENERS: PLAINTEXT://:9092,SECURE://:9093
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092,SECURE://kafka:9093
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,SECURE:SSL
      KAFKA_METRIC_REPORTERS: io.confluent.metrics.reporter.ConfluentMetricsReporter
      KAFKA_CONFLUENT_METRICS_REPORTER_BOOTSTRAP_SERVERS: kafka:9092
  zk: {image: "zookeeper:3.9", networks: [back]}
  near: {image: near, networks: [back], environment: {KAFKA_BROKERS: "kafka:9092"}}
  far: {image: far, networks: [front], environment: {KAFKA_BROKERS: "kafka:9092"}}
  named: {image: named, networks: [back], extra_hosts: ["broker:10.0.0.7"], environment: {KAFKA_BROKERS: "broker:9999"}}
  secure: {image: s, networks: [back], environment: {A_BOOTSTRAP_SERVERS: "kafka:9092", A_SECURITY_PROTOCOL: SSL}}
  asleep: {image: asleep, networks: [back], profiles: [x], environment: {KAFKA_BROKERS: "kafka:9092"}}
"""


def test_declared_clients_are_vantages_with_their_networks_and_bootstraps(folder: Path) -> None:
    (folder / "a.yml").write_text(CLIENTS, encoding="utf-8")
    (matrix,) = report_of("a.yml").matrices
    assert [place.label for place in matrix.vantages] == [
        "docker host",
        "inside kafka",
        "container on back",
        "inside near",
        "inside far",
        "inside named",
        "inside secure",
        "container elsewhere",
        "LAN machine",
    ]
    words = {(cell.vantage, str(cell.bootstrap)): str(cell.predicted) for cell in matrix.cells}
    assert words["inside near", "kafka:9092"] == "ok"
    assert words["inside far", "kafka:9092"] == "bootstrap: unresolved"
    assert words["inside named", "broker:9999"] not in ("ok", "bootstrap: unresolved")
    assert words["inside near", "broker:9999"] == "unknown"
    assert words["inside secure", "kafka:9092"] == "tls"
    (secured,) = (c for c in matrix.cells if (c.vantage, str(c.bootstrap)) == ("inside secure", "kafka:9093"))
    assert secured.predicted is not None
    assert secured.predicted.bootstrap.because.endswith("accepts the client's certificate or credentials")


def test_clients_that_get_the_same_share_a_column(folder: Path) -> None:
    again = '  near-2: {image: near, networks: [back], environment: {KAFKA_BROKERS: "kafka:9092"}}\n'
    (folder / "a.yml").write_text(CLIENTS + again, encoding="utf-8")
    (matrix,) = report_of("a.yml").matrices
    assert "container on back, inside near, named, near-2" in shown(matrix, columns=200)
