"""What other tools say of the networks of an engine in the lab: docker, ip, iptables-save, ps, ss, kcat."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.lab.engine import Engine
from tests.lab.processes import run

Device = tuple[int, str]
"""ifindex and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A container on a network: its device there, the port of the bridge at the other end, and the bridge's name."""

    inside: Device
    port: Device
    bridge: str


def inspected(engine: Engine) -> list[dict[str, Any]]:
    """Every container, as `docker inspect` prints it."""
    identifiers = engine.docker("ps", "-aq", "--no-trunc").split()
    found: list[dict[str, Any]] = json.loads(engine.docker("inspect", *identifiers)) if identifiers else []
    return found


def endpoints(engine: Engine) -> Mapping[tuple[str, str], Endpoint]:
    """By (container, network): `ip` inside the container and on the host, joined by index and address.

    All ports of bridges are in the host's namespace, where an index is one device.
    """
    outside = {link["ifindex"]: link for link in _ip(engine.record.host_netns, "link")}
    found = {}
    for container in inspected(engine):
        pid = container["State"]["Pid"]
        for network, settings in container["NetworkSettings"]["Networks"].items():
            if not pid or not settings["IPAddress"]:
                continue
            words = ["nsenter", f"--net=/proc/{pid}/ns/net", "ip", "-j", "-d", "addr"]
            for link in json.loads(run(words).stdout):
                is_pair = link.get("linkinfo", {}).get("info_kind") == "veth"
                if is_pair and settings["IPAddress"] in {one.get("local") for one in link["addr_info"]}:
                    port = outside[link["link_index"]]
                    assert port["link_index"] == link["ifindex"]
                    found[(container["Name"][1:], network)] = Endpoint(
                        inside=(link["ifindex"], link["ifname"]),
                        port=(port["ifindex"], port["ifname"]),
                        bridge=port.get("master", ""),
                    )
    return found


def bridges(engine: Engine) -> Mapping[str, Device]:
    """The bridge of each network that has one, by the name of the network."""
    devices = {link["ifname"]: link["ifindex"] for link in _ip(engine.record.host_netns, "link")}
    found = {}
    for identifier in engine.docker("network", "ls", "-q", "--no-trunc").split():
        (network,) = json.loads(engine.docker("network", "inspect", identifier))
        if network["Driver"] == "bridge":
            name = network["Options"].get("com.docker.network.bridge.name", f"br-{identifier[:12]}")
            found[network["Name"]] = (devices[name], name)
    return found


def dnat_lines(engine: Engine) -> list[str]:
    """The DNAT rules of the docker host, as iptables-save prints them."""
    saved = run(engine.host.argv(["iptables-save", "-t", "nat"])).stdout
    return [line for line in saved.splitlines() if "-j DNAT" in line]


def proxies(engine: Engine) -> Mapping[int, tuple[str, ...]]:
    """The docker-proxies of the engine: pid to (protocol, host address, host port, container address, port)."""
    own = os.stat(engine.host.netns).st_ino
    found = {}
    # Without -ww lines are cut where COLUMNS says so.
    for line in run(["ps", "-ww", "-eo", "pid=,args="]).stdout.splitlines():
        pid, _, args = line.strip().partition(" ")
        # One that was killed has no arguments and no namespace until its parent asks for its end.
        if args.split(" ")[0].endswith("docker-proxy") and _netns(pid) == own:
            given = dict(re.findall(r"-(proto|host-ip|host-port|container-ip|container-port) (\S+)", args))
            order = ("proto", "host-ip", "host-port", "container-ip", "container-port")
            found[int(pid)] = tuple(given[name] for name in order)
    return found


def listening(pid: int) -> set[tuple[str, int]]:
    """What listens on TCP in the namespace of a process: (address, port), "*" for all."""
    printed = run(["nsenter", f"--net=/proc/{pid}/ns/net", "ss", "-Hltn"]).stdout
    return {(address, int(port)) for line in printed.splitlines() for address, _, port in [_place(line.split()[3])]}


def metadata(engine: Engine, client: str, bootstrap: str) -> Mapping[int, tuple[str, int]]:
    """What a broker says at an address: node id to the (host, port) that clients are told."""
    said = json.loads(engine.docker("exec", client, "kcat", "-L", "-J", "-m", "10", "-b", bootstrap))
    found = {}
    for broker in said["brokers"]:
        host, _, port = broker["name"].rpartition(":")
        found[broker["id"]] = (host, int(port))
    return found


def _netns(pid: str) -> int | None:
    try:
        return os.stat(f"/proc/{pid}/ns/net").st_ino
    except OSError:
        return None


def _place(text: str) -> tuple[str, str, str]:
    address, colon, port = text.rpartition(":")
    return address.strip("[]").partition("%")[0], colon, port


def _ip(netns: str, what: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(["ip", "-n", netns, "-j", "-d", what]).stdout)
    return found
