"""The places a client can stand, made where they do not exist yet.

H docker host, L a machine on its LAN, B inside a broker's own namespace, C a container on the
brokers' network, O a container on another user network, D one on the default bridge. Clients are
run from the place, never through `docker exec`: broker images hold no clients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.lab.containers import Container, inspect
from tests.lab.image_set import CLIENT
from tests.lab.namespaces import Place
from tests.lab.stack import HELPER_LABEL, Stack


@dataclass(frozen=True, slots=True, kw_only=True)
class Vantage:
    """A named place; `container_id` is set where it is inside a container."""

    name: str
    place: Place
    container_id: str = ""


def docker_host(stack: Stack) -> Vantage:
    """H."""
    return Vantage(name="H", place=stack.engine.host)


def lan_machine(stack: Stack) -> Vantage:
    """L."""
    return Vantage(name="L", place=stack.engine.lan)


def inside(stack: Stack, service: str) -> Vantage:
    """B: the namespace, hosts file and resolver of a running service's container."""
    found = stack.state(service)
    return Vantage(name=f"B({service})", place=found.place, container_id=found.id)


def same_network(stack: Stack, network: str | None = None) -> Vantage:
    """C: a client container on `network`, by default the first broker's first one."""
    chosen = network or sorted(stack.brokers()[0].networks)[0]
    made = _client(stack, f"c-{chosen}", ["--network", chosen])
    return Vantage(name="C", place=made.place, container_id=made.id)


def other_network(stack: Stack) -> Vantage:
    """O: a client container on a user network that no broker is on."""
    name = f"{stack.project}-elsewhere"
    if name not in stack.engine.docker("network", "ls", "--format", "{{.Name}}").split():
        stack.engine.docker("network", "create", "--label", _label(stack), name)
    made = _client(stack, "o", ["--network", name])
    return Vantage(name="O", place=made.place, container_id=made.id)


def default_bridge(stack: Stack) -> Vantage:
    """D: a client container on the engine's default bridge."""
    made = _client(stack, "d", [])
    return Vantage(name="D", place=made.place, container_id=made.id)


def _client(stack: Stack, what: str, options: Sequence[str]) -> Container:
    """The long-running client container of that name; made the first time."""
    name = f"{stack.project}-client-{what}"
    there = stack.engine.docker("ps", "-q", "--no-trunc", "--filter", f"name=^{name}$").split()
    if not there:
        label = ["--label", _label(stack)]
        argv = ["run", "-d", "--init", "--name", name, *label, *options, CLIENT]
        there = [stack.engine.docker(*argv).strip()]
    return inspect(stack.engine, there[0])[0]


def _label(stack: Stack) -> str:
    return f"{HELPER_LABEL}={stack.project}"
