"""Containers as the engine describes them, cut down to what the lab asks about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.lab.engine import Engine
from tests.lab.namespaces import Place

_BROKER_IMAGES = ("confluentinc/cp-kafka:", "apache/kafka:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """One container at one moment."""

    id: str
    service: str
    image: str
    status: str
    exit_code: int
    pid: int
    environment: Mapping[str, str]
    networks: Mapping[str, str]
    hosts: Path
    resolv_conf: Path

    @property
    def is_running(self) -> bool:
        """Running now; a restarting container is not."""
        return self.status == "running" and self.pid > 0

    @property
    def is_broker(self) -> bool:
        """A Kafka node that serves clients; a pure controller does not."""
        roles = self.environment.get("KAFKA_PROCESS_ROLES", "")
        return self.image.startswith(_BROKER_IMAGES) and roles != "controller" and not self._is_job

    @property
    def _is_job(self) -> bool:
        """A job that has a broker's image for its tools: configured as no broker, and on no network."""
        configured = any(name.startswith("KAFKA_") for name in self.environment)
        return not configured and set(self.networks) <= {"none"}

    @property
    def node_id(self) -> int | None:
        """The node id that its environment asks for; None where the broker will choose one."""
        for name in ("KAFKA_NODE_ID", "KAFKA_BROKER_ID"):
            value = self.environment.get(name, "")
            if value.lstrip("-").isdigit():
                return int(value) if int(value) >= 0 else None
        return None

    @property
    def place(self) -> Place:
        """Where a process inside it stands: its namespace, hosts file and resolver."""
        return Place(netns=Path(f"/proc/{self.pid}/ns/net"), hosts=self.hosts, resolv_conf=self.resolv_conf)


def list_containers(engine: Engine, project: str) -> list[Container]:
    """Every container of a compose project, stopped ones included, in order of service."""
    filters = json.dumps({"label": [f"com.docker.compose.project={project}"]})
    return inspect(engine, *(one["Id"] for one in engine.ask(f"/containers/json?all=1&filters={quote(filters)}")))


def inspect(engine: Engine, *ids: str) -> list[Container]:
    """The containers of these ids."""
    found = [engine.ask(f"/containers/{quote(each)}/json") for each in ids]
    return sorted(map(_parse, found), key=lambda container: container.service)


def _parse(found: Mapping[str, Any]) -> Container:
    config, state = found["Config"], found["State"]
    networks = found["NetworkSettings"]["Networks"]
    return Container(
        id=found["Id"],
        service=(config["Labels"] or {}).get("com.docker.compose.service", found["Name"][1:]),
        # Podman tells the full name.
        image=config["Image"].removeprefix("docker.io/"),
        status=state["Status"],
        exit_code=state["ExitCode"],
        pid=state["Pid"],
        environment=dict(entry.split("=", 1) for entry in config["Env"] or [] if "=" in entry),
        networks={name: one["IPAddress"] for name, one in networks.items()},
        hosts=Path(found["HostsPath"]),
        resolv_conf=Path(found["ResolvConfPath"]),
    )
