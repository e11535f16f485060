"""What a deployment is made of: the engine's machine, members with their attachments and published ports, networks.

A member is a declared service or a running container; from here on the two cannot be told apart.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from datetime import datetime
from enum import Enum
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol, TypeVar

from netdiag.config import Facts
from netdiag.deployment.model.verdict import Address
from netdiag.digits import number_of
from netdiag.findings import Edit, Location
from netdiag.kafka.broker_config import BrokerConfig, Mode
from netdiag.kafka.client_properties import ClientProperties, Store
from netdiag.kafka.images.families import FAMILIES, Sign, parse_image
from netdiag.kafka.images.reference import ContainerUser
from netdiag.kafka.images.settings import Provenance
from netdiag.kafka.listeners import ListenerEntry
from netdiag.kafka.rest_services import RestConfig
from netdiag.kafka.security import OpenedStore, TrustAnchor
from netdiag.kafka.storage import MetaProperties, UnreadableMetaProperties
from netdiag.patterns import regex
from netdiag.values import dataclass

if TYPE_CHECKING:
    # Not needed for files.
    from netdiag.engine.testcontainers import Library


class HostKind(Enum):
    """Where the engine runs; the value is the word of `--platform`.

    LINUX: on the user's machine. DESKTOP (Docker Desktop), ORBSTACK, COLIMA and RANCHER_DESKTOP: in a virtual machine
    that a product runs (`VIRTUAL_MACHINES`). WSL2: in a WSL distribution in an unknown networking mode; WSL2_NAT and
    WSL2_MIRRORED: in a known one. SWARM: on the nodes of a swarm, where `docker stack deploy` starts the files.
    PODMAN: on the user's machine, and it is Podman as root; PODMAN_ROOTLESS: as a user.
    """

    LINUX = "linux"
    DESKTOP = "desktop"
    ORBSTACK = "orbstack"
    COLIMA = "colima"
    RANCHER_DESKTOP = "rancher-desktop"
    WSL2 = "wsl2"
    WSL2_NAT = "wsl2-nat"
    WSL2_MIRRORED = "wsl2-mirrored"
    SWARM = "swarm"
    PODMAN = "podman"
    PODMAN_ROOTLESS = "podman-rootless"


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualMachine:
    """What is documented of a product that runs the engine in a virtual machine (sources: docs/reachability.md).

    `routes_to_containers` is whether the user's machine has routes to container addresses; `forwards_host_mode` whether
    it offers what listens in the virtual machine's own namespace on its loopback, `offers_to_lan` whether it offers
    published ports to the LAN, and `accepts_first` whether it accepts a connection to a published port before it knows
    that anybody listens behind. `aliases` are the names of the user's machine in containers, `aliases_reach_loopback`
    whether they lead to ports published on its loopback. None: nobody says, or a setting decides. `domain` is the one
    that containers have names under.
    """

    product: str
    routes_to_containers: bool | None = None
    forwards_host_mode: bool | None = None
    offers_to_lan: bool | None = None
    accepts_first: bool | None = None
    aliases: tuple[str, ...] = ("host.docker.internal",)
    aliases_reach_loopback: bool | None = None
    domain: str | None = None


VIRTUAL_MACHINES: Mapping[HostKind, VirtualMachine] = {
    HostKind.DESKTOP: VirtualMachine(
        product="Docker Desktop",
        routes_to_containers=False,
        offers_to_lan=True,
        accepts_first=True,
        aliases_reach_loopback=True,
    ),
    HostKind.ORBSTACK: VirtualMachine(
        product="OrbStack", routes_to_containers=True, forwards_host_mode=True, domain="orb.local"
    ),
    HostKind.COLIMA: VirtualMachine(
        product="Colima",
        routes_to_containers=False,
        forwards_host_mode=True,
        offers_to_lan=True,
        aliases=("host.docker.internal", "host.lima.internal"),
    ),
    HostKind.RANCHER_DESKTOP: VirtualMachine(product="Rancher Desktop"),
}
"""By the kind of host; the others run the engine on the docker host itself."""


class Generation(Enum):
    """Engines that filter alike; the value is the word of `--engine`, the oldest measured release of each.

    V20: up to 27, isolation chains. V28: raw drops of what is not published. V29: no isolation chains.
    """

    V20 = "20.10"
    V28 = "28"
    V29 = "29"


class Firewall(Enum):
    """What the engine writes its rules with; the value is the word of `--firewall`."""

    IPTABLES = "iptables"
    NFTABLES = "nftables"


class HostInput(Enum):
    """What the docker host's own firewall (ufw, firewalld, rules by hand) does to what comes to the host itself.

    REJECT answers with a reset or "port unreachable", PROHIBIT with "administratively prohibited".
    """

    ACCEPT = "accept"
    DROP = "drop"
    REJECT = "reject"
    PROHIBIT = "prohibit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """The engine and its machine. None: nobody has said; where the answer hangs on it, that is unknown.

    `userland_proxy` None stands for Docker's default (on). `bridge_filter` is whether packets between the ports of one
    bridge pass the packet filter (`net.bridge.bridge-nf-call-iptables`); None stands for yes, as the engine sets it.
    `forward_drops` is whether the FORWARD chain drops what nothing accepts (as the engine sets it where it turned
    forwarding on); None stands for yes. `lan_routes` is whether machines on the LAN have routes to container addresses
    by way of the docker host, `default_route` whether the docker host has a way to anywhere else; `host_input` None
    stands for no firewall of the host's own. `ingress_ports` are those that a swarm offers on each of its nodes, beside
    what the containers publish; None where the engine is in a swarm and does not tell. `podman` is the release of
    Podman, major and minor.
    """

    kind: HostKind = HostKind.LINUX
    generation: Generation | None = None
    userland_proxy: bool | None = None
    firewall: Firewall | None = None
    bridge_filter: bool | None = None
    forward_drops: bool | None = None
    lan_routes: bool | None = None
    default_route: bool | None = None
    host_input: HostInput | None = None
    ingress_ports: tuple[int, ...] | None = ()
    podman: tuple[int, int] | None = None

    @property
    def is_podman(self) -> bool:
        """Whether the engine is Podman."""
        return self.kind in (HostKind.PODMAN, HostKind.PODMAN_ROOTLESS)

    @property
    def domain(self) -> str:
        """What may follow the name of a container in the place of its network's name; "" where nothing does."""
        return "dns.podman" if self.is_podman else ""

    @property
    def has_proxy(self) -> bool:
        """Whether a process serves published ports on the docker host, before it knows that anybody listens behind."""
        return self.userland_proxy is not False and not self.is_podman

    @property
    def virtual_machine(self) -> VirtualMachine | None:
        """The one that the engine runs in; None where it runs on the docker host itself."""
        return VIRTUAL_MACHINES.get(self.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformOptions:
    """What a user says about the engine and its machine; None where they say nothing."""

    kind: HostKind | None = None
    generation: Generation | None = None
    userland_proxy: bool | None = None
    firewall: Firewall | None = None
    podman: tuple[int, int] | None = None

    def over(self, platform: Platform) -> Platform:
        """The platform with what is said in the place of what was found."""
        said = {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}
        return replace(platform, **said)


def generation_of(release: str) -> Generation | None:
    """The generation of an engine's release ("20.10.24+dfsg1", "28.5.2"); None for what is no release."""
    number = number_of(release.partition(".")[0])
    if number is None:
        return None
    if number >= 29:
        return Generation.V29
    return Generation.V28 if number == 28 else Generation.V20


def podman_release(text: str) -> tuple[int, int] | None:
    """Major and minor of a release of Podman ("4.3.1", "Podman 4.3.1"); None for what is none."""
    major, minor = (number_of(part) for part in [*text.removeprefix("Podman ").split("."), "0"][:2])
    return None if major is None or minor is None else (major, minor)


# What an image may miss while all that it makes of the other variables is known.
_BESIDE_LISTENERS = frozenset(
    {
        "CLUSTER_ID",
        "KAFKA_CLUSTER_ID",
        "KAFKA_KRAFT_CLUSTER_ID",
        "ALLOW_PLAINTEXT_LISTENER",
        "KAFKA_ZOOKEEPER_CONNECT",
    }
)
# The default log.dirs of images that have one.
# Names that nobody chose: the id of a container, and what Testcontainers for Java calls each of them.
_MADE_UP = regex(r"[0-9a-f]{12}|tc-[0-9A-Za-z]{8}")
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class NetworkMode(Enum):
    """How a member is connected."""

    NETWORKS = "networks"
    DEFAULT_BRIDGE = "bridge"
    HOST = "host"
    NONE = "none"
    SHARED = "shared"
    UNKNOWN = "unknown"


class State(Enum):
    """Whether a member runs; DECLARED is one that a file describes and nobody has started."""

    DECLARED = "declared"
    RUNNING = "running"
    PAUSED = "paused"
    RESTARTING = "restarting"
    STOPPED = "stopped"


class NetworkKind(Enum):
    """What connects the members of a network."""

    USER_BRIDGE = "user-defined bridge"
    DEFAULT_BRIDGE = "default bridge"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """One network; subnets and gateways are those that are declared or known.

    `known_names` are the names of all others on an external one, None where nobody has said. `driver` is the engine's
    word; `icc` false where containers are not to reach each other; `gateway_mode` "" (nat), "nat-unprotected", "routed"
    or "isolated"; `parent` the device of the docker host that a macvlan or ipvlan network stands on. `spans_nodes`:
    an overlay network of a swarm, which connects containers of all its nodes. `isolated` is whether
    Podman keeps it and other such networks out of each other; None where nobody has said.
    """

    key: str
    name: str
    kind: NetworkKind = NetworkKind.USER_BRIDGE
    internal: bool = False
    external: bool = False
    subnets: tuple[str, ...] = ()
    gateways: tuple[str, ...] = ()
    where: Location | None = None
    known_names: tuple[str, ...] | None = None
    driver: str = "bridge"
    icc: bool = True
    gateway_mode: str = ""
    ipv6: bool = False
    parent: str = ""
    spans_nodes: bool = False
    isolated: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A member on a network: the names it answers to there, and its addresses where they are known."""

    network: str
    names: tuple[str, ...]
    addresses: tuple[str, ...] = ()
    where: Location | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPort:
    """A container port (target) that the engine offers on the docker host; published None is "any free one".

    `host_ip` is "" for every address; 0.0.0.0 stands for those of IPv4, :: for those of IPv6. `mode` is what only a
    swarm looks at: each node offers the port (ingress), or only those that run a task (host).
    """

    target: int
    published: int | None
    host_ip: str
    protocol: str
    where: Location
    mode: str = "ingress"

    @property
    def is_wildcard(self) -> bool:
        """Whether every address of an IP version, or of both, offers it."""
        return self.host_ip in ("", "0.0.0.0", "::")

    @property
    def on_all_addresses(self) -> bool:
        """Whether every IPv4 address of the docker host offers it."""
        return self.host_ip in ("", "0.0.0.0")

    @property
    def on_loopback(self) -> bool:
        """Whether the docker host itself can use it through 127.0.0.1."""
        return self.on_all_addresses or self.host_ip.startswith("127.")


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherNode:
    """Another node of a swarm that a member runs on, its address, and the ports that it publishes there."""

    name: str
    address: str
    published: tuple[PublishedPort, ...] = ()


class MemberEditor(Protocol):
    """Edits the text that declares a member; each method gives the edit, None where it cannot be made soundly."""

    def add_variable(self, name: str, value: str, beside: str | None) -> Edit | None:
        """One variable more, beside another."""
        ...

    def rename_variable(self, name: str, new: str) -> Edit | None:
        """Another name for a variable."""
        ...

    def remove_variable(self, name: str) -> Edit | None:
        """One variable less."""
        ...

    def add_port(self, published: int, target: int) -> Edit | None:
        """One published port more."""
        ...

    def add_field(self, key: str, value: str) -> Edit | None:
        """A key that is not there yet, with a scalar."""
        ...

    def change_port(
        self, port: PublishedPort, *, published: int | None = None, target: int | None = None
    ) -> Edit | None:
        """Another number on the host side or the container side of a published port."""
        ...

    def pin_port(self, port: PublishedPort, number: int) -> Edit | None:
        """A given number of the docker host in the place of any free one."""
        ...

    def offer_everywhere(self, port: PublishedPort) -> Edit | None:
        """A published port without its address of the docker host."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder that a container mounts, as stat(2) describes it; `exists` is False where the engine will create it."""

    exists: bool
    uid: int = 0
    gid: int = 0
    mode: int = 0o755

    def is_writable_by(self, user: ContainerUser) -> bool:
        """Whether the user may create files in it."""
        if user.uid == 0:
            return True
        if not self.exists:
            return False
        bit = 0o200 if user.uid == self.uid else 0o020 if user.gid == self.gid else 0o002
        return bool(self.mode & bit)


FindFolder = Callable[[str], Folder | None]
"""The folder of a path as the project's files give it; None where it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """Something from outside at a path of a container; `source` is the same for all that mount the same thing.

    `written` is how the file calls it. `folder` is the mounted folder, if it is the project's and could be looked at.
    """

    target: str
    source: str
    where: Location
    written: str = ""
    folder: Folder | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredIdentity:
    """The identity that an earlier broker left in a data directory; `where` is the mount, `path` the container's.

    `meta` is the reason of the broker's refusal where it cannot read the file.
    """

    path: str
    where: Location
    meta: MetaProperties | UnreadableMetaProperties


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredStore:
    """A key store or trust store that a setting names: what it holds, where it is named, and by what words.

    `setting` is what a person changes; `opened` is None where no file of the project is there to be read.
    """

    store: Store
    setting: str
    where: Location
    opened: OpenedStore | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerIdentity:
    """What a listener with TLS shows and trusts; `checks_names` is what its broker does as a client of it.

    `needs_client`: a client without a certificate of its own is refused.
    """

    listener: str
    keystore: DeclaredStore | None = None
    truststore: DeclaredStore | None = None
    checks_names: bool = True
    needs_client: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerLogin:
    """What a listener with SASL enables, and the users that it knows.

    `users` leads from the users of PLAIN to their passwords, None where nobody can tell; `own` are the name and the
    password with which the broker itself logs in to others. `missing` are mechanisms without an entry of JAAS. `where`
    is the place of the entry, else of the listener.
    """

    listener: str
    mechanisms: tuple[str, ...]
    where: Location
    users: Mapping[str, str] | None = field(default=None, repr=False)
    own: tuple[str, str] | None = field(default=None, repr=False)
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedUsers:
    """The users of SCRAM that commands create: from (mechanism, user) to the password, None where nobody can tell.

    `is_whole` is false where a command may create more than can be read of it.
    """

    passwords: Mapping[tuple[str, str], str | None] = field(default_factory=dict, repr=False)
    is_whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSecurity:
    """How a declared client connects and logs in. `is_whole`: it has no other settings than these."""

    properties: ClientProperties
    is_whole: bool = False
    truststore: DeclaredStore | None = None
    keystore: DeclaredStore | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Where the chain of every key store leads to in every trust store, and the time at which they were read.

    `is_verified` is false where signatures could not be checked.
    """

    anchors: Mapping[tuple[OpenedStore, OpenedStore], TrustAnchor] = field(default_factory=dict)
    now: datetime | None = None
    is_verified: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One service or container, Kafka or not.

    `attachments` stand in the order in which the engine's resolver and its published ports take them:
    internal networks last, then by network name. `hostnames` are the names in the member's own hosts file;
    `links` lead from an alias to the member it stands for, None for a container that is not shown; `variables`
    are those of its environment that have a value; `mounts` are the paths inside that come from outside,
    `storage` those of them whose source is known by a name; `editor` is None for what nobody can edit.
    `exit_code` is that of a container that has ended, None for others; `is_built` tells of an image of the project.
    `sockets` are the TCP sockets that listen in its namespace where they have been looked at, as (address, port).
    `project` is the compose project that it belongs to, where it belongs to one; `user` is the one that the files give
    in the place of the image's; `started_by` is the library of Testcontainers that started it, if one did.
    `endpoint_mode` and `on_every_node` (whether each node runs a task) are what only a swarm looks at; `virtual_names`
    are the names to which it gives a virtual address, which leads to any of the tasks. `elsewhere` is another node that
    the member runs on, `shared_names` are names that members on other nodes may have, too, which this engine does not
    know; `is_named_by_template`: the swarm gives each of its tasks a hostname, which the files do not show.
    """

    name: str
    service: str | None
    image: str
    where: Location
    attachments: tuple[Attachment, ...] = ()
    mode: NetworkMode = NetworkMode.NETWORKS
    shares_with: str | None = None
    hostnames: tuple[str, ...] = ()
    extra_hosts: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str | None] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    mounts: tuple[str, ...] = ()
    storage: tuple[Storage, ...] = ()
    replicas: int = 1
    published: tuple[PublishedPort, ...] = ()
    state: State = State.DECLARED
    container: str | None = None
    project: str | None = None
    exit_code: int | None = None
    is_built: bool = False
    sockets: tuple[tuple[str, int], ...] | None = None
    editor: MemberEditor | None = field(default=None, repr=False, compare=False)
    user: str = ""
    started_by: "Library | None" = None
    endpoint_mode: "DeclaredValue | None" = field(default=None, compare=False)
    virtual_names: frozenset[str] = frozenset()
    on_every_node: bool = False
    elsewhere: OtherNode | None = None
    shared_names: frozenset[str] = frozenset()
    is_named_by_template: bool = False

    @property
    def all_names(self) -> frozenset[str]:
        """What this member is called anywhere, on a network or not."""
        on_networks = (name for attachment in self.attachments for name in attachment.names)
        return frozenset(filter(None, (self.name, self.service, self.container, *on_networks)))

    @property
    def known_as(self) -> tuple[str, ...]:
        """What people call it: its service or its container.

        Testcontainers leaves the name to the engine: there, what it is called on networks, if it is called anything.
        """
        if self.started_by is None:
            return (self.service or self.name,)
        names = dict.fromkeys(name for attachment in self.attachments for name in attachment.names)
        return tuple(name for name in names if name not in self.hostnames and not _MADE_UP.fullmatch(name))

    def on(self, network: str) -> Attachment | None:
        """This member's attachment to a network."""
        return next((a for a in self.attachments if a.network == network), None)

    def mounted_at(self, directory: str) -> PurePosixPath | None:
        """Where what holds a directory is mounted, be it an anonymous volume of the image; None for the container's."""
        folder = PurePosixPath(directory)
        paths = map(PurePosixPath, (*self.mounts, *FAMILIES[parse_image(self.image).family].volumes))
        return max(filter(folder.is_relative_to, paths), key=lambda path: len(path.parts), default=None)

    def storage_of(self, directory: str) -> Storage | None:
        """The mount that holds a directory; None where that is an anonymous volume, or the container itself."""
        path = self.mounted_at(directory)
        return next((storage for storage in self.storage if PurePosixPath(storage.target) == path), None)


class DeclaredValue:
    """A value as somebody wrote it, able to point at any stretch of itself; subclassed by each source.

    `variable` says under what, in the words of messages: an environment variable, a flag, a property in a file.
    """

    __slots__ = ("value", "variable")

    def __init__(self, *, variable: str, value: str) -> None:
        self.variable = variable
        self.value = value

    def at(self, start: int = 0, end: int | None = None) -> Location:
        """The place of characters start..end of the value."""
        raise NotImplementedError

    @property
    def blanks(self) -> tuple[tuple[int, str], ...]:
        """Where variables without value and default left nothing behind: (offset in the value, variable)."""
        return ()

    @property
    def replaced(self) -> tuple[Location, ...]:
        """Other values under the same name that stand beside this one, and that this one replaces."""
        return ()

    def edit(self, start: int, end: int, replacement: str) -> Edit | None:
        """The edit that replaces characters start..end where they really stand; None where that cannot be done."""
        raise NotImplementedError

    def quotes(self) -> tuple[Edit, Edit] | None:
        """The quotes that the value needs before a comma may stand in it; None where it needs none."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFile:
    """A file that is mounted and configures a broker: its name, and the mount.

    `unused` are the variables about listeners that nobody looks at because of it, `replaced` those that win over a
    line of it, by property.
    """

    name: str
    where: Location
    unused: tuple[str, ...] = ()
    replaced: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """A member that runs Kafka (broker, controller or both), with the values that configure it.

    `is_partial` is one that a file configures which nobody here can read. `sign` is what it is recognised by; `stored`
    what its data directories say of the broker that wrote them, where they can be read before it starts. `identities`
    are those of its listeners with TLS, `logins` what those with SASL ask for. `hides_options`: its command, or what
    cannot be read, may give its JVM options beside those of its variables.
    """

    member: Member
    config: BrokerConfig
    declared: Mapping[str, DeclaredValue]
    config_file: ConfigFile | None = None
    is_partial: bool = False
    sign: Sign = Sign.IMAGE
    stored: tuple[StoredIdentity, ...] = ()
    identities: tuple[ListenerIdentity, ...] = ()
    logins: tuple[ListenerLogin, ...] = ()
    hides_options: bool = False

    @property
    def name(self) -> str:
        """The member's name."""
        return self.member.name

    @property
    def data_directories(self) -> tuple[str, ...]:
        """Where the broker keeps its data; nothing if this is not known."""
        return () if self.is_configured_by_file else self.config.data_directories

    def storage_of(self, directory: str) -> Storage | None:
        """The mount that holds a directory; None where that is an anonymous volume, or the container itself."""
        return self.member.storage_of(directory)

    @property
    def is_configured_by_file(self) -> bool:
        """Whether a properties file is mounted that may say otherwise than what is known."""
        if self.is_partial or self.config_file is not None:
            return self.is_partial
        folders = ("/mnt/shared/config", "/opt/kafka/config", "/etc/kafka")
        return any(
            path.rstrip("/") in folders or path.endswith(("server.properties", "kafka.properties"))
            for path in self.member.mounts
        )

    def place(self, property_name: str, start: int = 0, end: int | None = None) -> Location:
        """Where characters start..end of a property stand; the member itself where nobody wrote the property.

        A derived property is pointed at as a whole: its characters are those of another one.
        """
        setting = self.config.settings.get(property_name)
        source = self.declared.get(setting.variable) if setting and setting.variable else None
        if setting is None or source is None:
            return self.member.where
        return source.at(start, end) if setting.provenance is Provenance.VARIABLE else source.at()

    def source_of(self, property_name: str) -> DeclaredValue | None:
        """The value that somebody wrote for a property; None where it is derived, a default or not written."""
        setting = self.config.settings.get(property_name)
        if setting is None or setting.variable is None or setting.provenance is not Provenance.VARIABLE:
            return None
        return self.declared.get(setting.variable)

    def edit(self, property_name: str, start: int, end: int, replacement: str) -> tuple[Edit, ...]:
        """The edit of characters start..end of a property; none where it cannot be made there."""
        source = self.source_of(property_name)
        edit = source.edit(start, end, replacement) if source else None
        return (edit,) if edit else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapAddress:
    """One address of a list: `start` and `end` are its place in the text, the scheme included."""

    host: str
    port: int
    start: int = 0
    end: int = 0
    scheme: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaClient:
    """A member that is told a bootstrap list: a client that the files themselves show.

    The list is part of `declared`; `setting` is what a person changes there. `active` is false for a service whose
    profile is not switched on, `certain` where only a broker's own name tells that the list is for Kafka; `waits` is
    true for one that connects and does no more. `protocol` is the security protocol declared beside the list; `tool`
    the program that is given it in a command, `configured` whether a file is named there that may say more. `security`
    is None where the settings beside the list tell nothing.
    """

    member: Member
    declared: DeclaredValue
    setting: str
    bootstraps: tuple[BootstrapAddress, ...]
    active: bool = True
    certain: bool = True
    waits: bool = False
    protocol: str | None = None
    tool: str = ""
    configured: bool = False
    security: ClientSecurity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RestNeighbour:
    """A member that answers HTTP beside the brokers, with the values that configure it."""

    member: Member
    config: RestConfig
    declared: Mapping[str, DeclaredValue]

    @property
    def name(self) -> str:
        """The member's name."""
        return self.member.name

    def place(self, property_name: str, start: int = 0, end: int | None = None) -> Location:
        """Where characters start..end of a property stand; the member itself where nobody wrote the property."""
        source = self.source_of(property_name)
        return self.member.where if source is None else source.at(start, end)

    def source_of(self, property_name: str) -> DeclaredValue | None:
        """The value that somebody wrote for a property; None where it is a default or not written."""
        setting = self.config.settings.get(property_name)
        return self.declared.get(setting.variable) if setting is not None and setting.variable else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayTarget:
    """Where a relay leads. `declared` is the text host:port (or the port alone) where somebody wrote it."""

    address: Address
    declared: DeclaredValue | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relay:
    """A port at which a program accepts, and the targets among which it divides its connections.

    `member` is whose namespace it accepts in, None for the docker host; `host` the address that it binds, "" for all.
    `through` is the machine that connects to the target, as the relay names it, "" for the relay itself.
    """

    program: str
    member: str | None
    host: str
    port: int
    targets: tuple[RelayTarget, ...]
    where: Location
    through: str = ""

    def __str__(self) -> str:
        return f"{self.program} in {self.member}" if self.member else f"{self.program} on the docker host"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What runs beside that which is asked about: it explains who holds a port or a name, and is never judged."""

    brokers: tuple[Broker, ...] = ()
    others: tuple[Member, ...] = ()
    neighbours: tuple[RestNeighbour, ...] = ()


# Without slots, so that what is looked up often is indexed once.
@dataclasses.dataclass(frozen=True, kw_only=True)
class Deployment:
    """Brokers, other members and networks, from files or from the engine.

    The brokers, the others and the clients are what is asked about. Whoever looks up who has a name, an address or a
    port finds the `surroundings`, too.

    `inactive_members` are the members whose profile is not switched on, of which nothing else here knows;
    `missing_services` are the services that others wait for and no file holds: the files are a part of something.
    `waiting` are told an address only to wait until it can be connected to, `health_checks` are what brokers ask
    themselves, `relays` pass connections on, `neighbours` are the services beside the brokers that answer HTTP,
    `url_clients` are told URLs of such services.
    `host_addresses` are the docker host's own non-loopback addresses where known; `platform` is the engine and its
    machine, as far as it is known. `facts` are what the user declares. `down` names the members that are taken not to
    run, whatever their state says. `trust` is of the key stores and trust stores that brokers and clients name.
    `users` are those of SCRAM that commands here create.
    """

    name: str | None
    brokers: tuple[Broker, ...]
    others: tuple[Member, ...] = ()
    surroundings: Surroundings = field(default_factory=Surroundings)
    clients: tuple[KafkaClient, ...] = ()
    waiting: tuple[KafkaClient, ...] = ()
    neighbours: tuple[RestNeighbour, ...] = ()
    url_clients: tuple[KafkaClient, ...] = ()
    relays: tuple[Relay, ...] = ()
    health_checks: tuple[KafkaClient, ...] = ()
    inactive_members: tuple[Member, ...] = ()
    missing_services: frozenset[str] = frozenset()
    networks: Mapping[str, Network] = field(default_factory=dict)
    host_addresses: tuple[str, ...] = ()
    platform: Platform = field(default_factory=Platform)
    facts: Facts = field(default_factory=Facts)
    down: frozenset[str] = frozenset()
    trust: Trust = field(default_factory=Trust)
    users: CreatedUsers = field(default_factory=CreatedUsers)

    @cached_property
    def configured(self) -> tuple[Broker, ...]:
        """The brokers whose image hands a configuration to Kafka: what rules about that configuration look at."""
        return tuple(broker for broker in self.serving if broker.config.mode is not Mode.REDPANDA)

    @cached_property
    def serving(self) -> tuple[Broker, ...]:
        """Those and the ones that only speak Kafka's protocol: what rules about the ways to a listener look at."""
        return tuple(broker for broker in self.brokers if not broker.is_partial and _tells_listeners(broker.config))

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """Every member that is asked about, brokers first."""
        return (*(broker.member for broker in self.brokers), *self.others)

    @cached_property
    def all_brokers(self) -> tuple[Broker, ...]:
        """Every broker, those of the surroundings last."""
        return (*self.brokers, *self.surroundings.brokers)

    @cached_property
    def all_members(self) -> tuple[Member, ...]:
        """Every member, those of the surroundings last."""
        around = self.surroundings
        return (*self.members, *(broker.member for broker in around.brokers), *around.others)

    @cached_property
    def by_name(self) -> Mapping[str, Member]:
        """The members by name."""
        return {member.name: member for member in self.all_members}

    @cached_property
    def owner_names(self) -> Mapping[str, str]:
        """For each member that shares another's network namespace, the name of the owner."""
        # What is asked about comes last, and keeps the names that its surroundings have, too.
        everyone = (*self.all_members[len(self.members) :], *self.members)
        called = {alias: m.name for m in everyone for alias in (m.container, m.service, m.name) if alias}
        sharing = (m for m in self.all_members if m.mode is NetworkMode.SHARED)
        return {m.name: called.get(m.shares_with or "", m.name) for m in sharing}

    @cached_property
    def members_by_network_name(self) -> Mapping[tuple[str, str], tuple[Member, ...]]:
        """Who answers to a name on a network, by (network, name)."""
        return _grouped(((a.network, name), m) for m in self.all_members for a in m.attachments for name in a.names)

    @cached_property
    def members_by_any_name(self) -> Mapping[str, tuple[Member, ...]]:
        """Who has a name, on whatever network or on none."""
        return _grouped((name, m) for m in self.all_members for name in m.all_names)

    @cached_property
    def members_by_address(self) -> Mapping[str, tuple[tuple[Member, Attachment], ...]]:
        """Who has an address that is known."""
        return _grouped((address, (m, a)) for m in self.all_members for a in m.attachments for address in a.addresses)

    @cached_property
    def publishers_by_port(self) -> Mapping[int, tuple[tuple[Member, PublishedPort], ...]]:
        """Who publishes a TCP port of the docker host, running or not."""
        return _grouped(
            (port.published, (member, port))
            for member in self.all_members
            for port in member.published
            if port.published is not None and port.protocol == "tcp"
        )

    @cached_property
    def host_mode_members(self) -> tuple[Member, ...]:
        """The members that use the docker host's own network namespace."""
        return tuple(member for member in self.all_members if member.mode is NetworkMode.HOST)

    @cached_property
    def listeners_by_port(self) -> Mapping[tuple[str, int], tuple[tuple[Broker, ListenerEntry], ...]]:
        """The listeners in a network namespace, by (name of its owner, port)."""
        return _grouped(
            ((self.owner_names.get(broker.name, broker.name), entry.endpoint.port), (broker, entry))
            for broker in self.all_brokers
            for entry in broker.config.listeners
        )

    @cached_property
    def relays_by_port(self) -> Mapping[tuple[str | None, int], tuple[Relay, ...]]:
        """The relays in a network namespace, by (name of its owner, None for the docker host, and port)."""
        return _grouped(
            ((self.owner_names.get(relay.member, relay.member) if relay.member else None, relay.port), relay)
            for relay in self.relays
        )

    def is_running(self, member: Member) -> bool:
        """Whether a member is up, or is taken to come up."""
        return member.name not in self.down and member.state is not State.STOPPED

    def with_down(self, names: Iterable[str]) -> "Deployment":
        """The same deployment, in which these members do not run."""
        return replace(self, down=frozenset(names))

    @cached_property
    def broker_owners(self) -> frozenset[str]:
        """The names of the members whose network namespace a broker is in."""
        return frozenset(self.owner_names.get(broker.name, broker.name) for broker in self.all_brokers)

    @cached_property
    def unknown_owners(self) -> frozenset[str]:
        """Those of them where a broker has listeners that nobody here can know."""
        unknown = (broker.name for broker in self.all_brokers if broker.config.is_unknown("listeners"))
        return frozenset(self.owner_names.get(name, name) for name in unknown)

    def broker(self, name: str) -> Broker | None:
        """The broker of that member name."""
        return next((broker for broker in self.brokers if broker.name == name), None)


def _grouped(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, tuple[_Value, ...]]:
    found: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return {key: tuple(values) for key, values in found.items()}


def _tells_listeners(config: BrokerConfig) -> bool:
    """Whether the listeners are known, of a broker that starts or that misses something else."""
    if config.refusal is not None and (config.refusal.variable not in _BESIDE_LISTENERS or config.refusal.also_missing):
        return False
    return config.mode is not Mode.UNDECIDED or config.refusal is not None
