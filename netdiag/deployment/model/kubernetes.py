"""What Kubernetes manifests declare about Kafka: brokers in pods, Services that lead to them, and their clients.

A namespace that no manifest names is "". An address that only a running cluster knows (of a node, of a load balancer,
of a pod) is a host in angle brackets, and a port that Kubernetes chooses is 0.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import StrEnum

from netdiag.compose.positions import Text
from netdiag.compose.values import Mapping as YamlMapping
from netdiag.deployment.model.deployment import BootstrapAddress, Deployment
from netdiag.deployment.model.verdict import Address
from netdiag.findings import FileLocation, Location
from netdiag.values import dataclass

NODE = "<node>"
CLUSTER_DOMAIN = "cluster.local"


class ServiceKind(StrEnum):
    """How a Service can be reached; the value is its type, but for one without an address of its own."""

    CLUSTER_IP = "ClusterIP"
    HEADLESS = "headless"
    NODE_PORT = "NodePort"
    LOAD_BALANCER = "LoadBalancer"


class Exposure(StrEnum):
    """The types of listeners of Strimzi, by which it chooses what leads to a listener and what clients are told."""

    INTERNAL = "internal"
    CLUSTER_IP = "cluster-ip"
    NODE_PORT = "nodeport"
    LOAD_BALANCER = "loadbalancer"
    INGRESS = "ingress"
    ROUTE = "route"
    TLS_ROUTE = "tlsroute"


# At the TLS port of a router or gateway, which leads on by the name that the client asks for.
ROUTED = (Exposure.INGRESS, Exposure.ROUTE, Exposure.TLS_ROUTE)
ROUTED_PORT = 443


@dataclass(frozen=True, slots=True, kw_only=True)
class PodListener:
    """A listener of a broker in a pod, and what it tells clients.

    `protocol` is the security protocol, `told` the address that clients are given; None where that is not known.
    `certified` are the names in its certificate, None where it has none or somebody else's. `where` is the listener,
    `told_where` what is advertised. `is_overridden`: somebody wrote what is told.
    """

    name: str
    port: int
    protocol: str | None
    told: Address | None
    where: Location
    told_where: Location
    certified: frozenset[str] | None = None
    exposure: Exposure | None = None
    is_overridden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PodBroker:
    """A broker in a pod. `subdomain` is the headless Service by which its pod has a name of its own.

    `owner` is the resource that makes the pod, `cluster` what the brokers of one cluster have in common. `host_ports`
    lead from ports of its node to its own.
    """

    pod: str
    namespace: str
    node_id: int | None
    owner: str
    cluster: str
    listeners: tuple[PodListener, ...]
    subdomain: str
    where: Location
    host_ports: Mapping[int, int] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What it is called, in one word: pods of several namespaces may have the same name."""
        return f"{self.namespace}/{self.pod}"

    def listener(self, port: int) -> PodListener | None:
        """The listener on a port."""
        return next((one for one in self.listeners if one.port == port), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicePort:
    """A port of a Service. `target` is that of its pods, None where no container has the port of that name.

    `node_port` is that of every node, None where there is none.
    """

    port: int
    target: int | None
    node_port: int | None
    where: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesService:
    """A Service and the brokers that it leads to, by key. `made_by` is the resource for which an operator makes it.

    `host` is the address of its load balancer. `is_local`: a node leads to its own pods only. `selects` is whether
    it has a selector, `finds_pods` whether that finds pods of any kind here. `is_bootstrap` is false for one of a
    single broker.
    """

    name: str
    namespace: str
    kind: ServiceKind
    ports: tuple[ServicePort, ...]
    brokers: tuple[str, ...]
    where: Location
    made_by: str = ""
    host: str = ""
    selects: bool = True
    finds_pods: bool = True
    is_local: bool = False
    is_bootstrap: bool = True

    def port(self, number: int) -> ServicePort | None:
        """The port of that number."""
        return next((one for one in self.ports if one.port == number), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutedHost:
    """A name that a router or gateway leads on by: to a port of brokers, by key."""

    host: str
    listener: str
    target: int
    brokers: tuple[str, ...]
    bootstrap: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesClient:
    """A resource that is told bootstrap addresses. `setting` is the place that says so, in words.

    `protocol` is the security protocol that it uses, None where that is not known. `certain` is false where only a
    broker's own name tells that the list is for Kafka. `tls_where` is the setting of its TLS.
    """

    name: str
    kind: str
    namespace: str
    setting: str
    declared: Text
    addresses: tuple[BootstrapAddress, ...]
    protocol: str | None
    certain: bool = True
    where: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class StrimziListener:
    """An entry of `spec.kafka.listeners` as it is written."""

    name: Text | None
    port: Text | None
    type: Text | None
    tls: Text | None
    authentication: Text | None
    configuration: YamlMapping | None
    where: FileLocation
    values: YamlMapping


@dataclass(frozen=True, slots=True, kw_only=True)
class StrimziNode:
    """A node of a cluster of Strimzi: the pod, its id, and whether it serves clients."""

    pod: str
    node_id: int
    pool: str
    is_broker: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StrimziCluster:
    """A `Kafka` resource. `nodes` is None where no file here says which nodes it has."""

    name: str
    namespace: str
    where: FileLocation
    listeners: tuple[StrimziListener, ...]
    nodes: tuple[StrimziNode, ...] | None
    pools: tuple["StrimziPool", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StrimziPool:
    """A `KafkaNodePool`; `cluster` is the label that names its cluster."""

    name: str
    namespace: str
    where: FileLocation
    cluster: Text | None
    replicas: int | None
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnexpandedName:
    """A `$(name)` in a variable of a broker that Kubernetes leaves as it is; `defined` is where it stands below."""

    broker: str
    variable: str
    name: str
    where: FileLocation
    defined: FileLocation | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifests:
    """All that files of one folder declare. `own` is the one that is checked; what others declare explains it.

    `pods` is a deployment with a broker for each pod template, `node_ports` are those that somebody wrote.
    """

    own: str
    brokers: tuple[PodBroker, ...] = ()
    services: tuple[KubernetesService, ...] = ()
    routed: tuple[RoutedHost, ...] = ()
    clients: tuple[KubernetesClient, ...] = ()
    clusters: tuple[StrimziCluster, ...] = ()
    stray_pools: tuple[StrimziPool, ...] = ()
    pods: Deployment | None = None
    unexpanded: tuple[UnexpandedName, ...] = ()
    node_ports: Mapping[int, tuple[Location, ...]] = field(default_factory=dict)

    def broker(self, key: str) -> PodBroker | None:
        """The broker with a key."""
        return next((one for one in self.brokers if one.key == key), None)

    def of(self, keys: Iterable[str]) -> tuple[PodBroker, ...]:
        """The brokers with these keys."""
        wanted = set(keys)
        return tuple(one for one in self.brokers if one.key in wanted)

    @property
    def own_brokers(self) -> tuple[PodBroker, ...]:
        """The brokers that the file declares."""
        return tuple(b for b in self.brokers if isinstance(b.where, FileLocation) and b.where.path == self.own)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces of the brokers, in their order."""
        return tuple(dict.fromkeys(broker.namespace for broker in self.brokers))


def service_names(name: str, namespace: str) -> tuple[str, ...]:
    """The names of a Service in the DNS of the cluster, the shortest first; that one counts in its namespace only."""
    space = namespace or "<namespace>"
    return (name, f"{name}.{space}", f"{name}.{space}.svc", f"{name}.{space}.svc.{CLUSTER_DOMAIN}")
