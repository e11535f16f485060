"""Connect workers in nine arrangements, broken and repaired: what the files foretell, and who reaches whom."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.lab.connect_image import CP_CONNECT
from tests.lab.engine import HOST_ADDRESS
from tests.lab.image_set import APACHE_3

_HEAD = f"""\
name: connect
services:
  kafka:
    image: {APACHE_3}
    networks: [front, back]
    ports: ["9092:9092"]
    environment:
      CLUSTER_ID: 5L6g3nShT-eMCtK--X86sw
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@localhost:19093
      KAFKA_LISTENERS: INTERNAL://:29092,HOST://:9092,CONTROLLER://:19093
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,HOST://{HOST_ADDRESS}:9092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,HOST:PLAINTEXT,CONTROLLER:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
      KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS: 1
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: 1
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: 1
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: 0
      KAFKA_HEAP_OPTS: -Xmx350m -Xms350m
"""
_JSON = "org.apache.kafka.connect.json.JsonConverter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """One worker. `port` is where it listens, `variables` what it has beside those of all workers, "" for none."""

    variables: Mapping[str, str] = field(default_factory=dict)
    networks: tuple[str, ...] = ("front",)
    on_host: bool = False
    published: str = ""
    port: int = 8083


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """`rules` are the findings of the broken file, each as "rule service"; the repaired one has none.

    `listed_by`: which workers list a connector that the second one is asked for if the file is broken; only the second
    one does if it is repaired. `prints`: what the second one prints again and again instead of working. Without either,
    forwarding is what fails.
    """

    name: str
    broken: Mapping[str, Worker]
    repaired: Mapping[str, Worker]
    rules: tuple[str, ...]
    listed_by: tuple[str, ...] = ()
    prints: str = ""


def compose_text(workers: Mapping[str, Worker]) -> str:
    """The compose file of a broker and these workers."""
    return _HEAD + "".join(_service(name, worker) for name, worker in workers.items()) + "networks: {front: , back: }\n"


def _service(name: str, worker: Worker) -> str:
    environment = {
        "CONNECT_BOOTSTRAP_SERVERS": f"{HOST_ADDRESS}:9092" if worker.on_host else "kafka:29092",
        "CONNECT_GROUP_ID": "connect",
        "CONNECT_CONFIG_STORAGE_TOPIC": "connect-configs",
        "CONNECT_OFFSET_STORAGE_TOPIC": "connect-offsets",
        "CONNECT_STATUS_STORAGE_TOPIC": "connect-status",
        "CONNECT_CONFIG_STORAGE_REPLICATION_FACTOR": "1",
        "CONNECT_OFFSET_STORAGE_REPLICATION_FACTOR": "1",
        "CONNECT_OFFSET_STORAGE_PARTITIONS": "1",
        "CONNECT_STATUS_STORAGE_REPLICATION_FACTOR": "1",
        "CONNECT_STATUS_STORAGE_PARTITIONS": "1",
        "CONNECT_SCHEDULED_REBALANCE_MAX_DELAY_MS": "0",
        "CONNECT_KEY_CONVERTER": _JSON,
        "CONNECT_VALUE_CONVERTER": _JSON,
        "CONNECT_REST_ADVERTISED_HOST_NAME": name,
        **worker.variables,
    }
    where = "network_mode: host" if worker.on_host else f"networks: {json.dumps(worker.networks)}"
    ports = f"    ports: [{json.dumps(worker.published)}]\n" if worker.published else ""
    return f"  {name}:\n    image: {CP_CONNECT}\n    {where}\n{ports}    environment:\n" + "".join(
        f"      {variable}: {json.dumps(value)}\n" for variable, value in environment.items()
    )


def replicas_text(*, repaired: bool) -> str:
    """Two replicas of a worker that advertise the name of the service; repaired, each its own address."""
    address = "export CONNECT_REST_ADVERTISED_HOST_NAME=$$(hostname -i) && /etc/confluent/docker/run"
    keys = "    scale: 2\n" + (f"    command: [bash, -c, {json.dumps(address)}]\n" if repaired else "")
    return compose_text({"connect": Worker()}).replace(f"    image: {CP_CONNECT}\n", f"    image: {CP_CONNECT}\n{keys}")


REGISTRY = "confluentinc/cp-schema-registry:7.9.1"
REST_PROXY = "confluentinc/cp-kafka-rest:7.9.1"
KSQLDB = "confluentinc/cp-ksqldb-server:7.9.1"
# Where the stand-ins listen, by service: scheme, address and port. Their images only stay.
STAND_INS = {
    "registry": ("http", "0.0.0.0", 8081),
    "secure": ("https", "0.0.0.0", 8081),
    "proxy": ("http", "0.0.0.0", 8082),
    "ksqldb": ("http", "127.0.0.1", 8088),
    "away": ("http", "0.0.0.0", 8088),
}
_STAYS = 'command: [sh, -c, "exec sleep infinity"]'
URLS = f"""\
  registry:
    image: {REGISTRY}
    networks: [front]
    ports: ["8085:8081"]
    {_STAYS}
    environment: &registry
      SCHEMA_REGISTRY_HOST_NAME: registry
      SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS: PLAINTEXT://kafka:29092
  secure:
    image: {REGISTRY}
    networks: [front]
    {_STAYS}
    environment:
      <<: *registry
      SCHEMA_REGISTRY_HOST_NAME: no-such-name
      SCHEMA_REGISTRY_LISTENERS: https://0.0.0.0:8081
  proxy:
    image: {REST_PROXY}
    networks: [front]
    {_STAYS}
    environment:
      KAFKA_REST_BOOTSTRAP_SERVERS: kafka:29092
      KAFKA_REST_SCHEMA_REGISTRY_URL: http://registry:8081
  ksqldb:
    image: {KSQLDB}
    networks: [front]
    {_STAYS}
    environment:
      KSQL_BOOTSTRAP_SERVERS: kafka:29092
      KSQL_LISTENERS: http://127.0.0.1:8088
      KSQL_KSQL_SCHEMA_REGISTRY_URL: http://localhost:8081
  away:
    image: {KSQLDB}
    networks: [back]
    {_STAYS}
    environment:
      KSQL_BOOTSTRAP_SERVERS: kafka:29092
      KSQL_KSQL_SERVICE_ID: away_
      KSQL_KSQL_SCHEMA_REGISTRY_URL: http://registry:8081
  console:
    image: {REGISTRY}
    networks: [front]
    command: [sleep, infinity]
    environment:
      KAFKA_CLUSTERS_0_SCHEMAREGISTRY: http://user:secret@registry:8081/path
      KAFKA_CLUSTERS_1_SCHEMAREGISTRY: http://registry:8085
      KAFKA_CLUSTERS_2_SCHEMAREGISTRY: http://registri:8081
      KAFKA_CLUSTERS_3_SCHEMAREGISTRY: https://registry:8081
      KAFKA_CLUSTERS_4_SCHEMAREGISTRY: http://secure:8081
      KAFKA_CLUSTERS_5_SCHEMAREGISTRY: https://secure:8081
      KAFKA_CLUSTERS_6_SCHEMAREGISTRY: http://localhost:8081
      KAFKA_CLUSTERS_7_SCHEMAREGISTRY: http://{HOST_ADDRESS}:8085
      KAFKA_CLUSTERS_8_SCHEMAREGISTRY: http://registry
      KAFKA_CLUSTERS_9_SCHEMAREGISTRY: http://kafka:29092
      KAFKA_REST_URL: http://proxy:8082
      KAFKA_CLUSTERS_0_KSQLDBSERVER: http://ksqldb:8088
      KAFKA_CLUSTERS_1_KSQLDBSERVER: http://away:8088
networks: {{front: , back: }}
"""


def urls_text() -> str:
    """A broker, stand-ins for the services whose images the lab does not have, and a console that is told URLs."""
    return _HEAD + URLS


def _advertising(host: str, **more: str) -> Worker:
    return Worker(variables={"CONNECT_REST_ADVERTISED_HOST_NAME": host, **more})


def _cluster(name: str, *, group: str, config: str) -> Worker:
    return Worker(
        variables={
            "CONNECT_GROUP_ID": group,
            "CONNECT_CONFIG_STORAGE_TOPIC": f"{config}-configs",
            "CONNECT_OFFSET_STORAGE_TOPIC": f"{name}-offsets",
            "CONNECT_STATUS_STORAGE_TOPIC": f"{name}-status",
        }
    )


# A worker that binds no name asks for the address of its host name, which the lab's docker host does not know.
_ON_HOST = Worker(
    variables={"CONNECT_LISTENERS": "http://0.0.0.0:8093", "CONNECT_REST_ADVERTISED_HOST_NAME": HOST_ADDRESS},
    on_host=True,
    port=8093,
)
_TWO = {"connect-1": Worker(), "connect-2": Worker()}
_APART = {
    "orders": _cluster("orders", group="orders", config="orders"),
    "payments": _cluster("payments", group="payments", config="payments"),
}

ARRANGEMENTS = (
    Arrangement(
        name="loopback",
        broken={"connect-1": _advertising("localhost"), "connect-2": _advertising("localhost")},
        repaired=_TWO,
        rules=("rest-advertised-loopback connect-1", "rest-advertised-loopback connect-2"),
    ),
    Arrangement(
        name="wildcard",
        broken={"connect-1": _advertising("0.0.0.0"), "connect-2": Worker()},
        repaired=_TWO,
        rules=("rest-advertised-loopback connect-1",),
    ),
    Arrangement(
        name="unknown name",
        broken={"connect-1": Worker(), "connect-2": _advertising("worker-2")},
        repaired=_TWO,
        rules=("rest-advertised-unreachable connect-2",),
    ),
    Arrangement(
        name="other network",
        broken={"connect-1": Worker(), "connect-2": Worker(networks=("back",))},
        repaired={"connect-1": Worker(), "connect-2": Worker(networks=("back", "front"))},
        rules=("rest-advertised-unreachable connect-1", "rest-advertised-unreachable connect-2"),
    ),
    Arrangement(
        name="other port",
        broken={
            "connect-1": _advertising("connect-1", CONNECT_REST_ADVERTISED_PORT="8084"),
            # Kafka 3.0 and newer do not know rest.port.
            "connect-2": _advertising("connect-2", CONNECT_REST_PORT="8085"),
        },
        repaired={"connect-1": _advertising("connect-1", CONNECT_REST_ADVERTISED_PORT="8083"), "connect-2": Worker()},
        rules=("rest-advertised-unreachable connect-1",),
    ),
    Arrangement(
        name="bound to loopback",
        broken={
            "connect-1": Worker(),
            "connect-2": _advertising("connect-2", CONNECT_LISTENERS="http://127.0.0.1:8083"),
        },
        repaired={
            "connect-1": Worker(),
            "connect-2": _advertising("connect-2", CONNECT_LISTENERS="http://0.0.0.0:8083"),
        },
        rules=("rest-advertised-unreachable connect-2",),
    ),
    Arrangement(
        name="one worker on the docker host",
        broken={"connect-1": _advertising(HOST_ADDRESS), "connect-2": _ON_HOST},
        repaired={
            "connect-1": Worker(variables={"CONNECT_REST_ADVERTISED_HOST_NAME": HOST_ADDRESS}, published="8083:8083"),
            "connect-2": _ON_HOST,
        },
        rules=("rest-advertised-unreachable connect-1",),
    ),
    Arrangement(
        name="one group for two clusters",
        broken={
            "orders": _cluster("orders", group="connect", config="orders"),
            "payments": _cluster("payments", group="connect", config="payments"),
        },
        repaired=_APART,
        rules=("connect-group-shared payments",),
        prints="does not match group assignment",
    ),
    Arrangement(
        name="one topic for two clusters",
        broken={
            "orders": _cluster("orders", group="orders", config="orders"),
            "payments": _cluster("payments", group="payments", config="orders"),
        },
        repaired=_APART,
        rules=("connect-topics-shared payments",),
        listed_by=("orders", "payments"),
    ),
)
