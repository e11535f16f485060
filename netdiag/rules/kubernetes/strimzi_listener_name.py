"""The name of a listener of Strimzi is not allowed, or stands twice.

Why: Strimzi makes the names of Services, Secrets and settings from it. It must have 1 to 11 lower-case letters and
digits and be the only one of its cluster; otherwise the operator refuses the whole resource, and the cluster stays as
it was.

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
          - name: node-port  # <- here
            port: 9094
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
          - name: nodeport
            port: 9094
            type: nodeport
            tls: false

Seen: Listener configuration is not valid: [listener names [node-port] are invalid and do not match the …

Sources: Strimzi 1.2 (`ListenersValidator`, `GenericKafkaListener.LISTENER_NAME_REGEX`).
"""

from collections.abc import Iterator

from netdiag.compose.positions import Text
from netdiag.deployment.model.kubernetes import Manifests
from netdiag.findings import Finding, Related, Severity
from netdiag.patterns import regex
from netdiag.rules.kubernetes_findings import edit_of, is_known

ID = "strimzi-listener-name"
SEVERITY = Severity.ERROR
_ALLOWED = regex(r"[a-z0-9]{1,11}")
_NOT_ALLOWED = regex(r"[^a-z0-9]+")


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every listener without a name of its own that Strimzi accepts."""
    for cluster in manifests.clusters:
        seen: dict[str, Text] = {}
        for listener in cluster.listeners:
            name = listener.name
            if name is None:
                yield Finding(
                    rule=ID,
                    severity=SEVERITY,
                    message=f"a listener of {cluster.name} has no name",
                    location=listener.where,
                    why="every listener of Strimzi needs a name of its own",
                    hint="add a name of 1 to 11 lower-case letters and digits",
                    service=cluster.name,
                )
            elif not is_known(name):
                continue
            elif _ALLOWED.fullmatch(name.value) is None:
                better = _NOT_ALLOWED.sub("", name.value.lower())
                fits = 0 < len(better) < 12 and all(
                    one.name is None or one.name.value != better for one in cluster.listeners
                )
                yield Finding(
                    rule=ID,
                    severity=SEVERITY,
                    message=f'"{name.value}" of {cluster.name} is no name for a listener',
                    location=name.span,
                    why="Strimzi allows 1 to 11 lower-case letters and digits, and refuses the resource otherwise",
                    hint=f"call it {better}" if fits else "choose 1 to 11 lower-case letters and digits",
                    service=cluster.name,
                    edits=edit_of(name, 0, len(name), better, safe=False) if fits else (),
                )
            elif name.value in seen:
                yield Finding(
                    rule=ID,
                    severity=SEVERITY,
                    message=f"{cluster.name} has two listeners called {name.value}",
                    location=name.span,
                    related=(Related(location=seen[name.value].span, message="the first"),),
                    why="Strimzi makes names of Services and settings from the name, and refuses the resource",
                    hint="give each listener a name of its own",
                    service=cluster.name,
                )
            else:
                seen[name.value] = name
