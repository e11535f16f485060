"""What answers in a namespace, as branches: Kafka listeners with the ports that lead to them, then other sockets."""

from collections.abc import Iterator, Sequence

from netdiag.linux.socket import Listener
from netdiag.render.screen import Line, Run, Screen, Style
from netdiag.render.topology.branches import Branch
from netdiag.render.topology.devices import pids_text
from netdiag.render.topology.lookup import Lookup
from netdiag.render.topology.reach_text import endpoint_text
from netdiag.topology.graph import By, KafkaListener, Place, Published

_WILDCARDS = ("", "0.0.0.0", "::")
_EMBEDDED_DNS = "127.0.0.11"


def service_branches(lookup: Lookup, place: Place, screen: Screen) -> list[Branch]:
    """Everything that answers in a place, Kafka first."""
    kafka = lookup.kafka(place.containers)
    branches = container_branches(lookup, place.containers, screen)
    facts = lookup.facts(place.netns)
    if facts is None:
        return branches
    proxies = {pid for published in lookup.topology.published for pid in published.proxies}
    ports = {listener.bind[1] for listener in kafka if listener.pids}
    others = [
        listener
        for listener in facts.listeners
        if not proxies.intersection(listener.pids) and not (listener.port in ports and _is_of(listener, kafka))
    ]
    return [*branches, *_sockets(lookup, place, others, screen)]


def container_branches(lookup: Lookup, containers: Sequence[str], screen: Screen) -> list[Branch]:
    """Kafka listeners and published ports of containers, also of those whose namespace is not seen."""
    kafka = lookup.kafka(containers)
    led = {key for listener in kafka for key in listener.published}
    branches = [_kafka(lookup, listener, screen) for listener in kafka]
    branches += [_published(lookup, exit_, screen) for exit_ in lookup.exits(containers) if exit_.key not in led]
    return branches


def _is_of(listener: Listener, kafka: Sequence[KafkaListener]) -> bool:
    return any(listener.port == each.bind[1] and set(listener.pids) & set(each.pids) for each in kafka)


def _kafka(lookup: Lookup, listener: KafkaListener, screen: Screen) -> Branch:
    parts: list[Line] = [
        (screen.run(listener.listener, Style.BOLD), screen.run(f" {listener.security_protocol}", Style.DIM)),
        (
            screen.run(f"binds {endpoint_text(listener.bind[0] or '*', listener.bind[1])}"),
            *_bound(lookup, listener, screen),
        ),
    ]
    if listener.advertised is not None:
        parts.append((Run("advertises "), screen.run(endpoint_text(*listener.advertised), Style.PLACE)))
    elif listener.controller:
        parts.append((Run("for controllers", Style.DIM),))
    exits = [lookup.published[key] for key in listener.published if key in lookup.published]
    return Branch(
        parts=tuple(parts),
        name=listener.listener,
        children=tuple(_published(lookup, each, screen) for each in exits),
    )


def _bound(lookup: Lookup, listener: KafkaListener, screen: Screen) -> Iterator[Run]:
    """Whether somebody really listens, where, and who."""
    if listener.bound is None:
        yield Run(", whether it listens cannot be seen", Style.HALF)
        return
    if not listener.bound:
        yield Run(", nobody listens there", Style.ERROR)
        return
    wide = any(address in _WILDCARDS for address in listener.bound)
    same = wide if listener.bind[0] in _WILDCARDS else listener.bind[0] in listener.bound
    yield Run(", listens", Style.GOOD if same else Style.HALF)
    if not same:
        yield screen.run(f" on {', '.join(listener.bound)}", Style.HALF)
    if listener.pids:
        yield screen.run(f": {pids_text(lookup, listener.pids)}", Style.DIM)


def _published(lookup: Lookup, published: Published, screen: Screen) -> Branch:
    where = endpoint_text(published.host_ip or "*", published.published)
    target = published.to_address or lookup.container_name(published.container)
    arrow = "→" if screen.colour and screen.glyphs.arrow == "→" else "->"
    suffix = "" if published.protocol == "tcp" else f"/{published.protocol}"
    head: Line = (
        Run("published "),
        screen.run(where, Style.PLACE),
        screen.run(f"{suffix} {arrow} {endpoint_text(target, published.target)}"),
    )
    return Branch(parts=(head, *_remarks(lookup, published)), name=where)


def _remarks(lookup: Lookup, published: Published) -> Iterator[Line]:
    """What makes it work, and what is wrong with it."""
    made = [
        f"docker-proxy ({', '.join(map(str, published.proxies))})" if by is By.PROXY else by.value.upper()
        for by in published.by
    ]
    if made:
        yield (Run(f"by {' and '.join(made)}", Style.DIM),)
    if not published.in_force:
        yield (Run("asked for, not in force" if published.asked else "left over, of no container", Style.ERROR),)
    elif not made and published.pids is None:
        yield (Run("what serves it cannot be seen", Style.HALF),)
    elif not made:
        yield (Run("neither a DNAT rule nor a docker-proxy is seen", Style.HALF),)
    if published.pids is not None and not published.pids and (made or published.in_force):
        yield (Run("nobody listens behind it", Style.ERROR),)


def _sockets(lookup: Lookup, place: Place, listeners: Sequence[Listener], screen: Screen) -> list[Branch]:
    """Other listening sockets, a branch for each owner."""
    owners: dict[tuple[tuple[int, ...], bool, bool], list[Listener]] = {}
    for listener in listeners:
        key = (listener.pids, listener.inode == 0, listener.address == _EMBEDDED_DNS)
        owners.setdefault(key, []).append(listener)
    return [
        Branch(parts=tuple(_owner(lookup, place, key, own, screen)), name=screen.visible(pids_text(lookup, key[0])))
        for key, own in sorted(owners.items(), key=lambda item: (item[0][2], min(each.port for each in item[1])))
    ]


def _owner(
    lookup: Lookup,
    place: Place,
    key: tuple[tuple[int, ...], bool, bool],
    listeners: Sequence[Listener],
    screen: Screen,
) -> Iterator[Line]:
    pids, is_kernel, is_dns = key
    owner = pids_text(lookup, pids) if pids else "the kernel" if is_kernel else "a process that is not seen"
    homes = {process.netns for pid in pids if (process := lookup.topology.inventory.processes.get(pid))}
    elsewhere = [lookup.name(home) for home in homes if home is not None and home != place.netns]
    where = f" in {', '.join(elsewhere)}" if elsewhere else ""
    if is_dns:
        yield (screen.run(f"{_EMBEDDED_DNS} embedded DNS: {owner}{where}", Style.DIM),)
        return
    by_protocol: dict[str, list[str]] = {}
    for listener in listeners:
        text = endpoint_text(listener.address, listener.port)
        device = f"%{lookup.device_name(place.netns, listener.ifindex)}" if listener.ifindex else ""
        by_protocol.setdefault(listener.protocol.value, []).append(text + device)
    yield (screen.run(f"{owner}{where}"),)
    for protocol, addresses in by_protocol.items():
        unique = list(dict.fromkeys(addresses))
        yield (screen.run(f"{protocol} {', '.join(unique)}", Style.DIM),)
