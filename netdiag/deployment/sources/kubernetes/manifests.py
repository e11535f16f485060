"""All that the manifests of one folder come to."""

from collections.abc import Sequence

from netdiag.deployment.model.kubernetes import Manifests
from netdiag.deployment.sources.kubernetes.resources import Resource
from netdiag.deployment.sources.kubernetes.strimzi import strimzi_parts
from netdiag.deployment.sources.kubernetes.workloads import node_ports, pod_parts


def manifests(own: str, resources: Sequence[Resource]) -> Manifests:
    """What resources come to; `own` is the path of the file that is checked."""
    strimzi = strimzi_parts(resources)
    pods = pod_parts(resources, strimzi.labels)
    return Manifests(
        own=own,
        brokers=(*strimzi.brokers, *pods.brokers),
        services=(*strimzi.services, *pods.services),
        routed=strimzi.routed,
        clients=(*strimzi.clients, *pods.clients),
        clusters=strimzi.clusters,
        stray_pools=strimzi.stray_pools,
        pods=pods.deployment,
        unexpanded=pods.unexpanded,
        node_ports=node_ports(resources),
    )
