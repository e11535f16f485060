"""Manifests for tests: a cluster of Strimzi with chosen listeners, brokers in pods, and what is found in them."""

from collections.abc import Mapping

from netdiag.compose.positions import Source
from netdiag.deployment.model.kubernetes import Manifests
from netdiag.deployment.sources.kubernetes.manifests import manifests
from netdiag.deployment.sources.kubernetes.resources import resources, together
from netdiag.findings import Finding
from netdiag.rules.kubernetes import check_manifests

PATH = "kafka.yaml"


def manifests_of(text: str, *, path: str = PATH, beside: Mapping[str, str] | None = None) -> Manifests:
    """What a file of manifests comes to, explained by others."""
    others = [resources(Source(name, other)) for name, other in (beside or {}).items()]
    return manifests(path, together(resources(Source(path, text)), others))


def found_in(text: str, *, beside: Mapping[str, str] | None = None) -> tuple[Finding, ...]:
    """What is found in a file."""
    return check_manifests(manifests_of(text, beside=beside))


def strimzi(*listeners: str, replicas: int = 3, namespace: str = "kafka", name: str = "my-cluster") -> str:
    """A cluster with some listeners, each a flow mapping."""
    lines = "".join(f"      - {one}\n" for one in listeners)
    return (
        "apiVersion: kafka.strimzi.io/v1\nkind: KafkaNodePool\n"
        f"metadata: {{name: dual, namespace: {namespace}, labels: {{strimzi.io/cluster: {name}}}}}\n"
        f"spec: {{replicas: {replicas}, roles: [controller, broker]}}\n---\n"
        f"apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {{name: {name}, namespace: {namespace}}}\n"
        f"spec:\n  kafka:\n    listeners:\n{lines}"
    )
