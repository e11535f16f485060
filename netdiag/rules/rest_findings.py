"""What rules about URLs between workers share: the finding, and the repair that is tried before it is proposed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from netdiag.deployment.model.deployment import RestNeighbour
from netdiag.deployment.neighbours import Forward, Neighbourhood
from netdiag.findings import Applicability, Edit, Finding, Related, Severity
from netdiag.kafka.rest_services import GROUP_PROPERTY, AdvertisedUrl, RestService

_ROLES = {
    RestService.CONNECT: "a worker that does not lead forwards to the URL of the leader, and any worker can lead",
    RestService.MIRROR_MAKER: "a node that does not lead sends tasks to the URL of the leader, and any node can lead",
    RestService.SCHEMA_REGISTRY: "a secondary forwards writes to the URL of the primary, and any instance can be that",
    RestService.KSQLDB: "nodes ask one another for parts of a query at the URL that each advertises",
}


def unreachable_url(
    neighbourhood: Neighbourhood, failing: Sequence[Forward], *, rule: str, severity: Severity
) -> Iterator[Finding]:
    """One finding for a URL that others cannot use: at the one that advertises it, else at one that is asked about."""
    asked = neighbourhood.asked
    first = failing[0]
    target, url = first.target, first.url
    sources = [one.source for one in failing]
    if target.name not in asked:
        first = next((one for one in failing if one.source.name in asked), first)
        if first.source.name not in asked:
            return
    host = _host_that_works(neighbourhood, target, url)
    group = target.config.group
    by_port = "listener" in first.because and url.port_property != url.host_property
    name = url.port_property if by_port else url.host_property
    at = target.place(name) if by_port else target.place(name, url.host_start, url.host_end)
    told = target.name in asked
    group_place = first.source.place(GROUP_PROPERTY[first.source.config.service])
    yield Finding(
        rule=rule,
        severity=severity,
        message=f'{_names(sources)} cannot forward to {target.name} at "{url}": {first.because}',
        location=at if told else group_place,
        related=(
            Related(
                location=group_place if told else at,
                message=f"{first.source.name} is in group {group}" if told else f"{target.name} advertises it",
            ),
        ),
        why=_ROLES[target.config.service],
        hint=_hint(target, url, host, by_port=by_port),
        service=target.name if told else first.source.name,
        edits=_edits(target, url, host) if told and host and not by_port else (),
    )


def _hint(target: RestNeighbour, url: AdvertisedUrl, host: str, *, by_port: bool) -> str:
    name = target.member.service or target.name
    if by_port:
        ports = ", ".join(str(entry.endpoint.port) for entry in target.config.entries)
        return f"advertise the port that {name} binds ({ports})"
    # What is bound stays as it is.
    name_property = "rest.advertised.host.name" if url.host_property == "listeners" else url.host_property
    source = target.source_of(name_property)
    variable = source.variable if source else name_property
    if not host:
        return f"put them on one network, and set {variable} to a name of {name} there"
    return f"set {variable} to {host}"


def _host_that_works(neighbourhood: Neighbourhood, target: RestNeighbour, url: AdvertisedUrl) -> str:
    """The name of the service, if all others of the group get to it by this name; else empty."""
    host = target.member.service or target.name
    better = replace(url, host=host)
    others = neighbourhood.group_of(target)
    return host if all(neighbourhood.why_not_arriving(other, target, better) is None for other in others) else ""


def _edits(target: RestNeighbour, url: AdvertisedUrl, host: str) -> tuple[Edit, ...]:
    source = target.source_of(url.host_property)
    if source is None or url.host_property == "listeners":
        return ()
    edit = source.edit(url.host_start, url.host_end, host)
    return (replace(edit, applicability=Applicability.SAFE),) if edit else ()


def _names(neighbours: Sequence[RestNeighbour]) -> str:
    names = list(dict.fromkeys(one.name for one in neighbours))
    if len(names) > 3:
        return f"{len(names)} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
