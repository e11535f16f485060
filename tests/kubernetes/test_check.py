"""Manifests through the whole check: which files are taken as such, what is read beside them, repairs, bad input."""

import io
import json
import sys
import time
from pathlib import Path

import pytest

from netdiag.app.check import Check, check
from netdiag.app.configuration import CheckOptions
from netdiag.app.repair import find_repairs
from netdiag.findings import FileLocation
from netdiag.io.files.projects import single_file_at
from netdiag.render.formats.json import render as as_json
from netdiag.render.formats.sarif import render as as_sarif
from netdiag.render.formats.text import render as as_text
from netdiag.render.report import Report
from netdiag.render.screen import Screen
from tests.cli.test_main import loaded
from tests.kubernetes.manifests import strimzi

PLAIN = "{name: plain, port: 9092, type: internal, tls: false}"
CONNECT = """\
apiVersion: kafka.strimzi.io/v1
kind: KafkaConnect
metadata: {name: connect, namespace: kafka}
spec: {bootstrapServers: "my-cluster-kafka-bootstrap:%s"}
"""
COMPOSE = "services: {kafka: {image: 'apache/kafka:3.9.1'}}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(path: str, text: str) -> str:
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")
    return path


def report_on(*files: str) -> Report:
    return check(CheckOptions(files=files)).report


def found(report: Report) -> list[tuple[str, str]]:
    places = [(f.rule, f.location) for f in report.findings]
    return [(rule, place.path) for rule, place in places if isinstance(place, FileLocation)]


def test_an_input_with_its_matrix_in_every_format() -> None:
    path = put("kafka.yaml", strimzi(PLAIN, "{name: Ext, port: 9094, type: nodeport, tls: false}"))
    report = report_on(path)
    assert [(item.name, item.kind, len(item.brokers)) for item in report.inputs] == [(path, "manifest", 3)]
    assert found(report) == [("strimzi-listener-name", path)]
    assert "(predicted from the manifests only)" in as_text(report, Screen(width=100))
    value = json.loads(as_json(report))
    assert {cell["vantage"] for cell in value["matrix"]} == {
        "pod in kafka",
        "pod in another namespace",
        "a node",
        "outside",
    }
    assert value["findings"][0]["location"]["line"] == 13
    assert json.loads(as_sarif(report, ""))["runs"][0]["results"][0]["ruleId"] == "strimzi-listener-name"


def test_what_is_beside_explains_a_file_and_is_told_once() -> None:
    cluster, client = put("kafka.yaml", strimzi(PLAIN)), put("connect.yaml", CONNECT % 9093)
    cannot = ("kubernetes-client-cannot-connect", client)
    assert found(report_on(cluster)) == [cannot]
    assert found(report_on(client)) == [cannot]
    assert found(report_on(cluster, client)) == [cannot]
    assert report_on(cluster).inputs[0].also_read == (client,)
    put("broken.yaml", "apiVersion: v1\nkind: Service\nmetadata: [\n")
    assert found(report_on(cluster)) == [cannot]


def test_a_folder_of_manifests() -> None:
    put("deploy/kafka.yaml", strimzi(PLAIN))
    put("deploy/connect.yaml", CONNECT % 9092)
    put("deploy/values.yaml", "replicas: 3\n")
    report = report_on("deploy")
    assert [item.name for item in report.inputs] == ["deploy/connect.yaml", "deploy/kafka.yaml"]
    assert found(report) == []
    put("deploy/compose.yaml", COMPOSE)
    assert [item.name for item in report_on("deploy").inputs] == ["deploy/compose.yaml"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, kind in ((strimzi(PLAIN), "manifest"), (COMPOSE, "file")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        (item,) = report_on("-").inputs
        assert (item.name, item.kind, item.error) == ("<stdin>", kind, None)


@pytest.mark.parametrize(
    ("name", "text", "is_manifest"),
    [
        ("a.yaml", "kind: Kafka\nspec: {}\n", True),
        ("a.yaml", '"apiVersion": v1\n"kind": Service\n', True),
        ("compose.yaml", "apiVersion: v1\nkind: Service\n", False),
        ("a.yaml", "apiVersion: v1\nkind: X\nservices:\n  a: {}\n", False),
        ("a.yaml", "x:\n  apiVersion: v1\n  kind: X\n", False),
        (".gitlab-ci.yml", "apiVersion: v1\nkind: X\n", False),
    ],
)
def test_which_files_are_manifests(name: str, text: str, is_manifest: bool) -> None:
    file = single_file_at(put(name, text))
    assert (file is not None and file.kind == "kubernetes") is is_manifest


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (strimzi(PLAIN, "{name: ext, port: 9091, type: nodeport}"), "port: 9093, type: nodeport"),
        (strimzi("{name: ext, port: 9094, type: NodePort}"), "type: nodeport"),
        (strimzi("{name: ext, port: 9094, type: route, tls: false}"), "type: route, tls: true"),
        (strimzi("{name: My-Ext, port: 9094, type: nodeport}"), "name: myext"),
        (strimzi(PLAIN) + "---\n" + CONNECT % 9094, "bootstrap:9092"),
        (
            strimzi(PLAIN) + "---\n" + (CONNECT % 9092).replace("namespace: kafka", "namespace: apps"),
            "my-cluster-kafka-bootstrap.kafka.svc:9092",
        ),
        (strimzi(PLAIN) + "---\n" + (CONNECT % 9092).replace("cluster-kafka", "kluster-kafka"), "bootstrap:9092"),
        (strimzi(PLAIN).replace("strimzi.io/cluster: my-cluster", "strimzi.io/cluster: other"), "cluster: my-cluster"),
    ],
)
def test_repairs(before: str, after: str) -> None:
    path = put("kafka.yaml", before)
    options = CheckOptions(files=(path,))
    made = Check(options)
    repairs = find_repairs(made, made.run(), unsafe=True)
    changed = repairs.after.get(path, before.encode()).decode()
    assert after in changed
    put(path, changed)
    assert [f for f in report_on(path).findings if f.severity.value != "note"] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("apiVersion: v1\nkind: Service\nmetadata: [\n", "not YAML"),
        ("apiVersion: v1\nkind: Service\n---\n- a\n", "the top level must be a mapping"),
        ("{{- if .Values.kafka }}\napiVersion: v1\nkind: Service\n{{- end }}\n", "this is a template of Helm"),
        ("apiVersion: v1\nkind: Service\nmetadata: {name: {{ include \"x\" . }}}\n", "this is a template of Helm"),
        ("apiVersion: v1\nkind: X\na: " + "[" * 5000 + "]" * 5000 + "\n", "nested"),
        ("apiVersion: v1\nkind: X\nspec: {a: &a [1], b: " + "*a" + "}\n" + "# " + "x" * 3_000_000, "too large"),
    ],
)  # fmt: skip
def test_what_is_no_manifest_is_one_line(text: str, message: str) -> None:
    (item,) = report_on(put("kafka.yaml", text)).inputs
    assert item.error is not None
    assert message in item.error.message
    assert "\n" not in item.error.message


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1\nkind: Kafka\n",
        "apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: [a]\nspec: 3\n",
        "apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: x}\nspec: {kafka: {listeners: {plain: {}}}}\n",
        "apiVersion: v1\nkind: List\nitems: [3, {kind: List, apiVersion: v1, items: []}]\n",
        "apiVersion: apps/v1\nkind: StatefulSet\nspec: {template: {spec: {containers: [3, {}, {env: [{}, 3]}]}}}\n",
        "apiVersion: v1\nkind: Service\nspec: {ports: [{}, {port: x}, {port: 99999999999999999999}]}\n",
        strimzi(PLAIN, replicas=999_999_999),
        strimzi('{name: "a\\e[31m", port: 9092, type: "\\0"}', name='"x\\u202ey"'),
        strimzi("{name: a, port: 9094, type: nodeport, configuration: {advertisedPortTemplate: '((((9*9*9*9*9'}}"),
        strimzi("{name: a, port: 9094, type: nodeport, configuration: {brokers: [{broker: -1}, {broker: x}, 3]}}"),
    ],
)
def test_odd_resources_are_read(text: str) -> None:
    report = report_on(put("kafka.yaml", text))
    assert [item.error for item in report.inputs] == [None]
    assert "\x1b[31m" not in as_text(report, Screen(width=100))


def test_many_resources_take_no_long() -> None:
    service = (
        "---\napiVersion: v1\nkind: Service\nmetadata: {name: s%d}\nspec: {selector: {a: b}, ports: [{port: 1}]}\n"
    )
    pod = (
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%d, labels: {a: b}}\n"
        "spec: {containers: [{image: apache/kafka}]}\n"
    )
    text = "".join(service % n for n in range(700)) + "".join(pod % n for n in range(700))
    start = time.process_time()
    report_on(put("kafka.yaml", text))
    assert time.process_time() - start < 30


def test_a_compose_file_loads_nothing_of_it() -> None:
    path = put("compose.yaml", COMPOSE)
    modules = loaded("-m", "netdiag", "check-listeners", path, cwd=Path.cwd())
    assert "netdiag.rules.declared" in modules
    assert not [name for name in modules if "kubernetes" in name or name.endswith("files.manifests")]
