"""A swarm of two engines: what its overlay networks do here, and what takes more kernel than there is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.namespaces import Place
from tests.lab.processes import run
from tests.lab.swarm import ADDRESSES, HOSTNAMES, Swarm, SwarmStack

_STAYS = "{image: netdiag-lab/client:1, init: true, networks: {near: {aliases: [called]}}"
_STACK = f"""\
services:
  one: {_STAYS}, container_name: ignored, hostname: "h-{{{{.Task.Slot}}}}-{{{{.Node.Hostname}}}}",
    deploy: {{endpoint_mode: dnsrr, replicas: 2, placement: {{max_replicas_per_node: 1}}}}}}
  virtual: {_STAYS}, deploy: {{placement: {{constraints: [node.role == manager]}}}}}}
networks:
  near: {{attachable: true}}
version: "3.8"
"""
_LISTEN = "import socket; s = socket.create_server(('', 7000)); [s.accept() for _ in range(9)]"


@pytest.fixture(scope="module")
def stack(swarm: Swarm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SwarmStack]:
    file = tmp_path_factory.mktemp("swarm") / "stack.yml"
    file.write_text(_STACK)
    with swarm.deployed(file) as running:
        yield running


def _addresses(place: Place, name: str) -> set[str]:
    said = run(place.argv(["getent", "ahostsv4", name]), check=False).stdout
    return {line.split()[0] for line in said.splitlines()}


def test_the_nodes_see_each_other_and_nothing_else(swarm: Swarm) -> None:
    for each, other in zip(swarm.engines, reversed(ADDRESSES), strict=True):
        assert run(each.host.argv(["ping", "-c1", "-W2", other])).returncode == 0
        assert "default" not in run(each.host.argv(["ip", "route"])).stdout
    said = swarm.manager.docker("node", "ls", "--format", "{{.Hostname}} {{.Status}}")
    assert sorted(said.split("\n")[:2]) == [f"{name} Ready" for name in HOSTNAMES]


def test_names_lead_to_tasks_on_either_node(stack: SwarmStack) -> None:
    tasks = [stack.inside("one", node) for node in (0, 1)]
    own = [next(iter(one.networks.values())) for one in stack.containers() if "_one." in one.service]
    for one in tasks:
        assert _addresses(one.place, "ignored") == set(), "docker stack deploy ignores container_name"
        for name in ("one", "tasks.one", f"{stack.project}_one", f"tasks.{stack.project}_one"):
            assert _addresses(one.place, name) == set(own), name
        for container in stack.containers():
            address = next(iter(container.networks.values()))
            assert _addresses(one.place, container.service) == {address}
            assert _addresses(one.place, container.id[:12]) == {address}
        found = {name: _addresses(one.place, name) for name in (f"h-{n}-{h}" for n in (1, 2) for h in HOSTNAMES)}
        assert sorted(address for some in found.values() for address in some) == sorted(own)


def test_a_virtual_address_needs_what_this_kernel_lacks(stack: SwarmStack) -> None:
    """The task itself answers; its service's address does not, as nothing shares it out (IP_VS)."""
    virtual, client = stack.inside("virtual", 0), stack.inside("one", 1)
    with_server = stack.swarm.manager.docker("exec", "-d", virtual.container_id, "python3", "-c", _LISTEN)
    assert with_server == ""
    assert _connects(client.place, "tasks.virtual")
    if not Path("/proc/net/ip_vs").exists():
        assert not _connects(client.place, "virtual")
    assert _addresses(client.place, "virtual").isdisjoint(_addresses(client.place, "tasks.virtual"))


_CONNECT = """\
import socket, sys, time
for _ in range(20):
    try:
        socket.create_connection((sys.argv[1], 7000), 3)
        break
    except ConnectionRefusedError:
        time.sleep(0.1)
    except OSError:
        sys.exit(1)
else:
    sys.exit(1)
"""


def _connects(place: Place, name: str) -> bool:
    return run(place.argv([sys.executable, "-c", _CONNECT, name]), check=False).returncode == 0
