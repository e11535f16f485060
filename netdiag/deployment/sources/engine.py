"""A deployment from running containers: the same values that compose files give, as they are in force.

A member is called by its compose service where that name is unique, else by its container.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from netdiag.deployment.model.deployment import (
    Attachment,
    Broker,
    DeclaredValue,
    Deployment,
    KafkaClient,
    Member,
    Network,
    NetworkKind,
    NetworkMode,
    OtherNode,
    Platform,
    PublishedPort,
    Relay,
    RestNeighbour,
    State,
    Surroundings,
)
from netdiag.deployment.sources.client_settings import bootstraps_in_variables
from netdiag.deployment.sources.redpanda import container_file, container_flags, redpanda_config, with_clusters
from netdiag.deployment.sources.rest_services import broker_url_clients, told_urls
from netdiag.engine.container import (
    Container,
    ContainerState,
    EndpointSettings,
    EngineNetwork,
    PortBinding,
    Status,
    SwarmTask,
)
from netdiag.engine.podman import is_infra
from netdiag.engine.testcontainers import awaited_script, exported, library_of
from netdiag.findings import ContainerLocation, Edit
from netdiag.kafka.broker_config import broker_config
from netdiag.kafka.images.families import Sign, parse_image, sign_of_broker
from netdiag.kafka.images.redpanda import is_redpanda
from netdiag.kafka.images.settings import Launch
from netdiag.kafka.rest_services import CONNECT_COMMAND, rest_config, starts_other_program, with_assigned
from netdiag.linux.sockets import ListeningSocket
from netdiag.patterns import regex

NO_NETWORKS = ("host", "none")
# The network by which a swarm passes on what arrives at ports in ingress mode; no name leads to anybody there.
_INGRESS = "ingress"
_ALIVE = (State.RUNNING, State.PAUSED)
# How the engine calls a container that nobody gave a name: lucid_thompson, lucid_thompson2.
_MADE_UP = regex(r"[a-z]+_[a-z]+[0-9]?")


class ContainerValue(DeclaredValue):
    """The value of an environment variable of a container; nothing can be edited there."""

    __slots__ = ("container", "script")

    def __init__(self, *, container: str, variable: str, value: str, script: str | None = None) -> None:
        super().__init__(variable=variable, value=value)
        self.container = container
        self.script = script

    def at(self, start: int = 0, end: int | None = None) -> ContainerLocation:
        """The variable, whatever the stretch; that of a `script` of the container names it."""
        part = self.variable if self.script is None else f"{self.variable} in {self.script}"
        return ContainerLocation(container=self.container, part=part)

    def edit(self, start: int, end: int, replacement: str) -> Edit | None:
        """None: a container's environment is fixed when it is created."""
        return None


def from_engine(
    containers: Sequence[Container],
    networks: Iterable[EngineNetwork],
    *,
    asked: Collection[str] | None = None,
    name: str | None = None,
    host_addresses: tuple[str, ...] = (),
    platform: Platform | None = None,
    sockets: Mapping[str, Sequence[ListeningSocket]] | None = None,
    relays: tuple[Relay, ...] = (),
) -> Deployment:
    """The deployment of those containers that are `asked` about, all if None; the others are its surroundings.

    `name` is the compose project's, where there is one. `sockets` are those that listen, by member, for members that
    could be looked into; `relays` are known to run.
    """
    platform = platform or Platform()
    known = {network.name: _network(network, platform) for network in networks}
    is_podman = platform.is_podman
    names = member_names(containers, asked)
    members = {
        c.id: _with_sockets(_member(c, names, known, is_podman=is_podman), (sockets or {}).get(names[c.id]))
        for c in containers
    }
    if is_podman:
        members = {**members, **_in_pods(containers, members)}
    inside = [c for c in containers if asked is None or c.id in asked]
    around = [c for c in containers if asked is not None and c.id not in asked]
    kafka = {c.id for c in containers if runs_kafka(c)}
    others = [c for c in inside if c.id not in kafka]
    brokers = with_clusters([_broker(c, members[c.id]) for c in inside if c.id in kafka])
    return Deployment(
        name=name,
        brokers=brokers,
        others=tuple(members[c.id] for c in others),
        surroundings=Surroundings(
            brokers=with_clusters([_broker(c, members[c.id]) for c in around if c.id in kafka]),
            others=tuple(members[c.id] for c in around if c.id not in kafka),
            neighbours=tuple(n for c in around if c.id not in kafka and (n := _neighbour(c, members[c.id]))),
        ),
        clients=tuple(client for c in others for client in _clients(c, members[c.id])),
        neighbours=tuple(found for c in others if (found := _neighbour(c, members[c.id]))),
        url_clients=(
            *(found for c in others for found in told_urls(_values(c), members[c.id])),
            *(found for broker in brokers for found in broker_url_clients(broker)),
        ),
        relays=relays,
        networks=known,
        host_addresses=host_addresses,
        platform=platform,
    )


def _in_pods(containers: Sequence[Container], members: Mapping[str, Member]) -> dict[str, Member]:
    """Those that hold the namespaces of pods: the hosts file of a pod has its containers at its own loopback."""
    found = {}
    for pod in containers:
        if is_infra(pod.image):
            inside = [c.name for c in containers if c.network_mode == f"container:{pod.id}"]
            known = {**dict.fromkeys(inside, "127.0.0.1"), **members[pod.id].extra_hosts}
            found[pod.id] = replace(members[pod.id], extra_hosts=known)
    return found


def member_names(containers: Iterable[Container], asked: Collection[str] | None = None) -> Mapping[str, str]:
    """What each container is called as a member, by container id; those of the surroundings by their own names.

    A container may be called as a service is that is asked about: then its project or its id stands behind its name.
    """
    everything = tuple(containers)
    inside = [c for c in everything if asked is None or c.id in asked]
    services = Counter(c.service for c in inside if c.service)
    taken = {c.name for c in inside}
    named = {
        c.id: c.service if c.service and services[c.service] == 1 and c.service not in taken - {c.name} else c.name
        for c in inside
    }
    given = frozenset(named.values())
    around = (c for c in everything if c.id not in named)
    return {**named, **{c.id: c.name if c.name not in given else _told_apart(c) for c in around}}


def _told_apart(container: Container) -> str:
    return f"{container.name} ({container.project or container.short_id})"


def runs_kafka(container: Container) -> bool:
    """Whether its image is a broker's and its command has not been replaced by another (init jobs, shells)."""
    # The engine always names the command, the image's own included; none at all runs nothing.
    command = " ".join((*container.entrypoint, *container.command))
    if is_redpanda(parse_image(container.image), command):
        return container_flags(container) is not None
    if not command and container.is_elsewhere:
        # The task does not tell the command of the image.
        return _sign(container, "") is not None
    if awaited_script(container) is not None:
        # The script ends with the image's own start.
        return _sign(container, "") is not None
    return bool(command) and _sign(container, command) is not None


def _sign(container: Container, command: str) -> Sign | None:
    ports = {binding.target for binding in container.requested_ports}
    return sign_of_broker(container.image, command, container.environment, is_published=bool(ports), ports=ports)


def _network(network: EngineNetwork, platform: Platform) -> Network:
    """The network; others may be on an overlay network whom this engine does not know."""
    overlay = network.driver == "overlay"
    # Before Podman 6, with netavark 2, a network without the option keeps nobody out.
    known = network.isolated is not None or platform.podman is None or platform.podman >= (6, 0)
    isolated = network.isolated if known else False
    kind = NetworkKind.OTHER
    if network.driver == "bridge":
        kind = NetworkKind.DEFAULT_BRIDGE if network.default_bridge else NetworkKind.USER_BRIDGE
    return Network(
        key=network.name,
        name=network.name,
        kind=kind,
        internal=network.internal,
        external=overlay and (network.attachable or platform.ingress_ports is None),
        spans_nodes=overlay,
        subnets=network.subnets,
        gateways=network.gateways,
        driver=network.driver,
        icc=network.icc,
        gateway_mode="" if network.gateway_mode == "nat" else network.gateway_mode,
        ipv6=network.ipv6,
        parent=network.parent,
        isolated=isolated,
    )


def _broker(container: Container, member: Member) -> Broker:
    told = exported(container)
    environment: Mapping[str, str | None] = {**container.environment, **told, **_unfilled(container)}
    script = awaited_script(container)
    image = parse_image(container.image)
    values = {name: value for name, value in environment.items() if value is not None}
    if is_redpanda(image, " ".join((*container.entrypoint, *container.command))):
        flags, file = container_flags(container) or {}, container_file(container)
        config = redpanda_config(image, flags, environment, file)
        values |= {flag: value for flag, value in flags.items() if value is not None}
        values |= {one.variable: one.value for one in file.values() if one.variable and one.value is not None}
        told = {**told, **flags} if container.start_script else told
    else:
        config = broker_config(image, environment, _launch(container))
    return Broker(
        member=member,
        hides_options="_OPTS" in " ".join((*container.entrypoint, *container.command)),
        config=config,
        declared={
            name: ContainerValue(
                container=container.name, variable=name, value=value, script=script if name in told else None
            )
            for name, value in values.items()
        },
    )


def _unfilled(container: Container) -> dict[str, None]:
    """The variables of a container on another node that hold templates whose values are not known."""
    return {name: None for name, value in container.environment.items() if container.is_elsewhere and "{{" in value}


def data_directories(container: Container) -> tuple[str, ...]:
    """Where a broker in a container keeps its data, as far as its variables and its image say."""
    return broker_config(parse_image(container.image), container.environment, _launch(container)).data_directories


def _launch(container: Container) -> Launch:
    published = {p.target: p.published for p in container.requested_ports if p.protocol == "tcp"}
    return Launch(command=(*container.entrypoint, *container.command), mounts=None, published=published)


def _neighbour(container: Container, member: Member) -> RestNeighbour | None:
    """What a container tells its neighbours; None for one that is started with a file, which is not read here."""
    command = " ".join((*container.entrypoint, *container.command))
    variables = with_assigned(container.environment, command)
    config = None if CONNECT_COMMAND in command else rest_config(container.image, variables, command)
    if config is None or starts_other_program(command):
        return None
    return RestNeighbour(member=member, config=config, declared=_values(container))


def _values(container: Container) -> dict[str, DeclaredValue]:
    return {
        name: ContainerValue(container=container.name, variable=name, value=value)
        for name, value in container.environment.items()
    }


def _clients(container: Container, member: Member) -> Iterable[KafkaClient]:
    for found in bootstraps_in_variables(container.environment):
        if not found.waits:
            value = container.environment[found.source]
            yield found.client(member, ContainerValue(container=container.name, variable=found.source, value=value))


def _member(
    container: Container, names: Mapping[str, str], networks: Mapping[str, Network], *, is_podman: bool
) -> Member:
    state = _state(container.state)
    attachments = _attachments(container, networks, is_podman=is_podman)
    mode, shares_with = _mode(container, attachments, names, networks, is_podman=is_podman)
    # Podman tells of a container in another's namespace all that the other has.
    bindings = () if mode is NetworkMode.SHARED else _bindings_in_force(container, alive=state in _ALIVE)
    hostname = container.hostname
    full = f"{hostname}.{container.domainname}" if hostname and container.domainname else ""
    return Member(
        name=names[container.id],
        service=container.service,
        image=container.image,
        where=ContainerLocation(container=container.name),
        attachments=() if mode is NetworkMode.SHARED else attachments,
        mode=mode,
        shares_with=shares_with,
        hostnames=tuple(text for text in (hostname, full) if text) if mode is not NetworkMode.HOST else (),
        extra_hosts=dict(container.extra_hosts),
        variables=container.environment,
        published=_published(container.name, bindings),
        state=state,
        container=container.name,
        project=container.project,
        exit_code=container.state.exit_code if state is State.STOPPED else None,
        started_by=library_of(container),
        virtual_names=_service_names(container.task, "vip"),
        shared_names=_service_names(container.task, ""),
        elsewhere=_other_node(container),
    )


def _service_names(task: SwarmTask | None, endpoint_mode: str) -> frozenset[str]:
    """The names that the tasks of a service share, if it has this endpoint mode."""
    if task is None or task.endpoint_mode != endpoint_mode:
        return frozenset()
    names = {task.service, task.short_name, *(alias for some in task.aliases.values() for alias in some)}
    # Only a virtual address hides who else there is.
    return frozenset(names if endpoint_mode else names | {f"tasks.{name}" for name in names})


def _other_node(container: Container) -> OtherNode | None:
    task = container.task
    if task is None or not container.is_elsewhere:
        return None
    return OtherNode(name=task.node, address=task.node_address, published=_published(container.name, task.node_ports))


def _with_sockets(member: Member, sockets: Sequence[ListeningSocket] | None) -> Member:
    return member if sockets is None else replace(member, sockets=tuple((s.address, s.port) for s in sockets))


def _state(state: ContainerState) -> State:
    match state.status:
        case Status.RUNNING:
            return State.RUNNING
        case Status.PAUSED:
            return State.PAUSED
        case Status.RESTARTING:
            return State.RESTARTING
        case Status.UNKNOWN:
            return State.RUNNING if state.pid > 0 else State.STOPPED
        case _:
            return State.STOPPED


def _mode(
    container: Container,
    attachments: tuple[Attachment, ...],
    names: Mapping[str, str],
    networks: Mapping[str, Network],
    *,
    is_podman: bool,
) -> tuple[NetworkMode, str | None]:
    word, _, rest = container.network_mode.partition(":")
    match word:
        case "host":
            return NetworkMode.HOST, None
        case "none":
            return (NetworkMode.NETWORKS, None) if attachments else (NetworkMode.NONE, None)
        case "container":
            owner = next((name for identifier, name in names.items() if identifier == rest), rest)
            return NetworkMode.SHARED, owner
        case "slirp4netns" | "pasta" | "ns":
            return NetworkMode.UNKNOWN, None
    kinds = {networks[a.network].kind for a in attachments if a.network in networks}
    if is_podman and not kinds:
        # It calls every bridge by that word, and tells none of a container that has left its network.
        return NetworkMode.NETWORKS, None
    if kinds <= {NetworkKind.DEFAULT_BRIDGE} and word in ("", "default", "bridge"):
        return NetworkMode.DEFAULT_BRIDGE, None
    return NetworkMode.NETWORKS, None


def _attachments(container: Container, networks: Mapping[str, Network], *, is_podman: bool) -> tuple[Attachment, ...]:
    """The networks in the engine's order: internal ones last, then by name.

    Engine 29 takes a container that it could not start off its networks; the next start joins that of its network mode.
    """
    endpoints = [e for e in container.networks if e.network not in NO_NETWORKS]
    joins = container.network_mode in networks and container.network_mode not in NO_NETWORKS
    if not endpoints and joins and _state(container.state) is State.STOPPED:
        endpoints = [_endpoint_at_start(container)]

    def order(endpoint: EndpointSettings) -> tuple[bool, str]:
        network = networks.get(endpoint.network)
        return (bool(network and network.internal), endpoint.network)

    return tuple(
        Attachment(
            network=endpoint.network,
            names=_names(container, endpoint, networks, is_podman=is_podman),
            addresses=endpoint.addresses,
            where=ContainerLocation(container=container.name, part=endpoint.network),
        )
        for endpoint in sorted(endpoints, key=order)
    )


def _endpoint_at_start(container: Container) -> EndpointSettings:
    aliases = (container.service,) if container.service else ()
    return EndpointSettings(
        network=container.network_mode, network_id="", aliases=aliases, ipv4_address="", ipv6_address="", gateway=""
    )


def _names(
    container: Container, endpoint: EndpointSettings, networks: Mapping[str, Network], *, is_podman: bool
) -> tuple[str, ...]:
    """What the embedded DNS answers to; nothing on the default bridge, which has none.

    Podman's does not know hostnames, and a pod by its own name, which is its hostname.
    """
    network = networks.get(endpoint.network)
    if network is not None and network.kind is NetworkKind.DEFAULT_BRIDGE:
        return ()
    if container.task is not None:
        return _names_in_swarm(container, container.task, endpoint.network)
    service = (container.service,) if container.service in endpoint.aliases else ()
    # Before engine 25, which tells all names, one that the engine has made up is none of them.
    is_made_up = library_of(container) is not None and container.name not in endpoint.aliases
    name = () if is_made_up and _MADE_UP.fullmatch(container.name) else (container.name,)
    hostname = container.hostname if not is_podman or is_infra(container.image) else ""
    own = (*service, *name, *endpoint.aliases, container.short_id, hostname)
    return tuple(dict.fromkeys(name for name in own if name))


def _names_in_swarm(container: Container, task: SwarmTask, network: str) -> tuple[str, ...]:
    """What the embedded DNS answers to on the nodes of a swarm; nothing on the network of ports in ingress mode."""
    if network == _INGRESS:
        return ()
    own = (container.name, container.short_id, container.hostname)
    shared = (task.short_name, task.service, *task.aliases.get(network, ()))
    # In a stack, the short name is an alias; without one, it is the name itself.
    return tuple(dict.fromkeys(name for name in (*shared, *(f"tasks.{one}" for one in shared), *own) if name))


def _bindings_in_force(container: Container, *, alive: bool) -> tuple[PortBinding, ...]:
    """The ports in force; where there are none those asked for, so that it can be told why they are not."""
    in_force = alive and any(port.published is not None for port in container.ports)
    return container.ports if in_force or not container.requested_ports else container.requested_ports


def _published(container: str, bindings: tuple[PortBinding, ...]) -> tuple[PublishedPort, ...]:
    """The published ports; the IPv6 half of "all addresses" is not listed beside the IPv4 half.

    An engine that chooses a port for each may end with two numbers. Then each is for its own version of IP.
    """
    everywhere = {(b.target, b.protocol, b.published) for b in bindings if b.host_ip in ("", "0.0.0.0")}
    halves = {(b.target, b.protocol, b.published) for b in bindings if b.host_ip == "::"}
    apart = {half[:2] for half in halves - everywhere} - {half[:2] for half in halves & everywhere}
    return tuple(
        PublishedPort(
            target=b.target,
            published=b.published,
            host_ip="" if b.host_ip == "0.0.0.0" and (b.target, b.protocol) not in apart else b.host_ip,
            protocol=b.protocol,
            where=ContainerLocation(container=container, part=f"port {b.target}/{b.protocol}"),
        )
        for b in bindings
        if not (b.host_ip == "::" and (b.target, b.protocol, b.published) in everywhere)
    )
