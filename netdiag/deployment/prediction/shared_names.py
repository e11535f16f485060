"""Names that several members answer to on a network, and which of them a client meets.

The embedded DNS gives the addresses of all of them, in a new order each time. librdkafka takes one at random, Java and
Python the first of the order that the C library makes of them. glibc puts an address of the client itself first. Where
the client has an IPv6 address, it then goes by the prefix that an address has in common with the client's own
(RFC 6724, rule 9); else it keeps the order. Every client goes on to the next address when one refuses. Of a name with
addresses of both families, such as localhost, Java takes IPv4 first, and glibc IPv6 (RFC 6724, section 2.1).
Source: moby, libnetwork/resolver.go; glibc, sysdeps/posix/getaddrinfo.c and check_pf.c; librdkafka, rdaddr.c.
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import replace

from netdiag.deployment.model.deployment import Deployment, Member
from netdiag.deployment.model.verdict import Ambiguous, Answered, Contact, Failed, Meeting, NameChoice, Reason
from netdiag.deployment.prediction.client_namespace import ClientNamespace
from netdiag.deployment.prediction.cluster import cluster_of
from netdiag.values import dataclass

# After these a client tries the next address of a name, at once or when its patience ends.
_TRY_NEXT_ADDRESS = (Reason.REFUSED, Reason.UNREACHABLE, Reason.TIMEOUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedContact:
    """What one address of a name gives; `member` has it, None where nobody shown is known to."""

    member: str | None
    ip: str | None
    contact: Contact


def met_by_name(
    deployment: Deployment, client: ClientNamespace, name: str, found: Sequence[NamedContact]
) -> Contact | None:
    """What a client meets at a name of several addresses; None where they lead to one cluster, or none answers."""
    staying = [each for each in found if not _refuses(each.contact)]
    if len({each.member for each in found}) < 2 and (len(staying) < 2 or _answer_alike(staying)):
        return None
    if not any(isinstance(each.contact, Answered) for each in found) or _lead_to_one_cluster(deployment, found):
        return None
    choice = _choice(deployment, client, name, found)
    if len(choice.members) > 1:
        return Ambiguous(choice=choice, ip=next((each.ip for each in staying if each.ip), None))
    met = (staying or found)[0].contact
    return replace(met, choice=choice) if isinstance(met, Answered) else met


def _answer_alike(staying: Sequence[NamedContact]) -> bool:
    """Whether brokers of one cluster answer at all of them, as far as they say to which they belong."""
    answers = [each.contact for each in staying if isinstance(each.contact, Answered)]
    return len(answers) == len(staying) and len({one.cluster_id for one in answers}) == 1


def member_in_words(deployment: Deployment, name: str) -> str:
    """A member and the project that it belongs to."""
    member = deployment.by_name.get(name)
    return f"{name} of project {member.project}" if member and member.project else name


def alias_hint(deployment: Deployment, name: str, members: Sequence[Member]) -> str:
    """What tells the members apart that have one name: an alias of their own for those that are asked about."""
    asked = [member for member in members if deployment.by_name.get(member.name) in deployment.members]
    first = asked[0] if asked else members[0] if members else None
    if first is None:
        return f"give the containers that share {name} an alias each, and use these aliases"
    on = next((a.network for a in first.attachments if name in a.names), "")
    where = f" on network {deployment.networks[on].name}" if on in deployment.networks else ""
    return f"give {first.name} the alias {alias_of(name, [first])}{where}, and use it in place of {name}"


def alias_of(name: str, members: Sequence[Member]) -> str:
    """A name that only the project of the members has."""
    first = members[0]
    return f"{first.project}-{name}" if first.project else f"{first.name}-1"


def _choice(deployment: Deployment, client: ClientNamespace, name: str, found: Sequence[NamedContact]) -> NameChoice:
    ordered = sorted(found, key=lambda each: (each.member or "", each.ip or ""))
    meetings = tuple(
        Meeting(
            member=each.member or "",
            ip=each.ip or _address(deployment, client, each.member),
            refuses=_refuses(each.contact),
        )
        for each in ordered
    )
    choice = NameChoice(name=name, meetings=meetings, first=_first(deployment, client, meetings))
    owners = [_owner(deployment, each) for each in ordered]
    said = [f"{owner} ({one.ip})" if one.ip else owner for owner, one in zip(owners, meetings, strict=True)]
    return replace(choice, owners=_listed(said, "and"), clients=_met_by_client(choice))


def _owner(deployment: Deployment, found: NamedContact) -> str:
    """Who has an address, else who answers at it."""
    if found.member:
        return member_in_words(deployment, found.member)
    if found.ip is None or not ipaddress.ip_address(found.ip).is_loopback:
        return "a container that is not shown"
    answers = isinstance(found.contact, Answered)
    return member_in_words(deployment, _end(found)) or ("a broker" if answers else "another program")


def _met_by_client(choice: NameChoice) -> str:
    """Which client meets whom."""
    staying = choice.members
    refusing = tuple(dict.fromkeys(m.member or m.ip or "" for m in choice.meetings if m.refuses))
    if len(staying) < 2:
        verb = "refuses" if len(refusing) == 1 else "refuse"
        return f"{_listed(refusing, 'and')} {verb} this port, so clients go on to the other address"
    said = f"librdkafka takes {_listed(staying, 'or')} at random"
    six = {one.member or one.ip or "": ":" in (one.ip or "") for one in choice.meetings if not one.refuses}
    if len(set(six.values())) > 1:
        four, sixes = ([name for name in staying if six[name] is family] for family in (False, True))
        said = f"{said}; Java takes IPv4 first, so {_listed(four, 'or')}"
        return f"{said}; Python and other programs with glibc take IPv6 first, so {_listed(sixes, 'or')}"
    if len(choice.first_met) == 1:
        return f"{said}; Java and Python with glibc take {choice.first_met[0]}, and another one only after a refusal"
    return f"{said}; Java and Python take the first address of the resolver, which changes with every answer"


def _first(deployment: Deployment, client: ClientNamespace, meetings: Sequence[Meeting]) -> tuple[str, ...]:
    """The members whose address the C library may put first."""
    names = tuple(one.member or one.ip or "" for one in meetings)
    owner = client.owner
    if owner is None:
        return names
    if owner.name in names:
        return (owner.name,)
    if not any(network.ipv6 for network in client.networks):
        return names
    near = [_common_prefix(owner, one.ip) for one in meetings]
    return tuple(name for name, length in zip(names, near, strict=True) if length == max(near))


def _common_prefix(owner: Member, ip: str | None) -> int:
    """The bits that an IPv4 address has in common with the client's own on the same network of up to /16."""
    if ip is None or ":" in ip:
        return 0
    number = int(ipaddress.ip_address(ip))
    own = [int(ipaddress.ip_address(a)) for at in owner.attachments for a in at.addresses if ":" not in a]
    return max((32 - (number ^ mine).bit_length() for mine in own), default=0)


def _address(deployment: Deployment, client: ClientNamespace, member: str | None) -> str | None:
    found = deployment.by_name.get(member or "")
    keys = {network.key for network in client.networks}
    known = (a for at in found.attachments if at.network in keys for a in at.addresses) if found else ()
    return next((address for address in known if ":" not in address), None)


def _lead_to_one_cluster(deployment: Deployment, found: Sequence[NamedContact]) -> bool:
    """Whether brokers of one cluster answer at all of them: then it does not matter which of them is asked first."""
    brokers = {broker.name: broker for broker in deployment.all_brokers}
    ends = [_end(each) for each in found]
    first = brokers.get(ends[0])
    together = {broker.name for broker in cluster_of(deployment, first)} if first else set()
    return all(end in together for end in ends)


def _end(found: NamedContact) -> str:
    """The member that answers at an address, behind whatever relay; else the one that has it."""
    answers = found.contact.member if isinstance(found.contact, Answered) else ""
    return answers or found.member or ""


def _refuses(contact: Contact) -> bool:
    return isinstance(contact, Failed) and contact.reason in _TRY_NEXT_ADDRESS


def _listed(names: Sequence[str], word: str) -> str:
    return f" {word} ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
