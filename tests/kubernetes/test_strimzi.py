"""Clusters of Strimzi: what is advertised, what leads there, who is served."""

import pytest

from netdiag.deployment.model.kubernetes import Manifests
from netdiag.deployment.model.verdict import Address, Cell, Verdict
from netdiag.deployment.prediction.kubernetes import bootstraps, places, predict
from netdiag.findings import FileLocation, Severity
from tests.kubernetes.manifests import found_in, manifests_of, strimzi

PLAIN = "{name: plain, port: 9092, type: internal, tls: false}"
POOLS = """\
apiVersion: kafka.strimzi.io/v1
kind: KafkaNodePool
metadata: {name: controller, labels: {strimzi.io/cluster: c}}
spec: {replicas: 3, roles: [controller]}
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaNodePool
metadata: {name: broker, labels: {strimzi.io/cluster: c}%s}
spec: {replicas: 2, roles: [broker]}
"""
KAFKA = """\
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: c}
spec: {kafka: {listeners: [{name: plain, port: 9092, type: internal, tls: false}]}}
"""


def told(manifests: Manifests) -> list[str]:
    return [str(listener.told) for broker in manifests.brokers for listener in broker.listeners]


def cells(manifests: Manifests) -> dict[tuple[str, str], str]:
    """The words of the matrix by place and address."""

    def word(cell: Cell) -> str:
        verdict = cell.predicted
        assert isinstance(verdict, Verdict)
        return str(verdict)

    found = predict(manifests, places(manifests), bootstraps(manifests))
    return {(cell.vantage, str(cell.bootstrap)): word(cell) for cell in found}


@pytest.mark.parametrize(
    ("listener", "advertised"),
    [
        (PLAIN, "my-cluster-dual-0.my-cluster-kafka-brokers.kafka.svc:9092"),
        (
            "{name: a, port: 9092, type: internal, configuration: {useServiceDnsDomain: true}}",
            "my-cluster-dual-0.my-cluster-kafka-brokers.kafka.svc.cluster.local:9092",
        ),
        ("{name: ip, port: 9094, type: cluster-ip}", "my-cluster-dual-ip-0.kafka.svc:9094"),
        ("{name: external, port: 9094, type: cluster-ip}", "my-cluster-dual-0.kafka.svc:9094"),
        ("{name: np, port: 9094, type: nodeport}", "<node of my-cluster-dual-0>"),
        (
            "{name: np, port: 9094, type: nodeport, configuration: {brokers: [{broker: 0, nodePort: 30000}]}}",
            "<node of my-cluster-dual-0>:30000",
        ),
        ("{name: lb, port: 9094, type: loadbalancer}", "<load balancer my-cluster-dual-lb-0>:9094"),
        (
            "{name: in, port: 9094, type: ingress, tls: true, configuration: "
            '{bootstrap: {host: b.example.com}, hostTemplate: "b{nodeId}.example.com"}}',
            "b0.example.com:443",
        ),
        ("{name: r, port: 9094, type: route, tls: true}", "<route my-cluster-dual-r-0>:443"),
        (
            "{name: np, port: 9094, type: nodeport, configuration: "
            '{advertisedHostTemplate: "{nodePodName}.example.com", advertisedPortTemplate: "(1+{nodeId})*2000 - 5"}}',
            "my-cluster-dual-0.example.com:1995",
        ),
    ],
)
def test_what_the_operator_advertises(listener: str, advertised: str) -> None:
    assert told(manifests_of(strimzi(listener, replicas=1))) == [advertised]


def test_ids_are_given_out_pool_by_pool_in_the_order_of_names() -> None:
    manifests = manifests_of(POOLS % "" + "---\n" + KAFKA)
    assert [broker.pod for broker in manifests.brokers] == ["c-broker-0", "c-broker-1"]
    wanted = ', annotations: {strimzi.io/next-node-ids: "[7, 10-12]"}'
    manifests = manifests_of(POOLS % wanted + "---\n" + KAFKA)
    assert [broker.node_id for broker in manifests.brokers] == [7, 10]
    assert manifests.clusters[0].nodes is not None
    assert [node.node_id for node in manifests.clusters[0].nodes] == [7, 10, 0, 1, 2]


def test_pools_may_be_in_another_file() -> None:
    manifests = manifests_of(KAFKA, beside={"pools.yaml": POOLS % ""})
    assert [broker.pod for broker in manifests.own_brokers] == ["c-broker-0", "c-broker-1"]
    # Two files with pools of the same name are variants of one another.
    assert not manifests_of(KAFKA, beside={"a.yaml": POOLS % "", "b.yaml": POOLS % ""}).brokers


def test_who_is_served() -> None:
    found = cells(
        manifests_of(
            strimzi(
                PLAIN,
                "{name: tls, port: 9093, type: internal, tls: true, authentication: {type: scram-sha-512}}",
                "{name: np, port: 9094, type: nodeport, tls: false, configuration: {bootstrap: {nodePort: 32100}}}",
                "{name: lb, port: 9095, type: loadbalancer, tls: true}",
            )
        )
    )
    name = "my-cluster-kafka-bootstrap"
    here, there, node, outside = "pod in kafka", "pod in another namespace", "a node", "outside"
    for port in (9092, 9093):
        assert [found[place, f"{name}:{port}"] for place in (here, there, node, outside)] == [
            "ok",
            *["bootstrap: unresolved"] * 3,
        ]
        assert [found[place, f"{name}.kafka.svc:{port}"] for place in (here, there, node, outside)] == [
            "ok",
            "ok",
            *["bootstrap: unresolved"] * 2,
        ]
    assert [found[place, "<node>:32100"] for place in (here, there, node, outside)] == ["ok"] * 4
    balancer = "<load balancer my-cluster-kafka-lb-bootstrap>:9095"
    assert [found[place, balancer] for place in (here, there, node, outside)] == [*["unknown"] * 3, "ok"]


def test_a_node_is_in_no_certificate() -> None:
    listener = "{name: np, port: 9094, type: nodeport, tls: true, configuration: {bootstrap: {nodePort: 32100}}}"
    found = cells(manifests_of(strimzi(listener)))
    assert found["outside", "<node>:32100"] == "tls"
    own = listener.replace(
        "bootstrap: {", "brokerCertChainAndKey: {secretName: s, certificate: c, key: k}, bootstrap: {"
    )
    assert cells(manifests_of(strimzi(own)))["outside", "<node>:32100"] == "ok"


@pytest.mark.parametrize(
    ("client", "rules"),
    [
        ("bootstrapServers: my-cluster-kafka-bootstrap:9092", []),
        ("bootstrapServers: my-cluster-kafka-bootstrap.kafka:9092", []),
        ("bootstrapServers: my-cluster-dual-0.my-cluster-kafka-brokers.kafka.svc.cluster.local:9092", []),
        ("bootstrapServers: my-cluster-kafka-bootstrap:9099", ["kubernetes-client-cannot-connect"]),
        ("bootstrapServers: my-cluster-kafka-bootstrap:9093", ["kubernetes-client-protocol"]),
        ("bootstrapServers: my-cluster-kafka-bootstrap:9093, tls: {}", ["kubernetes-client-protocol"]),
        ("bootstrapServers: my-cluster-kafka-bootstrap:9093, tls: {}, authentication: {type: scram-sha-512}", []),
        ("bootstrapServers: my-cluster-kafka-bootstrap:9092, tls: {}", ["kubernetes-client-protocol"]),
        ("bootstrapServers: my-clutser-kafka-bootstrap:9092", ["kubernetes-client-misspelled"]),
        ("bootstrapServers: other-kafka-bootstrap:9092", []),
        ("bootstrapServers: my-cluster-kafka-bootstrap.other.svc:9092", []),
        ("bootstrapServers: broker.example.com:9092", []),
        ("bootstrapServers: '{{ servers }}:9092'", []),
    ],
)
def test_clients_beside_a_cluster(client: str, rules: list[str]) -> None:
    connect = (
        "apiVersion: kafka.strimzi.io/v1\nkind: KafkaConnect\nmetadata: {name: connect, namespace: kafka}\n"
        f"spec: {{{client}}}\n"
    )
    secured = "{name: tls, port: 9093, type: internal, tls: true, authentication: {type: scram-sha-512}}"
    cluster = strimzi(PLAIN, secured)
    found = found_in(cluster, beside={"connect.yaml": connect})
    assert [finding.rule for finding in found] == rules
    assert [f.rule for f in found_in(connect, beside={"cluster.yaml": cluster})] == rules
    assert all(isinstance(f.location, FileLocation) and f.location.path == "connect.yaml" for f in found)


@pytest.mark.parametrize(
    ("listener", "rules"),
    [
        (
            "{name: np, port: 9094, type: nodeport, tls: false, configuration: {brokers: [{broker: 7}]}}",
            ["strimzi-broker-unknown"],
        ),
        (
            "{name: np, port: 9094, type: nodeport, tls: false, configuration: {advertisedHostTemplate: localhost}}",
            ["kubernetes-advertised-unreachable"],
        ),
        (
            "{name: np, port: 9094, type: nodeport, tls: false, configuration: "
            '{advertisedHostTemplate: "{nodePodName}.my-cluster-kafka-brokers.kafka.svc"}}',
            ["kubernetes-advertised-unreachable"],
        ),
        (
            '{name: np, port: 9094, type: nodeport, configuration: {advertisedHostTemplate: "n{nodeId}.example.com"}}',
            [],
        ),
        (
            "{name: a, port: 9094, type: internal, configuration: {brokers: [{broker: 0, advertisedPort: 9099}]}}",
            ["kubernetes-advertised-unreachable"],
        ),
        ("{name: a, port: 9094, type: '${TYPE}', tls: '${TLS}'}", []),
        ("{name: a, port: '${PORT}', type: internal}", []),
        ("{name: a, type: internal}", ["strimzi-listener-port"]),
        ("{port: 9092, type: internal}", ["strimzi-listener-name"]),
        ("{name: a, port: 9092}", ["strimzi-listener-type"]),
        ("{name: a, port: 9094, type: tlsroute, tls: true}", ["strimzi-listener-host"] * 3),
        ("{name: a, port: 9094, type: nodeport, configuration: {createBootstrapService: true}}", []),
        (
            "{name: np, port: 9094, type: nodeport, configuration: "
            "{bootstrap: {nodePort: 30000}, brokers: [{broker: 0, nodePort: 32767}]}}",
            [],
        ),
        (
            "{name: np, port: 9094, type: nodeport, configuration: "
            "{bootstrap: {nodePort: 29999}, brokers: [{broker: 0, nodePort: 30001}]}}",
            ["kubernetes-node-port"],
        ),
        (
            "{name: np, port: 9094, type: nodeport, configuration: "
            "{bootstrap: {nodePort: 30001}, brokers: [{broker: 0, nodePort: 32768}]}}",
            ["kubernetes-node-port"],
        ),
        (
            "{name: a, port: 9094, type: nodeport, configuration: {createBootstrapService: false}}",
            ["strimzi-listener-option"],
        ),
    ],
)
def test_listeners(listener: str, rules: list[str]) -> None:
    found = [f for f in found_in(strimzi(listener)) if f.severity is not Severity.NOTE]
    assert sorted({f.rule for f in found} if len(rules) < 3 else [f.rule for f in found]) == sorted(rules)


def test_a_name_that_several_brokers_advertise_gets_clients_to_the_wrong_one() -> None:
    listener = (
        "{name: np, port: 9094, type: nodeport, tls: false, "
        "configuration: {bootstrap: {nodePort: 32100}, brokers: [%s]}}"
    )
    shared = ", ".join(f"{{broker: {n}, advertisedHost: my-cluster-kafka-bootstrap.kafka.svc}}" for n in range(3))
    manifests = manifests_of(strimzi(PLAIN, listener % shared))
    verdicts = cells(manifests)
    assert verdicts["pod in kafka", "my-cluster-kafka-bootstrap:9092"] == "ok"
    assert verdicts["outside", "<node>:32100"] == "advertised: unresolved"
    assert Address(host="<node>", port=32100) in bootstraps(manifests)
