"""What Strimzi's operator makes of its resources: brokers and what they advertise, Services, certificates, clients.

Source: Strimzi 1.2 (`KafkaListenersReconciler`, `ListenersUtils`, `KafkaCluster`, `NodeIdAssignor`,
`DnsNameGenerator`, `ModelUtils` of the cluster operator), and its guide on listeners.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from netdiag.compose.positions import Text
from netdiag.compose.values import Mapping
from netdiag.deployment.model.kubernetes import (
    ROUTED,
    ROUTED_PORT,
    Exposure,
    KubernetesClient,
    KubernetesService,
    PodBroker,
    PodListener,
    RoutedHost,
    ServiceKind,
    ServicePort,
    StrimziCluster,
    StrimziListener,
    StrimziNode,
    StrimziPool,
    service_names,
)
from netdiag.deployment.model.verdict import Address
from netdiag.deployment.sources.client_settings import parse_bootstrap_list
from netdiag.deployment.sources.documents import items_in, mapping_at, mapping_in, text_in, texts_in
from netdiag.deployment.sources.kubernetes.resources import STRIMZI, Resource, is_unknown, known_number
from netdiag.findings import FileLocation
from netdiag.patterns import regex
from netdiag.values import dataclass

# Ports of every broker that are not for clients: of the controllers, between brokers, of the agent.
CONTROL_PLANE_PORT, REPLICATION_PORT, AGENT_PORT = 9090, 9091, 8443
# More nodes or listeners than this tell nothing more.
_MOST_NODES = 200
_MOST_LISTENERS = 100
_MOST_CLUSTERS = 50
_LABEL = "strimzi.io/cluster"
_RANGES = regex(r"\s*(\d{1,9})(?:\s*-\s*(\d{1,9}))?\s*")
_SUM = regex(r"[0-9+*() -]{1,100}")
_KINDS = {
    Exposure.NODE_PORT: ServiceKind.NODE_PORT,
    Exposure.LOAD_BALANCER: ServiceKind.LOAD_BALANCER,
}
_SASL = ("scram-sha-512", "scram-sha-256", "oauth", "plain")


@dataclass(frozen=True, slots=True, kw_only=True)
class StrimziParts:
    """What the resources of Strimzi come to; `labels` are those of the pods, by the key of their broker."""

    clusters: tuple[StrimziCluster, ...] = ()
    stray_pools: tuple[StrimziPool, ...] = ()
    brokers: tuple[PodBroker, ...] = ()
    services: tuple[KubernetesService, ...] = ()
    routed: tuple[RoutedHost, ...] = ()
    clients: tuple[KubernetesClient, ...] = ()
    labels: dict[str, dict[str, str]] = field(default_factory=dict)


def strimzi_parts(resources: Sequence[Resource]) -> StrimziParts:
    """What the resources of Strimzi among these come to."""
    ours = [resource for resource in resources if resource.group == STRIMZI]
    pools = [_pool(resource) for resource in ours if resource.kind == "KafkaNodePool"]
    kept = {(r.namespace, r.name): r for r in ours if r.kind == "KafkaNodePool"}
    kafkas = [resource for resource in ours if resource.kind == "Kafka" and resource.name][:_MOST_CLUSTERS]
    clusters = [_cluster(resource, pools, kept) for resource in kafkas]
    mine = {(cluster.namespace, cluster.name) for cluster in clusters}
    made = [_Made(cluster) for cluster in clusters]
    return StrimziParts(
        clusters=tuple(clusters),
        stray_pools=tuple(p for p in pools if p.cluster is None or (p.namespace, p.cluster.value) not in mine),
        brokers=tuple(broker for one in made for broker in one.brokers()),
        services=tuple(service for one in made for service in one.services()),
        routed=tuple(host for one in made for host in one.routed()),
        clients=tuple(client for resource in ours for client in _clients(resource)),
        labels={key: labels for one in made for key, labels in one.labels().items()},
    )


def _pool(resource: Resource) -> StrimziPool:
    spec = resource.spec
    return StrimziPool(
        name=resource.name,
        namespace=resource.namespace,
        where=resource.where,
        cluster=resource.labels.get(_LABEL),
        replicas=known_number(text_in(spec, "replicas")) if spec is not None else None,
        roles=tuple(text.value for text in texts_in(spec, "roles")) if spec is not None else (),
    )


def _cluster(
    resource: Resource, pools: Iterable[StrimziPool], declared: dict[tuple[str, str], Resource]
) -> StrimziCluster:
    kafka = mapping_at(resource.spec, "kafka")
    own = tuple(
        pool
        for pool in pools
        if pool.namespace == resource.namespace and pool.cluster is not None and pool.cluster.value == resource.name
    )
    return StrimziCluster(
        name=resource.name,
        namespace=resource.namespace,
        where=resource.where,
        listeners=tuple(map(_listener, items_in(kafka, "listeners")[:_MOST_LISTENERS])) if kafka is not None else (),
        nodes=_nodes(resource, kafka, own, declared),
        pools=own,
    )


def _listener(values: Mapping) -> StrimziListener:
    name = text_in(values, "name")
    authentication = mapping_in(values, "authentication")
    return StrimziListener(
        name=name,
        port=text_in(values, "port"),
        type=text_in(values, "type"),
        tls=text_in(values, "tls"),
        authentication=text_in(authentication, "type") if authentication is not None else None,
        configuration=mapping_in(values, "configuration"),
        where=name.span if name is not None else values.span,
        values=values,
    )


def _nodes(
    resource: Resource, kafka: Mapping | None, pools: Sequence[StrimziPool], declared: dict[tuple[str, str], Resource]
) -> tuple[StrimziNode, ...] | None:
    """The nodes, with the ids that the operator gives them; those of a cluster without pools as Strimzi made them."""
    if not pools:
        replicas = known_number(text_in(kafka, "replicas")) if kafka is not None else None
        if replicas is None:
            return None
        prefix = f"{resource.name}-kafka"
        return tuple(
            StrimziNode(pod=f"{prefix}-{number}", node_id=number, pool="kafka", is_broker=True)
            for number in range(min(replicas, _MOST_NODES))
        )
    if any(pool.replicas is None for pool in pools):
        return None
    used: set[int] = set()
    nodes: list[StrimziNode] = []
    # The operator gets them from Kubernetes, by name.
    for pool in sorted(pools, key=lambda one: one.name):
        annotation = declared[pool.namespace, pool.name].annotations.get("strimzi.io/next-node-ids")
        wanted = _ids(annotation.value) if annotation is not None else iter(())
        for _ in range(min(pool.replicas or 0, _MOST_NODES - len(nodes))):
            number = next((one for one in wanted if one not in used), None)
            if number is None:
                number = next(one for one in range(len(used) + 1) if one not in used)
            used.add(number)
            nodes.append(
                StrimziNode(
                    pod=f"{resource.name}-{pool.name}-{number}",
                    node_id=number,
                    pool=pool.name,
                    is_broker=not pool.roles or "broker" in pool.roles,
                )
            )
    return tuple(nodes)


def _ids(text: str) -> Iterator[int]:
    """The numbers of `[0, 10-12]`, at most as many as there are nodes."""
    for part in text.strip().strip("[]").split(",")[:_MOST_NODES]:
        match = _RANGES.fullmatch(part)
        if match is None:
            return
        first, last = int(match[1]), int(match[2] or match[1])
        yield from range(first, min(last, first + _MOST_NODES) + 1)


def exposure_of(listener: StrimziListener) -> Exposure | None:
    """The type of a listener; None for none, and for one that Strimzi does not have."""
    try:
        return Exposure(listener.type.value) if listener.type is not None else None
    except ValueError:
        return None


def has_tls(listener: StrimziListener) -> bool | None:
    """Whether a listener encrypts; None where that is filled in later."""
    if is_unknown(listener.tls):
        return None
    return listener.tls is not None and listener.tls.value == "true"


def protocol_of(listener: StrimziListener) -> str | None:
    """The security protocol of a listener; None where it cannot be known."""
    tls = has_tls(listener)
    if tls is None or is_unknown(listener.authentication):
        return None
    kind = listener.authentication.value if listener.authentication is not None else ""
    if kind == "custom":
        declared = mapping_in(listener.values, "authentication")
        sasl = text_in(declared, "sasl") if declared is not None else None
        return _protocol(tls=tls, sasl=sasl is not None and sasl.value == "true")
    return _protocol(tls=tls, sasl=kind in _SASL)


def _protocol(*, tls: bool, sasl: bool) -> str:
    encrypted = "SSL" if tls else "PLAINTEXT"
    return f"SASL_{encrypted}" if sasl else encrypted


def override(listener: StrimziListener, node: StrimziNode, key: str) -> Text | None:
    """What is configured for one broker: its own value, else that of the template rendered, where it stands."""
    configuration = listener.configuration
    if configuration is None:
        return None
    for broker in items_in(configuration, "brokers"):
        if known_number(text_in(broker, "broker")) == node.node_id and (text := text_in(broker, key)) is not None:
            return text
    template = text_in(configuration, f"{key}Template")
    if template is None:
        return None
    value = template.value.replace("{nodeId}", str(node.node_id)).replace("{nodePodName}", node.pod)
    if key == "advertisedPort":
        value = str(_sum(value))
    return Text(value=value, span=template.span)


def _sum(text: str) -> int | str:
    """The number that sums and products come to, as the operator evaluates a template of a port; else the text."""
    if _SUM.fullmatch(text) is None:
        return text
    words = regex(r"\d{1,9}|[-+*()]").findall(text)
    try:
        value, rest = _terms(words)
    except (IndexError, ValueError):
        return text
    return text if rest else value


def _terms(words: list[str]) -> tuple[int, list[str]]:
    value, rest = _factors(words)
    while rest and rest[0] in "+-":
        other, left = _factors(rest[1:])
        value, rest = (value + other if rest[0] == "+" else value - other), left
    return value, rest


def _factors(words: list[str]) -> tuple[int, list[str]]:
    value, rest = _atom(words)
    while rest and rest[0] == "*":
        other, rest = _atom(rest[1:])
        value = min(value * other, 10**9)
    return value, rest


def _atom(words: list[str]) -> tuple[int, list[str]]:
    if words[0] == "(":
        value, rest = _terms(words[1:])
        if rest[0] != ")":
            raise ValueError(rest[0])
        return value, rest[1:]
    return int(words[0]), words[1:]


def bootstrap_setting(listener: StrimziListener, key: str) -> Text | None:
    """What `configuration.bootstrap` says."""
    bootstrap = mapping_at(listener.configuration, "bootstrap")
    return text_in(bootstrap, key) if bootstrap is not None else None


class _Made:
    """What the operator makes of one cluster."""

    def __init__(self, cluster: StrimziCluster) -> None:
        self.cluster = cluster
        self.nodes = tuple(node for node in cluster.nodes or () if node.is_broker)
        self.listeners = [
            (one, one.name.value, port, exposure)
            for one in cluster.listeners
            if one.name is not None
            if (port := known_number(one.port)) is not None and 0 < port < 65536
            if (exposure := exposure_of(one)) is not None
        ]
        self.space = cluster.namespace or "<namespace>"
        self._names = self._certified()

    def brokers(self) -> Iterator[PodBroker]:
        for node in self.nodes:
            yield PodBroker(
                pod=node.pod,
                namespace=self.cluster.namespace,
                node_id=node.node_id,
                owner=self.cluster.name,
                cluster=f"Kafka {self.cluster.namespace}/{self.cluster.name}",
                listeners=tuple(self._pod_listener(node, *listener) for listener in self.listeners),
                subdomain=f"{self.cluster.name}-kafka-brokers",
                where=self.cluster.where,
            )

    def labels(self) -> dict[str, dict[str, str]]:
        """The labels that the operator gives its pods, as far as Services select by them."""
        return {
            f"{self.cluster.namespace}/{node.pod}": {
                _LABEL: self.cluster.name,
                "strimzi.io/kind": "Kafka",
                "strimzi.io/name": f"{self.cluster.name}-kafka",
                "strimzi.io/component-type": "kafka",
                "strimzi.io/pool-name": node.pool,
                "strimzi.io/pod-name": node.pod,
                "statefulset.kubernetes.io/pod-name": node.pod,
                "strimzi.io/broker-role": "true",
                "app.kubernetes.io/instance": self.cluster.name,
                "app.kubernetes.io/name": "kafka",
                "app.kubernetes.io/managed-by": "strimzi-cluster-operator",
            }
            for node in self.nodes
        }

    def services(self) -> Iterator[KubernetesService]:
        keys = tuple(f"{self.cluster.namespace}/{node.pod}" for node in self.nodes)
        inside = [(one, port) for one, _, port, exposure in self.listeners if exposure is Exposure.INTERNAL]
        ports = [_port(port, one.where) for one, port in inside]
        between = _port(REPLICATION_PORT, self.cluster.where)
        name = self.cluster.name
        yield self._service(f"{name}-kafka-bootstrap", ServiceKind.CLUSTER_IP, [between, *ports], keys)
        own = [_port(number, self.cluster.where) for number in (CONTROL_PLANE_PORT, REPLICATION_PORT, AGENT_PORT)]
        yield self._service(f"{name}-kafka-brokers", ServiceKind.HEADLESS, [*own, *ports], keys)
        for one, called, port, exposure in self.listeners:
            if exposure is Exposure.INTERNAL:
                continue
            kind = _KINDS.get(exposure, ServiceKind.CLUSTER_IP)
            first = self._external_name(called)
            if self._has_bootstrap(one, exposure):
                number = known_number(bootstrap_setting(one, "nodePort"))
                host = bootstrap_setting(one, "loadBalancerIP")
                yield self._service(
                    first, kind, [_port(port, one.where, kind, number)], keys, host=_host(kind, first, host)
                )
            for node in self.nodes:
                service = self._broker_service(node, called, port)
                number = known_number(override(one, node, "nodePort"))
                host = override(one, node, "loadBalancerIP")
                yield self._service(
                    service,
                    kind,
                    [_port(port, one.where, kind, number)],
                    (f"{self.cluster.namespace}/{node.pod}",),
                    host=_host(kind, service, host),
                    is_bootstrap=False,
                )

    def routed(self) -> Iterator[RoutedHost]:
        keys = tuple(f"{self.cluster.namespace}/{node.pod}" for node in self.nodes)
        for one, called, port, exposure in self.listeners:
            if exposure not in ROUTED:
                continue
            host = self._bootstrap_host(one, called, port, exposure)
            if host:
                yield RoutedHost(host=host, listener=called, target=port, brokers=keys, bootstrap=True)
            for node, key in zip(self.nodes, keys, strict=True):
                host = self._broker_host(one, node, called, port, exposure)
                if host:
                    yield RoutedHost(host=host, listener=called, target=port, brokers=(key,), bootstrap=False)

    def _pod_listener(
        self, node: StrimziNode, listener: StrimziListener, name: str, port: int, exposure: Exposure
    ) -> PodListener:
        host, given = override(listener, node, "advertisedHost"), override(listener, node, "advertisedPort")
        told_host, told_port = self._told(node, listener, name, port, exposure)
        number = known_number(given)
        certificate = mapping_at(listener.configuration, "brokerCertChainAndKey")
        told: Address | None = Address(
            host=host.value if host is not None else told_host, port=told_port if number is None else number
        )
        if is_unknown(host) or is_unknown(given) or not (host or told_host):
            told = None
        protocol = protocol_of(listener)
        encrypts = protocol is not None and protocol.endswith("SSL")
        return PodListener(
            name=name,
            port=port,
            protocol=protocol,
            told=told,
            where=listener.where,
            told_where=(host or given or Text(value="", span=listener.where)).span,
            certified=self._names | self._certified_for(node) if encrypts and certificate is None else None,
            exposure=exposure,
            is_overridden=host is not None or given is not None,
        )

    def _told(
        self, node: StrimziNode, listener: StrimziListener, name: str, port: int, exposure: Exposure
    ) -> tuple[str, int]:
        """What the operator advertises where nobody overrides it."""
        full = _uses_domain(listener)
        match exposure:
            case Exposure.INTERNAL:
                return _within(f"{node.pod}.{self.cluster.name}-kafka-brokers", self.space, full=full), port
            case Exposure.CLUSTER_IP:
                return _within(self._broker_service(node, name, port), self.space, full=full), port
            case Exposure.NODE_PORT:
                number = known_number(override(listener, node, "nodePort"))
                return f"<node of {node.pod}>", number or 0
            case Exposure.LOAD_BALANCER:
                service = self._broker_service(node, name, port)
                return _host(ServiceKind.LOAD_BALANCER, service, override(listener, node, "loadBalancerIP")), port
            case Exposure.INGRESS | Exposure.ROUTE | Exposure.TLS_ROUTE:
                return self._broker_host(listener, node, name, port, exposure), ROUTED_PORT

    def _external_name(self, listener: str) -> str:
        return f"{self.cluster.name}-kafka-{listener}-bootstrap"

    def _broker_service(self, node: StrimziNode, listener: str, port: int) -> str:
        base = node.pod.rpartition("-")[0]
        if (listener, port) == ("external", 9094):
            return f"{base}-{node.node_id}"
        return f"{base}-{listener}-{node.node_id}"

    def _bootstrap_host(self, listener: StrimziListener, name: str, port: int, exposure: Exposure) -> str:
        host = bootstrap_setting(listener, "host")
        if host is not None:
            return "" if is_unknown(host) else host.value
        if exposure is not Exposure.ROUTE:
            return ""
        route = "kafka" if (name, port) == ("external", 9094) else f"kafka-{name}"
        return f"<route {self.cluster.name}-{route}-bootstrap>"

    def _broker_host(
        self, listener: StrimziListener, node: StrimziNode, name: str, port: int, exposure: Exposure
    ) -> str:
        host = override(listener, node, "host")
        if host is not None:
            return "" if is_unknown(host) else host.value
        return f"<route {self._broker_service(node, name, port)}>" if exposure is Exposure.ROUTE else ""

    def _has_bootstrap(self, listener: StrimziListener, exposure: Exposure) -> bool:
        created = text_in(listener.configuration, "createBootstrapService") if listener.configuration else None
        return exposure is not Exposure.LOAD_BALANCER or created is None or created.value != "false"

    def _certified(self) -> frozenset[str]:
        """The names that are in the certificate of every broker."""
        name, space = self.cluster.name, self.cluster.namespace
        found = {*service_names(f"{name}-kafka-bootstrap", space), *service_names(f"{name}-kafka-brokers", space)}
        for one, called, port, exposure in self.listeners:
            bootstrap = mapping_at(one.configuration, "bootstrap")
            if bootstrap is not None:
                found |= {text.value for text in texts_in(bootstrap, "alternativeNames")}
            if exposure is Exposure.CLUSTER_IP and has_tls(one):
                found |= {*service_names(self._external_name(called), space)}
            if exposure is Exposure.LOAD_BALANCER:
                service = self._external_name(called)
                found.add(_host(ServiceKind.LOAD_BALANCER, service, bootstrap_setting(one, "loadBalancerIP")))
            if exposure in ROUTED:
                found.add(self._bootstrap_host(one, called, port, exposure))
        return frozenset(host.lower() for host in found if host)

    def _certified_for(self, node: StrimziNode) -> frozenset[str]:
        """The names of one broker that are in its certificate besides."""
        pod = f"{node.pod}.{self.cluster.name}-kafka-brokers"
        found = {_within(pod, self.space, full=full) for full in (False, True)}
        for one, called, port, exposure in self.listeners:
            host = override(one, node, "advertisedHost")
            if host is not None and (exposure not in (Exposure.INTERNAL, Exposure.CLUSTER_IP) or has_tls(one)):
                found.add(host.value)
            if exposure in (Exposure.CLUSTER_IP, Exposure.LOAD_BALANCER) or exposure in ROUTED:
                found.add(self._told(node, one, called, port, exposure)[0])
        return frozenset(host.lower() for host in found if host)

    def _service(
        self,
        name: str,
        kind: ServiceKind,
        ports: Sequence[ServicePort],
        brokers: tuple[str, ...],
        *,
        host: str = "",
        is_bootstrap: bool = True,
    ) -> KubernetesService:
        return KubernetesService(
            name=name,
            namespace=self.cluster.namespace,
            kind=kind,
            ports=tuple(ports),
            brokers=brokers,
            where=self.cluster.where,
            made_by=f"Kafka {self.cluster.name}",
            host=host,
            is_bootstrap=is_bootstrap,
        )


def _port(
    number: int, where: FileLocation, kind: ServiceKind = ServiceKind.CLUSTER_IP, node_port: int | None = None
) -> ServicePort:
    chosen = (node_port or 0) if kind in (ServiceKind.NODE_PORT, ServiceKind.LOAD_BALANCER) else None
    return ServicePort(port=number, target=number, node_port=chosen, where=where)


def _host(kind: ServiceKind, service: str, given: Text | None) -> str:
    """The address of a load balancer."""
    if kind is not ServiceKind.LOAD_BALANCER:
        return ""
    return given.value if given is not None and not is_unknown(given) else f"<load balancer {service}>"


def _within(name: str, namespace: str, *, full: bool) -> str:
    return service_names(name, namespace)[3 if full else 2]


def _uses_domain(listener: StrimziListener) -> bool:
    used = text_in(listener.configuration, "useServiceDnsDomain") if listener.configuration is not None else None
    return used is not None and used.value == "true"


def _clients(resource: Resource) -> Iterator[KubernetesClient]:
    """The bootstrap addresses of Connect, the bridge and MirrorMaker."""
    spec = resource.spec
    if spec is None or resource.kind not in ("KafkaConnect", "KafkaBridge", "KafkaMirrorMaker2"):
        return
    parts = [(spec, "spec")]
    if resource.kind == "KafkaMirrorMaker2":
        parts = [(one, f"spec.clusters[{index}]") for index, one in enumerate(items_in(spec, "clusters"))]
        target = mapping_in(spec, "target")
        parts += [(target, "spec.target")] if target is not None else []
        for index, mirror in enumerate(items_in(spec, "mirrors")):
            source = mapping_in(mirror, "source")
            parts += [(source, f"spec.mirrors[{index}].source")] if source is not None else []
    for part, where in parts[:_MOST_LISTENERS]:
        text = text_in(part, "bootstrapServers")
        addresses = () if text is None or is_unknown(text) else parse_bootstrap_list(text.value)
        if text is not None and addresses:
            yield KubernetesClient(
                name=resource.name,
                kind=resource.kind,
                namespace=resource.namespace,
                setting=f"{where}.bootstrapServers",
                declared=text,
                addresses=addresses,
                protocol=_client_protocol(part),
                where=resource.where,
            )


def _client_protocol(part: Mapping) -> str | None:
    """The security protocol: with `tls`, even an empty one, encrypted."""
    authentication = mapping_in(part, "authentication")
    kind = text_in(authentication, "type") if authentication is not None else None
    if is_unknown(kind) or (kind is not None and kind.value == "custom"):
        return None
    return _protocol(tls=part.get("tls") is not None, sasl=kind is not None and kind.value in _SASL)
