"""What is wrong, by the thing of the picture that it is said of: findings, and what could not be matched."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from netdiag.findings import ContainerLocation, Finding, Severity, TopologyLocation
from netdiag.render.redact import redacted
from netdiag.topology.graph import PlaceKind, Topology, Unmatched
from netdiag.topology.inventory import LinkId


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong: how bad, in one line; why it is so and what helps, where a rule says it."""

    severity: Severity
    text: str
    why: str = ""
    hint: str = ""
    rule: str = ""


def faults(topology: Topology, findings: Sequence[Finding], keys: Mapping[object, str]) -> dict[str, tuple[Fault, ...]]:
    """The faults by key, worst first; under "" those of which nothing in the picture can be told.

    `keys` leads from names, devices, namespaces, ports and listeners to the keys of the picture.
    """
    found: dict[str, list[Fault]] = {}
    for finding in findings:
        fault = Fault(
            severity=finding.severity,
            text=redacted(finding.message),
            why=redacted(finding.why),
            hint=redacted(finding.hint),
            rule=finding.rule,
        )
        found.setdefault(_first(_of_finding(topology, finding), keys), []).append(fault)
    for loose in topology.unmatched:
        text = f"{loose.subject}: {loose.because}"
        fault = Fault(severity=Severity.WARNING, text=redacted(text))
        found.setdefault(_first(_of_unmatched(topology, loose), keys), []).append(fault)
    return {key: tuple(sorted(those, key=lambda f: -f.severity.rank)) for key, those in found.items()}


def _first(candidates: Iterator[object], keys: Mapping[object, str]) -> str:
    return next((keys[name] for name in candidates if name in keys), "")


def _of_finding(topology: Topology, finding: Finding) -> Iterator[object]:
    """Of what a finding speaks, the narrowest first."""
    match finding.location:
        case TopologyLocation(place=name, device=device, part=part):
            yield part
            yield (name, part)
            place = topology.named(name)
            facts = None if place is None else topology.inventory.namespaces.get(place.netns)
            if place is not None and facts is not None:
                same = (link.ifindex for link in facts.links if link.ifname == device)
                yield from (LinkId(netns=place.netns, ifindex=ifindex) for ifindex in same)
            yield name
            if device and place is not None and place.kind is PlaceKind.HOST:
                yield from _behind(topology, place.netns, device)
        case ContainerLocation(container=name, part=part):
            yield (name, finding.listener)
            yield (name, part)
            yield name
        case _:
            yield from ((finding.service, finding.listener), finding.service)


def _of_unmatched(topology: Topology, loose: Unmatched) -> Iterator[object]:
    yield loose.subject
    if loose.link is not None:
        yield loose.link
        yield from _behind(topology, loose.link.netns, loose.link.ifindex)
        yield loose.link.netns


def _behind(topology: Topology, netns: int, device: str | int) -> Iterator[object]:
    """Whoever is at the other end of a device, then the bridge that it is plugged into."""
    facts = topology.inventory.namespaces.get(netns)
    link = None if facts is None else next((x for x in facts.links if device in (x.ifname, x.ifindex)), None)
    if link is None:
        return
    own = LinkId(netns=netns, ifindex=link.ifindex)
    for cable in topology.cables:
        if own in (cable.a, cable.b):
            other = cable.b if cable.a == own else cable.a
            yield other
            if other.netns != netns:
                yield other.netns
