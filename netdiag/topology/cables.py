"""What hangs together: pairs across namespaces, ports of bridges, devices that stand on others."""

from collections.abc import Iterator

from netdiag.topology.graph import Cable, CableKind, Unmatched
from netdiag.topology.inventory import LinkId
from netdiag.topology.known import PAIRED, Known
from netdiag.topology.naming import Naming


def cables(known: Known) -> tuple[Cable, ...]:
    """Every pair once, then every port and every parent, in the order of the devices."""
    return (*_pairs(known), *_ports(known), *_parents(known))


def without_end(known: Known, naming: Naming) -> Iterator[Unmatched]:
    """Devices whose other end or parent is not to be seen, and pairs whose ends do not know each other."""
    for at, link in known.links.items():
        end = known.ends.get(at)
        if link.kind not in PAIRED:
            if (link.link is None and end is None) or end in known.links:
                continue
            because = "the device that it stands on cannot be seen from here"
        elif end is None or end not in known.links:
            because = "its other end is in a namespace that cannot be seen from here"
        elif known.ends.get(end) != at:
            because = (
                f"its other end, {naming.device(end)}, does not lead back: one of them changed while they were read"
            )
        else:
            continue
        yield Unmatched(subject=naming.device(at), because=because, link=at)


def peers(known: Known) -> dict[LinkId, LinkId]:
    """From each end of a pair to the other; only pairs whose ends both say so."""
    return {
        at: end
        for at, link in known.links.items()
        if link.kind in PAIRED and (end := known.ends.get(at)) is not None and known.ends.get(end) == at
    }


def _pairs(known: Known) -> Iterator[Cable]:
    for at, end in sorted(peers(known).items()):
        if at < end:
            yield Cable(kind=CableKind(known.links[at].kind), a=at, b=end)


def _ports(known: Known) -> Iterator[Cable]:
    for at, link in sorted(known.links.items(), key=lambda item: item[0]):
        master = None if link.master is None else LinkId(netns=at.netns, ifindex=link.master)
        if master is not None and master in known.links:
            yield Cable(kind=CableKind.PORT, a=at, b=master)


def _parents(known: Known) -> Iterator[Cable]:
    for at, end in sorted(known.ends.items()):
        if known.links[at].kind not in PAIRED and end in known.links:
            yield Cable(kind=CableKind.PARENT, a=at, b=end)
