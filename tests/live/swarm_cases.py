"""Stacks for a swarm of two nodes, and what clients get at the addresses of their brokers, from five places.

The places, in the order of the words: both nodes, a machine outside of them, a container of the service `client` on
each node. A word stands for what comes first: the reason of a bootstrap that fails, else that of the whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass

PLACES = ("node 0", "node 1", "L", "client 0", "client 1")
_ONE, _TWO = "192.168.8.133:9094", "192.168.8.134:9094"


@dataclass(frozen=True, slots=True, kw_only=True)
class SwarmCase:
    """Stacks, the first with the brokers; the words by address; the rules of errors in each file.

    `client` is where the service `client` is, as `SwarmStack.inside` names it. "shared": two brokers have one address,
    so a client reaches one of them at most.
    """

    files: tuple[str, ...]
    cells: Mapping[str, str]
    errors: tuple[str, ...] = ()
    client: str = "client"


def _broker(
    name: str,
    advertised: str,
    *,
    node: int = 0,
    number: str = "1",
    voters: str = "1@localhost:9093",
    deploy: str = "",
    more: str = "",
    networks: str = "[near]",
) -> str:
    role = "manager" if node == 0 else "worker"
    placed = deploy or f"placement: {{constraints: [node.role == {role}]}}"
    port = "    ports: [{target: 9094, published: 9094, mode: host}]\n" if "OUTSIDE" in advertised else ""
    external = ",OUTSIDE://:9094" if "OUTSIDE" in advertised else ""
    return f"""\
  {name}:
    image: apache/kafka:3.9.1
    deploy: {{endpoint_mode: dnsrr, {placed}}}
    networks: {networks}
{port}{more}    environment:
      KAFKA_NODE_ID: "{number}"
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_QUORUM_VOTERS: "{voters}"
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093{external}
      KAFKA_ADVERTISED_LISTENERS: "{advertised}"
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,OUTSIDE:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: PLAINTEXT
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
"""


def _stack(*services: str, networks: str = "  near:\n", client: bool = True) -> str:
    return "\n".join(('version: "3.8"', "services:", *services, *([_CLIENT] if client else []), "networks:", networks))


_CLIENT = """\
  client:
    image: netdiag-lab/client:1
    init: true
    deploy: {endpoint_mode: dnsrr, mode: global}
    networks: [near]
"""
_NOWHERE = "unresolved unresolved unresolved"
_REPLICAS = "replicas: 2, placement: {max_replicas_per_node: 1}"
_QUORUM = "1@kafka-1:9093,2@kafka-2:9093"
_SLOT = '    hostname: "kafka-{{.Task.Slot}}"\n'
_THREE = "1@one:9093,2@two:9093,3@three:9093"

CASES: Mapping[str, SwarmCase] = {
    "a service's name": SwarmCase(
        files=(_stack(_broker("kafka", "PLAINTEXT://kafka:9092")),),
        cells={
            "kafka:9092": f"{_NOWHERE} ok ok",
            "tasks.kafka:9092": f"{_NOWHERE} ok ok",
            "localhost:9092": "refused refused refused refused refused",
        },
    ),
    "tasks.NAME, on the worker": SwarmCase(
        files=(_stack(_broker("kafka", "PLAINTEXT://tasks.kafka:9092", node=1)),),
        cells={"kafka:9092": f"{_NOWHERE} ok ok", "tasks.kafka:9092": f"{_NOWHERE} ok ok"},
    ),
    "localhost on an overlay network": SwarmCase(
        files=(_stack(_broker("kafka", "PLAINTEXT://localhost:9092")),),
        cells={"kafka:9092": f"{_NOWHERE} advertised advertised"},
    ),
    "replicas with one name": SwarmCase(
        files=(
            _stack(
                _broker(
                    "kafka",
                    "PLAINTEXT://kafka:9092",
                    number="{{.Task.Slot}}",
                    voters=_QUORUM,
                    deploy=_REPLICAS,
                    more=_SLOT,
                )
            ),
        ),
        cells={"kafka:9092": f"{_NOWHERE} shared shared"},
        errors=("replicas-share-endpoint",),
    ),
    "replicas with a name each": SwarmCase(
        files=(
            _stack(
                _broker(
                    "kafka",
                    "PLAINTEXT://kafka-{{.Task.Slot}}:9092",
                    number="{{.Task.Slot}}",
                    voters=_QUORUM,
                    deploy=_REPLICAS,
                    more=_SLOT,
                )
            ),
        ),
        cells={
            "kafka:9092": f"{_NOWHERE} ok ok",
            "kafka-1:9092": f"{_NOWHERE} ok ok",
            "kafka-2:9092": f"{_NOWHERE} ok ok",
        },
    ),
    "a port in host mode": SwarmCase(
        files=(_stack(_broker("kafka", f"PLAINTEXT://kafka:9092,OUTSIDE://{_ONE}")),),
        cells={
            _ONE: "ok ok ok ok ok",
            "localhost:9094": "ok refused refused refused refused",
            "kafka:9092": f"{_NOWHERE} ok ok",
        },
    ),
    "a port in host mode, told as localhost": SwarmCase(
        files=(_stack(_broker("kafka", "PLAINTEXT://kafka:9092,OUTSIDE://localhost:9094")),),
        cells={
            _ONE: "ok advertised advertised advertised advertised",
            "localhost:9094": "ok refused refused refused refused",
            "kafka:9092": f"{_NOWHERE} ok ok",
        },
    ),
    "two stacks on networks of their own": SwarmCase(
        files=(_stack(_broker("kafka", "PLAINTEXT://kafka:9092"), client=False), _stack()),
        cells={"kafka:9092": f"{_NOWHERE} unresolved unresolved"},
        client="b/client",
    ),
    "two stacks on one network": SwarmCase(
        files=(
            _stack(
                _broker("kafka", "PLAINTEXT://kafka:9092"),
                client=False,
                networks="  near: {name: nd-shared, attachable: true}\n",
            ),
            _stack(networks="  near: {name: nd-shared, external: true}\n"),
        ),
        cells={"kafka:9092": f"{_NOWHERE} ok ok", "tasks.kafka:9092": f"{_NOWHERE} ok ok"},
        client="b/client",
    ),
    "three brokers on two nodes": SwarmCase(
        files=(
            _stack(
                _broker("one", f"PLAINTEXT://one:9092,OUTSIDE://{_ONE}", voters=_THREE),
                _broker("two", f"PLAINTEXT://two:9092,OUTSIDE://{_TWO}", number="2", node=1, voters=_THREE),
                _broker("three", "PLAINTEXT://tasks.three:9092", number="3", node=1, voters=_THREE),
            ),
        ),
        cells={
            "one:9092": f"{_NOWHERE} ok ok",
            "two:9092": f"{_NOWHERE} ok ok",
            "tasks.three:9092": f"{_NOWHERE} ok ok",
            _ONE: "ok ok ok ok ok",
            _TWO: "ok ok ok ok ok",
        },
    ),
}
