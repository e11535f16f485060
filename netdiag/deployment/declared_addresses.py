"""Where files name an address for clients: what brokers advertise and listen on, and what clients are given."""

from collections.abc import Iterator
from enum import Enum

from netdiag.deployment.clients import accepting_listener, attempts
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.model.kubernetes import Manifests
from netdiag.deployment.model.verdict import Address
from netdiag.deployment.prediction.listener_access import published_for
from netdiag.findings import FileLocation, Location
from netdiag.kafka.listeners import ListenerEntry
from netdiag.values import dataclass

_MOST = 10_000


class Role(Enum):
    """What the address is for; the value is the word users see."""

    ADVERTISED = "advertised"
    LISTENER = "listener"
    BOOTSTRAP = "bootstrap"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredAddress:
    """An address in a file, and the member whose it is.

    `related` are the other ends: published ports, the entry of the same listener in the other list, and for a client
    what the broker advertises to it.
    """

    role: Role
    owner: str
    listener: str
    address: Address
    where: FileLocation
    related: tuple[FileLocation, ...] = ()


def declared_addresses(deployment: Deployment) -> tuple[DeclaredAddress, ...]:
    """The addresses of a deployment that stand in its files, at most 10,000."""
    found: list[DeclaredAddress] = []
    for one in _addresses(deployment):
        if len(found) == _MOST:
            break
        found.append(one)
    return tuple(found)


def manifest_addresses(found: Manifests) -> tuple[DeclaredAddress, ...]:
    """The addresses of manifests: what listeners of pods tell clients, and what clients are given."""
    addresses = []
    for broker in found.own_brokers:
        for listener in broker.listeners:
            if listener.told is not None and isinstance(listener.told_where, FileLocation):
                addresses.append(
                    DeclaredAddress(
                        role=Role.ADVERTISED,
                        owner=broker.pod,
                        listener=listener.name,
                        address=listener.told,
                        where=listener.told_where,
                        related=_files(listener.where),
                    )
                )
    return tuple(addresses[:_MOST])


def _addresses(deployment: Deployment) -> Iterator[DeclaredAddress]:
    for broker in deployment.brokers:
        if broker.config.is_broker:
            yield from _of_broker(broker)
    for attempt in attempts(deployment):
        where = attempt.where
        if not isinstance(where, FileLocation):
            continue
        end = accepting_listener(deployment, attempt.vantage, attempt.address.host, attempt.address.port)
        yield DeclaredAddress(
            role=Role.BOOTSTRAP,
            owner=attempt.member.name,
            listener=end.entry.endpoint.listener if end else "",
            address=attempt.address,
            where=where,
            related=_other_end(end.broker, end.entry) if end else (),
        )


def _of_broker(broker: Broker) -> Iterator[DeclaredAddress]:
    config = broker.config
    for role, name, entries in (
        (Role.ADVERTISED, "advertised.listeners", config.advertised_listeners),
        (Role.LISTENER, "listeners", config.broker_listeners),
    ):
        source = broker.source_of(name)
        for entry in entries if source else ():
            where = broker.place(name, entry.start, entry.end)
            if not isinstance(where, FileLocation):
                continue
            end = entry.endpoint
            bound = config.listener_by_name.get(end.listener)
            other = "listeners" if role is Role.ADVERTISED else "advertised.listeners"
            twin = bound if role is Role.ADVERTISED else config.advertised_by_name.get(end.listener)
            places = [port.where for port in published_for(broker, bound)] if bound else []
            if twin and broker.source_of(other):
                places.append(broker.place(other, twin.start, twin.end))
            yield DeclaredAddress(
                role=role,
                owner=broker.name,
                listener=end.listener,
                address=Address(host=end.host, port=end.port),
                where=where,
                related=_files(*places),
            )


def _other_end(broker: Broker, entry: ListenerEntry) -> tuple[FileLocation, ...]:
    told = broker.config.advertised_by_name.get(entry.endpoint.listener)
    if told and broker.source_of("advertised.listeners"):
        return _files(broker.place("advertised.listeners", told.start, told.end))
    if broker.source_of("listeners"):
        return _files(broker.place("listeners", entry.start, entry.end))
    return _files(broker.member.where)


def _files(*places: Location) -> tuple[FileLocation, ...]:
    return tuple(dict.fromkeys(place for place in places if isinstance(place, FileLocation)))
