"""A deployment from compose files: services as members, Kafka images as brokers, every value with its place."""

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from netdiag.compose.positions import Text
from netdiag.compose.project import EnvironmentVariable, Project, Service, Volume
from netdiag.compose.project import Network as DeclaredNetwork
from netdiag.compose.values import ReadFile, no_files
from netdiag.config import Facts
from netdiag.deployment.model.deployment import (
    Attachment,
    Broker,
    CreatedUsers,
    Deployment,
    FindFolder,
    HostKind,
    Member,
    Network,
    NetworkKind,
    NetworkMode,
    Platform,
    PublishedPort,
    Storage,
)
from netdiag.deployment.sources.client_settings import (
    declared_clients,
    health_check_clients,
    metrics_reporters,
    waiting_containers,
)
from netdiag.deployment.sources.compose_text import ComposeServiceEditor, ComposeValue
from netdiag.deployment.sources.images import BuiltService, built_service
from netdiag.deployment.sources.redpanda import redpanda_broker, starts_redpanda, with_clusters
from netdiag.deployment.sources.relays import declared_relays, file_content
from netdiag.deployment.sources.rest_services import broker_url_clients, declared_neighbour, url_clients
from netdiag.deployment.sources.secured import (
    LoadTools,
    Stores,
    client_security,
    created_users,
    listener_identities,
    listener_logins,
)
from netdiag.deployment.sources.startup import (
    IN_VOLUME,
    broker_file,
    exported_variables,
    mounted_file,
    prepares_start,
    stored_identities,
    with_mounted_file,
    with_unknown_file,
)
from netdiag.digits import number_of
from netdiag.findings import FileLocation
from netdiag.kafka.broker_config import BrokerConfig, Mode, broker_config
from netdiag.kafka.images.families import (
    Sign,
    may_start_broker,
    parse_image,
    script_of,
    sign_of_broker,
    starts_broker,
)
from netdiag.kafka.images.redpanda import is_redpanda
from netdiag.kafka.images.reference import ImageFamily, ImageReference
from netdiag.kafka.images.settings import Launch, Provenance, Setting, image_default, with_defaults
from netdiag.kafka.images.unknown import telling_variable, unwritten, with_macros_unknown

# The key of the engine's own network; no compose file can declare it under this name.
DEFAULT_BRIDGE = "(default bridge)"
# A script that ends so runs what the image would have run.
_RUNS_ITS_ARGUMENTS = '"$@"'
# Signs of a broker of which nothing is taken but what its variables or its mounted file say.
_TOLD_WHOLLY = (Sign.VARIABLES, Sign.SCRIPT, Sign.FILE)
# Signs of a broker that tell nothing of its settings.
_WITHOUT_SETTINGS = (None, Sign.COMMAND, Sign.NAME, Sign.PORT)
# Kafka's default of reserved.broker.max.id.
_RESERVED_IDS = 1000
# What Go reads as false.
_GO_FALSE = frozenset({"false", "f", "0"})


def no_folders(path: str) -> None:
    """A `FindFolder` that looks nowhere."""


# Networks that every node of a swarm has; a service may use them, declared as external ones.
_NODE_NETWORKS = frozenset({"bridge", "host", "none"})


def from_compose(
    project: Project,
    *,
    host_addresses: tuple[str, ...] = (),
    facts: Facts | None = None,
    read: ReadFile = no_files,
    stores: LoadTools | None = None,
    platform: Platform | None = None,
    folder: FindFolder = no_folders,
) -> Deployment:
    """The deployment that `docker compose up`, or for a swarm `docker stack deploy`, would make of the project.

    `host_addresses` are addresses that the user declares to be the docker host's own, `facts` what else they declare;
    `read` gives the bytes of a file that a broker mounts: of one inside the project's folder by its path, and, if it
    can, of one in a volume by `volume:NAME/PATH`, with the engine's name. `platform` is the engine that the project is
    meant for, where that is known. `stores` loads what opens key stores and trust stores.
    `folder` looks at a folder that is mounted.
    """
    facts = facts or Facts()
    swarm = platform is not None and platform.kind is HostKind.SWARM
    is_podman = platform is not None and platform.is_podman
    if swarm:
        from netdiag.deployment.sources.swarm import as_stack

        project = as_stack(project)
    read = _with_volume_names(read, project)
    opener = Stores(stores, read)
    origins = {name: _origin(service, read) for name, service in project.services.items()}
    project = replace(project, services={name: origin.service for name, origin in origins.items()})
    changed = {name for name, origin in origins.items() if origin.is_changed}

    def member(service: Service) -> Member:
        return _member(project, service, folder, swarm=swarm, is_podman=is_podman)

    members = {name: member(service) for name, service in project.services.items()}
    sleeping = {name: member(service) for name, service in project.disabled.items()}
    brokers = _with_generated_ids(
        with_clusters(
            [
                with_unknown_file(broker) if name in changed and broker.sign not in _TOLD_WHOLLY else broker
                for name, service in _kafka_services(project, read)
                for broker in [_broker(service, members[name], read, opener)]
            ]
        )
    )
    broker_names = {broker.name for broker in brokers}
    clients = [(service, members[name]) for name, service in project.services.items() if name not in broker_names]
    asleep = [(service, sleeping[name]) for name, service in project.disabled.items()]
    kafka = [(project.services[broker.name], broker.member) for broker in brokers]
    declared = [
        client_security(found, service, read=read, file=content, stores=opener)
        for service, member in clients
        for content in [partial(file_content, service, read)]
        for found in declared_clients(service, member, file=content)
    ]
    neighbours = {m.name: n for service, m in clients if (n := declared_neighbour(service, m, read))}
    return Deployment(
        name=project.name,
        brokers=brokers,
        others=tuple(member for name, member in members.items() if name not in broker_names),
        clients=(
            *declared,
            *(d for service, member in kafka for d in metrics_reporters(service, member)),
            *(d for service, member in asleep for d in declared_clients(service, member, active=False)),
        ),
        neighbours=tuple(neighbours.values()),
        url_clients=(
            *(
                found
                for service, member in clients
                for content in [partial(file_content, service, read)]
                for found in url_clients(service, member, neighbours.get(member.name), content)
            ),
            *(found for broker in brokers for found in broker_url_clients(broker)),
        ),
        relays=declared_relays(project.services.values(), read),
        waiting=tuple(d for service, member in clients for d in waiting_containers(service, member)),
        health_checks=tuple(d for service, member in kafka for d in health_check_clients(service, member)),
        inactive_members=tuple(sleeping.values()),
        missing_services=frozenset(name for s in project.services.values() for name in _awaited(s))
        - {*project.services, *project.disabled},
        networks=_with_created_only(_networks(project, facts, swarm=swarm), members.values()),
        host_addresses=host_addresses,
        platform=platform or Platform(kind=HostKind.DESKTOP if facts.docker_desktop else HostKind.LINUX),
        facts=facts,
        trust=opener.trust(),
        users=created_users((*project.services.values(), *project.disabled.values()), read)
        if any(broker.logins for broker in brokers)
        else CreatedUsers(),
    )


def _awaited(service: Service) -> Iterator[str]:
    """The services that one needs to be there."""
    yield from (dependency.service for dependency in service.depends_on)
    yield from (link.service for link in service.links)
    if service.network_mode is not None and service.network_mode.value.startswith("service:"):
        yield service.network_mode.value.removeprefix("service:")


def _with_volume_names(read: ReadFile, project: Project) -> ReadFile:
    """A reader that calls a volume what the engine calls it, where the files say what they call it."""

    def named(path: str) -> bytes | None:
        if not path.startswith(IN_VOLUME):
            return read(path)
        key, _, rest = path.removeprefix(IN_VOLUME).partition("/")
        name = project.volumes.get(key)
        return None if name is None else read(f"{IN_VOLUME}{name}/{rest}")

    return named


def _origin(service: Service, read: ReadFile) -> BuiltService:
    """The service on the image behind it, unless only what its own image is called tells that it is a broker."""
    built = built_service(service, read)
    return built if runs_kafka(built.service, read) or not runs_kafka(service, read) else BuiltService(service=service)


def _kafka_services(project: Project, read: ReadFile) -> list[tuple[str, Service]]:
    """The services that start a broker: not those that load the variables of a broker for what they say of it."""
    found = {name: service for name, service in project.services.items() if runs_kafka(service, read)}
    assumed = {name for name, service in found.items() if _sign(service, read) in (Sign.VARIABLES, Sign.SCRIPT)}
    lent = {_telling_place(service) for name, service in found.items() if name not in assumed} - {None}
    return [
        (name, service) for name, service in found.items() if name not in assumed or _telling_place(service) not in lent
    ]


def _telling_place(service: Service) -> FileLocation | None:
    """Where the variable of an env_file stands that tells of a broker."""
    name = telling_variable(_environment(service))
    variable = service.environment[name] if name is not None else None
    return variable.entry_span if variable is not None and variable.form == "env_file" else None


def runs_kafka(service: Service, read: ReadFile = no_files) -> bool:
    """Whether a service starts a broker: by its image, unless its command is replaced by something else.

    `read` gives the bytes of a script that is mounted in its place.
    """
    if _is_redpanda(service):
        return starts_redpanda(service)
    return _sign(service, read) is not None


def _is_redpanda(service: Service) -> bool:
    return is_redpanda(parse_image(service.image.value if service.image else ""), _command(service))


def _command(service: Service) -> str:
    """What replaces the image's own command; empty where nothing does."""
    overrides = (_joined(part) for part in (service.entrypoint, service.command) if part is not None)
    return " ".join(filter(None, overrides))


def _sign(service: Service, read: ReadFile) -> Sign | None:
    """What tells that a service starts a broker; a script of its own that can be read is read."""
    image = service.image.value if service.image else ""
    command = _command(service)
    environment = _environment(service)
    is_offered = bool(service.ports) or service.build_from is not None
    ports = {port.target for port in service.ports}
    sign = sign_of_broker(image, command, environment, is_published=is_offered, ports=ports)
    names_file = sign is Sign.COMMAND and "kafka-server-start" in command
    if sign in _WITHOUT_SETTINGS and not names_file and may_start_broker(image, command) and broker_file(service, read):
        return Sign.FILE
    path = script_of(command)
    script = mounted_file(service, path, read) if path is not None else None
    if script is None or script.data is None:
        return sign
    text = script.data.decode(errors="replace")
    if starts_broker(text):
        return sign_of_broker(image, "", environment)
    return sign if _RUNS_ITS_ARGUMENTS in text else None


def _member(project: Project, service: Service, folder: FindFolder, *, swarm: bool, is_podman: bool) -> Member:
    mode, shares_with = _mode(service)
    own_names, virtual, templated = _own_names(project, service), False, False
    if swarm:
        from netdiag.deployment.sources.swarm import has_virtual_address, is_named_by_template, names_in_swarm

        own_names, virtual = names_in_swarm(service), has_virtual_address(service)
        templated = is_named_by_template(service)
    hostnames = (service.hostname.value,) if service.hostname and service.hostname.value and not templated else ()
    endpoint_mode = service.deploy.endpoint_mode if service.deploy else None
    return Member(
        name=service.name,
        service=service.name,
        image=service.image.value if service.image else "",
        where=service.span,
        # Podman's embedded DNS does not know hostnames.
        attachments=_attachments(project, service, mode, (*own_names, *(() if is_podman else hostnames))),
        mode=mode,
        shares_with=shares_with,
        hostnames=hostnames,
        extra_hosts={extra.name: extra.address for extra in service.extra_hosts},
        links=_links(service),
        mounts=tuple(volume.target for volume in service.volumes),
        storage=tuple(found for volume in service.volumes if (found := _storage(volume, folder))),
        replicas=service.scale,
        variables={name: v.value.value for name, v in service.environment.items() if v.value is not None},
        published=tuple(
            PublishedPort(
                target=port.target,
                published=port.published,
                host_ip=port.host_ip,
                protocol=port.protocol,
                where=port.text.span,
                mode=port.mode,
            )
            for port in service.ports
        ),
        container=service.container_name.value if service.container_name else None,
        project=project.name,
        editor=ComposeServiceEditor(project, service),
        user=service.user.value if service.user else "",
        is_built=service.build_from is not None,
        endpoint_mode=ComposeValue(variable="endpoint_mode", text=endpoint_mode) if endpoint_mode else None,
        virtual_names=frozenset({service.name, *(alias.value for n in service.networks for alias in n.aliases)})
        if virtual
        else frozenset(),
        is_named_by_template=templated,
        on_every_node=service.deploy is not None and service.deploy.on_every_node,
    )


def _mode(service: Service) -> tuple[NetworkMode, str | None]:
    text = service.network_mode.value if service.network_mode else ""
    kind, _, name = text.partition(":")
    match kind:
        case "":
            return NetworkMode.NETWORKS, None
        case "host":
            return NetworkMode.HOST, None
        case "none":
            return NetworkMode.NONE, None
        case "bridge" | "default":
            return NetworkMode.DEFAULT_BRIDGE, None
        case "service" | "container":
            return NetworkMode.SHARED, name
        case _:
            return NetworkMode.UNKNOWN, None


def _attachments(
    project: Project, service: Service, mode: NetworkMode, own_names: tuple[str, ...]
) -> tuple[Attachment, ...]:
    """A service's networks in the engine's order: internal ones last, then by the name the engine knows."""
    if mode is NetworkMode.DEFAULT_BRIDGE:
        # Without embedded DNS there are no names.
        return (Attachment(network=DEFAULT_BRIDGE, names=(), where=service.span),)
    if mode is not NetworkMode.NETWORKS:
        return ()

    def order(attachment: Attachment) -> tuple[bool, str]:
        network = project.networks.get(attachment.network)
        name = network.name if network and network.name else f"{project.name or ''}_{attachment.network}"
        return (bool(network and network.internal), name)

    found = [
        Attachment(
            network=n.network,
            names=tuple(dict.fromkeys((*own_names, *(alias.value for alias in n.aliases)))),
            addresses=tuple(a.value for a in (n.ipv4_address, n.ipv6_address) if a),
            where=n.span,
        )
        for n in service.networks
    ]
    if not found:
        found = [Attachment(network="default", names=own_names, where=service.span)]
    return tuple(sorted(found, key=order))


def _own_names(project: Project, service: Service) -> tuple[str, ...]:
    names = [service.name]
    if service.container_name:
        names.append(service.container_name.value)
    elif project.name:
        names.append(f"{project.name}-{service.name}-1")
    return tuple(names)


def _links(service: Service) -> dict[str, str | None]:
    outside = (text.value.rpartition(":")[2] for text in service.external_links)
    return {**dict.fromkeys(outside), **{link.alias: link.service for link in service.links}}


def _storage(volume: Volume, folder: FindFolder) -> Storage | None:
    if volume.source is None or volume.type not in ("volume", "bind"):
        return None
    path = posixpath.normpath(volume.host_path) if volume.host_path else volume.source.value
    source = f"{volume.type} {path}"
    return Storage(
        target=volume.target,
        source=f"{source} {volume.subpath}".rstrip(),
        where=volume.span,
        written=volume.source.value,
        folder=folder(path) if volume.type == "bind" else None,
    )


def _broker(service: Service, member: Member, read: ReadFile, stores: Stores) -> Broker:
    if _is_redpanda(service):
        return redpanda_broker(service, member, read)
    variables = service.environment
    made = _config_of_visible_variables if service.lacks_env_file else broker_config
    sign = _sign(service, read) or Sign.IMAGE
    image = parse_image(member.image)
    if sign is Sign.SCRIPT:
        # The script may change whatever the image would do.
        image = replace(image, family=ImageFamily.OTHER)
    broker = Broker(
        member=member,
        config=made(image, _environment(service), _launch(service)),
        declared={
            name: ComposeValue(variable=name, text=v.value, replaced=_contradicted_entries(service, v))
            for name, v in variables.items()
            if v.value is not None
        },
        sign=sign,
        hides_options=_hides_options(service),
    )
    found = with_mounted_file(broker, service, read)
    refusal = found.config.refusal
    if prepares_start(service) or (refusal is not None and refusal.variable in exported_variables(service)):
        found = replace(found, config=replace(found.config, refusal=None))
    is_told = found.config_file is not None or sign not in _WITHOUT_SETTINGS
    told = found if is_told else with_unknown_file(found)
    return replace(
        told,
        stored=tuple(stored_identities(told, service, read)),
        identities=tuple(listener_identities(told, service, read, stores)),
        logins=tuple(listener_logins(told, service, read)),
    )


def _hides_options(service: Service) -> bool:
    """Whether a JVM may be given other options than the variables that are shown tell."""
    unknown = any(name.endswith("_OPTS") and one.value is None for name, one in service.environment.items())
    return unknown or service.lacks_env_file or service.entrypoint is not None or service.command is not None


def _config_of_visible_variables(
    image: ImageReference, environment: Mapping[str, str | None], launch: Launch | None = None
) -> BrokerConfig:
    """The configuration as far as the variables that are shown decide it."""
    shown = dict(environment)
    config = broker_config(image, shown, launch)
    while (refusal := config.refusal) is not None and refusal.missing and refusal.variable not in shown:
        shown[refusal.variable] = None
        config = broker_config(image, shown, launch)
    settings = {
        name: replace(setting, value=None)
        if setting.provenance is Provenance.IMAGE_DEFAULT
        else with_macros_unknown(setting)
        for name, setting in config.settings.items()
    }
    settings = with_defaults(settings, unwritten(settings))
    named = any(shown.get(variable) for variable in config.cluster_id_variables)
    config = replace(config, settings=settings, cluster_id=config.cluster_id if named else None)
    if config.mode is not Mode.UNDECIDED:
        return config
    roles = image_default("process.roles", None)
    return replace(config, settings={"process.roles": roles, **settings})


def _environment(service: Service) -> dict[str, str | None]:
    return {name: v.value.value if v.value is not None else None for name, v in service.environment.items()}


def _launch(service: Service) -> Launch:
    """How the container is started, as far as images look at it."""
    words = [part for part in (service.entrypoint, service.command) if part is not None]
    return Launch(
        command=tuple(w.value for part in words for w in ((part,) if isinstance(part, Text) else part)),
        mounts=tuple(volume.target for volume in service.volumes),
        published={port.target: port.published for port in service.ports if port.protocol == "tcp"},
    )


def _contradicted_entries(service: Service, variable: EnvironmentVariable) -> tuple[FileLocation, ...]:
    """The earlier entries of the same list with another value; a template or another file may say what it likes."""
    if variable.form != "list" or variable.value is None or variable.value.source is None:
        return ()
    data, own = variable.value.source.data, variable.entry_span
    return tuple(
        span
        for span in variable.shadowed
        if span.path == own.path == service.span.path
        and service.span.start < span.start < own.start
        and data[span.start : span.end].strip(b"\"' ") != data[own.start : own.end].strip(b"\"' ")
    )


def _with_created_only(networks: dict[str, Network], members: Iterable[Member]) -> dict[str, Network]:
    """The networks, without addresses where no service makes compose create one."""
    used = {attachment.network for member in members for attachment in member.attachments}
    return {
        key: network if key in used or network.external else replace(network, gateways=(), subnets=())
        for key, network in networks.items()
    }


def _networks(project: Project, facts: Facts, *, swarm: bool) -> dict[str, Network]:
    networks = {
        key: Network(
            key=key,
            name=declared.name or f"{project.name or ''}_{key}",
            kind=NetworkKind.USER_BRIDGE if _is_bridge(declared.driver) else NetworkKind.OTHER,
            internal=declared.internal,
            external=declared.external,
            subnets=tuple(subnet.value for subnet in declared.subnets),
            gateways=(declared.gateway.value,) if declared.gateway else (),
            where=declared.span,
            driver="bridge" if declared.driver is None or _is_bridge(declared.driver) else declared.driver.value,
            icc=_option(declared, "com.docker.network.bridge.enable_icc").lower() not in _GO_FALSE,
            gateway_mode=_gateway_mode(_option(declared, "com.docker.network.bridge.gateway_mode_ipv4")),
            ipv6=declared.ipv6,
            parent=_option(declared, "parent"),
        )
        for key, declared in project.networks.items()
    }
    networks = {key: _with_declared_facts(network, facts) for key, network in networks.items()}
    networks.setdefault("default", Network(key="default", name=f"{project.name or ''}_default"))
    if swarm:
        networks = {key: _in_swarm(network, project.networks.get(key)) for key, network in networks.items()}
    networks.setdefault(DEFAULT_BRIDGE, Network(key=DEFAULT_BRIDGE, name="bridge", kind=NetworkKind.DEFAULT_BRIDGE))
    return networks


def _in_swarm(network: Network, declared: DeclaredNetwork | None) -> Network:
    """A network of a stack: an overlay network, unless the files name another driver or a network of each node."""
    driver = declared.driver.value if declared is not None and declared.driver else "overlay"
    if network.external and network.name in _NODE_NETWORKS:
        driver = network.name
    return replace(network, kind=NetworkKind.OTHER, driver=driver, gateways=(), spans_nodes=driver == "overlay")


def _is_bridge(driver: Text | None) -> bool:
    return driver is None or driver.value in ("", "bridge", "default")


def _option(declared: DeclaredNetwork, name: str) -> str:
    text = declared.driver_opts.get(name)
    return text.value.strip() if text else ""


def _gateway_mode(word: str) -> str:
    return "" if word == "nat" else word


def _with_declared_facts(network: Network, facts: Facts) -> Network:
    """An external network with what the user declares of it."""
    declared = facts.external_networks.get(network.key) or facts.external_networks.get(network.name)
    if declared is None or not network.external:
        return network
    return replace(network, known_names=declared.members, subnets=network.subnets or declared.subnets)


def _joined(command: Text | tuple[Text, ...]) -> str:
    return command.value if isinstance(command, Text) else " ".join(word.value for word in command)


def _with_generated_ids(brokers: Sequence[Broker]) -> tuple[Broker, ...]:
    """The brokers, each with an id: as if those that let Kafka choose one started in this order.

    With ZooKeeper, a broker without an id, or with a negative one, takes the next number above
    `reserved.broker.max.id` (KafkaServer.getOrGenerateBrokerId of Kafka 3.9).
    """
    started: Counter[str] = Counter()
    found = []
    for broker in brokers:
        if _is_generated(broker):
            started[broker.config.quorum] += 1
            number = _reserved_ids(broker) + started[broker.config.quorum]
            setting = Setting(name="broker.id", value=str(number), variable=None, provenance=Provenance.DERIVED)
            config = replace(broker.config, settings={**broker.config.settings, "broker.id": setting})
            broker = replace(broker, config=config)
        found.append(broker)
    return tuple(found)


def _is_generated(broker: Broker) -> bool:
    config = broker.config
    if config.mode is not Mode.ZOOKEEPER or (config.value("broker.id.generation.enable") or "").lower() == "false":
        return False
    return config.node_id is None or config.node_id < 0


def _reserved_ids(broker: Broker) -> int:
    number = number_of(broker.config.value("reserved.broker.max.id") or "")
    return _RESERVED_IDS if number is None else number
