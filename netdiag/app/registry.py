"""What brokers have registered with their cluster, beside what they declare, say now, and have stored.

ZooKeeper is asked from inside the containers of its brokers, each broker from inside its own. The metadata log is read
from the data directories of containers, where the engine gives them.
"""

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from netdiag.app.check import targets_of
from netdiag.app.configuration import CheckOptions
from netdiag.app.progress import SILENT, Listener
from netdiag.app.storage import StorageQuery, read_storage
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Address, Failed, Reason
from netdiag.deployment.observation.live_view import LiveVantage, LiveView, docker_host_vantage
from netdiag.deployment.observation.registered import (
    InFile,
    Registered,
    SaidNow,
    advertised_endpoints,
    effective_endpoints,
    join_registered,
)
from netdiag.deployment.prediction.cluster import quorum_members
from netdiag.deployment.sources.compose import from_compose
from netdiag.errors import InputError, NetdiagError, UsageError
from netdiag.findings import FileLocation, Finding, by_place
from netdiag.io.extras import require_live
from netdiag.io.files import read_file
from netdiag.io.files.projects import STDIN, NoProject, ProjectFiles, ProjectReader
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.listeners import is_wildcard, parse_zookeeper_connect
from netdiag.kafka.registry import Registry, from_listener, from_stored_state, from_zookeeper
from netdiag.kafka.storage import DataDirectory
from netdiag.kafka.stored_records import METADATA_TOPIC
from netdiag.kafka.zookeeper import SaslUser, ZookeeperRead
from netdiag.kafka.zookeeper_client import parse_zookeeper_login
from netdiag.rules.observed import check_registered
from netdiag.values import dataclass

if TYPE_CHECKING:
    from netdiag.io.engine.live_deployment import Live
    from netdiag.io.network.client_identity import Client
    from netdiag.io.network.registry import BrokerAnswer, RegistryAnswers, RegistryQuestions, ZookeeperQuestion

# From so many places ZooKeeper is asked, if it does not answer at the first.
_MOST_PLACES = 4
# Nobody has so many listeners; of the ports that listen in a container, the first ones are tried.
_MOST_DOORS = 32
_LONGEST_DIGEST = 4096
_LONGEST_JAAS = 256 * 1024
# Records of a metadata log that are read beside other work, which takes less than a second.
_MOST_BESIDE = 50_000
# What a broker does to a client that it does not want; some listeners with TLS just close.
_GUARDED = frozenset({Reason.TLS, Reason.SASL, Reason.CLOSED})


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryOptions:
    """Which clusters: the project of `check`, the containers named, or everything on the engine.

    `zookeeper` is an address like zookeeper.connect's, asked from here instead, without an engine. `digest_file` holds
    the user:password for ZooKeeper, `zookeeper_jaas` a login by SASL, `zookeeper_properties` how to connect with TLS;
    `client_properties` says how to connect to brokers.
    """

    check: CheckOptions
    containers: tuple[str, ...] = ()
    host: str | None = None
    zookeeper: str | None = None
    digest_file: str | None = None
    zookeeper_jaas: str | None = None
    zookeeper_properties: str | None = None
    client_properties: str | None = None
    timeout: float = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryReport:
    """What is registered, cluster by cluster, and what is wrong about it."""

    clusters: tuple[Registered, ...]
    findings: tuple[Finding, ...] = ()


def read_registry(options: RegistryOptions, listener: Listener = SILENT) -> RegistryReport:
    """Read the registries; nothing is changed.

    EngineError where the engine cannot be asked, InputError for files, names and credentials that cannot be used.
    """
    require_live("registry")
    entrance = _entrance(options)
    if options.zookeeper is not None:
        return RegistryReport(clusters=(_named_zookeeper(options.zookeeper, entrance, options.timeout),))
    clusters: list[Registered] = []
    findings: list[Finding] = []
    for seen, in_files in _seen(options, listener):
        for reading in cluster_readings(seen, entrance, in_files):
            found = _read(reading, options, listener)
            clusters.append(found)
            findings += check_registered(LiveView(deployment=seen.deployment, registered=found))
    return RegistryReport(clusters=tuple(clusters), findings=tuple(sorted(findings, key=by_place)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ZookeeperEntrance:
    """How ZooKeeper is entered: see `ZookeeperQuestion`."""

    digest: str | None = field(default=None, repr=False)
    sasl: SaslUser | None = None
    client: "Client | None" = field(default=None, repr=False)


PLAIN = ZookeeperEntrance()


def _entrance(options: RegistryOptions) -> ZookeeperEntrance:
    from netdiag.io.network.client_identity import read_zookeeper_client

    jaas, properties = options.zookeeper_jaas, options.zookeeper_properties
    return ZookeeperEntrance(
        digest=None if options.digest_file is None else _digest(options.digest_file),
        sasl=None if jaas is None else parse_zookeeper_login(_text(jaas), where=jaas),
        client=None if properties is None else read_zookeeper_client(properties),
    )


def _text(path: str) -> str:
    return read_file(path, limit=_LONGEST_JAAS).decode("utf-8", errors="replace")


def _digest(path: str) -> str:
    text = read_file(path, limit=_LONGEST_DIGEST).decode("utf-8", errors="replace").strip()
    user, colon, password = text.partition(":")
    if not (user and colon and password) or len(text.splitlines()) != 1:
        raise InputError("holds no line user:password", where=path, hint="write the user, a colon and the password")
    return text


def _named_zookeeper(text: str, entrance: ZookeeperEntrance, timeout: float) -> Registered:
    from netdiag.io.network.registry import RegistryQuestions, ZookeeperQuestion, ask_registries

    servers, chroot = _zookeeper(text)
    if not servers:
        raise UsageError(f'"{text}" is no address of ZooKeeper', hint="write HOST:PORT, or HOST:PORT/PATH")
    question = ZookeeperQuestion(
        servers=servers,
        chroot=chroot,
        vantages=(docker_host_vantage(),),
        digest=entrance.digest,
        sasl=entrance.sasl,
        client=entrance.client,
    )
    answers = ask_registries(RegistryQuestions(zookeepers=(question,)), timeout=timeout)
    (answer,) = answers.zookeepers
    if not isinstance(answer.outcome, ZookeeperRead):
        raise InputError(f"cannot read it: {answer.outcome.because}", where=f"ZooKeeper at {answer.server}")
    return Registered(name=f"ZooKeeper at {text}", registries=_registries(answers))


def _zookeeper(connect: str) -> tuple[tuple[Address, ...], str]:
    """Servers and chroot of a `zookeeper.connect`."""
    _, slash, path = connect.strip().partition("/")
    servers = tuple(Address(host=host, port=port) for host, port in parse_zookeeper_connect(connect))
    return servers, (slash + path).rstrip("/")


def _seen(options: RegistryOptions, listener: Listener) -> Sequence[tuple["Live", dict[str, InFile]]]:
    """What runs, and what its files declare by service."""
    from netdiag.io.engine.live_deployment import read_live, read_machine

    targets, (settings, *_) = targets_of(options.check, search=False)
    name = options.check.read.project_name
    listener.detail("asking the engine")
    if not targets and name is None and not options.containers:
        machine = read_machine(options.host)
        return [(machine.live(scope), {}) for scope in machine.scopes()]
    if len(targets) > 1:
        raise UsageError("several projects are named: registry takes one", hint="name one compose file")
    file = None
    in_files: dict[str, InFile] = {}
    for target in targets:
        files = target.project
        if isinstance(files, NoProject):
            raise files.error
        assert isinstance(files, ProjectFiles)
        reader = ProjectReader(files, settings.read)
        project = reader.read()
        declared = from_compose(
            project, host_addresses=settings.host_addresses, facts=settings.facts, read=reader.read_mounted
        )
        in_files = {broker.name: _in_file(broker) for broker in declared.brokers if broker.config.is_broker}
        name = project.name
        file = None if files.files[0] == STDIN else os.path.abspath(files.files[0])
    seen = read_live(host=options.host, project=name, compose_file=file, names=options.containers)
    services = {broker.name: broker.member.service or broker.name for broker in seen.deployment.brokers}
    return [(seen, {member: in_files[service] for member, service in services.items() if service in in_files})]


def _in_file(broker: Broker) -> InFile:
    place = broker.place("advertised.listeners")
    return InFile(endpoints=advertised_endpoints(broker), where=place if isinstance(place, FileLocation) else None)


def _clusters(deployment: Deployment) -> tuple[tuple[Broker, ...], ...]:
    """Those whose addresses of ZooKeeper or of the quorum lead to the same members.

    Of a broker that a file configures, netdiag does not know where they lead: it belongs to the only cluster with
    KRaft, or else to those that are not known either, or is on its own.
    """
    found: list[tuple[str | None, frozenset[str], list[Broker]]] = []
    unknown: list[Broker] = []
    for broker in deployment.brokers:
        if broker.config.mode is Mode.REDPANDA:
            continue
        leads_to = quorum_members(deployment, broker)
        chroot = None
        if broker.config.mode is Mode.ZOOKEEPER:
            _, chroot = _zookeeper(broker.config.value("zookeeper.connect") or "")
        elif not leads_to:
            unknown.append(broker)
            continue
        together = [each for each in found if each[0] == chroot and each[1] & leads_to]
        alone = [each for each in found if each not in together]
        leads_to = leads_to.union(*(members for _, members, _ in together))
        brokers = [one for _, _, some in together for one in some]
        found = [*alone, (chroot, leads_to, [*brokers, broker])]
    with_log = [brokers for chroot, _, brokers in found if chroot is None]
    if len(with_log) == 1:
        with_log[0].extend(unknown)
    elif not with_log and unknown:
        found.append((None, frozenset(), unknown))
    else:
        found += [(None, frozenset(), [broker]) for broker in unknown]
    order = {broker.name: number for number, broker in enumerate(deployment.brokers)}
    groups = (tuple(sorted(brokers, key=lambda one: order[one.name])) for _, _, brokers in found)
    return tuple(sorted(groups, key=lambda brokers: order[brokers[0].name]))


def _read(reading: "ClusterReading", options: RegistryOptions, listener: Listener) -> Registered:
    """Everything that can be read of a cluster."""
    from netdiag.io.network.client_identity import read_client
    from netdiag.io.network.registry import ask_registries

    properties = options.client_properties
    answers = ask_registries(
        reading.questions(), timeout=options.timeout, client=None if properties is None else read_client(properties)
    )
    directories: dict[str, DataDirectory] = {}
    notes = [f"{label} cannot be entered: {why}" for label, why in {**reading.unseen, **answers.skipped}.items()]
    for broker in reading.brokers:
        query = StorageQuery(
            names=(f"container:{broker.member.container or broker.name}",),
            topics=frozenset({METADATA_TOPIC}),
            host=options.host,
            only_metadata=True,
        )
        try:
            (directories[broker.name],) = read_storage(query, reads_logs=reading.has_metadata_log, listener=listener)
        except NetdiagError as error:
            listener.handled(error)
            notes.append(f"the data directory of {broker.name} cannot be read: {error.message}")
    return reading.joined(answers, directories, notes)


def cluster_readings(
    seen: "Live",
    entrance: ZookeeperEntrance = PLAIN,
    in_files: Mapping[str, InFile] | None = None,
    *,
    tries_doors: bool = True,
) -> "tuple[ClusterReading, ...]":
    """One for each cluster that runs; `in_files` is what files declare, by member.

    With `tries_doors`, brokers that a file configures are asked at all ports that listen in their containers.
    """
    return tuple(
        ClusterReading(seen, brokers, in_files or {}, entrance, tries_doors=tries_doors)
        for brokers in _clusters(seen.deployment)
    )


class ClusterReading:
    """Whom to ask for the registry of one cluster, and what their answers come to."""

    def __init__(
        self,
        seen: "Live",
        brokers: Sequence[Broker],
        in_files: Mapping[str, InFile],
        entrance: ZookeeperEntrance,
        *,
        tries_doors: bool,
    ) -> None:
        self.brokers = brokers
        self._seen = seen
        self._in_files = in_files
        self._entrance = entrance
        self._tries_doors = tries_doors
        self._inside = {each.vantage.member: each for each in seen.vantages if each.vantage.member}

    @property
    def has_metadata_log(self) -> bool:
        """Whether its nodes keep one."""
        return self.brokers[0].config.mode is not Mode.ZOOKEEPER

    @property
    def unseen(self) -> dict[str, str]:
        """The containers of brokers that cannot be entered, and why."""
        return {each.vantage.label: each.because for each in self._seen.skipped if self._is_inside(each.vantage)}

    def questions(self) -> "RegistryQuestions":
        """For ZooKeeper and for every listener."""
        from netdiag.io.network.registry import BrokerQuestion, RegistryQuestions

        asked = (
            BrokerQuestion(member=broker.name, vantage=self._inside[broker.name], addresses=self._doors(broker))
            for broker in self.brokers
            if broker.config.is_broker and broker.name in self._inside
        )
        return RegistryQuestions(zookeepers=self._zookeepers(), brokers=tuple(asked))

    def joined(
        self, answers: "RegistryAnswers", directories: Mapping[str, DataDirectory], notes: Iterable[str] = ()
    ) -> Registered:
        """What the answers and the data directories (by member) say of this cluster."""
        names = {broker.name for broker in self.brokers}
        zookeepers = {(one.servers, one.chroot) for one in self._zookeepers()}
        own = replace(
            answers,
            zookeepers=tuple(
                one for one in answers.zookeepers if (one.question.servers, one.question.chroot) in zookeepers
            ),
            brokers=tuple(one for one in answers.brokers if one.member in names),
        )
        registries = list(_registries(own))
        # Clusters made from one template have one id: another's log is not theirs.
        logs = {name: one for name, one in directories.items() if name in names}
        registries += self._metadata_log(logs, {one.cluster_id for one in registries})
        return join_registered(
            self.brokers,
            registries,
            now=_said(own.brokers, {broker.name: broker.config.controller_names for broker in self.brokers}),
            silent=_untold(own.brokers, guarded=False),
            guarded=_untold(own.brokers, guarded=True),
            stopped={name: str(why) for name, why in self._seen.stopped.items()},
            stored={name: one.meta for name, one in directories.items() if one.meta is not None},
            in_files=self._in_files,
            notes=(*notes, *_unread(own, in_tls=self._is_asked_in_plaintext)),
            name=self._name(),
        )

    @property
    def _is_asked_in_plaintext(self) -> bool:
        """Whether the brokers connect to ZooKeeper with TLS, and netdiag does not."""
        values = (broker.config.value("zookeeper.ssl.client.enable") or "" for broker in self.brokers)
        return self._entrance.client is None and any(value.strip().lower() == "true" for value in values)

    def _is_inside(self, vantage: Vantage) -> bool:
        return any(broker.name == vantage.member for broker in self.brokers)

    def _name(self) -> str:
        projects = {broker.member.project for broker in self.brokers}
        only = next(iter(projects)) if len(projects) == 1 else None
        return only or self._seen.scope.name or ", ".join(broker.name for broker in self.brokers)

    def _zookeepers(self) -> "tuple[ZookeeperQuestion, ...]":
        from netdiag.io.network.registry import ZookeeperQuestion

        if self.has_metadata_log:
            return ()
        servers, chroot = _zookeeper(self.brokers[0].config.value("zookeeper.connect") or "")
        brokers = {broker.name for broker in self.brokers}
        inside = [each for each in self._seen.vantages if each.vantage.member in brokers]
        beside = [each for each in self._seen.vantages if each not in inside]
        # The docker host resolves no name of a container.
        beside.sort(key=lambda each: each.vantage.kind is VantageKind.DOCKER_HOST)
        places: tuple[LiveVantage, ...] = tuple((*inside, *beside)[:_MOST_PLACES])
        if not servers or not places:
            return ()
        return (
            ZookeeperQuestion(
                servers=servers,
                chroot=chroot,
                vantages=places,
                digest=self._entrance.digest,
                sasl=self._entrance.sasl,
                client=self._entrance.client,
            ),
        )

    def _doors(self, broker: Broker) -> tuple[Address, ...]:
        """Where a broker's listeners for clients can be entered from inside its own container.

        Where a file configures them, these are among the ports that listen there.
        """
        ends = [(entry.endpoint.host, entry.endpoint.port) for entry in broker.config.broker_listeners]
        if broker.is_configured_by_file and not self._tries_doors:
            return ()
        if broker.is_configured_by_file:
            ends = [("", port) for port in sorted({one.port for one in self._seen.sockets.get(broker.name, ())})]
        found = (
            Address(host=own, port=port)
            for host, port in ends
            if 0 < port < 65536
            for own in self._own_hosts(broker, host)
        )
        return tuple(dict.fromkeys(found))[:_MOST_DOORS]

    def _own_hosts(self, broker: Broker, host: str) -> tuple[str, ...]:
        """What leads from inside a broker's container to its listener on a host, and to that of no other broker."""
        if is_wildcard(host):
            return ("localhost",)
        called = self._seen.deployment.members_by_network_name
        shared = [
            address
            for attachment in broker.member.attachments
            if host in attachment.names and len(called.get((attachment.network, host), ())) > 1
            for address in attachment.addresses
        ]
        return tuple(shared) or (host,)

    def _metadata_log(self, directories: Mapping[str, DataDirectory], told: set[str | None]) -> Iterable[Registry]:
        """The log of the node that has got furthest, of the cluster that brokers belong to where they answer."""
        logs = [
            (name, one, one.meta.cluster_id if one.meta else None)
            for name, one in directories.items()
            if one.state.brokers or one.state.controllers
        ]
        fitting = [each for each in logs if each[2] in told] or ([] if told - {None} else logs)
        if fitting:
            name, best, cluster_id = max(fitting, key=lambda each: each[1].state.metadata_offset or -1)
            yield from_stored_state(best.state, f"the metadata log of {name}", cluster_id)


class DirectoriesBeside:
    """What lies in the data directories that can be read on this machine as they are, read beside other work.

    Of a cluster's nodes that run, one log of the metadata is read: that of a controller, or else of a broker. One with
    more than `_MOST_BESIDE` records is left out, and so is what cannot be read.
    """

    def __init__(self, seen: "Live", readings: Sequence[ClusterReading], listener: Listener) -> None:
        self._seen = seen
        self._readings = readings
        self._listener = listener
        self._found: dict[str, DataDirectory] = {}
        self._thread = threading.Thread(target=self._read, name="data directories", daemon=True)
        self._thread.start()

    def found(self, patience: float) -> dict[str, DataDirectory]:
        """By member, what has been read after at most so many seconds more."""
        self._thread.join(max(0.0, patience))
        return dict(self._found)

    def _read(self) -> None:
        try:
            self._read_all()
        except (NetdiagError, OSError) as error:
            self._listener.handled(error)

    def _read_all(self) -> None:
        from netdiag.io.engine.data_directories import directories_here

        members = {
            broker.member.container or broker.name: broker.name for one in self._readings for broker in one.brokers
        }
        wanted = [container for container in self._seen.containers if container.name in members]
        paths: dict[str, str] = {}
        for container, path in directories_here(self._seen.address, self._seen.containers, wanted):
            paths[members[container.name]] = path
            self._take(members[container.name], path, reads_logs=False)
        for one in self._readings:
            nodes = [each for each in one.brokers if each.name in paths and each.name not in self._seen.stopped]
            if one.has_metadata_log and nodes:
                best = max(nodes, key=lambda node: node.config.is_controller)
                self._take(best.name, paths[best.name], reads_logs=True)

    def _take(self, member: str, path: str, *, reads_logs: bool) -> None:
        topics = frozenset({METADATA_TOPIC})
        query = StorageQuery(names=(path,), topics=topics, only_metadata=True, most_stored=_MOST_BESIDE)
        try:
            (found,) = read_storage(query, reads_logs=reads_logs)
        except NetdiagError as error:
            self._listener.handled(error)
            return
        if not found.state.is_cut:
            self._found[member] = found


def _registries(answers: "RegistryAnswers") -> tuple[Registry, ...]:
    found = []
    for one in answers.zookeepers:
        if isinstance(one.outcome, ZookeeperRead):
            where = f"ZooKeeper at {one.server}{one.question.chroot}, asked from {_place(one.vantage)}"
            found.append(from_zookeeper(one.outcome, where))
    for said in answers.brokers:
        if said.answered is not None:
            source = f"{said.member} at {said.address}"
            found.append(from_listener(said.answered, said.cluster, source))
    return tuple(found)


def _place(label: str) -> str:
    return f"the {label}" if label == "docker host" else label


def _unread(answers: "RegistryAnswers", *, in_tls: bool) -> Iterable[str]:
    hint = "; the brokers use TLS there, as netdiag does with --zookeeper-properties" if in_tls else ""
    for one in answers.zookeepers:
        if not isinstance(one.outcome, ZookeeperRead):
            yield f"ZooKeeper at {one.server} cannot be read from {_place(one.vantage)}: {one.outcome.because}{hint}"


def _said(answers: "Iterable[BrokerAnswer]", controller_names: Mapping[str, tuple[str, ...]]) -> dict[str, SaidNow]:
    """What each broker says of itself, at the first of its listeners that answers."""
    found: dict[str, SaidNow] = {}
    for one in answers:
        if one.answered is None:
            continue
        advertised = one.answered.setting("advertised.listeners") or one.answered.setting("listeners")
        said = SaidNow(
            node_id=one.answered.node_id,
            cluster_id=one.answered.cluster_id,
            advertised=effective_endpoints(advertised, controller_names[one.member]),
        )
        known = found.get(one.member)
        if known is None or (known.advertised is None and said.advertised is not None):
            found[one.member] = said
    return found


def _untold(answers: "Iterable[BrokerAnswer]", *, guarded: bool) -> dict[str, str]:
    """Why no listener of a broker tells anything: because of those who ask, with `guarded`, or else because of it."""
    reasons: dict[str, list[tuple[bool, str]]] = {}
    for one in answers:
        is_there = one.answered is not None or (isinstance(one.contact, Failed) and one.contact.reason in _GUARDED)
        reasons.setdefault(one.member, []).append((is_there, "" if one.answered else one.contact.because))
    found: dict[str, str] = {}
    for member, told in reasons.items():
        if not all(because for _, because in told):
            continue
        is_there = any(there for there, _ in told)
        if is_there == guarded:
            found[member] = next(because for there, because in told if there == is_there)
    return found
