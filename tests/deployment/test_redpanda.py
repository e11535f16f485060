"""Redpanda nodes: flags, redpanda.yaml, clusters, and what their clients get."""

import pytest

from netdiag.compose.positions import Source, literal
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.model.vantage import vantages
from netdiag.deployment.model.verdict import Address
from netdiag.deployment.prediction.reachability import predict
from netdiag.deployment.sources.redpanda import container_flags, read_redpanda_yaml, settings_of_set_option
from netdiag.findings import Edit, FileLocation
from netdiag.kafka.broker_config import Mode
from tests.deployment.stacks import deployment_of
from tests.deployment.test_engine_source import container

TEXT = """\
redpanda:
  node_id: 3
  kafka_api:
    - name: internal
      address: 0.0.0.0
      port: 9092
    - {address: "0.0.0.0", port: 19092, authentication_method: sasl}
  advertised_kafka_api:
    address: rp
    port: 9092
  kafka_api_tls:
    - {name: internal, enabled: true}
  seed_servers:
    - host: {address: rp-0, port: 33145}
    - {address: rp-1, port: 33145}
  admin:
    - address: 0.0.0.0
      port: 9645
pandaproxy:
  pandaproxy_api: [{address: 0.0.0.0, port: 28082}]
"""


def test_a_whole_file() -> None:
    made = read_redpanda_yaml(Source("rp.yaml", TEXT))
    assert made is not None
    settings, declared = made
    values = {name: setting.value for name, setting in settings.items()}
    assert values["listeners"] == "internal://0.0.0.0:9092,0.0.0.0:19092|sasl"
    assert values["advertised.listeners"] == "rp:9092"
    assert values["node.id"] == "3"
    assert values["seed_servers"] == "rp-0,rp-1"
    assert values["redpanda.protocols"] == "internal=SSL"
    assert set((values["redpanda.ports"] or "").split(",")) == {"9092", "19092", "9645", "28082", "33145"}
    source = declared["kafka_api in redpanda.yaml"]
    place = source.at(11, 18)
    assert isinstance(place, FileLocation)
    assert (place.line, place.column, place.end_column) == (5, 16, 23)
    quoted = TEXT.index('"0.0.0.0"') + 1
    assert source.edit(24, 31, "x") == Edit(path="rp.yaml", start=quoted, end=quoted + 7, replacement="x")
    assert source.edit(8, 12, "x") is None


def test_what_a_file_leaves_out_has_the_servers_defaults() -> None:
    made = read_redpanda_yaml(Source("rp.yaml", "redpanda:\n  data_directory: /d\n"))
    assert made is not None
    assert made[0]["listeners"].value == "127.0.0.1:9092"
    assert "advertised.listeners" not in made[0]


@pytest.mark.parametrize("text", ["a: [", "- a", "", "a: 1\n---\nb: 2\n", "\x00"])
def test_what_is_no_configuration(text: str) -> None:
    assert read_redpanda_yaml(Source("rp.yaml", text)) is None


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("redpanda.advertised_kafka_api", '[{"address":"h","port":1,"name":"a"}]', "a://h:1"),
        ("redpanda.advertised_kafka_api", "{address: h, port: 1}", "h:1"),
        ("redpanda.advertised_kafka_api", "[{address: h, port: 1}, {address: k, port: 2}]", "h:1,k:2"),
        ("redpanda.advertised_kafka_api[0].port", "5", None),
        ("redpanda.advertised_kafka_api", "nonsense", None),
        ("redpanda.advertised_kafka_api", "[", None),
    ],
)
def test_set(name: str, value: str, expected: str | None) -> None:
    text = literal(value, "compose.yml", line=7, column=3, start=100)
    settings, declared = settings_of_set_option(name, value, text.slice)
    assert settings["advertised.listeners"].value == expected
    if expected is not None:
        (source,) = declared.values()
        start = expected.index("h")
        edit = source.edit(start, start + 1, "x")
        assert edit is not None
        assert edit.start == 100 + value.index("h")


def test_set_of_something_else_says_nothing() -> None:
    assert settings_of_set_option("redpanda.auto_create_topics_enabled", "true", literal("true").slice) == ({}, {})


def node(*flags: str, name: str = "redpanda", image: str = "redpandadata/redpanda:v24.2.4", more: str = "") -> str:
    command = "".join(f"      - {flag}\n" for flag in ("redpanda", "start", *flags))
    return f"  {name}:\n    image: {image}\n{more}    command:\n{command}"


def stack(*services: str) -> Deployment:
    return deployment_of("name: t\nservices:\n" + "".join(services))


BOTH = (
    "--kafka-addr internal://0.0.0.0:9092,external://0.0.0.0:19092",
    "--advertise-kafka-addr internal://redpanda:9092,external://localhost:19092",
)
PUBLISHED = '    ports: ["19092:19092"]\n'


def cell(deployment: Deployment, vantage: str, address: str) -> str:
    host, _, port = address.rpartition(":")
    found = predict(deployment, vantages(deployment), [Address(host=host, port=int(port))])
    (one,) = [c for c in found if c.vantage == vantage]
    assert one.predicted is not None
    return str(one.predicted)


@pytest.mark.parametrize(
    ("service", "expected"),
    [
        (node(), True),
        ("  r:\n    image: redpandadata/redpanda:v24.2.4\n", True),
        ("  r:\n    image: redpandadata/redpanda:v24.2.4\n    command: redpanda start --smp 1\n", True),
        ("  r:\n    image: redpandadata/redpanda:v24.2.4\n    command: topic create x\n", False),
        ("  r:\n    image: redpandadata/redpanda:v24.2.4\n    entrypoint: sleep infinity\n", False),
        ("  r:\n    image: ${IMAGE:-}\n    command: [redpanda, start, --smp 1]\n", True),
        ("  r:\n    image: my/own\n    entrypoint: /usr/bin/rpk redpanda start --smp 1\n", True),
        ("  r:\n    image: my/own\n    command: start --smp 1\n", False),
        ("  r:\n    image: redpandadata/console:v2\n", False),
        ("  r:\n    image: redpandadata/connectors:v1\n", False),
        (
            '  r:\n    image: redpandadata/redpanda\n    entrypoint: [/bin/sh, -c, "sleep 1 && rpk redpanda start"]\n',
            True,
        ),
        ('  r:\n    image: redpandadata/redpanda\n    entrypoint: [/bin/sh, -c, "rpk topic create x"]\n', False),
    ],
)
def test_which_services_are_a_node(service: str, expected: bool) -> None:
    assert bool(stack(service).brokers) is expected


def test_flags_point_at_their_own_words() -> None:
    broker = stack(node(*BOTH)).brokers[0]
    assert broker.config.mode is Mode.REDPANDA
    entry = broker.config.advertised_listeners[1]
    place = broker.place("advertised.listeners", entry.host_start, entry.host_end)
    assert (place.line, place.column) == (9, 68)  # type: ignore[union-attr]
    (edit,) = broker.edit("advertised.listeners", entry.port_start, entry.port_end, "1")
    assert edit.end - edit.start == 5
    source = broker.source_of("listeners")
    assert source is not None
    assert source.variable == "--kafka-addr"


@pytest.mark.parametrize(
    ("vantage", "address", "expected"),
    [
        ("docker host", "localhost:19092", "ok"),
        ("docker host", "redpanda:9092", "bootstrap: unresolved"),
        ("container on default", "redpanda:9092", "ok"),
        ("container on default", "redpanda:19092", "advertised: refused"),
        ("inside redpanda", "localhost:19092", "ok"),
    ],
)
def test_cells_of_one_node(vantage: str, address: str, expected: str) -> None:
    assert cell(stack(node(*BOTH, more=PUBLISHED)), vantage, address) == expected


@pytest.mark.parametrize(
    ("flags", "image", "address", "expected"),
    [
        # the packaged file advertises 127.0.0.1 without a name
        ((), "v24.2.4", "localhost:9092", "ok"),
        (("--kafka-addr PLAINTEXT://0.0.0.0:9092",), "v24.2.4", "localhost:9092", "advertised: no-brokers"),
        # until 23.2 it advertised nothing, and clients were told 0.0.0.0: to the host, itself
        ((), "v23.2.9", "localhost:9092", "ok"),
        # names count with their case
        (("--kafka-addr A://0.0.0.0:9092", "--advertise-kafka-addr a://localhost:9092"), "v24.2.4",
         "localhost:9092", "advertised: no-brokers"),
        (("--kafka-addr A://0.0.0.0:9092|sasl", "--advertise-kafka-addr A://localhost:9092"), "v24.2.4",
         "localhost:9092", "sasl"),
        ((), "nightly", "localhost:9092", "unknown"),
    ],
)  # fmt: skip
def test_cells_of_defaults(flags: tuple[str, ...], image: str, address: str, expected: str) -> None:
    deployment = stack(node(*flags, image=f"redpandadata/redpanda:{image}", more='    ports: ["9092:9092"]\n'))
    assert cell(deployment, "docker host", address) == expected


def three(*, seeds: str, rpc: bool = True) -> Deployment:
    return stack(
        *(
            node(
                f"--kafka-addr internal://0.0.0.0:9092,external://0.0.0.0:1909{n}",
                f"--advertise-kafka-addr internal://rp-{n}:9092,external://localhost:1909{n}",
                *([f"--advertise-rpc-addr rp-{n}:33145"] if rpc else []),
                *([f"--seeds {seeds}"] if seeds else []),
                name=f"rp-{n}",
                more=f'    ports: ["1909{n}:1909{n}"]\n',
            )
            for n in range(3)
        )
    )


def test_nodes_that_name_each_other_are_one_cluster_with_three_ids() -> None:
    deployment = three(seeds="rp-0:33145")
    assert len({b.config.cluster_id for b in deployment.brokers}) == 1
    assert {b.config.node_id for b in deployment.brokers} == {0, 1, 2}
    assert cell(deployment, "docker host", "localhost:19091") == "ok"
    assert cell(deployment, "container on default", "rp-2:9092") == "ok"
    assert cell(deployment, "container on default", "rp-2:19092") == "advertised: refused"


def test_nodes_without_seeds_are_clusters_of_their_own() -> None:
    deployment = three(seeds="")
    assert len({b.config.cluster_id for b in deployment.brokers}) == 3
    assert cell(deployment, "docker host", "localhost:19091") == "ok"


def test_what_cannot_join_is_unknown() -> None:
    assert cell(three(seeds="rp-0:33145", rpc=False), "docker host", "localhost:19091") == "unknown"
    assert cell(three(seeds="elsewhere:33145"), "docker host", "localhost:19091") == "unknown"


def test_flags_of_a_running_container() -> None:
    running = container(
        image="redpandadata/redpanda:v24.2.4",
        entrypoint=("/entrypoint.sh",),
        command=("redpanda", "start", "--kafka-addr a://0.0.0.0:1", "--kafka-addr", "b://0.0.0.0:2"),
    )
    assert container_flags(running) == {"--kafka-addr": "a://0.0.0.0:1,b://0.0.0.0:2"}
    assert container_flags(container(entrypoint=("rpk",), command=("topic", "list"))) is None


FLAGS = "--kafka-addr 0.0.0.0:9092 --advertise-kafka-addr redpanda:9092"


@pytest.mark.parametrize(
    ("script", "partial"),
    [
        ("rpk redpanda start", False),
        ("echo ready && rpk redpanda start", False),
        ("cp /seed.yaml /etc/redpanda/redpanda.yaml && exec rpk redpanda start", True),
        ("echo 'redpanda: {}' > /etc/redpanda/redpanda.yaml; rpk redpanda start", True),
        ("rpk redpanda config set redpanda.kafka_api '[]'; rpk redpanda start", True),
        # flags are stronger than the file
        (f"cp /seed.yaml /etc/redpanda/redpanda.yaml && rpk redpanda start {FLAGS}", False),
    ],
)
def test_a_script_may_write_the_file_that_nobody_here_reads(script: str, partial: bool) -> None:
    service = f"""\
  redpanda:
    image: redpandadata/redpanda:v24.2.4
    entrypoint: [/bin/bash, -c]
    command:
      - |
        {script}
"""
    (broker,) = deployment_of(f"name: t\nservices:\n{service}").brokers
    assert broker.is_partial is partial
    assert broker.config.is_unknown("advertised.listeners") is partial
