"""Why a name does not resolve in a namespace, and which container it belongs to."""

import difflib
from collections.abc import Iterator

from netdiag.deployment.model.contact import Failed, Mechanism
from netdiag.engine.container import Container
from netdiag.topology.causes import remedies
from netdiag.topology.causes.failed_connection import FailedConnection, Remedy, Suspect
from netdiag.topology.graph import NetworkView

_HOST_ALIASES = ("host.docker.internal", "gateway.docker.internal")
# In the error for name servers that do not answer or fail, unlike the one for a name that does not exist.
_SILENT = ("no answer from name server", " says ")


def suspect_of_name(connection: FailedConnection) -> Suspect:
    """The suspect for a name that does not resolve."""
    name = connection.path.destination.rstrip(".").lower()
    who = connection.client_name
    owners = [one for one in connection.topology.containers.values() if name in _names(one)]
    said = (connection.path.because,)
    inside = connection.container(connection.path.source)
    if name in _HOST_ALIASES and not owners:
        return Suspect(
            mechanism=Mechanism.HOST_ALIAS_MISSING,
            because=f'{who} does not resolve "{name}": on Linux it needs an extra_hosts entry',
            evidence=said,
            remedies=tuple(_host_gateway(connection, name)),
        )
    if not owners:
        return _unknown_name(connection, name, who)
    running = [one for one in owners if one.state.has_process]
    if not running:
        names = " and ".join(one.name for one in owners)
        return Suspect(
            mechanism=Mechanism.NAME_OF_STOPPED,
            because=f'"{name}" is {names}, which is not running, and the engine does not resolve stopped containers',
            evidence=(f"the engine reports {owners[0].name} as {owners[0].state.status.value}",),
            remedies=(remedies.start(connection, owners[0], connection.path.port),),
        )
    views = connection.networks_at(connection.path.source)
    if inside is None or all(view.network.default_bridge for view in views):
        because = f'"{name}" is the name of a container, but {who} has no embedded DNS to resolve it'
        found = tuple(_without_dns(connection, running[0], inside=inside is not None))
        return Suspect(mechanism=Mechanism.NO_EMBEDDED_DNS, because=because, evidence=said, remedies=found)
    theirs = ", ".join(view.network.name for view in connection.container_networks(running[0])) or "no network"
    mine = ", ".join(view.network.name for view in views)
    return Suspect(
        mechanism=Mechanism.NAME_ON_OTHER_NETWORK,
        because=f'"{name}" is {running[0].name} on {theirs}, but {who} is on {mine}',
        evidence=said,
        remedies=tuple(_on_one_network(connection, running[0], inside)),
    )


def _unknown_name(connection: FailedConnection, name: str, who: str) -> Suspect:
    seen = connection.seen.because if isinstance(connection.seen, Failed) else ""
    if "." in name and any(word in seen for word in _SILENT):
        return Suspect(
            mechanism=Mechanism.NAME_SERVER_SILENT,
            because=f'the DNS servers of {who} do not answer for "{name}"',
            evidence=(seen,),
            remedies=(
                Remedy(
                    text=f"configure a DNS server that answers for {who}: dns in its service, or the engine's --dns"
                ),
            ),
        )
    known = sorted({one for c in connection.topology.containers.values() if c.state.has_process for one in _names(c)})
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    found = []
    for one in close:
        owner = next(c for c in connection.topology.containers.values() if c.state.has_process and one in _names(c))
        address = next((a for e in owner.networks for a in e.addresses), "")
        found.append(
            Remedy(text=f'connect to "{one}", the name of {owner.name}', destination=address, port=connection.path.port)
        )
    return Suspect(
        mechanism=Mechanism.NO_SUCH_NAME,
        because=f'no container has the name "{name}"',
        evidence=(connection.path.because, *([f"closest name: {close[0]}"] if close else [])),
        remedies=tuple(found),
    )


def _host_gateway(connection: FailedConnection, name: str) -> Iterator[Remedy]:
    text = f'add extra_hosts: ["{name}:host-gateway"] to {connection.client_name}'
    gateways = [g for view in connection.networks_at(connection.path.source) for g in view.network.gateways]
    if gateways:
        yield Remedy(text=text, destination=gateways[0], port=connection.path.port)


def _without_dns(connection: FailedConnection, container: Container, *, inside: bool) -> Iterator[Remedy]:
    """Without an embedded DNS: a published port, or a network that has one."""
    port = connection.path.port
    if inside:
        yield from _on_one_network(connection, container, connection.container(connection.path.source))
        return
    there = next(
        (p for p in connection.topology.published if p.in_force and (p.container, p.target) == (container.id, port)),
        None,
    )
    host = remedies.host_address(connection)
    if there is not None and host:
        text = f"connect to {host}:{there.published}, where {container.name} publishes the port"
        yield Remedy(text=text, destination=host, port=there.published)
    elif host:
        yield remedies.publish_port(connection, container, port)


def _on_one_network(connection: FailedConnection, container: Container, client: Container | None) -> Iterator[Remedy]:
    """Client and container on one user-defined network."""
    who = connection.client_name
    for view in connection.container_networks(container):
        address = _address(container, view)
        if not view.network.default_bridge and view.bridge is not None and address and view.network.icc:
            change = remedies.with_network(connection.path.source, view)
            text = f"attach {who} to network {view.network.name}"
            yield Remedy(text=text, change=change, destination=address, port=connection.path.port)
    netns = connection.netns_of(container)
    for view in connection.container_networks(client) if client is not None and netns is not None else ():
        if not view.network.default_bridge and view.bridge is not None and view.network.icc and view.network.subnets:
            address = remedies.free_address(connection.topology, view)
            text = f"attach {container.name} to network {view.network.name}"
            change = remedies.with_network(netns or 0, view, address=address)
            yield Remedy(text=text, change=change, destination=address, port=connection.path.port)


def _address(container: Container, view: NetworkView) -> str:
    endpoint = next((e for e in container.networks if e.network == view.network.name), None)
    return endpoint.addresses[0] if endpoint is not None and endpoint.addresses else ""


def _names(container: Container) -> set[str]:
    found = {container.name, container.short_id, container.hostname, container.service or ""}
    found |= {alias for endpoint in container.networks for alias in endpoint.aliases}
    return {name.lower() for name in found if name}
