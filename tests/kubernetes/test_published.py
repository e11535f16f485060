"""Strimzi's own examples: nothing wrong in them; with a mistake made by hand, that mistake on its line.

NETDIAG_STRIMZI names a clone of strimzi/strimzi-kafka-operator, or a folder with its `packaging/examples` and
`documentation`; the examples are no part of the repository.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from netdiag.app.check import check
from netdiag.app.configuration import CheckOptions
from netdiag.findings import FileLocation, Severity
from netdiag.render.report import Report
from tests.figures import Report as Figure

_LISTING = re.compile(r"\[source,yaml[^\]]*\]\n-{4,}\n(.*?)\n-{4,}", re.DOTALL)
_KIND = re.compile(r"(?m)^kind: (?:Kafka|KafkaNodePool|KafkaConnect|KafkaBridge|KafkaMirrorMaker2)$")
_CALLOUT = re.compile(r"(?m)[ \t]*(?:# )?<(?:\.|\d+)>.*$")
PERSISTENT, CONNECT, BRIDGE = "kafka/kafka-persistent.yaml", "connect/kafka-connect.yaml", "bridge/kafka-bridge.yaml"
CONNECT_TLS, SCRAM = "security/tls-auth/connect.yaml", "security/scram-sha-512-auth/connect.yaml"
_TLS = """\
  tls:
    trustedCertificates:
      - secretName: my-cluster-cluster-ca-cert
        pattern: "*.crt"
"""


def published() -> Path:
    """The folder of what Strimzi publishes."""
    named = os.environ.get("NETDIAG_STRIMZI", "")
    if not named or not (Path(named) / "packaging" / "examples").is_dir():
        pytest.skip("shared corpus absent: NETDIAG_STRIMZI names no clone of strimzi-kafka-operator")
    return Path(named)


def listings(folder: Path) -> Iterator[tuple[str, str]]:
    """The manifests about Kafka in the documentation, each once."""
    seen: set[str] = set()
    for path in sorted(folder.rglob("*.adoc")):
        if path.is_symlink():
            continue
        for match in _LISTING.finditer(path.read_text(encoding="utf-8")):
            text = _CALLOUT.sub("", match[1]).replace("{KafkaApiVersion}", "kafka.strimzi.io/v1") + "\n"
            if _KIND.search(text) and text not in seen:
                seen.add(text)
                yield path.stem, text


def errors(report: Report) -> list[str]:
    return [f"{f.location}: {f.rule}: {f.message}" for f in report.findings if f.severity is Severity.ERROR]


@pytest.mark.bar("strimzi")
def test_nothing_is_wrong_in_what_strimzi_publishes(tmp_path: Path, figure: Figure) -> None:
    examples = sorted((published() / "packaging" / "examples").rglob("*.yaml"))
    unread: list[str] = []
    told: list[str] = []
    brokers = 0
    for path in examples:
        report = check(CheckOptions(files=(str(path),))).report
        told += errors(report)
        unread += [f"{path}: {item.error}" for item in report.inputs if item.error]
        brokers += sum(len(item.brokers) for item in report.inputs)
    count = excerpts = 0
    for index, (name, text) in enumerate(listings(published() / "documentation")):
        folder = tmp_path / str(index)
        folder.mkdir()
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
        report = check(CheckOptions(files=(str(folder / f"{name}.yaml"),))).report
        told += errors(report)
        count += 1
        # Excerpts with "..." in the place of lines may be no YAML.
        excerpts += any(item.error for item in report.inputs)
    assert (told, unread) == ([], [])
    assert len(examples) >= 30
    assert brokers > 30
    assert excerpts * 20 < count
    figure("examples without an error", len(examples))
    figure("brokers in them", brokers)
    figure("listings of the documentation without an error", count - excerpts)
    figure("listings that are no YAML", excerpts)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mistake in an example: what is replaced, the first time behind `first`, and what finds it.

    `line` is a text on the line of the finding, which stands behind the text `after`; `beside` are other examples in
    the same folder.
    """

    rule: str
    example: str
    old: str
    new: str
    line: str
    after: str = ""
    first: str = ""
    beside: tuple[str, ...] = ()


def _listener(kind: str, more: str = "", *, tls: str = "true") -> tuple[str, str]:
    """A listener more, as an edit of an example."""
    old = "    config:\n      offsets.topic"
    new = f"      - name: external\n        port: 9094\n        type: {kind}\n        tls: {tls}\n{more}{old}"
    return old, new


HOSTS = "        configuration:\n          bootstrap:\n            host: b.example.com\n"
_OF_0 = "        configuration:\n          brokers:\n            - broker: 0\n"
MUTANTS = (
    Mutant("strimzi-listener-port", PERSISTENT, "port: 9092", "port: 9091", "port: 9091"),
    Mutant("strimzi-listener-port", PERSISTENT, "port: 9093", "port: 9092", "port: 9092", after="name: tls"),
    Mutant("strimzi-listener-port", PERSISTENT, "port: 9093", "port: 9404", "port: 9404"),
    Mutant("strimzi-listener-name", PERSISTENT, "name: plain", "name: Plain", "name: Plain"),
    Mutant("strimzi-listener-name", PERSISTENT, "name: plain", "name: tls", "name: tls", after="name: tls"),
    Mutant("strimzi-listener-type", PERSISTENT, "type: internal", "type: Internal", "type: Internal"),
    Mutant("strimzi-listener-type", PERSISTENT, "type: internal", "type: loadBalancer", "type: loadBalancer"),
    Mutant("strimzi-listener-tls", PERSISTENT, *_listener("route", tls="false"), "tls: false", after="type: route"),
    Mutant("strimzi-listener-host", PERSISTENT, *_listener("ingress", HOSTS), "type: ingress"),
    Mutant("strimzi-listener-tls", "security/tls-auth/kafka.yaml", "tls: true", "tls: false", "tls: false"),
    Mutant(
        "strimzi-listener-option",
        PERSISTENT,
        *_listener("cluster-ip", _OF_0 + "              nodePort: 32000\n"),
        "nodePort: 32000",
    ),
    Mutant(
        "strimzi-listener-option",
        PERSISTENT,
        *_listener("nodeport", "        configuration:\n          hostTemplate: b.example.com\n", tls="false"),
        "hostTemplate",
    ),
    Mutant(
        "kubernetes-advertised-unreachable",
        PERSISTENT,
        *_listener("nodeport", _OF_0 + "              advertisedHost: localhost\n", tls="false"),
        "advertisedHost: localhost",
    ),
    Mutant(
        "kubernetes-advertised-unreachable",
        PERSISTENT,
        *_listener("loadbalancer", _OF_0 + "              advertisedHost: my-cluster-kafka-brokers\n", tls="false"),
        "advertisedHost: my-",
    ),
    Mutant(
        "kubernetes-advertised-shared",
        PERSISTENT,
        *_listener(
            "nodeport",
            "        configuration:\n          advertisedHostTemplate: k.example.com\n"
            '          advertisedPortTemplate: "32000"\n',
            tls="false",
        ),
        "advertisedHostTemplate",
    ),
    Mutant(
        "kubernetes-node-port",
        PERSISTENT,
        *_listener(
            "nodeport",
            "        configuration:\n          bootstrap:\n            nodePort: 32000\n          brokers:\n"
            "            - broker: 0\n              nodePort: 32000\n",
            tls="false",
        ),
        "nodePort: 32000",
        after="broker: 0",
    ),
    Mutant(
        "strimzi-node-pool",
        "kafka/kafka-single-node.yaml",
        "strimzi.io/cluster: my-cluster",
        "strimzi.io/cluster: mycluster",
        "strimzi.io/cluster: mycluster",
    ),
    Mutant("strimzi-node-pool", PERSISTENT, "    - broker", "    - controller", "name: my-cluster",
           after="kind: Kafka\n"),
    Mutant(
        "kubernetes-client-cannot-connect", CONNECT, "bootstrap:9093", "bootstrap:9094", "bootstrap:9094",
        beside=(PERSISTENT,),
    ),
    Mutant("kubernetes-client-protocol", CONNECT, "bootstrap:9093", "bootstrap:9092", ":9092", beside=(PERSISTENT,)),
    Mutant("kubernetes-client-protocol", CONNECT, _TLS, "", "bootstrapServers", beside=(PERSISTENT,)),
    Mutant("kubernetes-client-protocol", BRIDGE, "bootstrap:9092", "bootstrap:9093", ":9093", beside=(PERSISTENT,)),
    Mutant(
        "kubernetes-client-misspelled", BRIDGE, "my-cluster-kafka-bootstrap", "my-cluster-bootstrap", "-bootstrap:",
        beside=(PERSISTENT,),
    ),
    Mutant(
        "kubernetes-client-protocol", SCRAM, "type: scram-sha-512", "type: tls", "bootstrapServers",
        first="kind: KafkaConnect",
        beside=("security/scram-sha-512-auth/kafka.yaml",),
    ),
)  # fmt: skip


@pytest.mark.bar("strimzi")
def test_a_mistake_in_an_example_is_found_on_its_line(tmp_path: Path, figure: Figure) -> None:
    folder = published() / "packaging" / "examples"
    missed: list[str] = []
    for index, mutant in enumerate(MUTANTS):
        here = tmp_path / str(index)
        here.mkdir()
        text = (folder / mutant.example).read_text(encoding="utf-8")
        assert mutant.old in text, mutant
        begin = text.index(mutant.first)
        changed = text[:begin] + text[begin:].replace(mutant.old, mutant.new, 1)
        target = here / "checked.yaml"
        for number, other in enumerate(mutant.beside):
            (here / f"{number}.yaml").write_text((folder / other).read_text(encoding="utf-8"), encoding="utf-8")
        target.write_text(text, encoding="utf-8")
        assert errors(check(CheckOptions(files=(str(target),))).report) == [], mutant
        target.write_text(changed, encoding="utf-8")
        found = [
            f for f in check(CheckOptions(files=(str(target),))).report.findings if f.severity is not Severity.NOTE
        ]
        lines = changed.splitlines()
        earliest = changed[: changed.index(mutant.after)].count("\n") + 1
        places = {
            (f.rule, lines[f.location.line - 1])
            for f in found
            if isinstance(f.location, FileLocation) and f.location.path == str(target) and f.location.line >= earliest
        }
        if not any(rule == mutant.rule and mutant.line in line for rule, line in places):
            missed.append(f"{mutant.rule} in {mutant.example}: {sorted(places)}")
        elif {rule for rule, _ in places} != {mutant.rule}:
            missed.append(f"besides {mutant.rule} in {mutant.example}: {sorted(places)}")
    assert missed == []
    assert len(MUTANTS) >= 20
    figure("mutants on the right line", len(MUTANTS))
