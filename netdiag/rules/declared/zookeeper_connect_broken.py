"""A broker cannot reach ZooKeeper at the address it has.

Why: A broker in ZooKeeper mode exits after some seconds without ZooKeeper. The address must name a container on a
common network, with its client port. Only ZooKeepers in the same files are checked; external networks and names with a
dot are not. The finding is a warning if another address of the list may work, or if the list names several ZooKeepers
that do not form an ensemble.

Bad:
    services:
      zookeeper:
        image: confluentinc/cp-zookeeper:7.9.2
        environment:
          ZOOKEEPER_CLIENT_PORT: 32181
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181  # <- here
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Good:
    services:
      zookeeper:
        image: confluentinc/cp-zookeeper:7.9.2
        environment:
          ZOOKEEPER_CLIENT_PORT: 32181
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:32181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: Timed out waiting for connection while in state: CONNECTING

Sources: ZooKeeperClient.waitUntilConnected; zkServer, clientPort.
"""

from collections.abc import Iterator, Sequence

from netdiag.deployment.clients import is_inactive, members_called
from netdiag.deployment.model.deployment import Broker, Deployment, Member, NetworkMode
from netdiag.deployment.model.vantage import broker_vantage
from netdiag.deployment.model.verdict import Failed
from netdiag.deployment.prediction.client_namespace import MemberAddress, Undeclared, network_owner, resolve
from netdiag.deployment.prediction.listener_access import zookeeper_port, zookeeper_ports
from netdiag.deployment.repairs import replace_text
from netdiag.digits import number_of
from netdiag.findings import Finding, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images.reference import ImageFamily
from netdiag.kafka.images.settings import Provenance
from netdiag.kafka.listeners import is_loopback
from netdiag.values import dataclass

ID = "zookeeper-connect-broken"
SEVERITY = Severity.ERROR
_PROPERTY = "zookeeper.connect"
_ENSEMBLE = frozenset({"ZOOKEEPER_SERVERS", "ZOO_SERVERS", "SERVER_COUNT", "KAFKA_OPTS"})
# A mounted file that may name the others, or a folder that may hold one.
_CONFIGURATION = (".cfg", ".properties", "/conf", "/config", "/etc/kafka")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Address:
    """One host:port of the connect string, with its place in it."""

    host: str
    port: int
    start: int
    end: int


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every address without a ZooKeeper of the files, and for each list without an ensemble."""
    told: set[tuple[str, ...]] = set()
    if not any(zookeeper_port(member) for member in deployment.members):
        return
    for broker in deployment.configured:
        if broker.config.mode is not Mode.ZOOKEEPER or broker.member.mode is not NetworkMode.NETWORKS:
            continue
        addresses = _addresses(broker.config.value(_PROPERTY) or "")
        reasons = [(address, _failure(deployment, broker, address)) for address in addresses]
        severity = SEVERITY if all(reason for _, reason in reasons) else Severity.WARNING
        for address, reason in reasons:
            if reason is not None:
                yield _broken(deployment, broker, address, reason, severity)
        strangers = _strangers(deployment, broker, addresses)
        names = tuple(sorted(member.name for member in strangers))
        if strangers and names not in told and not any(reason for _, reason in reasons):
            told.add(names)
            yield _no_ensemble(broker, strangers)


def _addresses(value: str) -> tuple[_Address, ...]:
    """The addresses of a connect string; a path at its end is the chroot. None if one of them has another form."""
    found: list[_Address] = []
    position = 0
    for item in value.partition("/")[0].split(","):
        text = item.strip()
        start = position + len(item) - len(item.lstrip())
        position += len(item) + 1
        host, _, port = text.rpartition(":")
        number = number_of(port)
        if not host or number is None:
            return ()
        found.append(_Address(host=host, port=number, start=start, end=start + len(text)))
    return tuple(found)


def _failure(deployment: Deployment, broker: Broker, address: _Address) -> str | None:
    """Why no ZooKeeper answers; None if one does, or if this is unknown."""
    if is_loopback(address.host) and _brings_zookeeper(broker):
        return None
    if is_loopback(address.host):
        users = [m for m in deployment.members if network_owner(deployment, m) is broker.member]
        return f"which is {broker.name} itself" if users == [broker.member] else None
    resolution = resolve(deployment, broker_vantage(broker), address.host)
    if isinstance(resolution, Failed | Undeclared):
        return _why_nameless(deployment, address.host)
    match resolution:
        case (MemberAddress() as only,):
            member = deployment.by_name[only.member]
            if not (ports := zookeeper_ports(member)) or address.port in ports:
                return None
            return f"but {member.name} serves clients on port {zookeeper_port(member)}"
        case _:
            return None


def _brings_zookeeper(broker: Broker) -> bool:
    """Whether the container runs, or may run, its own ZooKeeper."""
    setting = broker.config.settings.get(_PROPERTY)
    unwritten = setting is not None and setting.provenance is Provenance.IMAGE_DEFAULT
    unsure = broker.config.family in (ImageFamily.FAST_DATA_DEV, ImageFamily.STRIMZI, ImageFamily.OTHER)
    return unsure or (unwritten and broker.config.family is not ImageFamily.BITNAMI)


def _why_nameless(deployment: Deployment, host: str) -> str | None:
    called = members_called(deployment, host)
    if called:
        return f"but shares no network with {called[0].name}"
    if "." in host or is_inactive(deployment, host):
        return None
    return "but no container on its networks has that name"


def _strangers(deployment: Deployment, broker: Broker, addresses: tuple[_Address, ...]) -> tuple[Member, ...]:
    """The ZooKeepers of the list, if there are several and none of them is configured with another."""
    found: dict[str, Member] = {}
    for address in addresses:
        resolution = resolve(deployment, broker_vantage(broker), address.host)
        match resolution:
            case (MemberAddress() as only,):
                member = deployment.by_name[only.member]
                found[member.name] = member
            case _:
                return ()
    alone = all(zookeeper_port(m) and not _may_know_others(m) for m in found.values())
    return tuple(found.values()) if len(found) > 1 and alone else ()


def _may_know_others(member: Member) -> bool:
    return bool(member.variables.keys() & _ENSEMBLE) or any(
        target.rstrip("/").endswith(_CONFIGURATION) for target in member.mounts
    )


def _broken(deployment: Deployment, broker: Broker, address: _Address, reason: str, severity: Severity) -> Finding:
    ports = [(member.name, port) for member in deployment.members if (port := zookeeper_port(member))]
    only = ports[0] if len(ports) == 1 and len(_addresses(broker.config.value(_PROPERTY) or "")) == 1 else None
    return Finding(
        rule=ID,
        severity=severity,
        message=f'{broker.name} connects to ZooKeeper at "{address.host}:{address.port}", {reason}',
        location=broker.place(_PROPERTY, address.start, address.end),
        why="a broker that cannot connect to ZooKeeper exits",
        hint="use the name of the ZooKeeper service and its client port",
        service=broker.name,
        edits=replace_text(broker, _PROPERTY, address.start, address.end, f"{only[0]}:{only[1]}") if only else (),
    )


def _no_ensemble(broker: Broker, strangers: tuple[Member, ...]) -> Finding:
    names = _in_words([member.name for member in strangers])
    variables = dict.fromkeys("ZOOKEEPER_SERVERS" if "cp-zookeeper" in m.image else "ZOO_SERVERS" for m in strangers)
    return Finding(
        rule=ID,
        severity=Severity.WARNING,
        message=f"{broker.name} uses {names} as one ensemble, but each of them runs standalone",
        location=broker.place(_PROPERTY),
        why="a broker connects to any address of the list, and each standalone ZooKeeper holds a different cluster",
        hint=f"name only one of them, or set {_in_words(list(variables))} in each",
        service=broker.name,
    )


def _in_words(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
