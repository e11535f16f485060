"""Where the other end of a device is: in which namespace, under which ifindex.

A device tells the ifindex of its other end and the number (nsid) that its own namespace has for the other's. Which
namespace that is, is asked: what number does this namespace have for that one? Indexes alone prove nothing, for
containers made alike have the same ones; they only say whom to ask about first.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from netdiag.linux.link import Link
from netdiag.topology.inventory import LinkId, Unread

Ask = Callable[[int, int], int | None]
"""The number that the first namespace has for the second, None for none."""
# Kinds whose two ends name each other.
_PAIRS = frozenset({"veth", "netkit", "vxcan"})


@dataclass(slots=True, kw_only=True)
class Ends:
    """By namespace: where devices lead to, which namespaces its numbers mean, and what did not fit together."""

    ends: dict[int, dict[int, LinkId]] = field(default_factory=dict)
    nsids: dict[int, dict[int, int]] = field(default_factory=dict)
    unread: dict[int, list[Unread]] = field(default_factory=dict)


def resolve_ends(links: Mapping[int, Iterable[Link]], closed: Iterable[int], ask: Ask) -> Ends:
    """The other ends of all devices; `closed` are namespaces that are known but could not be looked into."""
    return _Resolver(links, tuple(closed), ask).resolve()


class _Resolver:
    def __init__(self, links: Mapping[int, Iterable[Link]], closed: tuple[int, ...], ask: Ask) -> None:
        self._links = {netns: {link.ifindex: link for link in found} for netns, found in links.items()}
        self._closed = closed
        self._ask = ask
        self._asked: set[tuple[int, int]] = set()
        self._result = Ends(nsids={netns: {} for netns in self._links})
        # Namespaces with a device of that index; and those where that device leads to this index.
        self._having: dict[int, list[int]] = {}
        self._leading: dict[tuple[int, int], list[int]] = {}
        for netns, found in self._links.items():
            for link in found.values():
                self._having.setdefault(link.ifindex, []).append(netns)
                if link.link is not None and link.link_netnsid is not None:
                    self._leading.setdefault((link.ifindex, link.link), []).append(netns)

    def resolve(self) -> Ends:
        open_ends = [(netns, link) for netns, found in self._links.items() for link in found.values() if link.link]
        # twice, for numbers that are found out on behalf of later devices
        for _ in range(2):
            open_ends = [(netns, link) for netns, link in open_ends if not self._leads(netns, link)]
        self._drop_torn()
        return self._result

    def _leads(self, netns: int, link: Link) -> bool:
        """Note where it leads to, if that can be told."""
        place = self._namespace(netns, link)
        if place is None or link.link is None:
            return False
        self._result.ends.setdefault(netns, {})[link.ifindex] = LinkId(netns=place, ifindex=link.link)
        return True

    def _namespace(self, viewer: int, link: Link) -> int | None:
        number = link.link_netnsid
        if number is None:
            return viewer
        known = self._result.nsids[viewer]
        if number < 0 or number in known:
            return known.get(number)
        for candidate in self._candidates(viewer, link):
            if (viewer, candidate) in self._asked:
                continue
            self._asked.add((viewer, candidate))
            answer = self._ask(viewer, candidate)
            if answer is not None and answer >= 0:
                known[answer] = candidate
            if answer == number:
                return candidate
        return None

    def _candidates(self, viewer: int, link: Link) -> Iterator[int]:
        other = link.link or 0
        for candidate in self._leading.get((other, link.ifindex), ()):
            if candidate != viewer:
                yield candidate
        for candidate in self._having.get(other, ()):
            if candidate != viewer:
                yield candidate
        yield from self._closed

    def _drop_torn(self) -> None:
        """An end that is not there, or whose own end is elsewhere, was read at another time than this one."""
        for netns, ends in self._result.ends.items():
            for ifindex, place in sorted(ends.items()):
                if place.netns not in self._links:
                    continue
                link = self._links[netns][ifindex]
                other = self._links[place.netns].get(place.ifindex)
                if other is None or not self._agree(netns, link, place, other):
                    del ends[ifindex]
                    because = (
                        f"it changed while it was read: no device {place.ifindex} of net:[{place.netns}] leads here"
                    )
                    what = f"the other end of {link.ifname!r} of net:[{netns}]"
                    self._result.unread.setdefault(netns, []).append(Unread(what=what, because=because))

    def _agree(self, netns: int, link: Link, place: LinkId, other: Link) -> bool:
        if link.kind not in _PAIRS or other.kind != link.kind:
            return link.kind not in _PAIRS
        return other.link == link.ifindex and (other.link_netnsid is None) == (place.netns == netns)
