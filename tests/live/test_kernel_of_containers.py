"""What a real engine makes in the kernel is found from outside: nothing is executed in a container."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from typing import Any

import pytest

from netdiag.io.kernel.inventory import read_inventory
from netdiag.topology.inventory import Inventory, LinkId
from tests.lab.image_set import CLIENT
from tests.lab.lab import Lab

NETWORK, SERVED, PUBLISHED = "lab-kernel", 8000, 8127
SERVE = f"import http.server as h; h.test(h.SimpleHTTPRequestHandler, port={SERVED}, bind='0.0.0.0')"


@pytest.fixture(scope="module")
def container(lab: Lab) -> Iterator[dict[str, Any]]:
    """What the engine says of a container that serves a published port on a network of its own."""
    docker = lab.engine.docker
    docker("network", "create", NETWORK)
    try:
        words = ("--network", NETWORK, "-p", f"{PUBLISHED}:{SERVED}", CLIENT, "python3", "-c", SERVE)
        made = docker("run", "-d", "--init", *words).strip()
        try:
            (said,) = json.loads(docker("inspect", made))
            yield said
        finally:
            docker("rm", "-f", made)
    finally:
        docker("network", "rm", NETWORK)


@pytest.fixture(scope="module")
def inventory(container: dict[str, Any]) -> Inventory:
    """Read when the server has begun to listen; one that begins while /proc is read has no owner in that reading."""
    inode = os.stat(f"/proc/{container['State']['Pid']}/ns/net").st_ino
    deadline = time.monotonic() + 60
    while True:
        found = read_inventory()
        if any(listener.port == SERVED and listener.pids for listener in found.namespaces[inode].listeners):
            return found
        assert time.monotonic() < deadline, found.namespaces[inode]
        time.sleep(0.1)


def test_its_namespace_its_processes_and_its_listeners_are_known(
    lab: Lab, container: dict[str, Any], inventory: Inventory
) -> None:
    pid = container["State"]["Pid"]
    inode = os.stat(f"/proc/{pid}/ns/net").st_ino
    facts = inventory.namespaces[inode]
    assert pid in facts.netns.pids
    assert inventory.processes[pid].container_id == container["Id"]
    # the engine keeps it by a file, which only its own view of the file system may show
    sandbox = container["NetworkSettings"]["SandboxKey"].rsplit("/", 1)[-1]
    assert any(f"/{sandbox}" in mount for mount in facts.netns.mounts)
    serving = next(listener for listener in facts.listeners if listener.port == SERVED)
    assert [inventory.processes[owner].container_id for owner in serving.pids] == [container["Id"]]
    naming = [listener for listener in facts.listeners if listener.address == "127.0.0.11"]
    assert naming
    for listener in naming:
        (owner,) = listener.pids
        assert inventory.processes[owner].comm == "dockerd"
        assert inventory.processes[owner].netns == _inode(lab)


def test_its_cable_leads_to_the_bridge_of_its_network(
    lab: Lab, container: dict[str, Any], inventory: Inventory
) -> None:
    inside = os.stat(f"/proc/{container['State']['Pid']}/ns/net").st_ino
    (cable,) = [link for link in inventory.namespaces[inside].links if link.kind == "veth"]
    place = inventory.namespaces[inside].ends[cable.ifindex]
    assert place.netns == _inode(lab)
    port = inventory.link(place)
    assert port is not None
    assert inventory.namespaces[place.netns].ends[port.ifindex] == LinkId(netns=inside, ifindex=cable.ifindex)
    bridge = inventory.namespaces[place.netns].link(port.master or 0)
    assert bridge is not None
    (network,) = json.loads(lab.engine.docker("network", "inspect", NETWORK))
    assert bridge.ifname == f"br-{network['Id'][:12]}"


def test_its_published_port_has_a_rule_and_a_proxy(lab: Lab, container: dict[str, Any], inventory: Inventory) -> None:
    host = inventory.namespaces[_inode(lab)]
    rules = [rule.text for table in host.ruleset.tables for chain in table.chains for rule in chain.rules]
    address = container["NetworkSettings"]["Networks"][NETWORK]["IPAddress"]
    assert any(f"--dport {PUBLISHED} -j DNAT --to-destination {address}:{SERVED}" in rule for rule in rules)
    listening = [listener for listener in host.listeners if listener.port == PUBLISHED]
    assert listening
    for listener in listening:
        (owner,) = listener.pids
        argv = inventory.processes[owner].argv
        assert argv[argv.index("-container-port") + 1] == str(SERVED)
        assert argv[argv.index("-host-port") + 1] == str(PUBLISHED)
    assert host.settings.ip_forward is True


def _inode(lab: Lab) -> int:
    """That of the namespace which is the docker host."""
    return lab.engine.host.netns.stat().st_ino
