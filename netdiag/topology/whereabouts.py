"""Which namespace a word of the command line means: host, a container, a name of `ip netns`, a process."""

import difflib

from netdiag.errors import InputError
from netdiag.topology.graph import Topology


def find_place(topology: Topology, word: str) -> int:
    """The inode of `host`, `container:NAME`, `netns:NAME`, `pid:N`, or of a place of that name; InputError for none."""
    kind, colon, name = word.partition(":")
    if word == "host":
        return _host(topology)
    if colon and kind == "container":
        return _container(topology, name)
    if colon and kind == "netns":
        return _named(topology, name)
    if colon and kind == "pid":
        return _process(topology, name)
    place = topology.named(word)
    return place.netns if place is not None else _container(topology, word)


def _host(topology: Topology) -> int:
    place = topology.named(topology.host or "host")
    if place is not None:
        return place.netns
    inventory = topology.inventory
    for inode in (inventory.root, inventory.own):
        if inode is not None and inode in inventory.namespaces:
            return inode
    raise InputError("the docker host's network cannot be seen from here", where="host")


def _container(topology: Topology, name: str) -> int:
    bare = name.removeprefix("/")
    known = topology.containers.values()
    found = [c for c in known if bare in (c.name, c.id) or (len(bare) >= 3 and c.id.startswith(bare))]
    found = found or [c for c in known if bare and bare == c.service]
    if len(found) > 1:
        names = ", ".join(sorted(c.name for c in found))
        raise InputError(f"several containers are meant: {names}", where=name)
    if not found:
        choice = [*(c.name for c in known), *(place.name for place in topology.places)]
        close = difflib.get_close_matches(bare, choice, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(close)}?" if close else "host, a container, netns:NAME or pid:N"
        raise InputError("there is no container or place of that name", where=name, hint=hint)
    place = next((one for one in topology.places if found[0].id in one.containers), None)
    if place is None:
        because = "it is not running" if not found[0].state.has_process else "its network cannot be seen"
        raise InputError(because, where=found[0].name)
    return place.netns


def _named(topology: Topology, name: str) -> int:
    for inode, facts in topology.inventory.namespaces.items():
        if name in facts.netns.names:
            return inode
    raise InputError("there is no network namespace of that name", where=name, hint="list them with `ip netns`")


def _process(topology: Topology, number: str) -> int:
    inventory = topology.inventory
    if number.isdecimal():
        process = inventory.processes.get(int(number))
        if process is not None and process.netns is not None:
            return process.netns
        for inode, facts in inventory.namespaces.items():
            if int(number) in facts.netns.pids:
                return inode
    raise InputError("there is no process of that number whose network can be seen", where=f"pid:{number}")
