"""The hosts file that programs in a network namespace read, whoever's root directory it is in."""

from netdiag.errors import NetdiagError
from netdiag.io.foreign_files import ForeignText, read_below
from netdiag.io.netns import open_namespace
from netdiag.linux.netns import NamedNamespace, Netns, OwnNamespace, ProcessNamespace

Entrance = ProcessNamespace | NamedNamespace | OwnNamespace


def read_hosts_file(netns: Netns, *, own: bool = False) -> str | None:
    """The text, by the lowest process of the namespace, else by its name; None where it cannot be read."""
    entrances: list[Entrance] = [OwnNamespace()] if own else []
    entrances += [ProcessNamespace(pid=pid) for pid in netns.pids[:1]]
    entrances += [NamedNamespace(name=name) for name in netns.names[:1]]
    for entrance in entrances:
        text = _read(entrance)
        if text is not None:
            return text
    return None


def _read(entrance: Entrance) -> str | None:
    try:
        with open_namespace(entrance) as namespace:
            for folder in namespace.etc:
                found = read_below(namespace.root, f"{folder}/hosts")
                if isinstance(found, ForeignText) and found.exists:
                    return found.text
    except NetdiagError:
        return None
    return None
