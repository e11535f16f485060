"""Whose listener answered: what was observed, with the members that it leads to.

An answer names a cluster and a node, which two projects made from one template have in common. The address that the
client connected to, and who has or publishes it, tells them apart.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from netdiag.deployment.model.contact import Address, Answered, Contact, Failed, NodeEndpoint, Reason, Unknown
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.model.vantage import Vantage
from netdiag.deployment.model.verdict import Cell, Verdict, judge
from netdiag.deployment.observation.live_view import SeenName
from netdiag.deployment.prediction.client_namespace import MemberAddress, client_namespace, resolve
from netdiag.deployment.prediction.cluster import is_foreign
from netdiag.deployment.prediction.connection import connect
from netdiag.deployment.prediction.shared_names import NamedContact, member_in_words, met_by_name
from netdiag.deployment.prediction.sockets import Accepted

_NOT_TRIED = Unknown(because="it was not tried")


def identified(
    deployment: Deployment, vantages: Iterable[Vantage], cells: Iterable[Cell], names: Iterable[SeenName]
) -> Iterator[Cell]:
    """The cells as observed, judged again with the members behind each address."""
    places = {vantage.label: vantage for vantage in vantages}
    several = {(seen.vantage, seen.address): seen.contacts for seen in names}
    for cell in cells:
        vantage = places.get(cell.vantage)
        if vantage is None or cell.observed is None:
            yield cell
        else:
            yield replace(cell, observed=_judged(deployment, vantage, cell.bootstrap, cell.observed, several))


def _judged(
    deployment: Deployment,
    vantage: Vantage,
    bootstrap: Address,
    verdict: Verdict,
    several: Mapping[tuple[str, Address], tuple[Contact, ...]],
) -> Verdict:
    found = {one.endpoint: one.contact for one in verdict.endpoints}

    def met(address: Address, contact: Contact) -> Contact:
        return _met(deployment, vantage, address, contact, several.get((vantage.label, address), ()))

    def at_endpoint(endpoint: NodeEndpoint) -> Contact:
        return met(endpoint.address, found.get(endpoint, _NOT_TRIED))

    return judge(met(bootstrap, verdict.bootstrap), at_endpoint)


def _met(
    deployment: Deployment, vantage: Vantage, address: Address, contact: Contact, each: tuple[Contact, ...]
) -> Contact:
    named = [
        NamedContact(
            member=_member_at(deployment, vantage, one.ip),
            ip=one.ip,
            contact=_identified(deployment, vantage, address.port, one),
        )
        for one in each
        if not isinstance(one, Unknown)
    ]
    chosen = met_by_name(deployment, client_namespace(deployment, vantage), address.host, named) if named else None
    met = chosen or _identified(deployment, vantage, address.port, contact)
    silent = tuple(one.ip for one in each if isinstance(one, Failed) and one.reason is Reason.TIMEOUT and one.ip)
    return replace(met, silent=silent) if isinstance(met, Answered) and silent else met


def _member_at(deployment: Deployment, vantage: Vantage, ip: str | None) -> str | None:
    """The member that has an address; None for one of the docker host, and for loopback."""
    match resolve(deployment, vantage, ip) if ip else None:
        case (MemberAddress(member=member),):
            return member
        case _:
            return None


def _identified(deployment: Deployment, vantage: Vantage, port: int, contact: Contact) -> Contact:
    if not isinstance(contact, Answered) or contact.ip is None:
        return contact
    target = resolve(deployment, vantage, contact.ip)
    if not isinstance(target, tuple):
        return contact
    end = connect(deployment, vantage, target[0], port)
    if not isinstance(end, Accepted) or contact.node_id not in (None, end.broker.config.node_id):
        return contact
    if not is_foreign(deployment, end.broker):
        return replace(contact, member=end.broker.name)
    because = f"{member_in_words(deployment, end.broker.name)} answers there"
    return replace(contact, member=end.broker.name, foreign=True, because=because)
