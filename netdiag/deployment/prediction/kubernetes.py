"""What a client of brokers in Kubernetes gets, from manifests alone: at every place, at every bootstrap address.

A client speaks what the listener asks for, and trusts who signed its certificate; it checks names.

The rules of names and addresses are those of Kubernetes (DNS for Services and Pods, Services, virtual IPs): only pods
ask the DNS of the cluster; the short name of a Service counts in its namespace; a pod has a name of its own below its
headless Service; a Service of any other kind leads to the pods that it selects and translates its ports. Ports of
nodes and pods are taken to be reachable from all pods and nodes, ports of nodes and addresses of load balancers and
routers from outside.
"""

from collections.abc import Iterable, Iterator

from netdiag.deployment.model.kubernetes import (
    NODE,
    ROUTED_PORT,
    Exposure,
    KubernetesService,
    Manifests,
    PodBroker,
    PodListener,
    ServiceKind,
    service_names,
)
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import (
    Address,
    Answered,
    Cell,
    Contact,
    EndpointOutcome,
    Failed,
    Mechanism,
    NodeEndpoint,
    Reason,
    Unknown,
    Word,
    outcomes,
    weigh,
)
from netdiag.kafka.listeners import is_loopback
from netdiag.values import dataclass

_SUFFIXES = (".svc.cluster.local", ".svc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    """Where a connection ends: the brokers, any of which it may meet, and their port."""

    brokers: tuple[PodBroker, ...]
    port: int


def places(manifests: Manifests) -> tuple[Vantage, ...]:
    """Where clients can stand: in pods of each namespace with a broker or a client, on a node, outside."""
    namespaces = dict.fromkeys((*manifests.namespaces, *(client.namespace for client in manifests.clients)))
    if "" in namespaces and not any(namespaces):
        found = [pod_place("", "pod in the same namespace")]
    else:
        found = [
            pod_place(name, f"pod in {name}" if name else "pod where no namespace is given") for name in namespaces
        ]
    return (*found, ELSEWHERE, ON_NODE, OUTSIDE)


def pod_place(namespace: str, label: str = "") -> Vantage:
    """A pod of a namespace."""
    return Vantage(kind=VantageKind.POD, label=label or f"pod in {namespace}", networks=(namespace,))


# No namespace has this name.
ELSEWHERE = Vantage(kind=VantageKind.POD, label="pod in another namespace", networks=("*",))
ON_NODE = Vantage(kind=VantageKind.NODE, label="a node")
OUTSIDE = Vantage(kind=VantageKind.OUTSIDE, label="outside")


def bootstraps(manifests: Manifests) -> tuple[Address, ...]:
    """The addresses that lead to listeners of the brokers of the file, and those that their clients are told."""
    brokers = manifests.own_brokers
    keys = {broker.key for broker in brokers}
    found: dict[Address, None] = {}
    for service in manifests.services:
        made_headless = service.made_by and service.kind is ServiceKind.HEADLESS
        if made_headless or (service.made_by and not service.is_bootstrap):
            continue
        for port in service.ports:
            entered = [b.listener(port.target or 0) for b in manifests.of(service.brokers) if b.key in keys]
            if not any(entered):
                continue
            for_the_world = any(one is not None and is_for_the_world(one) for one in entered)
            for name in () if for_the_world else (service.name, service_names(service.name, service.namespace)[2]):
                found[Address(host=name, port=port.port)] = None
            if port.node_port is not None and service.kind is ServiceKind.NODE_PORT:
                found[node_address(service, port.node_port)] = None
            if service.host:
                found[Address(host=service.host, port=port.port)] = None
    for host in manifests.routed:
        if host.bootstrap and keys.intersection(host.brokers):
            found[Address(host=host.host, port=ROUTED_PORT)] = None
    for broker in brokers:
        for listener in broker.listeners:
            # What an operator tells clients needs no row of its own.
            if listener.told is not None and listener.exposure is None:
                found[listener.told] = None
    for client in manifests.clients:
        for address in client.addresses:
            if any(landed_at(manifests, pod_place(client.namespace), address.host, address.port, keys)):
                found[Address(host=address.host, port=address.port)] = None
    return tuple(found)


def is_for_the_world(listener: PodListener) -> bool:
    """Whether Strimzi makes a listener for clients outside, be there a Service inside that leads to it, too."""
    return listener.exposure not in (None, Exposure.INTERNAL, Exposure.CLUSTER_IP)


def node_address(service: KubernetesService, port: int) -> Address:
    """A port of any node; one that Kubernetes chooses is named after its Service."""
    return Address(host=NODE, port=port) if port else Address(host=f"<node port of {service.name}>", port=0)


def landed_at(manifests: Manifests, place: Vantage, host: str, port: int, keys: Iterable[str]) -> Iterator[PodListener]:
    """The listeners of some brokers that an address leads to."""
    landed = arrive(manifests, place, host, port)
    if isinstance(landed, Landed):
        wanted = set(keys)
        for broker in landed.brokers:
            listener = broker.listener(landed.port)
            if broker.key in wanted and listener is not None:
                yield listener


def predict(manifests: Manifests, vantages: Iterable[Vantage], addresses: Iterable[Address]) -> tuple[Cell, ...]:
    """One cell for every place x bootstrap address."""
    cells = []
    tried = tuple(addresses)
    for vantage in vantages:
        client = _Client(manifests, vantage)
        for address in tried:
            verdict = weigh(client.contact(address), client.outcomes)
            cells.append(Cell(vantage=vantage.label, bootstrap=address, predicted=verdict))
    return tuple(cells)


class _Client:
    """A client at one place; remembers what each address gave."""

    def __init__(self, manifests: Manifests, vantage: Vantage) -> None:
        self._manifests = manifests
        self._vantage = vantage
        self._known: dict[Address, Contact] = {}

    def contact(self, address: Address) -> Contact:
        if address not in self._known:
            self._known[address] = contact(self._manifests, self._vantage, address)
        return self._known[address]

    def outcomes(self, answered: Answered) -> tuple[EndpointOutcome, ...]:
        return tuple(_as_named(one, self) for one in outcomes(answered, lambda end: self.contact(end.address)))

    def brokers_at(self, address: Address) -> tuple[PodBroker, ...]:
        landed = arrive(self._manifests, self._vantage, address.host, address.port)
        return landed.brokers if isinstance(landed, Landed) else ()


def _as_named(outcome: EndpointOutcome, client: _Client) -> EndpointOutcome:
    """An address that leads to several brokers gets a client to the one it wants by chance only."""
    if outcome.outcome != Word.OK.value or not isinstance(outcome.contact, Answered):
        return outcome
    others = [b.node_id for b in client.brokers_at(outcome.endpoint.address) if b.node_id != outcome.endpoint.node_id]
    if not others:
        return outcome
    met = Answered(node_id=others[0], cluster_id=outcome.contact.cluster_id, because=outcome.contact.because)
    return EndpointOutcome(endpoint=outcome.endpoint, contact=met, outcome=Word.WRONG_BROKER.value)


def contact(manifests: Manifests, vantage: Vantage, address: Address) -> Contact:
    """What a client at a place gets at an address."""
    landed = arrive(manifests, vantage, address.host, address.port)
    if not isinstance(landed, Landed):
        return landed
    broker = landed.brokers[0]
    listener = broker.listener(landed.port)
    if listener is None:
        because = f"nobody listens on port {landed.port} of {broker.pod}"
        return Failed(reason=Reason.REFUSED, because=because, mechanism=Mechanism.NOBODY_LISTENS)
    if not is_certified(listener, address.host):
        because = f'the client uses the name "{address.host}", which the certificate of {listener.name} does not have'
        return Failed(reason=Reason.TLS, because=because)
    mine = [one for one in manifests.brokers if one.cluster == broker.cluster]
    named: list[NodeEndpoint] = []
    for other in mine:
        again = next((one for one in other.listeners if one.name == listener.name), None)
        if again is None:
            continue
        if again.told is None or other.node_id is None:
            return Unknown(because=f"the manifests do not tell what {other.pod} advertises on {listener.name}")
        named.append(NodeEndpoint(node_id=other.node_id, host=again.told.host, port=again.told.port))
    alone = len(landed.brokers) == 1
    return Answered(
        node_id=broker.node_id if alone else None,
        cluster_id=broker.cluster,
        brokers=tuple(sorted(named, key=lambda end: end.node_id)),
        listener=listener.name,
        because=f"{broker.pod if alone else broker.owner} answers on {listener.name}",
        member=broker.pod,
    )


def is_certified(listener: PodListener, host: str) -> bool:
    """Whether a client that checks names accepts the listener's certificate at a host; of others' nobody knows."""
    if listener.certified is None or listener.protocol is None or not listener.protocol.endswith("SSL"):
        return True
    return host.lower() in listener.certified


def arrive(manifests: Manifests, vantage: Vantage, host: str, port: int) -> Landed | Failed | Unknown:
    """Where a connection from a place to an address ends."""
    if is_loopback(host):
        return _failed(Reason.REFUSED, Mechanism.OWN_LOOPBACK, f'"{host}" is the client itself')
    if host.startswith("<"):
        return _at_placeholder(manifests, vantage, host, port)
    lowered = host.lower()
    service = find_service(manifests, vantage, lowered)
    if service is not None:
        return _at_service(manifests, vantage, service, lowered, port)
    broker = find_pod(manifests, vantage, lowered)
    if broker is not None:
        if vantage.kind is not VantageKind.POD:
            return _no_names(host, vantage)
        if lowered == f"{broker.pod}.{broker.subdomain}" and vantage.networks[0] != broker.namespace:
            return _counts_elsewhere(host, "the name of a pod", broker.namespace)
        return Landed(brokers=(broker,), port=port)
    if lowered in {one.pod for one in manifests.brokers}:
        because = f'"{host}" alone is the name of a pod inside of that pod only'
        return _failed(Reason.UNRESOLVED, Mechanism.NO_SUCH_NAME, because)
    if lowered.endswith(_SUFFIXES):
        if vantage.kind is not VantageKind.POD:
            return _no_names(host, vantage)
        misnamed = _misnamed_pod(manifests, lowered)
        if misnamed is not None:
            because = f'"{host}" names no pod: those of {misnamed.owner} have their names below {misnamed.subdomain}'
            return _failed(Reason.UNRESOLVED, Mechanism.NO_SUCH_NAME, because)
        return Unknown(because=f'no manifest here declares what "{host}" leads to')
    return _at_public_name(manifests, vantage, host, port)


def find_service(manifests: Manifests, vantage: Vantage, host: str) -> KubernetesService | None:
    """The Service that a host means at a place, be it resolved there or not."""
    stem = host
    for suffix in _SUFFIXES:
        stem = stem.removesuffix(suffix)
    name, dot, namespace = stem.partition(".")
    found = [one for one in manifests.services if one.name == name]
    if not dot:
        own = [one for one in found if vantage.networks and one.namespace == vantage.networks[0]]
        return next(iter(own or found), None) if stem == host else None
    return next((one for one in found if _is_namespace(one.namespace, namespace)), None)


def find_pod(manifests: Manifests, vantage: Vantage, host: str) -> PodBroker | None:
    """The broker whose pod has a name below its headless Service, be it resolved at a place or not.

    The name is `POD.SERVICE[.NAMESPACE[.svc[.cluster.local]]]`.
    """
    stem = host
    for suffix in _SUFFIXES:
        stem = stem.removesuffix(suffix)
    pod, _, rest = stem.partition(".")
    subdomain, _, namespace = rest.partition(".")
    found: list[PodBroker] = []
    for broker in manifests.brokers:
        if broker.pod != pod or broker.subdomain != subdomain:
            continue
        if (_is_namespace(broker.namespace, namespace) or not namespace) and has_pod_names(manifests, broker):
            found.append(broker)
    own = (broker for broker in found if vantage.networks and vantage.networks[0] == broker.namespace)
    return next(own, None) or next(iter(found), None)


def _misnamed_pod(manifests: Manifests, host: str) -> PodBroker | None:
    """The broker that `POD.SERVICE.NAMESPACE.svc` means, where its pod has names below another Service only."""
    stem = host
    for suffix in _SUFFIXES:
        stem = stem.removesuffix(suffix)
    pod, *below = stem.split(".")
    if len(below) != 2:
        return None
    found = (one for one in manifests.brokers if one.pod == pod and one.namespace == below[1])
    return next((one for one in found if one.subdomain not in ("", below[0])), None)


def has_pod_names(manifests: Manifests, broker: PodBroker) -> bool:
    """Whether the pods of a broker have names of their own, by a headless Service here or one that is not here."""
    found = [s for s in manifests.services if s.name == broker.subdomain and s.namespace == broker.namespace]
    return not found or any(one.kind is ServiceKind.HEADLESS and broker.key in one.brokers for one in found)


def _is_namespace(declared: str, given: str) -> bool:
    """Whether a name in an address may be that of a namespace; one that no manifest names may have any."""
    return given == (declared or "<namespace>") or not declared


def _at_service(
    manifests: Manifests, vantage: Vantage, service: KubernetesService, host: str, port: int
) -> Landed | Failed | Unknown:
    if vantage.kind is not VantageKind.POD:
        return _no_names(host, vantage)
    space = service.namespace
    if "." not in host and vantage.networks[0] != space:
        return _counts_elsewhere(host, "a Service", space)
    brokers = manifests.of(service.brokers)
    if not brokers:
        if service.finds_pods or not service.selects:
            return Unknown(because=f"the manifests do not tell which brokers Service {service.name} leads to")
        because = f"Service {service.name} selects no pod of these manifests"
        return _failed(Reason.REFUSED, Mechanism.NOBODY_LISTENS, because)
    if service.kind is ServiceKind.HEADLESS:
        return Landed(brokers=brokers, port=port)
    declared = service.port(port)
    if declared is None:
        because = f"Service {service.name} has no port {port}"
        return _failed(Reason.TIMEOUT, Mechanism.NOT_PUBLISHED, because)
    if declared.target is None:
        return Unknown(because=f"the manifests do not tell where port {port} of Service {service.name} leads")
    return Landed(brokers=brokers, port=declared.target)


def _at_placeholder(manifests: Manifests, vantage: Vantage, host: str, port: int) -> Landed | Failed | Unknown:
    """At an address that only a running cluster knows."""
    for broker in manifests.brokers:
        if host == f"<IP of {broker.pod}>":
            if vantage.kind is VantageKind.OUTSIDE:
                return _failed(Reason.UNREACHABLE, Mechanism.NO_ROUTE, "addresses of pods have no route from outside")
            return Landed(brokers=(broker,), port=port)
        if host == f"<node of {broker.pod}>":
            return _at_node(manifests, broker, port)
    for service in manifests.services:
        for declared in service.ports:
            by_port = declared.node_port is not None and node_address(service, declared.node_port)
            if by_port == Address(host=host, port=port) and declared.target is not None:
                return _through(manifests, service, declared.target)
            if host == service.host and declared.port == port and declared.target is not None:
                return _from_outside(vantage, host, _through(manifests, service, declared.target))
    if host == NODE:
        on_host = tuple(broker for broker in manifests.brokers if port in broker.host_ports)
        if on_host:
            return Landed(brokers=on_host, port=on_host[0].host_ports[port])
        return _failed(Reason.REFUSED, Mechanism.NOT_PUBLISHED, f"no Service has the node port {port}")
    return _at_router(manifests, vantage, host, port) or Unknown(because=f"the manifests do not tell who {host} is")


def _at_node(manifests: Manifests, broker: PodBroker, port: int) -> Landed | Failed | Unknown:
    """At the node that a broker's pod is on."""
    if port in broker.host_ports:
        return Landed(brokers=(broker,), port=broker.host_ports[port])
    if port == 0:
        # What a broker advertises with a port of Kubernetes' choice is that of its own Service.
        listener = next((one for one in broker.listeners if one.told and not one.told.port), None)
        if listener is not None:
            return Landed(brokers=(broker,), port=listener.port)
    for service in manifests.services:
        for declared in service.ports:
            if declared.node_port == port and declared.target is not None and port:
                if service.is_local and broker.key in service.brokers:
                    return Landed(brokers=(broker,), port=declared.target)
                return _through(manifests, service, declared.target)
    return _failed(Reason.REFUSED, Mechanism.NOT_PUBLISHED, f"no Service has the node port {port}")


def _through(manifests: Manifests, service: KubernetesService, target: int) -> Landed | Unknown:
    brokers = manifests.of(service.brokers)
    if not brokers:
        return Unknown(because=f"the manifests do not tell which brokers Service {service.name} leads to")
    return Landed(brokers=brokers, port=target)


def _at_router(manifests: Manifests, vantage: Vantage, host: str, port: int) -> Landed | Unknown | None:
    for one in manifests.routed:
        if one.host.lower() == host.lower():
            if port != ROUTED_PORT:
                return Unknown(because=f"whether the router of {host} listens on port {port} the manifests do not tell")
            brokers = manifests.of(one.brokers)
            return _from_outside(vantage, host, Landed(brokers=brokers, port=one.target)) if brokers else None
    return None


def _at_public_name(manifests: Manifests, vantage: Vantage, host: str, port: int) -> Landed | Failed | Unknown:
    """At a name or address of which Kubernetes knows nothing."""
    routed = _at_router(manifests, vantage, host, port)
    if routed is not None:
        return routed
    for service in manifests.services:
        declared = service.port(port)
        if service.host and service.host.lower() == host.lower() and declared is not None and declared.target:
            return _from_outside(vantage, host, _through(manifests, service, declared.target))
    telling = [
        (broker, listener)
        for broker in manifests.brokers
        for listener in broker.listeners
        if listener.told is not None and (listener.told.host.lower(), listener.told.port) == (host.lower(), port)
    ]
    if len(telling) == 1 and ("." in host or ":" in host):
        broker, listener = telling[0]
        return _from_outside(vantage, host, Landed(brokers=(broker,), port=listener.port))
    return Unknown(because=f'the manifests do not tell what "{host}" leads to')


def _from_outside(vantage: Vantage, host: str, landed: Landed | Unknown) -> Landed | Unknown:
    """What an address for the world leads to; whether it works from inside is a matter of the machines around."""
    if vantage.kind is VantageKind.OUTSIDE:
        return landed
    return Unknown(because=f"whether {host} can be reached from inside of the cluster the manifests do not tell")


def _no_names(host: str, vantage: Vantage) -> Failed:
    where = "nodes do" if vantage.kind is VantageKind.NODE else "machines outside do"
    because = f'"{host}" is a name of the cluster\'s DNS, which only pods ask: {where} not'
    return _failed(Reason.UNRESOLVED, Mechanism.NO_EMBEDDED_DNS, because)


def _counts_elsewhere(host: str, what: str, namespace: str) -> Failed:
    where = f"of namespace {namespace}" if namespace else "of another namespace"
    because = f'"{host}" is {what} {where}, and only pods there resolve it without the namespace'
    return _failed(Reason.UNRESOLVED, Mechanism.NO_SUCH_NAME, because)


def _failed(reason: Reason, mechanism: Mechanism, because: str) -> Failed:
    return Failed(reason=reason, because=because, mechanism=mechanism)
