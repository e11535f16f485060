"""A topology as text for people: who reaches which broker, then what hangs on what, then what is wrong with it.

The tree goes from a namespace to its bridges, from a bridge over its ports to the namespaces behind them, and there to
what answers. A namespace is drawn where it is met first; what nothing leads to is drawn at the margin.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from netdiag.findings import Finding
from netdiag.linux.link import Link
from netdiag.render.alike import alike
from netdiag.render.finding_text import SourceLines, finding_lines
from netdiag.render.places import in_order
from netdiag.render.redact import redacted
from netdiag.render.screen import Line, Run, Screen, Style, paint
from netdiag.render.topology.branches import Branch, drawn
from netdiag.render.topology.coverage import coverage_line
from netdiag.render.topology.devices import (
    bridge_parts,
    detail_parts,
    kind_text,
    lines_of,
    standing_parts,
    state_parts,
    traffic_parts,
    vlan_text,
)
from netdiag.render.topology.lookup import Lookup
from netdiag.render.topology.reach_text import reach_branches
from netdiag.render.topology.services import container_branches, service_branches
from netdiag.render.wording import plural
from netdiag.topology.graph import Member, NetworkView, Place, PlaceKind, Topology
from netdiag.topology.inventory import LinkId

_LIKEWISE = 6
_NUMBER = re.compile(r"([0-9]{1,18})")
# Drivers whose networks have no bridge but stand on a device of the docker host.
_ON_A_PARENT = ("macvlan", "ipvlan")
# Names of what has ports; other devices stand alone.
_MASTERS = frozenset({"bridge", "bond", "vrf", "team", "openvswitch"})


def tree_text(topology: Topology, screen: Screen, findings: Iterable[Finding] = (), *, full: bool = False) -> str:
    """The text; equal topologies and screens give equal text. `full` draws also what looks alike."""
    drawing = _Drawing(Lookup(topology), screen)
    blocks: list[list[Line]] = []
    reach = reach_branches(drawing.lookup, screen)
    if reach:
        title: Line = (Run("Who reaches which broker, by which address", Style.BOLD),)
        note: list[Line] = [(screen.run(topology.reach_note, Style.DIM),)] if topology.reach_note else []
        blocks.append([title, *_indented([*drawn(reach, replace(screen, width=screen.width - 2), full=full), *note])])
    for is_bare, group in groupby(drawing.roots(), key=lambda root: not root.children):
        roots = list(group)
        blocks += [drawn(roots, screen, full=full)] if is_bare else [drawn([root], screen, full=full) for root in roots]
    blocks += [_unmatched(topology, screen)] if topology.unmatched else []
    blocks += [_found(group, screen) for group in alike(in_order(findings), full=full)]
    blocks.append(_ending(topology, screen))
    return paint([line for block in blocks for line in (*block, ())][:-1], screen)


class _Drawing:
    """One topology while it is drawn; what has been drawn is not drawn again."""

    def __init__(self, lookup: Lookup, screen: Screen) -> None:
        self.lookup = lookup
        self._screen = screen
        self._drawn: set[int] = set()
        self._met: set[LinkId] = set()
        self._containers: set[str] = set()

    def roots(self) -> Iterator[Branch]:
        """What stands at the margin: namespaces that nothing drawn before leads to, then what has none."""
        for place in self.lookup.in_order():
            if place.netns not in self._drawn:
                yield self._place_root(place)
        yield from self._networks_elsewhere()
        yield from self._containers_elsewhere()

    def _place_root(self, place: Place) -> Branch:
        children = self._inside(place)
        inventory = self.lookup.topology.inventory
        is_machine = place.kind is PlaceKind.HOST or place.netns == inventory.root
        words = self._machine() if is_machine else _kind_words(place)
        head: Line = (self._run(place.name, Style.BOLD), self._run(f" {words}", Style.DIM))
        return Branch(parts=(head, *self._place_parts(place)), name=place.name, children=tuple(children))

    def _machine(self) -> str:
        inventory = self.lookup.topology.inventory
        return ", ".join(filter(None, (inventory.hostname, f"Linux {inventory.kernel}" if inventory.kernel else "")))

    def _place_parts(self, place: Place) -> Iterator[Line]:
        """What is to be known of a namespace as a whole."""
        facts = self.lookup.facts(place.netns)
        names = [self.lookup.container_name(container) for container in place.containers]
        others = [name for name in names if name != place.name]
        if others:
            yield (self._run(f"shared by {', '.join(others)}"),)
        services = [service for service in place.services if service not in names]
        if services:
            yield (self._run(f"service {', '.join(services)}", Style.DIM),)
        if facts is None or not facts.entered:
            yield (Run("could not be looked into", Style.HALF),)
            return
        if facts.settings.ip_forward is False and any(link.kind == "bridge" for link in facts.links):
            yield (Run("forwards nothing (ip_forward is off)", Style.HALF),)
        if facts.settings.bridge_nf_call_iptables is False and any(link.kind == "bridge" for link in facts.links):
            yield (Run("bridged frames pass no iptables rules", Style.DIM),)

    def _inside(self, place: Place) -> list[Branch]:
        """Everything in a namespace that was not drawn on the way to it."""
        if place.netns in self._drawn:
            return []
        self._drawn.add(place.netns)
        self._containers.update(place.containers)
        links = self.lookup.links(place.netns)
        services = service_branches(self.lookup, place, self._screen)
        masters = [self._master(where, link) for where, link in links if self._is_master(where, link)]
        others = [self._device(where, link) for where, link in links if not self._is_told(where, link)]
        if place.kind is PlaceKind.HOST or not place.containers:
            return [*masters, *others, *services]
        return [*services, *masters, *others]

    def _is_master(self, where: LinkId, link: Link) -> bool:
        return where not in self._met and (link.kind in _MASTERS or bool(self.lookup.ports(where)))

    def _is_told(self, where: LinkId, link: Link) -> bool:
        return (
            where in self._met
            or (link.loopback and link.up)
            or self._is_master(where, link)
            or self._is_drawn_later(where)
        )

    def _is_drawn_later(self, where: LinkId) -> bool:
        """Whether its other end is a port of a bridge that is still to be drawn where we come from."""
        peer = self.lookup.peer(where)
        master = self.lookup.master(peer) if peer else None
        return master is not None and master not in self._met and master.netns in self._drawn

    def _master(self, where: LinkId, link: Link) -> Branch:
        """A bridge or bond with everything that hangs from it."""
        self._met.add(where)
        view = self.lookup.network(where)
        head: Line = (self._run(link.ifname, Style.BOLD), self._run(f" {kind_text(link)}", Style.DIM))
        parts: list[Line] = [head]
        if view is not None:
            parts = [(self._run(view.network.name, Style.BOLD), self._run(f" {link.ifname}", Style.DIM))]
            parts += self._network_parts(view)
        parts += self._addresses(where, view.network.gateways if view else ())
        told = (*state_parts(link), *bridge_parts(link), *detail_parts(link), *self._standing(where, link))
        parts += lines_of(iter(told), self._screen)
        children = sorted((self._port(port) for port in self.lookup.ports(where)), key=_by_name)
        if view is not None:
            children += [self._member(member, view) for member in view.members if member.port is None]
        return Branch(parts=tuple(parts), name=link.ifname, children=tuple(children))

    def _network_parts(self, view: NetworkView) -> Iterator[Line]:
        network = view.network
        if network.subnets:
            yield (self._run(", ".join(network.subnets)),)
        if network.internal:
            yield (Run("internal: no way out"),)

    def _port(self, where: LinkId) -> Branch:
        """A port: what is on the other end of its cable, or the device itself."""
        link = self.lookup.link(where)
        if link is None:
            return Branch(parts=((self._run(self.lookup.ifname(where)),),))
        if self.lookup.ports(where) and where not in self._met:
            return self._master(where, link)
        return self._device(where, link)

    def _device(self, where: LinkId, link: Link) -> Branch:
        """A device in one line, and behind it the namespace that it leads to."""
        self._met.add(where)
        peer = self.lookup.peer(where)
        vlan = self._vlan(where)
        told = (*state_parts(link), *detail_parts(link), *self._standing(where, link))
        words = lines_of(iter(told), self._screen)
        if peer is None or peer in self._met:
            kind = f" {kind_text(link)}"
            if peer is not None:
                kind += f" to {self.lookup.ifname(peer)}" + self._in(peer, where)
            head: Line = (self._run(link.ifname), self._run(kind, Style.DIM))
            return Branch(parts=(head, *self._addresses(where), *vlan, *words), name=link.ifname)
        return self._cable(where, link, peer, (*vlan, *words))

    def _cable(self, where: LinkId, link: Link, peer: LinkId, words: Sequence[Line]) -> Branch:
        """A pair of devices in one line: here, there, and what is there."""
        self._met.add(peer)
        far = self.lookup.link(peer)
        place = self.lookup.places.get(peer.netns)
        arrow = "→" if self._screen.colour and self._screen.glyphs.arrow == "→" else "->"
        own = "".join(f" {address}" for address in self.lookup.addresses(where))
        head: Line = (
            self._run(link.ifname),
            self._run(own, Style.PLACE),
            self._run(f" {arrow} ", Style.DIM),
            self._run(self.lookup.ifname(peer)),
        )
        is_here = peer.netns == where.netns
        if not is_here:
            head = (*head, Run(" of "), self._run(self.lookup.name(peer.netns), Style.BOLD))
        parts: list[Line] = [head, *self._addresses(peer), *words]
        if far is not None:
            odd = [(text, style) for text, style in state_parts(far) if (text, style) not in state_parts(link)]
            parts += lines_of(((f"{far.ifname} {text}", style) for text, style in odd), self._screen)
        children: list[Branch] = []
        if place is not None and not is_here:
            if place.netns in self._drawn:
                parts.append((Run("told above", Style.DIM),))
            else:
                parts += self._place_parts(place)
                children = self._inside(place)
        return Branch(parts=tuple(parts), name=self.lookup.name(peer.netns), children=tuple(children))

    def _standing(self, where: LinkId, link: Link) -> Iterator[tuple[str, Style]]:
        yield from standing_parts(self.lookup, where, link)
        yield from traffic_parts(self.lookup, where)

    def _in(self, there: LinkId, here: LinkId) -> str:
        return "" if there.netns == here.netns else f" of {self.lookup.name(there.netns)}"

    def _vlan(self, where: LinkId) -> tuple[Line, ...]:
        """The VLANs of a port, where its bridge looks at them."""
        master = self.lookup.master(where)
        bridge = self.lookup.link(master) if master else None
        facts = self.lookup.facts(where.netns)
        if bridge is None or facts is None or not bridge.details.get("vlan_filtering"):
            return ()
        text = vlan_text(facts.vlans, where)
        return ((self._run(text),),) if text else ()

    def _addresses(self, where: LinkId, gateways: Sequence[str] = ()) -> list[Line]:
        """The addresses of a device; of a bridge, those that are a network's gateways by that name."""
        found = self.lookup.addresses(where)
        addresses = [f"gateway {bare}" if (bare := each.partition("/")[0]) in gateways else each for each in found]
        return [(self._run(", ".join(addresses), Style.PLACE),)] if addresses else []

    def _member(self, member: Member, view: NetworkView) -> Branch:
        """A member of a network that has no port of a bridge there, as far as is seen."""
        name = self.lookup.container_name(member.container)
        head: Line = (self._run(name, Style.BOLD),)
        address: list[Line] = [(self._run(member.address, Style.PLACE),)] if member.address else []
        parts = (head, *address, self._attached(member, view))
        return Branch(parts=parts, name=name, children=self._unseen(member.container))

    def _attached(self, member: Member, view: NetworkView) -> Line:
        """What a container has of a network that it is on."""
        known = self.lookup.topology.containers.get(member.container)
        if known is not None and not known.state.has_process:
            return (Run("not running", Style.DIM),)
        if member.inside is not None and view.bridge is not None and view.network.driver in _ON_A_PARENT:
            return (self._run(f"its {self.lookup.ifname(member.inside)}", Style.DIM),)
        match view.network.driver:
            case "host":
                return (Run("has the devices of the docker host", Style.DIM),)
            case "null":
                return (Run("has no device but its loopback", Style.DIM),)
            case _:
                return (Run("its device is not seen", Style.HALF),)

    def _unseen(self, container: str) -> tuple[Branch, ...]:
        """What the engine says of a container whose namespace is not drawn, once."""
        place = next((place for place in self.lookup.places.values() if container in place.containers), None)
        if container in self._containers or (place is not None and self.lookup.facts(place.netns) is not None):
            return ()
        self._containers.add(container)
        return tuple(container_branches(self.lookup, (container,), self._screen))

    def _networks_elsewhere(self) -> Iterator[Branch]:
        """Networks of the engine that are no bridge of this machine, as far as is seen, and have members."""
        for view in self.lookup.topology.networks:
            stands_on = view.bridge if view.network.driver in _ON_A_PARENT else None
            if (view.bridge is not None and stands_on is None) or not view.members:
                continue
            head: Line = (
                self._run(view.network.name, Style.BOLD),
                self._run(f" network of driver {view.network.driver}", Style.DIM),
            )
            parent: list[Line] = [(self._run(f"on {self.lookup.ifname(stands_on)}"),)] if stands_on else []
            members = [self._member(member, view) for member in view.members]
            parts = (head, *self._network_parts(view), *parent)
            yield Branch(parts=parts, name=view.network.name, children=tuple(members))

    def _containers_elsewhere(self) -> Iterator[Branch]:
        """Containers that run and were met nowhere, and those that were stopped."""
        for container in self.lookup.topology.containers.values():
            if container.id not in self._containers:
                status = container.state.status.value
                head: Line = (self._run(container.name, Style.BOLD), self._run(f" container, {status}", Style.DIM))
                yield Branch(parts=(head,), name=container.name, children=self._unseen(container.id))

    def _run(self, text: str, style: Style = Style.PLAIN) -> Run:
        return self._screen.run(text, style)


def _by_name(branch: Branch) -> list[tuple[int, str]]:
    """Names by the numbers in them: broker-2 before broker-10."""
    return [(int(part), "") if part.isdigit() and part.isascii() else (-1, part) for part in _NUMBER.split(branch.name)]


def _kind_words(place: Place) -> str:
    match place.kind:
        case PlaceKind.HOST:
            return "this machine"
        case PlaceKind.CONTAINER:
            return "container"
        case PlaceKind.MACHINE:
            return "outside the docker host"
        case PlaceKind.NAMED:
            return "network namespace"
        case PlaceKind.PROCESS:
            return "network namespace without a name"
        case PlaceKind.UNOWNED:
            return "network namespace without a process"


def _indented(lines: Iterable[Line]) -> list[Line]:
    return [(Run("  "), *line) for line in lines]


def _unmatched(topology: Topology, screen: Screen) -> list[Line]:
    title: Line = (Run("Not matched", Style.BOLD),)
    lines: list[Line] = [
        (Run("  "), screen.run(each.subject), screen.run(f": {redacted(each.because)}", Style.DIM))
        for each in topology.unmatched
    ]
    return [title, *lines]


def _found(group: Sequence[Finding], screen: Screen) -> list[Line]:
    """A finding, and where else it is so: the first places, and how many more there are."""
    lines = finding_lines(group[0], SourceLines({}), screen, likewise=group[1 : 1 + _LIKEWISE])
    more = len(group) - 1 - _LIKEWISE
    return [*lines, (Run(f"    and {plural(more, 'more place')}", Style.DIM),)] if more > 0 else lines


def _ending(topology: Topology, screen: Screen) -> list[Line]:
    """Which engine was asked, and how much was seen: always the last line."""
    engine: list[Line] = [(screen.run(redacted(topology.engine), Style.DIM),)] if topology.engine else []
    complete = topology.inventory.complete and not topology.inventory.unread
    return [*engine, (screen.run(coverage_line(topology.inventory), Style.PLAIN if complete else Style.HALF),)]
