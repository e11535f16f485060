"""Which member an address of a packet is, and which listener a port of it: what a capture is joined with."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address

from netdiag.deployment.member import Broker, Deployment, Member

DOCKER_HOST = "docker host"
_LOOPBACK = ("127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """A port of a broker under one address; `published` where the docker host passes it on."""

    address: str
    port: int
    broker: str
    listener: str | None
    published: bool


def names_of_addresses(deployment: Deployment) -> dict[str, str]:
    """The member, or the docker host, that has an address.

    The gateway of a network is the docker host; an address that two members claim (they share a namespace, or one of
    the networks is not on this engine) is nobody's.
    """
    names: dict[str, str] = {}
    claimed: set[str] = set()
    for member in deployment.members:
        for address in _addresses(member):
            if names.setdefault(address, member.name) != member.name:
                claimed.add(address)
    for address in claimed:
        del names[address]
    hosts = [*deployment.host_addresses, *(g for network in deployment.networks.values() for g in network.gateways)]
    for address in map(_plain, hosts):
        names.setdefault(address, DOCKER_HOST)
    return names


def listening(deployment: Deployment) -> Iterator[Listening]:
    """Every address and port at which packets for a broker's port can be seen."""
    for broker in deployment.brokers:
        listeners = _listeners(broker)
        for address in _addresses(broker.member):
            for port, name in listeners.items():
                yield Listening(address=address, port=port, broker=broker.name, listener=name, published=False)
        for binding in broker.member.published:
            if binding.published is None or binding.protocol != "tcp":
                continue
            every = (*_LOOPBACK, *deployment.host_addresses) if binding.on_all_addresses else (binding.host_ip,)
            for address in every:
                yield Listening(
                    address=_plain(address),
                    port=binding.published,
                    broker=broker.name,
                    listener=listeners.get(binding.target),
                    published=True,
                )


def _listeners(broker: Broker) -> dict[int, str]:
    return {entry.endpoint.port: entry.endpoint.listener for entry in broker.config.listeners}


def _addresses(member: Member) -> Iterator[str]:
    for attachment in member.attachments:
        yield from map(_plain, attachment.addresses)


def _plain(address: str) -> str:
    """As a packet's address is written; what is no address stays as it is."""
    try:
        return str(ip_address(address.partition("%")[0]))
    except ValueError:
        return address
