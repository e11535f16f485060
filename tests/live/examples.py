"""The examples of the rules as compose files that the lab can start.

What stands for a program of the user's (example/...) becomes a client machine, a ZooKeeper that is named but not shown
is added on the networks of those who name it. All else is started as the rule has it.
"""

import io
import json
import re
from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML

from tests.lab.image_set import CLIENT, CP_ZOOKEEPER

Compose = dict[str, Any]

_EXAMPLE = "example/"
# Where brokers look for ZooKeeper, and how to put one there.
_ZOOKEEPERS: Mapping[str, Mapping[str, Any]] = {
    "zookeeper:2181": {},
    "localhost:2181": {"network_mode": "host"},
    "172.17.0.1:2181": {"network_mode": "bridge", "ports": ["2181:2181"]},
}
# A machine that starts many brokers at once is slower than a broker is patient.
_PATIENT = {"KAFKA_ZOOKEEPER_CONNECTION_TIMEOUT_MS": 90_000, "KAFKA_ZOOKEEPER_SESSION_TIMEOUT_MS": 30_000}


def compose_of(text: str) -> Compose:
    """A compose file's text as plain data."""
    loaded: Compose = YAML(typ="safe", pure=True).load(io.StringIO(text))
    return loaded


def text_of(compose: Compose) -> str:
    """Plain data as a compose file's text."""
    return json.dumps(compose, indent=1)


def startable(text: str, replaced: tuple[str, str] | None = None) -> Compose:
    """An example as the lab starts it; `replaced` puts an address of the lab in place of one of the example."""
    compose = compose_of(text.replace(*replaced) if replaced else text)
    for service in compose["services"].values():
        if service["image"].startswith(_EXAMPLE):
            service["image"] = CLIENT
    _add_zookeeper(compose)
    return compose


def start_last(compose: Compose, service: str) -> None:
    """Make a service start after all others and one more container on its networks."""
    services = compose["services"]
    services["earlier"] = {"image": CP_ZOOKEEPER, "entrypoint": ["sleep", "infinity"]}
    services["earlier"]["networks"] = services[service]["networks"]
    services[service]["depends_on"] = [name for name in services if name != service]


def clients(compose: Compose) -> tuple[str, ...]:
    """The services that stand for the user's programs."""
    return tuple(name for name, service in compose["services"].items() if service["image"] == CLIENT)


def is_alone_on_the_host(compose: Compose) -> bool:
    """Whether it takes ports or addresses of the docker host, so that no other such stack can run beside it."""
    if any("ipam" in (network or {}) for network in compose.get("networks", {}).values()):
        return True
    return any("ports" in one or one.get("network_mode") == "host" for one in compose["services"].values())


def images(text: str) -> set[str]:
    """The images that a compose file names."""
    return set(re.findall(r"""image"?: "?([^\s"]+)""", text))


def _add_zookeeper(compose: Compose) -> None:
    services = compose["services"]
    asking = {name: where for name, one in services.items() if (where := _zookeeper_of(one)) in _ZOOKEEPERS}
    if not asking or any("zookeeper" in one["image"] for one in services.values()):
        return
    networks = sorted({network for name in asking for network in services[name].get("networks", ())})
    services["zookeeper"] = {
        "image": CP_ZOOKEEPER,
        "environment": {"ZOOKEEPER_CLIENT_PORT": 2181, "KAFKA_HEAP_OPTS": "-Xmx128m"},
        **({"networks": networks} if networks else {}),
        **_ZOOKEEPERS[next(iter(asking.values()))],
    }
    for name in asking:
        environment = services[name]["environment"]
        if isinstance(environment, dict):
            environment.update(_PATIENT)


def _zookeeper_of(service: Mapping[str, Any]) -> str:
    environment = service.get("environment", {})
    if isinstance(environment, list):
        environment = dict(entry.split("=", 1) for entry in environment if "=" in entry)
    return str(environment.get("KAFKA_ZOOKEEPER_CONNECT", ""))
