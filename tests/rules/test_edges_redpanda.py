"""Redpanda under all rules: what is right stays silent, Kafka's own checks never speak, each defect is named once."""

import pytest

from netdiag.findings import FileLocation, Severity
from netdiag.rules.declared import check_deployment, failing_to_start
from tests.deployment.stacks import deployment_of

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE
IMAGE = "redpandadata/redpanda:v24.2.4"
KAFKA = "--kafka-addr internal://0.0.0.0:9092,external://0.0.0.0:19092"
TOLD = "--advertise-kafka-addr internal://redpanda:9092,external://localhost:19092"
REST = (
    "--pandaproxy-addr internal://0.0.0.0:8082,external://0.0.0.0:18082",
    "--advertise-pandaproxy-addr internal://redpanda:8082,external://localhost:18082",
    "--schema-registry-addr internal://0.0.0.0:8081,external://0.0.0.0:18081",
    "--rpc-addr redpanda:33145",
    "--advertise-rpc-addr redpanda:33145",
    "--mode dev-container",
    "--smp 1",
)


def stack(*flags: str, ports: str = '"19092:19092"', image: str = IMAGE, clients: str = "", more: str = "") -> str:
    command = "".join(f"      - {flag}\n" for flag in ("redpanda", "start", *flags))
    published = f"    ports: [{ports}]\n" if ports else ""
    return f"name: t\nservices:\n  redpanda:\n    image: {image}\n{published}{more}    command:\n{command}" + "".join(
        f"  app-{n}:\n    image: shop/app\n    environment:\n      KAFKA_BROKERS: {address}\n"
        for n, address in enumerate(clients.split())
    )


def found(text: str) -> dict[str, Severity]:
    return {finding.rule: finding.severity for finding in check_deployment(deployment_of(text))}


@pytest.mark.parametrize(
    "text",
    [
        stack(KAFKA, TOLD, *REST, clients="redpanda:9092"),
        stack(*KAFKA.split(), *TOLD.split(), clients="redpanda:9092"),
        stack(KAFKA.replace(" ", "="), TOLD.replace(" ", "="), clients="redpanda:9092"),
        # other APIs, published by their usual numbers or by those that the flags give them
        stack(KAFKA, TOLD, *REST, ports='"19092:19092", "18081:18081", "18082:18082", "19644:9644", "8081:8081"'),
        # names that Kafka would not know without a map
        stack("--kafka-addr SSL://0.0.0.0:9092", "--advertise-kafka-addr SSL://localhost:9092", ports='"9092:9092"'),
        # an endpoint without name and port
        stack("--kafka-addr 0.0.0.0", "--advertise-kafka-addr redpanda", ports="", clients="redpanda:9092"),
        # a tag that tells no release: nobody knows what its own file advertises
        stack("--smp 1", ports='"9092:9092"', image="redpandadata/redpanda:nightly"),
        # one of the image's tools
        f"name: t\nservices:\n  init:\n    image: {IMAGE}\n    command: topic create orders\n",
        # more advertised than bound harms nobody
        stack("--kafka-addr a://0.0.0.0:9092", "--advertise-kafka-addr a://localhost:9092,b://x:1",
              ports='"9092:9092"'),
        # a value that only a shell knows
        stack(ports='"9092:9092"').split("    command")[0]
        + '    entrypoint: [/bin/sh, -c, "rpk redpanda start --advertise-kafka-addr $$(hostname):9092"]\n',
    ],
)  # fmt: skip
def test_right_and_unknown_stacks_are_silent(text: str) -> None:
    assert {rule: s for rule, s in found(text).items() if s is not NOTE} == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # what --advertise-kafka-addr lacks
        (stack(KAFKA, "--advertise-kafka-addr internal://redpanda:9092"), {"redpanda-listener-mismatch": ERROR}),
        (stack(KAFKA, "--advertise-kafka-addr internal://redpanda:9092", ports=""),
         {"redpanda-listener-mismatch": WARNING}),
        (stack(KAFKA, "--advertise-kafka-addr internal://redpanda:9092", ports="", clients="redpanda:19092"),
         {"redpanda-listener-mismatch": ERROR}),
        (stack(KAFKA, TOLD.replace("external", "EXTERNAL")), {"redpanda-listener-mismatch": ERROR}),
        # nothing is advertised: the packaged file speaks of a listener without name
        (stack("--kafka-addr PLAINTEXT://0.0.0.0:9092", ports=""), {"redpanda-listener-mismatch": ERROR}),
        # what both lists share, and is wrong
        (stack(KAFKA, TOLD.replace("localhost:19092", "localhost:9092")),
         {"advertised-port-differs-from-published": ERROR}),
        (stack(KAFKA, TOLD, ports='"19092:9092"'), {"published-port-wrong-listener": ERROR}),
        (stack(KAFKA, TOLD, ports='"29092:9092"'),
         {"advertised-port-not-published": ERROR}),
        (stack(KAFKA, TOLD.replace("redpanda:9092", "kafka:9092")), {"advertised-host-unknown": WARNING}),
        (stack(KAFKA, TOLD, ports='"19092:19092", "29092:29092"'), {"published-port-without-listener": WARNING}),
        (stack("--kafka-addr 127.0.0.1:9092", "--advertise-kafka-addr localhost:9092", ports='"9092:9092"'),
         {"listener-bound-to-loopback": ERROR}),
        # clients inside the same file
        (stack(KAFKA, TOLD, clients="redpanda:19092"), {"dependent-bootstrap-external-listener": ERROR}),
        (stack(KAFKA, TOLD, clients="redpanda:29092"), {"dependent-bootstrap-wrong-port": ERROR}),
        (stack(KAFKA, TOLD, clients="localhost:19092"), {"dependent-bootstrap-localhost": ERROR}),
        # wildcards
        (stack("--advertise-kafka-addr 0.0.0.0:9092", ports=""), {"advertised-wildcard": ERROR}),
        (stack("--smp 1", ports="", image="redpandadata/redpanda:v23.2.9"), {"advertised-wildcard": ERROR}),
    ],
)  # fmt: skip
def test_each_defect_is_named_by_its_rule(text: str, expected: dict[str, Severity]) -> None:
    assert {rule: s for rule, s in found(text).items() if s is not NOTE} == expected


def test_only_newer_releases_end_over_a_wildcard() -> None:
    for release, prints in (("v23.3.1", True), ("v23.2.9", False)):
        deployment = deployment_of(
            stack("--advertise-kafka-addr 0.0.0.0:9092", image=f"redpandadata/redpanda:{release}")
        )
        findings = [f for f in check_deployment(deployment) if f.rule == "advertised-wildcard"]
        assert [bool(f.broker_prints) for f in findings] == [prints]
        assert bool(failing_to_start(findings, deployment)) is prints


def test_the_wildcard_is_shown_in_its_flag() -> None:
    (finding,) = [
        f
        for f in check_deployment(
            deployment_of(stack("--advertise-kafka-addr a://0.0.0.0:9092", "--kafka-addr a://0.0.0.0:9092"))
        )
        if f.rule == "advertised-wildcard"
    ]
    assert isinstance(finding.location, FileLocation)
    assert (finding.location.line, finding.location.column, finding.location.end_column) == (9, 36, 43)


def test_two_nodes_of_one_cluster_need_ids_of_their_own() -> None:
    def node(name: str, number: int) -> str:
        flags = f"--node-id {number} --seeds a:33145 --advertise-rpc-addr {name}:33145"
        addresses = f"--kafka-addr i://0.0.0.0:9092 --advertise-kafka-addr i://{name}:9092"
        return f"  {name}:\n    image: {IMAGE}\n    command: redpanda start {flags} {addresses}\n"

    assert found("name: t\nservices:\n" + node("a", 0) + node("b", 1)) == {}
    assert found("name: t\nservices:\n" + node("a", 0) + node("b", 0)) == {"duplicate-node-id": ERROR}
