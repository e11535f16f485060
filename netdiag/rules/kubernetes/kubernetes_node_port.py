"""A port of the nodes is used twice, or lies outside of the usual range.

Why: A node port leads to one Service. Kubernetes refuses a second Service with the same one, and every port outside
of 30000 to 32767, unless the API server is configured otherwise.

Bad:
    apiVersion: kafka.strimzi.io/v1
    kind: Kafka
    metadata:
      name: my-cluster
    spec:
      kafka:
        listeners:
          - name: external
            port: 9094
            type: nodeport
            tls: false
            configuration:
              bootstrap:
                nodePort: 32100
              brokers:
                - broker: 0
                  nodePort: 32100  # <- here

Good:
    apiVersion: kafka.strimzi.io/v1
    kind: Kafka
    metadata:
      name: my-cluster
    spec:
      kafka:
        listeners:
          - name: external
            port: 9094
            type: nodeport
            tls: false
            configuration:
              bootstrap:
                nodePort: 32100
              brokers:
                - broker: 0
                  nodePort: 32101

Seen: spec.ports[0].nodePort: Invalid value: 32100: provided port is already allocated

Sources: Kubernetes 1.34, "Service", type NodePort (`--service-node-port-range`).
"""

from collections.abc import Iterator

from netdiag.deployment.model.kubernetes import Manifests
from netdiag.findings import Finding, Related, Severity
from netdiag.rules.kubernetes_findings import file_of

ID = "kubernetes-node-port"
SEVERITY = Severity.ERROR
_FIRST, _LAST = 30000, 32767


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every port that another Service has, and a warning for every one outside of the range."""
    for number, places in manifests.node_ports.items():
        for place in places[1:]:
            # Files of one folder may be variants of one another.
            if file_of(place) == file_of(places[0]):
                yield Finding(
                    rule=ID,
                    severity=SEVERITY,
                    message=f"node port {number} is asked for twice",
                    location=place,
                    related=(Related(location=places[0], message="the first"),),
                    why="a node port leads to one Service; Kubernetes refuses the second",
                    hint="choose another port, or leave it to Kubernetes",
                )
        if not _FIRST <= number <= _LAST:
            yield Finding(
                rule=ID,
                severity=Severity.WARNING,
                message=f"{number} is outside of the usual node ports, {_FIRST} to {_LAST}",
                location=places[0],
                why="Kubernetes refuses other ports, unless --service-node-port-range of its API server allows them",
                hint=f"choose one from {_FIRST} to {_LAST}",
            )
