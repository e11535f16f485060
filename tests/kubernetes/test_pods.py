"""Brokers in pods: their variables, the Services that lead to them, what clients get."""

import tracemalloc

import pytest

from netdiag.deployment.model.verdict import Address, Answered, Failed, Unknown
from netdiag.deployment.prediction.kubernetes import ELSEWHERE, ON_NODE, OUTSIDE, contact, pod_place
from netdiag.findings import FileLocation, Severity
from tests.kubernetes.manifests import found_in, manifests_of

HEADLESS = """\
apiVersion: v1
kind: Service
metadata: {name: kafka-pods, namespace: data}
spec: {clusterIP: None, selector: {app: kafka}, ports: [{port: 9092}]}
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: kafka, namespace: data}
spec: {%sselector: {app: kafka}, ports: [%s]}
"""
SET = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: kafka, namespace: data}
spec:
  serviceName: kafka-pods
  replicas: 3
  template:
    metadata: {labels: {app: kafka}}
    spec:
      containers:
        - name: kafka
          image: confluentinc/cp-kafka:7.9.2
          ports: [{name: plain, containerPort: 9092}]
%s          env:
            - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
            - {name: HOST_IP, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}
            - {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
            - {name: KAFKA_ZOOKEEPER_CONNECT, value: "zookeeper:2181"}
            - {name: KAFKA_LISTENERS, value: "PLAINTEXT://0.0.0.0:9092"}
%s"""
ADVERTISED = "            - {name: KAFKA_ADVERTISED_LISTENERS, value: '%s'}\n"
OWN_NAME = "PLAINTEXT://$(POD_NAME).kafka-pods:9092"


def brokers(advertised: str = OWN_NAME, *, more: str = "", command: str = "") -> str:
    """Three brokers, and some documents more."""
    return "---\n".join(filter(None, (HEADLESS, SET % (command, ADVERTISED % advertised if advertised else ""), more)))


def told(text: str) -> list[str]:
    return [str(one.told) for broker in manifests_of(text).brokers for one in broker.listeners]


def errors(text: str) -> list[str]:
    return [f.rule for f in found_in(text) if f.severity is not Severity.NOTE]


def test_every_replica_advertises_what_its_variables_make() -> None:
    assert told(brokers()) == [f"kafka-{n}.kafka-pods:9092" for n in range(3)]
    assert told(brokers("PLAINTEXT://$(POD_IP):9092")) == [f"<IP of kafka-{n}>:9092" for n in range(3)]
    assert told(brokers("PLAINTEXT://$(HOST_IP):30092")) == [f"<node of kafka-{n}>:30092" for n in range(3)]
    assert told(brokers("PLAINTEXT://${HOST}:9092")) == ["None"] * 3


def test_scripts_set_variables() -> None:
    def scripted(value: str) -> list[str]:
        script = (
            f"          command: [bash, -c, 'export KAFKA_ADVERTISED_LISTENERS={value}; /etc/confluent/docker/run']\n"
        )
        return told(brokers("", command=script))

    assert scripted("PLAINTEXT://${HOSTNAME}.kafka-pods:9092") == [f"kafka-{n}.kafka-pods:9092" for n in range(3)]
    assert scripted("PLAINTEXT://$(hostname -f):909${HOSTNAME##*-}") == [
        f"kafka-{n}.kafka-pods.data.svc.cluster.local:909{n}" for n in range(3)
    ]
    assert scripted("PLAINTEXT://$(curl metadata):9092") == ["None"] * 3
    assert (
        errors(brokers("", command="          command: [bash, -c, 'source /x && /etc/confluent/docker/run']\n")) == []
    )


def test_a_config_map_gives_variables() -> None:
    configuration = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: data}\n"
        "data: {KAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://localhost:9092'}\n"
    )
    from_map = "          envFrom: [{configMapRef: {name: c}}]\n"
    text = brokers("", command=from_map, more=configuration)
    assert told(text) == ["localhost:9092"] * 3
    (first, *_) = [f for f in found_in(text) if f.rule == "kubernetes-advertised-unreachable"]
    assert isinstance(first.location, FileLocation)
    assert text.splitlines()[first.location.line - 1].startswith("data:")
    assert errors(brokers("", command="          envFrom: [{secretRef: {name: s}}]\n")) == []


PORT = "{port: 9092, targetPort: plain}"


NODE_PORT = SERVICE % ("type: NodePort, ", "{port: 9092, nodePort: 30092}")
LOCAL = SERVICE % ("type: NodePort, externalTrafficPolicy: Local, ", "{port: 9092, nodePort: 30092}")
BALANCER = SERVICE % ("type: LoadBalancer, ", PORT)
INSIDE = SERVICE % ("", PORT)
SHARED, UNREACHABLE = "kubernetes-advertised-shared", "kubernetes-advertised-unreachable"


@pytest.mark.parametrize(
    ("advertised", "service", "rules"),
    [
        (OWN_NAME, INSIDE, set()),
        ("PLAINTEXT://$(POD_NAME).kafka-pods.data.svc.cluster.local:9092", INSIDE, set()),
        ("PLAINTEXT://$(POD_IP):9092", INSIDE, set()),
        ("PLAINTEXT://$(POD_NAME):9092", INSIDE, {UNREACHABLE}),
        ("PLAINTEXT://localhost:9092", INSIDE, {UNREACHABLE}),
        ("PLAINTEXT://$(POD_NAME).kafka:9092", INSIDE, set()),
        ("PLAINTEXT://$(POD_NAME).kafka.data.svc:9092", INSIDE, {UNREACHABLE}),
        ("PLAINTEXT://kafka:9092", INSIDE, {SHARED}),
        ("PLAINTEXT://kafka:9093", INSIDE, {SHARED, UNREACHABLE}),
        (OWN_NAME, NODE_PORT, {UNREACHABLE}),
        (OWN_NAME, BALANCER, {UNREACHABLE}),
        ("PLAINTEXT://$(HOST_IP):30092", NODE_PORT, {SHARED}),
        ("PLAINTEXT://$(HOST_IP):30092", LOCAL, set()),
        ("PLAINTEXT://$(HOST_IP):30099", NODE_PORT, {UNREACHABLE}),
        ("PLAINTEXT://$(POD_NAME).example.com:9092", BALANCER, set()),
        (OWN_NAME, SERVICE % ("", "{port: 9092, targetPort: client}"), {"kubernetes-service-target-port"}),
        (OWN_NAME, SERVICE % ("", "{port: 8080, targetPort: 8080}"), set()),
    ],
)
def test_what_services_and_advertised_addresses_make(advertised: str, service: str, rules: set[str]) -> None:
    assert set(errors(brokers(advertised, more=service))) == rules


def test_where_names_and_ports_lead() -> None:
    manifests = manifests_of(
        brokers(more=SERVICE % ("type: NodePort, ", "{port: 9095, targetPort: plain, nodePort: 30092}"))
    )

    def at(host: str, port: int) -> list[type]:
        places = (pod_place("data"), ELSEWHERE, ON_NODE, OUTSIDE)
        return [type(contact(manifests, place, Address(host=host, port=port))) for place in places]

    assert at("kafka", 9095) == [Answered, Failed, Failed, Failed]
    assert at("kafka.data", 9095) == [Answered, Answered, Failed, Failed]
    assert at("kafka.data.svc.cluster.local", 9095) == [Answered, Answered, Failed, Failed]
    assert at("kafka", 9092) == [Failed] * 4
    assert at("kafka-pods", 9092) == [Answered, Failed, Failed, Failed]
    assert at("kafka-1.kafka-pods.data", 9092) == [Answered, Answered, Failed, Failed]
    assert at("kafka-1", 9092) == [Failed] * 4
    assert at("kafka-7.kafka-pods.data.svc", 9092)[0] is Unknown
    assert at("kafka-1.kafka-pod.data.svc", 9092) == [Failed] * 4
    assert at("kafka-1.kafka-pod.data.svc.cluster.local", 9092) == [Failed] * 4
    assert at("kafka-1.kafka-pod.other.svc", 9092)[0] is Unknown
    assert at("kafka-1.data.svc", 9092)[0] is Unknown
    assert at("<node>", 30092) == [Answered] * 4
    assert at("<node>", 9092) == [Failed] * 4
    assert at("kafka.other.svc", 9095)[0] is Unknown
    assert at("localhost", 9092) == [Failed] * 4


def test_ids_of_replicas() -> None:
    same = brokers().replace("env:\n", "env:\n            - {name: KAFKA_BROKER_ID, value: '1'}\n")
    assert "kubernetes-node-id" in errors(same)
    path = "metadata.labels['apps.kubernetes.io/pod-index']"
    index = f'            - {{name: KAFKA_BROKER_ID, valueFrom: {{fieldRef: {{fieldPath: "{path}"}}}}}}\n'
    assert errors(brokers().replace("env:\n", "env:\n" + index)) == []


def test_variables_that_grow_tenfold_each_are_unknown_and_take_no_memory() -> None:
    grown = "".join(f"            - {{name: V{n}, value: '{f'$(V{n - 1})' * 10}'}}\n" for n in range(1, 40))
    listeners = "            - {name: KAFKA_LISTENERS,"
    text = brokers("PLAINTEXT://$(V39):9092").replace(
        listeners, f"            - {{name: V0, value: xxxxxxxxxx}}\n{grown}{listeners}"
    )
    script = "V0=xxxxxxxxxx\\n" + "".join(f"V{n}={f'$V{n - 1}' * 10}\\n" for n in range(1, 40))
    script += "export KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://$V39:9092; exec run"
    shell = f'          command: ["sh", "-c", "{script}"]\n'
    for made in (text, brokers("", command=shell)):
        tracemalloc.start()
        try:
            assert set(told(made)) <= {"None"}
            assert tracemalloc.get_traced_memory()[1] < 64 << 20
        finally:
            tracemalloc.stop()
