"""Opens a namespace that an inventory has found, by whatever way in there is; it must be that very one."""

import os
from collections.abc import Iterator

from netdiag.errors import MissingRight, NetdiagError
from netdiag.io.netns import Namespace, open_namespace
from netdiag.linux.netns import NamedNamespace, NamespaceId, Netns, OwnNamespace, ProcessNamespace
from netdiag.topology.inventory import Inventory

_MOST_PIDS = 8


def enter(inventory: Inventory, inode: int) -> Namespace:
    """The open namespace; MissingRight without the rights, NetdiagError where there is no way in any more."""
    facts = inventory.namespaces.get(inode)
    refused: NetdiagError | None = None
    for entrance in entrances(facts.netns, own=inode == inventory.own) if facts is not None else ():
        try:
            opened = open_namespace(entrance)
        except MissingRight as error:
            refused = error
            continue
        except NetdiagError:
            continue
        if opened.run(_inode_here) == inode:
            return opened
        opened.close()
    raise refused or NetdiagError("there is no way in: no process and no name", where=f"net:[{inode}]")


def entrances(netns: Netns, *, own: bool) -> Iterator[NamespaceId]:
    """The ways into a namespace, the surest first."""
    if own:
        yield OwnNamespace()
    for pid in netns.pids[:_MOST_PIDS]:
        yield ProcessNamespace(pid=pid)
    for name in netns.names:
        yield NamedNamespace(name=name)


def _inode_here() -> int:
    return os.stat("/proc/thread-self/ns/net").st_ino
