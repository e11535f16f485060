"""Networks: those a project declares, and the attachments of a service to them."""

from netdiag.compose.positions import Span, Text
from netdiag.compose.problems import Problems
from netdiag.compose.project import Network, ServiceNetwork
from netdiag.compose.reading import Reading
from netdiag.compose.values import Entry, Mapping, Scalar, Sequence

DEFAULT = "default"


def read_networks(problems: Problems, top: Mapping, project: str | None) -> dict[str, Network]:
    """The top-level networks by key."""
    declared = Reading(problems, "networks").mapping(top, "networks")
    if declared is None:
        return {}
    return {key: _network(problems, key, entry, project) for key, entry in declared.entries.items()}


def _network(problems: Problems, key: str, entry: Entry, project: str | None) -> Network:
    reading = Reading(problems, f"networks.{key}")
    value = entry.value
    if not isinstance(value, Mapping):
        if not (isinstance(value, Scalar) and value.kind == "null"):
            problems.error("schema", f"networks.{key} must be a mapping", value.span)
        return Network(key=key, name=_engine_name(project, key), span=entry.key.span)
    name, external = _external(reading, value)
    subnets, gateway = _ipam(reading, value)
    if name is None:
        name = key if external else _engine_name(project, key)
    return Network(
        key=key,
        name=name,
        span=entry.key.span,
        driver=reading.text(value, "driver"),
        internal=reading.boolean(value, "internal"),
        external=external,
        subnets=subnets,
        gateway=gateway,
        ipv6=reading.boolean(value, "enable_ipv6"),
        driver_opts={option: text for option, _, text, _, _ in reading.pairs(value, "driver_opts") if text is not None},
    )


def _engine_name(project: str | None, key: str) -> str | None:
    return None if project is None else f"{project}_{key}"


def _external(reading: Reading, network: Mapping) -> tuple[str | None, bool]:
    """The name a network is given, and whether it exists outside the project."""
    name = reading.text(network, "name")
    value = network.get("external")
    if isinstance(value, Mapping):
        outside = reading.text(value, "name")
        if outside is not None:
            message = f"{reading.where}: external.name is deprecated"
            reading.problems.warning("deprecated", message, outside.span)
            if name is not None and name.value != outside.value:
                message = f"{reading.where}: name and external.name conflict"
                reading.problems.error("external-name", message, outside.span, name.span)
        name = name or outside
        return None if name is None else name.value, True
    return None if name is None else name.value, reading.boolean(network, "external")


def _ipam(reading: Reading, network: Mapping) -> tuple[tuple[Text, ...], Text | None]:
    ipam = reading.mapping(network, "ipam")
    pools = reading.sequence(ipam, "config") if ipam is not None else None
    subnets: list[Text] = []
    gateway: Text | None = None
    for pool in pools.items if pools is not None else ():
        if not isinstance(pool, Mapping):
            reading.wrong(pool, "ipam.config[]", "a mapping")
            continue
        subnet = reading.text(pool, "subnet")
        if subnet is not None:
            subnets.append(subnet)
        gateway = gateway or reading.text(pool, "gateway")
    return tuple(subnets), gateway


def read_service_networks(reading: Reading, service: Mapping, key_span: Span) -> tuple[ServiceNetwork, ...]:
    """What a service is attached to: `default` when it says nothing, nothing when it has a network_mode."""
    value = service.get("networks")
    attached: dict[str, ServiceNetwork] = {}
    match value:
        case Sequence():
            for text in reading.texts(service, "networks"):
                attached[text.value] = ServiceNetwork(network=text.value, span=text.span)
        case Mapping():
            for key, entry in value.entries.items():
                attached[key] = _attachment(reading, key, entry)
        case None:
            pass
        case Scalar():
            if value.kind != "null":
                reading.wrong(value, "networks", "a list or a mapping")
    if not attached and service.get("network_mode") is None:
        attached[DEFAULT] = ServiceNetwork(network=DEFAULT, span=key_span)
    return tuple(attached.values())


def _attachment(reading: Reading, key: str, entry: Entry) -> ServiceNetwork:
    value = entry.value
    if not isinstance(value, Mapping):
        if not (isinstance(value, Scalar) and value.kind == "null"):
            reading.wrong(value, f"networks.{key}", "a mapping")
        return ServiceNetwork(network=key, span=entry.key.span)
    return ServiceNetwork(
        network=key,
        span=entry.key.span,
        aliases=reading.unique_texts(value, "aliases"),
        ipv4_address=reading.text(value, "ipv4_address"),
        ipv6_address=reading.text(value, "ipv6_address"),
        priority=reading.integer(value, "priority") or 0,
    )
