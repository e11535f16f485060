"""The order of findings: by place, then by rule."""

from netdiag.findings import ContainerLocation, FileLocation, Finding, TopologyLocation, WireLocation


def by_place(finding: Finding) -> tuple[str, int, int, str, str]:
    """What findings are sorted by."""
    match finding.location:
        case FileLocation(path=path, line=line, column=column):
            return (path, line, column, finding.rule, finding.message)
        case ContainerLocation(container=container, part=part):
            return (container, 0, 0, finding.rule, part + finding.message)
        case WireLocation(file=file, packet=packet):
            return (file, packet or 0, 0, finding.rule, finding.message)
        case TopologyLocation(place=place, device=device, part=part):
            return (place, 0, 0, finding.rule, device + part + finding.message)
