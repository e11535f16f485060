"""Two settings of a service exclude each other.

Why: network_mode excludes networks, a container name can be used only once, a network's name is set in one place only,
and a service has one number of replicas. Compose refuses the whole project.

Bad:
    services:
      kafka:
        image: example/kafka:1
        network_mode: host  # <- here
        networks: [net]
    networks:
      net:

Good:
    services:
      kafka:
        image: example/kafka:1
        networks: [net]
    networks:
      net:

Seen: service kafka declares mutually exclusive `network_mode` and `networks`: invalid compose project

Sources: compose-spec, services (network_mode, container_name, scale, deploy.replicas); compose-go, loader/validate.go.
"""

from collections.abc import Iterator

from netdiag.compose.project import Project
from netdiag.findings import Finding, Severity
from netdiag.rules.compose_findings import from_problems

ID = "compose-conflict"
SEVERITY = Severity.ERROR
CODES = frozenset({"network-mode", "scale", "container-name", "external-name"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place that Compose refuses."""
    yield from from_problems(project, ID, CODES, hint="keep only one of the two settings")
