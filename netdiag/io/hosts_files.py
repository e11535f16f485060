"""The hosts file that programs in a network namespace read, whoever's root directory it is in."""

from netdiag.errors import NetdiagError
from netdiag.io.foreign_files import ForeignText, read_below
from netdiag.io.kernel.namespaces import entrances
from netdiag.io.kernel.netns import open_namespace
from netdiag.linux.netns import NamespaceId, Netns


def read_hosts_file(netns: Netns, *, own: bool = False) -> str | None:
    """The text, by the lowest process of the namespace, else by its name; None where it cannot be read."""
    for entrance in entrances(netns, own=own):
        text = _read(entrance)
        if text is not None:
            return text
    return None


def _read(entrance: NamespaceId) -> str | None:
    try:
        with open_namespace(entrance) as namespace:
            for folder in namespace.etc:
                found = read_below(namespace.root, f"{folder}/hosts")
                if isinstance(found, ForeignText) and found.exists:
                    return found.text
    except NetdiagError:
        return None
    return None
