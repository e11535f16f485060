"""Pods as brokers and clients: their templates, the variables that reach their containers, Services that select them.

Source: Kubernetes 1.34's documentation of Services, of DNS for Services and Pods, of StatefulSets, and of variables
that depend on each other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice

from netdiag.compose.positions import Segment, Text, concatenated
from netdiag.compose.project import Command, EnvironmentVariable, Project, Service, ServiceConfig
from netdiag.compose.values import Mapping as YamlMapping
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.model.kubernetes import (
    KubernetesClient,
    KubernetesService,
    PodBroker,
    PodListener,
    ServiceKind,
    ServicePort,
    UnexpandedName,
    service_names,
)
from netdiag.deployment.model.verdict import Address
from netdiag.deployment.sources.compose import from_compose
from netdiag.deployment.sources.compose_text import ComposeValue
from netdiag.deployment.sources.documents import (
    items_in,
    mapping_at,
    mapping_in,
    scalars_of,
    text_in,
    texts_in,
)
from netdiag.deployment.sources.kubernetes.resources import Resource, is_unknown, known_number
from netdiag.findings import FileLocation
from netdiag.kafka.listeners import ListenerEntry, is_loopback, is_wildcard
from netdiag.patterns import regex
from netdiag.values import dataclass

_TEMPLATES = {
    "Deployment": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
    "ReplicaSet": ("spec", "template"),
    "ReplicationController": ("spec", "template"),
    "Job": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
    "Pod": (),
}
# Hosts that stand for what only a running pod knows, in letters that a listener may have.
_POD_IP, _NODE_IP, _POD_NAME = "pod-ip.netdiag.invalid", "node-ip.netdiag.invalid", "pod-name.netdiag.invalid"
_REFERENCE = regex(r"\$\((?P<name>[A-Za-z_][\w.-]{0,200})\)|\$\$")
# What a shell runs: more than one word, of which one sets a variable or starts something.
_SCRIPT = regex(r"\S\s+\S")
_ASSIGNMENT = regex(
    r"(?:^|[;&|\n]|\bexport\s|&&)[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][A-Za-z0-9_]{0,100})="
    r"(?:\"(?P<double>[^\"\n]{0,2000})\"|'(?P<single>[^'\n]{0,2000})'|(?P<plain>(?:\$\([^()\n]{0,100}\)|[^\s;&|\"']){0,2000}))"
)
_EXPANSION = regex(
    r"\$\{(?P<name>[A-Za-z_]\w{0,100})(?P<cut>##\*-)?\}|\$(?P<bare>[A-Za-z_]\w{0,100})"
    r"|\$\((?P<command>hostname(?:[ ]-[a-z])?)\)|`(?P<ticks>hostname(?:[ ]-[a-z])?)`|\$|`"
)
# What may leave out an assignment.
_CONDITION = regex(r"\b(?:if|case|for|while)\s")
_MOST_ASSIGNMENTS = 200
# So many characters may the variables of a container have together that refer to others; the others are unknown.
_MOST_EXPANDED = 65_536
# More pods of one template tell nothing more.
_MOST_PODS = 20
_MOST_CONTAINERS = 50
# Nor do more templates and Services than this, of which each is held against each.
_MOST_TEMPLATES = 300
_MOST_SERVICES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class PodParts:
    """What templates of pods and Services come to."""

    brokers: tuple[PodBroker, ...] = ()
    services: tuple[KubernetesService, ...] = ()
    clients: tuple[KubernetesClient, ...] = ()
    deployment: Deployment | None = None
    unexpanded: tuple[UnexpandedName, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Container:
    """A container of a template, and the member that it is: `pods` are the names of the pods, one for each ordinal."""

    resource: Resource
    spec: YamlMapping
    values: YamlMapping
    labels: Mapping[str, str]
    member: str
    pods: tuple[str, ...]
    subdomain: str
    ports: Mapping[str, int] = field(default_factory=dict)
    host_ports: Mapping[int, int] = field(default_factory=dict)


def pod_parts(resources: Sequence[Resource], labels: Mapping[str, Mapping[str, str]]) -> PodParts:
    """What the templates and Services among some resources come to; `labels` are those of pods of operators."""
    containers = list(islice(_containers(resources), _MOST_TEMPLATES))
    configs = {(r.namespace, r.name): r for r in resources if r.kind == "ConfigMap" and not r.group}
    first = from_compose(_project(containers, configs, 0))
    by_member = {container.member: container for container in containers}
    running = {broker.name for broker in first.brokers}
    brokers: list[PodBroker] = []
    brokers_of: dict[str, list[str]] = {}
    for ordinal in range(max((len(by_member[name].pods) for name in running), default=0)):
        again = [one for one in containers if one.member in running and ordinal < len(one.pods)]
        for broker in from_compose(_project(again, configs, ordinal)).brokers if ordinal else first.brokers:
            made = _pod_broker(broker, by_member[broker.name], ordinal)
            brokers.append(made)
            brokers_of.setdefault(broker.name, []).append(made.key)
    served = [(one, brokers_of.get(one.member, [])) for one in containers]
    return PodParts(
        brokers=tuple(brokers),
        services=tuple(
            _service(r, served, labels)
            for r in islice((r for r in resources if r.kind == "Service" and not r.group), _MOST_SERVICES)
        ),
        clients=tuple(_clients(first, by_member)),
        deployment=first if first.brokers else None,
        unexpanded=tuple(name for broker in first.brokers for name in _unexpanded(by_member[broker.name])),
    )


def _containers(resources: Iterable[Resource]) -> Iterator[_Container]:
    taken: set[str] = set()
    for resource in resources:
        keys = _TEMPLATES.get(resource.kind)
        if keys is None:
            continue
        template = mapping_at(resource.root, *keys)
        spec = mapping_at(template, "spec")
        if template is None or spec is None:
            continue
        metadata = mapping_in(template, "metadata")
        labels = {k: t.value for k, t in scalars_of(mapping_in(metadata, "labels")).items()} if metadata else {}
        subdomain = text_in(resource.spec, "serviceName") if resource.spec and resource.kind == "StatefulSet" else None
        for values in items_in(spec, "containers")[:_MOST_CONTAINERS]:
            name = _free_name(resource, values, taken)
            ports = items_in(values, "ports")
            numbers = {
                t.value: n
                for p in ports
                if (t := text_in(p, "name")) and (n := known_number(text_in(p, "containerPort")))
            }
            on_node = {
                n: target
                for p in ports
                if (n := known_number(text_in(p, "hostPort"))) and (target := known_number(text_in(p, "containerPort")))
            }
            yield _Container(
                resource=resource,
                spec=spec,
                values=values,
                labels=labels,
                member=name,
                pods=_pod_names(resource),
                subdomain=subdomain.value if subdomain is not None else _subdomain(spec),
                ports=numbers,
                host_ports=on_node,
            )


def _free_name(resource: Resource, values: YamlMapping, taken: set[str]) -> str:
    """What a container is called: as the resource, or with its own name where that one has several."""
    own = text_in(values, "name")
    names = [resource.name or "pod", f"{resource.name}/{own.value if own is not None else ''}"]
    names += [f"{resource.kind} {resource.namespace}/{resource.name}/{number}" for number in range(1000)]
    name = next(one for one in names if one not in taken)
    taken.add(name)
    return name


def _subdomain(spec: YamlMapping) -> str:
    text = text_in(spec, "subdomain")
    return text.value if text is not None and text_in(spec, "hostname") is not None else ""


def _pod_names(resource: Resource) -> tuple[str, ...]:
    if resource.kind == "Pod":
        return (resource.name,)
    text = text_in(resource.spec, "replicas") if resource.spec is not None else None
    replicas = known_number(text)
    count = max(1, min(1 if replicas is None else replicas, _MOST_PODS))
    if resource.kind == "StatefulSet":
        return tuple(f"{resource.name}-{number}" for number in range(count))
    return (resource.name,) if count == 1 else tuple(f"{resource.name}-<{number}>" for number in range(1, count + 1))


def _project(containers: Iterable[_Container], configs: Mapping[tuple[str, str], Resource], ordinal: int) -> Project:
    """The pods with one ordinal as a project, a service for each container."""
    services: dict[str, Service] = {}
    for one in containers:
        environment, is_whole = _environment(one, configs, ordinal)
        scripts = [
            text for key in ("command", "args") for text in texts_in(one.values, key) if _SCRIPT.search(text.value)
        ]
        for script in scripts:
            environment |= _exported(script, environment, one, ordinal)
        mounted = tuple(_mounted(one, configs))
        services[one.member] = Service(
            name=one.member,
            span=one.resource.where,
            image=text_in(one.values, "image"),
            environment=environment,
            entrypoint=_command(one.values, "command", environment),
            command=_command(one.values, "args", environment),
            configs=mounted,
            lacks_env_file=bool(scripts) or not is_whole,
        )
    return Project(name=None, path="", services=services, networks={})


def _command(values: YamlMapping, key: str, environment: Mapping[str, EnvironmentVariable]) -> Command:
    known = {name: one.value for name, one in environment.items()}
    words: list[Text] = []
    room = _MOST_EXPANDED
    for text in texts_in(values, key):
        word = _expanded(text, known, room) or text
        room -= 0 if word is text else len(word)
        words.append(word)
    return tuple(words) or None


def _environment(
    one: _Container, configs: Mapping[tuple[str, str], Resource], ordinal: int
) -> tuple[dict[str, EnvironmentVariable], bool]:
    """The variables of a container, and whether there are no others; of unknown value are those without one."""
    found: dict[str, EnvironmentVariable] = {}
    is_whole = True
    space = one.resource.namespace
    for source in items_in(one.values, "envFrom"):
        prefix = text_in(source, "prefix")
        reference = mapping_in(source, "configMapRef")
        name = text_in(reference, "name") if reference is not None else None
        data = configs.get((space, name.value)) if name is not None else None
        is_whole &= data is not None
        for key, held in _data(data).items():
            called = f"{prefix.value if prefix is not None else ''}{key}"
            found[called] = _variable(called, held, held.span)
    known = {name: variable.value for name, variable in found.items()}
    room = _MOST_EXPANDED
    for item in items_in(one.values, "env"):
        named = text_in(item, "name")
        if named is None:
            continue
        text = text_in(item, "value")
        value: Text | None
        if text is not None:
            value = None if is_unknown_value(text) else _expanded(text, known, room)
            room -= 0 if value is None or value is text else len(value)
        elif "value" in item.entries or "valueFrom" not in item.entries:
            value = Text(value="", span=named.span)
        else:
            value = _value_from(item, one, configs, ordinal)
        found[named.value] = _variable(named.value, value, named.span)
        known[named.value] = value
    return found, is_whole


def _exported(
    script: Text, environment: Mapping[str, EnvironmentVariable], one: _Container, ordinal: int
) -> dict[str, EnvironmentVariable]:
    """The variables that a script sets before it starts something; those of unknown value have none."""
    known = {name: v.value.value if v.value is not None else None for name, v in environment.items()}
    pod, namespace = one.pods[ordinal], one.resource.namespace
    is_set = one.resource.kind == "StatefulSet"
    known.setdefault("HOSTNAME", pod if is_set else None)
    found: dict[str, EnvironmentVariable] = {}
    room = _MOST_EXPANDED
    for match in islice(_ASSIGNMENT.finditer(script.value), _MOST_ASSIGNMENTS):
        group = next(name for name in ("double", "single", "plain") if match[name] is not None)
        text = script.slice(match.start(group), match.end(group))
        value: str | None = text.value
        if group != "single":
            own = {"": pod, "-s": pod, "-f": service_names(f"{pod}.{one.subdomain}", namespace)[3], "-i": _POD_IP}
            value = _as_shell(text.value, known, own if is_set and one.subdomain else {"-i": _POD_IP}, room)
            room -= len(value or "")
        if value is not None and value != text.value:
            whole = Segment(
                value_start=0, value_end=len(value), start=text.span.start, end=text.span.end, verbatim=False
            )
            text = replace(text, value=value, segments=(whole,) if value else ())
        name = match["name"]
        if _CONDITION.search(script.value) and name in known:
            value = None
        known[name] = value
        place = script.span_of(match.start("name"), match.end("name"))
        found[name] = _variable(name, None if value is None else text, place)
    return found


def _as_shell(text: str, known: Mapping[str, str | None], hostname: Mapping[str, str], room: int) -> str | None:
    """A value as a shell expands it; None where that is not known, or longer than `room`."""
    parts: list[str] = []
    end = 0
    for match in _EXPANSION.finditer(text):
        value = None
        command, name = match["command"] or match["ticks"], match["name"] or match["bare"]
        if command is not None:
            value = hostname.get(command.removeprefix("hostname").strip())
        elif name is not None:
            value = known.get(name)
            if value is not None and match["cut"]:
                value = value.rpartition("-")[2]
        if value is None:
            return None
        parts += [text[end : match.start()], value]
        end = match.end()
    parts.append(text[end:])
    return "".join(parts) if sum(map(len, parts)) <= room else None


def is_unknown_value(text: Text) -> bool:
    """Whether something else than Kubernetes fills in the value of a variable, for which `$(NAME)` is its own."""
    return is_unknown(replace(text, value=_REFERENCE.sub("", text.value), segments=()))


def _unexpanded(one: _Container) -> Iterator[UnexpandedName]:
    """The names in values of Kafka's variables that are not defined above them."""
    items = [(named, item) for item in items_in(one.values, "env") if (named := text_in(item, "name")) is not None]
    # What stands in envFrom is defined first, and may not be known here.
    if items_in(one.values, "envFrom"):
        return
    places = {named.value: named.span for named, _ in items}
    above: set[str] = set()
    for named, item in items:
        text = text_in(item, "value")
        for match in _REFERENCE.finditer(text.value) if text is not None and "KAFKA" in named.value else ():
            if match["name"] is not None and match["name"] not in above and text is not None:
                yield UnexpandedName(
                    broker=one.member,
                    variable=named.value,
                    name=match["name"],
                    where=text.span_of(match.start(), match.end()),
                    defined=places.get(match["name"]),
                )
        above.add(named.value)


def _variable(name: str, value: Text | None, key: FileLocation) -> EnvironmentVariable:
    return EnvironmentVariable(name=name, value=value, key_span=key, entry_span=key, form="map")


def _data(resource: Resource | None) -> dict[str, Text]:
    return scalars_of(mapping_in(resource.root, "data")) if resource is not None else {}


def _value_from(
    item: YamlMapping, one: _Container, configs: Mapping[tuple[str, str], Resource], ordinal: int
) -> Text | None:
    source = mapping_in(item, "valueFrom")
    if source is None:
        return None
    reference = mapping_in(source, "configMapKeyRef")
    if reference is not None:
        name, key = text_in(reference, "name"), text_in(reference, "key")
        data = configs.get((one.resource.namespace, name.value)) if name is not None else None
        return _data(data).get(key.value) if key is not None else None
    text = text_in(mapping_in(source, "fieldRef") or source, "fieldPath")
    if text is None:
        return None
    pod = one.pods[ordinal]
    value = {
        "metadata.name": _POD_NAME if "<" in pod or one.resource.kind not in ("StatefulSet", "Pod") else pod,
        "metadata.namespace": one.resource.namespace or None,
        "status.podIP": _POD_IP,
        "status.hostIP": _NODE_IP,
        "spec.nodeName": _NODE_IP,
        "metadata.labels['apps.kubernetes.io/pod-index']": str(ordinal),
        "metadata.labels['statefulset.kubernetes.io/pod-name']": pod,
    }.get(text.value)
    where = text_in(item, "name")
    return None if value is None else Text(value=value, span=(where or text).span)


def _expanded(text: Text, known: Mapping[str, Text | None], room: int) -> Text | None:
    """A value with the variables in it; None where one of them is not known, or the value is longer than `room`.

    Names that are none stay as they are.
    """
    parts: list[Text] = []
    end = 0
    for match in _REFERENCE.finditer(text.value):
        name = match["name"]
        if name is not None and name not in known:
            continue
        value = Text(value="$", span=text.span) if name is None else known[name]
        if value is None:
            return None
        place = text.span_of(match.start(), match.end())
        whole = Segment(
            value_start=0, value_end=len(value), start=place.start, end=place.end, verbatim=False, variable=name
        )
        parts.append(text.slice(end, match.start()))
        parts.append(Text(value=value.value, span=place, segments=(whole,) if value.value else (), source=text.source))
        end = match.end()
    if not parts:
        return text
    parts.append(text.slice(end, len(text)))
    return concatenated(parts) if sum(map(len, parts)) <= room else None


def _mounted(one: _Container, configs: Mapping[tuple[str, str], Resource]) -> Iterator[ServiceConfig]:
    """The files of ConfigMaps that a container mounts."""
    volumes = {text.value: volume for volume in items_in(one.spec, "volumes") if (text := text_in(volume, "name"))}
    for mount in items_in(one.values, "volumeMounts"):
        name, path, part = text_in(mount, "name"), text_in(mount, "mountPath"), text_in(mount, "subPath")
        source = mapping_in(volumes[name.value], "configMap") if name is not None and name.value in volumes else None
        called = text_in(source, "name") if source is not None else None
        resource = configs.get((one.resource.namespace, called.value)) if called is not None else None
        if path is None or resource is None:
            continue
        for key, text in _data(resource).items():
            if part is not None and part.value != key:
                continue
            target = path.value if part is not None else f"{path.value.rstrip('/')}/{key}"
            yield ServiceConfig(target=target, span=path.span, content=text)


def _pod_broker(broker: Broker, one: _Container, ordinal: int) -> PodBroker:
    config, pod, space = broker.config, one.pods[ordinal], one.resource.namespace
    told = config.advertised_by_name
    return PodBroker(
        pod=pod,
        namespace=space,
        node_id=config.node_id,
        owner=one.resource.name,
        cluster=f"{config.mode.value} {space}/{one.resource.name}",
        listeners=tuple(
            PodListener(
                name=entry.endpoint.listener,
                port=entry.endpoint.port,
                protocol=config.protocol_map.get(entry.endpoint.listener),
                told=_told(told.get(entry.endpoint.listener), pod, one, space)
                if not config.is_unknown("advertised.listeners")
                else None,
                where=broker.place("listeners", entry.start, entry.end),
                told_where=_told_where(broker, told.get(entry.endpoint.listener)),
                is_overridden=True,
            )
            for entry in config.broker_listeners
            if 0 < entry.endpoint.port < 65536 and not is_loopback(entry.endpoint.host)
        )
        if config.is_broker
        else (),
        subdomain=one.subdomain,
        where=one.resource.where,
        host_ports={**one.host_ports, **({n: n for n in one.ports.values()} if _on_host_network(one) else {})},
    )


def _on_host_network(one: _Container) -> bool:
    text = text_in(one.spec, "hostNetwork")
    return text is not None and text.value == "true"


def _told(entry: ListenerEntry | None, pod: str, one: _Container, namespace: str) -> Address | None:
    """What clients are told. Without a host it is the name that the pod has for itself."""
    if entry is None:
        return None
    host = entry.endpoint.host
    if host and is_wildcard(host):
        return None
    if not host:
        if not one.subdomain:
            return None
        host = service_names(f"{pod}.{one.subdomain}", namespace)[3]
    host = host.replace(_POD_IP, f"<IP of {pod}>").replace(_NODE_IP, f"<node of {pod}>").replace(_POD_NAME, pod)
    return Address(host=host, port=entry.endpoint.port) if 0 < entry.endpoint.port < 65536 else None


def _told_where(broker: Broker, entry: ListenerEntry | None) -> FileLocation:
    place = (
        broker.place("advertised.listeners", entry.host_start, entry.host_end)
        if entry is not None and broker.config.value("advertised.listeners")
        else broker.member.where
    )
    assert isinstance(place, FileLocation)
    return place


def _service(
    resource: Resource,
    containers: Sequence[tuple[_Container, Sequence[str]]],
    labels: Mapping[str, Mapping[str, str]],
) -> KubernetesService:
    spec = resource.spec
    selector = {k: t.value for k, t in scalars_of(mapping_in(spec, "selector")).items()} if spec is not None else {}
    chosen = [
        (one, keys)
        for one, keys in containers
        if selector and one.resource.namespace == resource.namespace and _selects(selector, one)
    ]
    keys = dict.fromkeys(key for one, keys in chosen for key in keys if _selects_pod(selector, key))
    made = [
        key
        for key, own in labels.items()
        if selector and key.partition("/")[0] == resource.namespace and selector.items() <= own.items()
    ]
    names = {name: number for one, _ in chosen for name, number in one.ports.items()}
    kind = _kind(spec)
    policy = text_in(spec, "externalTrafficPolicy") if spec is not None else None
    return KubernetesService(
        name=resource.name,
        namespace=resource.namespace,
        kind=kind,
        ports=tuple(_ports(spec, kind, names)) if spec is not None else (),
        brokers=(*keys, *made),
        where=resource.where,
        host=_balancer(resource, kind),
        selects=bool(selector),
        finds_pods=bool(chosen or made),
        is_local=policy is not None and policy.value == "Local",
        is_bootstrap=len(keys) + len(made) != 1,
    )


_BY_POD = "statefulset.kubernetes.io/pod-name"


def _selects(selector: Mapping[str, str], one: _Container) -> bool:
    """Whether a selector finds a pod of a template; a label that every pod of a StatefulSet has of its own counts."""
    rest = {key: value for key, value in selector.items() if key != _BY_POD}
    return rest.items() <= one.labels.items() and selector.get(_BY_POD, one.pods[0]) in one.pods


def _selects_pod(selector: Mapping[str, str], key: str) -> bool:
    return _BY_POD not in selector or key.rpartition("/")[2] == selector[_BY_POD]


def _kind(spec: YamlMapping | None) -> ServiceKind:
    address, kind = (text_in(spec, "clusterIP"), text_in(spec, "type")) if spec is not None else (None, None)
    if address is not None and address.value == "None":
        return ServiceKind.HEADLESS
    match kind.value if kind is not None else "":
        case "NodePort":
            return ServiceKind.NODE_PORT
        case "LoadBalancer":
            return ServiceKind.LOAD_BALANCER
        case _:
            return ServiceKind.CLUSTER_IP


def _ports(spec: YamlMapping, kind: ServiceKind, names: Mapping[str, int]) -> Iterator[ServicePort]:
    outside = kind in (ServiceKind.NODE_PORT, ServiceKind.LOAD_BALANCER)
    for port in items_in(spec, "ports")[:_MOST_CONTAINERS]:
        text, target = text_in(port, "port"), text_in(port, "targetPort")
        number, protocol = known_number(text), text_in(port, "protocol")
        if text is None or number is None or (protocol is not None and protocol.value != "TCP"):
            continue
        leads_to = number if target is None else known_number(target)
        if leads_to is None and target is not None:
            leads_to = names.get(target.value)
        yield ServicePort(
            port=number,
            target=leads_to,
            node_port=(known_number(text_in(port, "nodePort")) or 0) if outside else None,
            where=(target or text).span,
        )


def _balancer(resource: Resource, kind: ServiceKind) -> str:
    if kind is not ServiceKind.LOAD_BALANCER:
        return ""
    text = text_in(resource.spec, "loadBalancerIP") if resource.spec is not None else None
    return text.value if text is not None and not is_unknown(text) else f"<load balancer {resource.name}>"


def _clients(deployment: Deployment, containers: Mapping[str, _Container]) -> Iterator[KubernetesClient]:
    for client in deployment.clients:
        one = containers[client.member.name]
        if not isinstance(client.declared, ComposeValue):
            continue
        yield KubernetesClient(
            name=one.resource.name,
            kind=one.resource.kind,
            namespace=one.resource.namespace,
            setting=client.setting,
            declared=client.declared.text,
            addresses=client.bootstraps,
            protocol=client.protocol,
            certain=client.certain,
            where=one.resource.where,
        )


def node_ports(resources: Iterable[Resource]) -> dict[int, tuple[FileLocation, ...]]:
    """The ports of nodes that Services and listeners of Strimzi ask for, and who does."""
    found: dict[int, list[FileLocation]] = {}
    for resource in resources:
        for text in _node_port_texts(resource):
            number = known_number(text)
            if number:
                found.setdefault(number, []).append(text.span)
    return {number: tuple(places) for number, places in found.items()}


def _node_port_texts(resource: Resource) -> Iterator[Text]:
    spec = resource.spec
    if spec is None:
        return
    ports = items_in(spec, "ports") if resource.kind == "Service" else ()
    if resource.kind == "Kafka":
        kafka = mapping_in(spec, "kafka")
        for listener in items_in(kafka, "listeners") if kafka is not None else ():
            configuration = mapping_in(listener, "configuration")
            if configuration is not None:
                bootstrap = mapping_in(configuration, "bootstrap")
                ports = (*ports, *((bootstrap,) if bootstrap else ()), *items_in(configuration, "brokers"))
    yield from (text for port in ports if (text := text_in(port, "nodePort")) is not None)
