"""What was told about security, joined with whose ports they are and with every name that is advertised for them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from netdiag.deployment.clients import landing
from netdiag.deployment.live_view import SecuredPort
from netdiag.deployment.member import Broker, Deployment
from netdiag.deployment.observations import Address
from netdiag.deployment.vantage import Vantage
from netdiag.kafka.certificate_faults import Anchored, faults_of
from netdiag.kafka.security import CertificateFault


def secured_ports(
    deployment: Deployment, vantages: Sequence[Vantage], seen: Sequence[SecuredPort], *, now: datetime
) -> tuple[SecuredPort, ...]:
    """The ports with member and listener; after them those names of theirs that nobody could ask for.

    A certificate is held against every host that its listener advertises, also where no vantage resolves it.
    """
    places = {vantage.label: vantage for vantage in vantages}
    named = tuple(_named(deployment, places, port) for port in seen)
    return (*named, *_unasked(deployment, named, now))


def _named(deployment: Deployment, places: Mapping[str, Vantage], port: SecuredPort) -> SecuredPort:
    vantage = places.get(port.vantage)
    landed = landing(deployment, vantage, port.address.host, port.address.port) if vantage else None
    if landed is None:
        return port
    return replace(port, member=landed.broker.name, listener=landed.entry.endpoint.listener)


def _unasked(deployment: Deployment, ports: Sequence[SecuredPort], now: datetime) -> Iterator[SecuredPort]:
    known = {(port.member, port.listener, port.address.host) for port in ports}
    for port in ports:
        broker = next((broker for broker in deployment.brokers if broker.name == port.member), None)
        if broker is None or port.sight.tls is None:
            continue
        for address in _advertised(broker, port.listener):
            key = (port.member, port.listener, address.host)
            if key not in known:
                known.add(key)
                yield _by_name(port, address, now)


def _advertised(broker: Broker, listener: str) -> Iterator[Address]:
    for entry in broker.config.advertised_listeners:
        endpoint = entry.endpoint
        if endpoint.listener == listener and endpoint.host:
            yield Address(host=endpoint.host, port=endpoint.port)


def _by_name(port: SecuredPort, address: Address, now: datetime) -> SecuredPort:
    """What was seen at one address, judged for a client that asks by another."""
    tls = port.sight.tls
    assert tls is not None
    kept = [fault for fault in tls.faults if fault[0] is not CertificateFault.NAME]
    judged = faults_of(tls.chain, hosts=[address.host], anchored=Anchored.NOT_ASKED, now=now)
    names = [(fault.fault, fault.detail) for fault in judged if fault.fault is CertificateFault.NAME]
    sight = replace(port.sight, detail=f"seen at {port.address}", tls=replace(tls, faults=(*names, *kept)))
    return replace(port, address=address, sight=sight)
