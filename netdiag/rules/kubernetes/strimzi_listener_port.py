"""The port of a listener of Strimzi is reserved, or used twice.

Why: Ports below 9092 belong to the operator (9090 for controllers, 9091 between brokers), 9404 to metrics and 9999 to
JMX. Every listener needs a port of its own. Otherwise the operator refuses the whole resource, and the cluster stays
as it was.

Bad:
    apiVersion: kafka.strimzi.io/v1
    kind: Kafka
    metadata:
      name: my-cluster
    spec:
      kafka:
        listeners:
          - name: plain
            port: 9092
            type: internal
            tls: false
          - name: external
            port: 9091  # <- here
            type: nodeport
            tls: false

Good:
    apiVersion: kafka.strimzi.io/v1
    kind: Kafka
    metadata:
      name: my-cluster
    spec:
      kafka:
        listeners:
          - name: plain
            port: 9092
            type: internal
            tls: false
          - name: external
            port: 9094
            type: nodeport
            tls: false

Seen: Listener configuration is not valid: [port 9091 is forbidden and cannot be used]

Sources: Strimzi 1.2 (`ListenersValidator`); its guide, "Specifying a port number".
"""

from collections.abc import Iterator

from netdiag.compose.positions import Text
from netdiag.deployment.model.kubernetes import Manifests, StrimziCluster
from netdiag.deployment.sources.kubernetes.resources import known_number
from netdiag.findings import Edit, Finding, Related, Severity
from netdiag.rules.kubernetes_findings import called, edit_of, is_known

ID = "strimzi-listener-port"
SEVERITY = Severity.ERROR
_FORBIDDEN = {
    9404: "it is that of the metrics",
    9999: "it is that of JMX",
    9090: "controllers use it",
    9091: "brokers use it between themselves",
}


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every listener without a port of its own that Strimzi accepts."""
    for cluster in manifests.clusters:
        seen: dict[int, Text] = {}
        for listener in cluster.listeners:
            port = listener.port
            number = known_number(port)
            if port is not None and not is_known(port):
                continue
            if port is None or number is None or number > 65535:
                yield Finding(
                    rule=ID,
                    severity=SEVERITY,
                    message=f"{called(listener)} of {cluster.name} has no port",
                    location=listener.where if port is None else port.span,
                    why="every listener of Strimzi needs a port",
                    hint="add a port from 9092 on",
                    service=cluster.name,
                )
            elif number < 9092 or number in _FORBIDDEN:
                free = _free(cluster)
                yield Finding(
                    rule=ID,
                    severity=SEVERITY,
                    message=f"{called(listener)} of {cluster.name} cannot have port {number}",
                    location=port.span,
                    why=_FORBIDDEN.get(number, "Strimzi accepts 9092 and above, and refuses the resource otherwise"),
                    hint=f"use {free}",
                    service=cluster.name,
                    edits=_to(port, free),
                )
            elif number in seen:
                free = _free(cluster)
                yield Finding(
                    rule=ID,
                    severity=SEVERITY,
                    message=f"two listeners of {cluster.name} have port {number}",
                    location=port.span,
                    related=(Related(location=seen[number].span, message="the first"),),
                    why="every listener needs a port of its own, and Strimzi refuses the resource otherwise",
                    hint=f"use {free}",
                    service=cluster.name,
                    edits=_to(port, free),
                )
            else:
                seen[number] = port


def _free(cluster: StrimziCluster) -> int:
    used = {known_number(listener.port) for listener in cluster.listeners}
    return next(number for number in range(9092, 9404) if number not in used)


def _to(port: Text, number: int) -> tuple[Edit, ...]:
    return edit_of(port, 0, len(port), str(number), safe=False)
