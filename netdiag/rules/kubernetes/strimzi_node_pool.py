"""A node pool of Strimzi belongs to no cluster, or a cluster has no pool for one of its roles.

Why: The label strimzi.io/cluster of a KafkaNodePool names its Kafka resource, in the same namespace. A cluster needs
brokers and controllers; without, the operator makes no pods, so no listener of it can be reached.

Bad:
    apiVersion: kafka.strimzi.io/v1
    kind: KafkaNodePool
    metadata:
      name: dual
      labels:
        strimzi.io/cluster: my-kafka  # <- here
    spec:
      replicas: 3
      roles: [controller, broker]
    ---
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

Good:
    apiVersion: kafka.strimzi.io/v1
    kind: KafkaNodePool
    metadata:
      name: dual
      labels:
        strimzi.io/cluster: my-cluster
    spec:
      replicas: 3
      roles: [controller, broker]
    ---
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

Seen: KafkaNodePools for Kafka cluster my-cluster either don't exist or have 0 replicas

Sources: Strimzi 1.2 (`NodePoolUtils`); its guide on node pools.
"""

from collections.abc import Iterator

from netdiag.deployment.model.kubernetes import Manifests, StrimziCluster, StrimziPool
from netdiag.findings import Finding, Related, Severity
from netdiag.rules.kubernetes_findings import edit_of, file_of, is_known

ID = "strimzi-node-pool"
SEVERITY = Severity.ERROR


def check(manifests: Manifests) -> Iterator[Finding]:
    """One finding for every pool beside a cluster without pools, and for every cluster whose pools lack a role."""
    for pool in manifests.stray_pools:
        yield from _stray(pool, manifests)
    for cluster in manifests.clusters:
        yield from _without_role(cluster)


def _stray(pool: StrimziPool, manifests: Manifests) -> Iterator[Finding]:
    label = pool.cluster
    if label is None:
        yield Finding(
            rule=ID,
            severity=Severity.WARNING,
            message=f"node pool {pool.name} does not say which cluster it belongs to",
            location=pool.where,
            why="Strimzi takes a pool for a cluster by its label strimzi.io/cluster",
            hint="add the label strimzi.io/cluster with the name of the Kafka resource",
            service=pool.name,
        )
        return
    file = file_of(pool.where)
    # A cluster of another file may be the one that is meant.
    lonely = [one for one in manifests.clusters if not one.pools and file_of(one.where) == file]
    if not is_known(label) or len(lonely) != 1:
        return
    cluster = lonely[0]
    spaces = label.value == cluster.name and pool.namespace != cluster.namespace
    yield Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"node pool {pool.name} belongs to {label.value}, "
        + (f"but {cluster.name} is in another namespace" if spaces else f"but the cluster is called {cluster.name}"),
        location=label.span,
        related=(Related(location=cluster.where, message="this cluster has no pool"),),
        why="Strimzi takes a pool for a cluster by its label, in one namespace; a cluster without pools gets no pods",
        hint="put both into one namespace" if spaces else f"write strimzi.io/cluster: {cluster.name}",
        service=cluster.name,
        edits=() if spaces else edit_of(label, 0, len(label), cluster.name, safe=False),
    )


def _without_role(cluster: StrimziCluster) -> Iterator[Finding]:
    pools = cluster.pools
    if not pools or any(pool.replicas is None or not pool.roles for pool in pools):
        return
    # Pools may be spread over files that are applied together.
    if {file_of(pool.where) for pool in pools} != {file_of(cluster.where)}:
        return
    for role in ("broker", "controller"):
        if not any(role in pool.roles and pool.replicas for pool in pools):
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f"no node pool of {cluster.name} has a {role}",
                location=cluster.where,
                related=(Related(location=pools[0].where, message="one of its pools"),),
                why="Strimzi needs at least one broker and one controller, and makes no pods otherwise",
                hint=f"add the role {role} to a pool with replicas",
                service=cluster.name,
            )
