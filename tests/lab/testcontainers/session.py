"""A session of tests: starts the containers of a plan (JSON, the first argument), and keeps them until standard input
ends. It prints a line for each that has started, "NAME ID BOOTSTRAP", and then "ready".
"""

import json
import sys
import threading
from typing import Any

from testcontainers.community.kafka import KafkaContainer, kafka_config
from testcontainers.core.container import DockerContainer
from testcontainers.core.network import Network

networks: dict[str, Network] = {}
started: list[DockerContainer] = []


class Broker(KafkaContainer):
    """A broker that joins further networks before its script comes, as the fixtures of some projects have it."""

    further: tuple[str, ...] = ()

    def tc_start(self) -> None:
        """Join, then copy the script."""
        for name in self.further:
            network(name).connect(self.get_wrapped_container().id)
        super().tc_start()


def network(name: str) -> Network:
    """The session's own network of a name."""
    if name not in networks:
        networks[name] = Network().create()
    return networks[name]


def start(plan: dict[str, Any]) -> None:
    """One container."""
    if not plan.get("kafka"):
        made: Any = DockerContainer(plan["image"])
    else:
        made = Broker(plan["image"]).with_kraft()
        made.further = tuple(plan.get("networks", ())[1:])
        kafka_config.limit_broker_to_first_host = plan.get("first_host_only", False)
    for name in plan.get("networks", ())[:1]:
        made.with_network(network(name))
    if plan.get("aliases"):
        made.with_network_aliases(*plan["aliases"])
    for name, value in plan.get("environment", {}).items():
        made.with_env(name, value)
    if plan.get("kafka"):
        made.start(timeout=90)
    else:
        made.start()
    started.append(made)
    bootstrap = made.get_bootstrap_server() if plan.get("kafka") else "-"
    print(plan["name"], made.get_wrapped_container().id, bootstrap, flush=True)


def told(plan: dict[str, Any]) -> None:
    """Start what is expected to fail."""
    try:
        start(plan)
    except Exception as error:  # noqa: BLE001
        print("failed", repr(error)[:200], flush=True)


for each in json.loads(sys.argv[1])["containers"]:
    if each.get("fails"):
        threading.Thread(target=told, args=(each,), daemon=True).start()
    else:
        start(each)
print("ready", flush=True)
sys.stdin.read()
for container in started:
    container.stop()
for one in networks.values():
    one.remove()
