"""Containers and networks as the engine tells them: `GET /containers/{id}/json`, its log, `GET /networks`.

The shape of a document is promised but not certain: the API leaves fields out, sends null, and changed types between
its versions. `mapping`, `text` and the others take a path of keys and give an empty value where the document holds
nothing, or something of another type.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Any

from netdiag.digits import number_of
from netdiag.engine.helper_container import is_helper
from netdiag.values import dataclass


def mapping(document: object, *path: str) -> Mapping[str, Any]:
    """The object at `path`; empty when absent."""
    found = _at(document, path)
    return found if isinstance(found, Mapping) else {}


def sequence(document: object, *path: str) -> Sequence[Any]:
    """The array at `path`; empty when absent."""
    found = _at(document, path)
    return found if isinstance(found, list | tuple) else ()


def text(document: object, *path: str) -> str:
    """The string at `path`; empty when absent."""
    found = _at(document, path)
    return found if isinstance(found, str) else ""


def number(document: object, *path: str) -> int:
    """The integer at `path`; 0 when absent."""
    found = _at(document, path)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def flag(document: object, *path: str) -> bool:
    """The boolean at `path`; False when absent."""
    return _at(document, path) is True


def texts(document: object, *path: str) -> tuple[str, ...]:
    """The strings of the array at `path`."""
    return tuple(item for item in sequence(document, *path) if isinstance(item, str))


def _at(document: object, path: tuple[str, ...]) -> object:
    for key in path:
        if not isinstance(document, Mapping):
            return None
        document = document.get(key)
    return document


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineNetwork:
    """One network. `bridge_name` is the interface on the docker host, where the engine says which.

    `parent` is the interface that a macvlan or ipvlan network stands on.
    `attachable`: containers that belong to no service of a swarm may join it, too.
    `icc` is false where the containers on it are not to reach each other (com.docker.network.bridge.enable_icc),
    `gateway_mode` is that of IPv4 where one was chosen (com.docker.network.bridge.gateway_mode_ipv4,
    engine 27 and newer). `isolated` is told by Podman only: whether it and other such networks keep each other out.
    """

    id: str
    name: str
    driver: str
    internal: bool
    subnets: tuple[str, ...]
    gateways: tuple[str, ...]
    default_bridge: bool
    bridge_name: str
    parent: str = ""
    icc: bool = True
    gateway_mode: str = ""
    ipv6: bool = False
    attachable: bool = False
    isolated: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """What is mounted into a container: where, from which path of the docker host, and of which volume if any."""

    destination: str
    source: str
    volume: str


def parse_mounts(document: object) -> tuple[Mount, ...]:
    """The mounts of an inspected container, and its root where the engine has mounted that as a whole."""
    root = text(document, "GraphDriver", "Data", "MergedDir")
    found = (
        Mount(destination=text(one, "Destination"), source=text(one, "Source"), volume=text(one, "Name"))
        for one in sequence(document, "Mounts")
    )
    merged = (Mount(destination="/", source=root, volume=""),) if root.startswith("/") else ()
    return (*(mount for mount in found if mount.destination.startswith("/") and mount.source), *merged)


def parse_network(document: object) -> EngineNetwork:
    """The network of one document; networks without a driver's bridge have an empty `bridge_name`."""
    pools = sequence(document, "IPAM", "Config")
    identifier, driver = text(document, "Id"), text(document, "Driver")
    named = text(document, "Options", "com.docker.network.bridge.name")
    return EngineNetwork(
        id=identifier,
        name=text(document, "Name"),
        driver=driver,
        internal=flag(document, "Internal"),
        subnets=tuple(subnet for pool in pools if (subnet := text(pool, "Subnet"))),
        # libnetwork appends the prefix length to some gateways.
        gateways=tuple(gateway.partition("/")[0] for pool in pools if (gateway := text(pool, "Gateway"))),
        default_bridge=text(document, "Options", "com.docker.network.bridge.default_bridge") == "true",
        bridge_name=named or (f"br-{identifier[:12]}" if driver == "bridge" and identifier else ""),
        parent=_parent(document, driver, identifier),
        icc=text(document, "Options", "com.docker.network.bridge.enable_icc").lower() != "false",
        gateway_mode=text(document, "Options", "com.docker.network.bridge.gateway_mode_ipv4"),
        ipv6=flag(document, "EnableIPv6"),
        attachable=flag(document, "Attachable"),
    )


def _parent(document: object, driver: str, identifier: str) -> str:
    """The one that was asked for; without one the engine makes a dummy of its own."""
    own = {"macvlan": "dm", "ipvlan": "di"}.get(driver)
    if own is None:
        return ""
    return text(document, "Options", "parent") or (f"{own}-{identifier[:12]}" if identifier else "")


PROJECT_LABEL = "com.docker.compose.project"
FILES_LABEL = "com.docker.compose.project.config_files"
SERVICE_LABEL = "com.docker.compose.service"
_STACK_LABEL = "com.docker.stack.namespace"
_SWARM_LABEL = "com.docker.swarm.service.name"
_TASK_LABEL = "com.docker.swarm.task.id"


class Status(Enum):
    """`State.Status`; UNKNOWN is a word that a newer engine may add."""

    CREATED = "created"
    RUNNING = "running"
    PAUSED = "paused"
    RESTARTING = "restarting"
    REMOVING = "removing"
    EXITED = "exited"
    DEAD = "dead"
    UNKNOWN = "unknown"


# A container that has ended and whose cleanup is not over is "stopped", and may stay so.
_WORDS_OF_PODMAN = {"configured": "created", "initialized": "created", "stopping": "running", "stopped": "exited"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerState:
    """Whether it runs. `pid` is 0 while it does not; `error` is what kept the engine from starting it.

    `started_at` is when it was started last (RFC 3339), `health` what its health check says, "" without one.
    """

    status: Status
    pid: int
    exit_code: int
    oom_killed: bool
    error: str
    started_at: str = ""
    health: str = ""

    @property
    def has_process(self) -> bool:
        """Whether there is a process, frozen or not, whose namespaces can be looked into."""
        return self.pid > 0 and self.status in (Status.RUNNING, Status.PAUSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings:
    """The attachment of a container to a network; addresses are empty while it does not run."""

    network: str
    network_id: str
    aliases: tuple[str, ...]
    ipv4_address: str
    ipv6_address: str
    gateway: str

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses in force."""
        return tuple(address for address in (self.ipv4_address, self.ipv6_address) if address)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortBinding:
    """A container port (target) on the docker host; `published` None is one that the engine has not chosen yet."""

    target: int
    protocol: str
    host_ip: str
    published: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SwarmTask:
    """What a swarm says of a container that it started: the names of its service, "STACK_SERVICE", and of its stack.

    Only a manager tells more. `endpoint_mode` is "vip", "dnsrr", or "" where it was not told; `aliases` are those of
    the service, by network. `node` is another node that it runs on, with its address and the ports that it publishes
    there; they are empty for this one.
    """

    id: str
    service: str
    stack: str = ""
    endpoint_mode: str = ""
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    node: str = ""
    node_address: str = ""
    node_ports: tuple[PortBinding, ...] = ()

    @property
    def short_name(self) -> str:
        """What the stack's file calls the service."""
        return self.service.removeprefix(f"{self.stack}_") if self.stack else self.service


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """One container.

    `environment` holds secrets and is never shown as a whole. `ports` are the bindings in force,
    `requested_ports` those that were asked for; they differ while it is stopped and on internal networks.
    `publish_all` asks for every port that the image exposes. `start_script` is the text of the script that its command
    waits for, `advertised` the advertised listeners that this script has computed, where the image has written them
    down, `config_file` the text of a configuration that it waits for; they are empty where there are none, or nobody
    has read them. `task` is what a swarm says of it, None where no swarm started it.
    """

    id: str
    name: str
    image: str
    image_id: str
    state: ContainerState
    entrypoint: tuple[str, ...]
    command: tuple[str, ...]
    environment: Mapping[str, str]
    labels: Mapping[str, str]
    hostname: str
    domainname: str
    network_mode: str
    extra_hosts: tuple[tuple[str, str], ...]
    networks: tuple[EndpointSettings, ...]
    ports: tuple[PortBinding, ...]
    requested_ports: tuple[PortBinding, ...]
    restart_count: int
    publish_all: bool = False
    start_script: str = ""
    advertised: str = ""
    config_file: str = ""
    task: SwarmTask | None = None

    @property
    def short_id(self) -> str:
        """The twelve digits that people and the embedded DNS know."""
        return self.id[:12]

    @property
    def project(self) -> str | None:
        """The compose project or the stack it belongs to."""
        return self.labels.get(PROJECT_LABEL) or (self.task.stack if self.task else None) or None

    @property
    def compose_files(self) -> tuple[str, ...]:
        """The compose files it was made from, as absolute paths on the machine where compose ran."""
        return tuple(path for path in self.labels.get(FILES_LABEL, "").split(",") if path)

    @property
    def service(self) -> str | None:
        """The service it is an instance of, as files call it."""
        return self.labels.get(SERVICE_LABEL) or (self.task.short_name if self.task else None)

    @property
    def is_elsewhere(self) -> bool:
        """Whether it runs on another node of a swarm, whose engine was not asked."""
        return self.task is not None and self.task.node != ""


def parse_container(document: object) -> Container:
    """The container of one inspect document; what is absent there is empty here."""
    labels = {k: v for k, v in mapping(document, "Config", "Labels").items() if isinstance(v, str)}
    return Container(
        id=text(document, "Id"),
        name=text(document, "Name").removeprefix("/"),
        image=text(document, "Config", "Image"),
        image_id=text(document, "Image"),
        state=_state(document),
        entrypoint=_words(document, "Config", "Entrypoint"),
        command=_words(document, "Config", "Cmd"),
        environment=_environment(texts(document, "Config", "Env")),
        labels=labels,
        hostname=text(document, "Config", "Hostname"),
        domainname=text(document, "Config", "Domainname"),
        network_mode=text(document, "HostConfig", "NetworkMode"),
        extra_hosts=tuple(_extra_host(entry) for entry in texts(document, "HostConfig", "ExtraHosts")),
        networks=tuple(
            _endpoint(name, settings) for name, settings in mapping(document, "NetworkSettings", "Networks").items()
        ),
        ports=_ports(mapping(document, "NetworkSettings", "Ports")),
        requested_ports=_ports(mapping(document, "HostConfig", "PortBindings")),
        restart_count=number(document, "RestartCount"),
        publish_all=flag(document, "HostConfig", "PublishAllPorts"),
        task=_task(labels),
    )


def _task(labels: Mapping[str, str]) -> SwarmTask | None:
    service = labels.get(_SWARM_LABEL, "")
    if not service:
        return None
    return SwarmTask(id=labels.get(_TASK_LABEL, ""), service=service, stack=labels.get(_STACK_LABEL, ""))


def _state(document: object) -> ContainerState:
    word = text(document, "State", "Status")
    status = next((s for s in Status if s.value == _WORDS_OF_PODMAN.get(word, word)), Status.UNKNOWN)
    return ContainerState(
        status=status,
        pid=number(document, "State", "Pid"),
        exit_code=number(document, "State", "ExitCode"),
        oom_killed=flag(document, "State", "OOMKilled"),
        error=text(document, "State", "Error"),
        started_at=text(document, "State", "StartedAt"),
        health=text(document, "State", "Health", "Status"),
    )


def _words(document: object, *path: str) -> tuple[str, ...]:
    """A command: an array, or one string in documents of very old engines."""
    single = text(document, *path)
    return (single,) if single else texts(document, *path)


def _environment(assignments: tuple[str, ...]) -> dict[str, str]:
    """NAME=value pairs; of two for one name the later wins, as for the process."""
    pairs = (assignment.partition("=") for assignment in assignments)
    return {name: value for name, equals, value in pairs if equals}


def _extra_host(entry: str) -> tuple[str, str]:
    """`name:address`, where the address may hold colons of its own and newer clients write `name=address`."""
    separator = "=" if "=" in entry else ":"
    name, _, address = entry.partition(separator)
    return name, address.strip("[]")


def _endpoint(name: str, settings: object) -> EndpointSettings:
    identifier = text(settings, "NetworkID")
    return EndpointSettings(
        network=name,
        # Podman has the name there again.
        network_id="" if identifier == name else identifier,
        # DNSNames, of engine 25 and newer, is everything the embedded DNS answers to.
        aliases=tuple(dict.fromkeys((*texts(settings, "Aliases"), *texts(settings, "DNSNames")))),
        ipv4_address=text(settings, "IPAddress"),
        ipv6_address=text(settings, "GlobalIPv6Address"),
        gateway=text(settings, "Gateway"),
    )


def _ports(bindings: Mapping[str, object]) -> tuple[PortBinding, ...]:
    found: list[PortBinding] = []
    for key in bindings:
        target, _, protocol = key.partition("/")
        number = number_of(target)
        if number is None:
            continue
        for binding in sequence(bindings, key):
            published = text(binding, "HostPort")
            found.append(
                PortBinding(
                    target=number,
                    protocol=protocol or "tcp",
                    host_ip=text(binding, "HostIp"),
                    published=number_of(published) or None,
                )
            )
    return tuple(found)


def in_order(container: Container) -> tuple[str | tuple[int, str], ...]:
    """The key that sorts containers by name as people count: broker-2 before broker-10."""
    parts = re.split(r"([0-9]+)", container.name)
    return tuple((len(part.lstrip("0")), part.lstrip("0")) if n % 2 else part for n, part in enumerate(parts))


def in_sight(containers: Iterable[Container]) -> tuple[Container, ...]:
    """Those that are looked at, in order; helpers of netdiag, however many run just now, are none of them."""
    return tuple(sorted((one for one in containers if not is_helper(one.labels)), key=in_order))


LONGEST_LINE = 1000

# CSI and OSC sequences, then every other control character but the tab.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def log_lines(data: bytes) -> tuple[str, ...]:
    """The lines of a log, without escape sequences, control characters and empty lines; long ones are cut."""
    lines = (_clean(line) for line in data.decode("utf-8", errors="replace").split("\n"))
    return tuple(line for line in lines if line)


def one_line(text: str) -> str:
    """Text from a document for one line: no escape sequences, no control characters, not too long."""
    return _clean(" ".join(text[: 4 * LONGEST_LINE].split()))


def _clean(line: str) -> str:
    visible = _CONTROLS.sub("", _ESCAPES.sub("", line[: 4 * LONGEST_LINE])).rstrip()
    return visible if len(visible) <= LONGEST_LINE else visible[: LONGEST_LINE - 1] + "…"
