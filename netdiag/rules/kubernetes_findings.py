"""What rules about manifests share: places of what is written, edits, and who stands where."""

from collections.abc import Iterator

from netdiag.compose.positions import Text
from netdiag.deployment.model.kubernetes import (
    Exposure,
    KubernetesClient,
    Manifests,
    PodBroker,
    PodListener,
    StrimziCluster,
    StrimziListener,
)
from netdiag.deployment.model.vantage import Vantage
from netdiag.deployment.prediction.kubernetes import pod_place
from netdiag.deployment.sources.kubernetes.resources import is_unknown
from netdiag.deployment.sources.kubernetes.strimzi import exposure_of
from netdiag.findings import Applicability, Edit, FileLocation


def edit_of(text: Text, start: int, end: int, replacement: str, *, safe: bool = True) -> tuple[Edit, ...]:
    """The edit of some characters of a value; none where an escape or a variable made them."""
    span = text.edit_span(start, end)
    if span is None:
        return ()
    applicability = Applicability.SAFE if safe else Applicability.UNSAFE
    return (Edit(path=span.path, start=span.start, end=span.end, replacement=replacement, applicability=applicability),)


def strimzi_listeners(manifests: Manifests) -> Iterator[tuple[StrimziCluster, StrimziListener]]:
    """Every listener of every cluster of Strimzi."""
    for cluster in manifests.clusters:
        for listener in cluster.listeners:
            yield cluster, listener


def typed_listeners(manifests: Manifests) -> Iterator[tuple[StrimziCluster, StrimziListener, Exposure]]:
    """Those of which the type is one of Strimzi's."""
    for cluster, listener in strimzi_listeners(manifests):
        exposure = exposure_of(listener)
        if exposure is not None:
            yield cluster, listener, exposure


def called(listener: StrimziListener) -> str:
    """What a sentence calls a listener."""
    return f"listener {listener.name.value}" if listener.name is not None else "a listener without a name"


def is_known(text: Text | None) -> bool:
    """Whether a value is there, and nobody but Kubernetes has a hand in it."""
    return text is not None and not is_unknown(text)


def place_of(client: KubernetesClient) -> Vantage:
    """The place of a client."""
    return pod_place(client.namespace)


def by_listener(manifests: Manifests) -> Iterator[tuple[PodBroker, PodListener]]:
    """Every listener of every broker."""
    for broker in manifests.brokers:
        for listener in broker.listeners:
            yield broker, listener


def file_of(place: object) -> str:
    """The file of a place."""
    return place.path if isinstance(place, FileLocation) else ""
