"""Compose files that are checked together and share a network."""

from pathlib import Path

from netdiag.app.check import check
from netdiag.app.configuration import CheckOptions

_FILE = """\
name: {name}
services:
  kafka:
    image: apache/kafka:3.9.1
    networks: [{network}]
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
      KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
networks:
  {network}: {declared}
"""


def told(folder: Path, declared: dict[str, tuple[str, str]], config: str = "") -> tuple[list[str], dict[str, str]]:
    """Findings and what a container on the network gets at kafka:9092, by the project's file."""
    for name, (network, how) in declared.items():
        text = _FILE.format(name=name, network=network, declared=how)
        (folder / f"{name}.yml").write_text(text, encoding="utf-8")
    (folder / "netdiag.toml").write_text(config, encoding="utf-8")
    files = tuple(str(folder / f"{name}.yml") for name in declared)
    report = check(CheckOptions(files=files, config_file=str(folder / "netdiag.toml"))).report
    cells = {
        Path(matrix.input).stem: str(cell.predicted)
        for matrix in report.matrices
        for cell in matrix.cells
        if cell.vantage.startswith("container on") and cell.bootstrap.host == "kafka"
    }
    return [f"{f.severity.value} {f.rule}: {f.message.rpartition(': ')[2]}; {f.hint}" for f in report.findings], cells


ALIAS = "give kafka the alias {0}-kafka on network shared, and use it in place of kafka"
EXTERNAL = "{external: true}"


def test_two_projects_with_one_name_on_an_external_network(tmp_path: Path) -> None:
    findings, cells = told(tmp_path, {"a": ("shared", EXTERNAL), "b": ("shared", EXTERNAL)})
    assert findings == [
        f"warning ambiguous-name: b-kafka-1 of project b has the name, too; {ALIAS.format('a')}",
        f"warning ambiguous-name: a-kafka-1 of project a has the name, too; {ALIAS.format('b')}",
    ]
    assert cells == {"a": "ambiguous", "b": "ambiguous"}


def test_networks_are_the_same_by_name_whatever_their_keys(tmp_path: Path) -> None:
    findings, cells = told(tmp_path, {"a": ("mine", "{name: shared}"), "b": ("yours", "{name: shared}")})
    assert [line.partition(";")[0] for line in findings] == [
        "warning ambiguous-name: b-kafka-1 of project b has the name, too",
        "warning ambiguous-name: a-kafka-1 of project a has the name, too",
    ]
    assert cells == {"a": "ambiguous", "b": "ambiguous"}


def test_networks_of_their_own_share_nothing(tmp_path: Path) -> None:
    assert told(tmp_path, {"a": ("shared", "{}"), "b": ("shared", "{}")}) == ([], {"a": "ok", "b": "ok"})


def test_of_an_external_network_others_may_have_the_name(tmp_path: Path) -> None:
    findings, cells = told(tmp_path, {"a": ("shared", EXTERNAL)})
    assert findings == [
        f"note ambiguous-name: another project there may have the same name; {ALIAS.format('a')}",
    ]
    assert cells == {"a": "ok"}


def test_what_is_declared_of_an_external_network_decides(tmp_path: Path) -> None:
    members = '[external-networks.shared]\nmembers = ["{0}"]\n'
    assert told(tmp_path, {"a": ("shared", EXTERNAL)}, members.format("other"))[0] == []
    (finding,) = told(tmp_path, {"a": ("shared", EXTERNAL)}, members.format("kafka"))[0]
    assert finding.startswith("warning ambiguous-name: another container there has it, too")
