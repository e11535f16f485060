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
    """Pairs of which one end is not to be seen, or does not know the other."""
    for at, link in known.links.items():
        if link.kind not in PAIRED:
            continue
        end = known.ends.get(at)
        if end is None or end not in known.links:
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
        if link.master is not None:
            yield Cable(kind=CableKind.PORT, a=at, b=LinkId(netns=at.netns, ifindex=link.master))


def _parents(known: Known) -> Iterator[Cable]:
    for at, end in sorted(known.ends.items()):
        if known.links[at].kind not in PAIRED:
            yield Cable(kind=CableKind.PARENT, a=at, b=end)
