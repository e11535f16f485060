"""A published listener advertises a name that only containers resolve.

Why: A client on the docker host connects through the published port, gets the container's name from the broker, and
cannot resolve it unless its hosts file has an entry for it. The finding is a note if another listener serves the docker
host, or can do so without a change for containers.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL

Seen: java.net.UnknownHostException: kafka, after a successful bootstrap

Sources: KIP-103; Docker's embedded DNS answers only inside its networks.
"""

from collections.abc import Iterator, Sequence

from netdiag.deployment.model.deployment import Broker, Deployment, PublishedPort
from netdiag.deployment.model.vantage import broker_vantage, docker_host
from netdiag.deployment.prediction.client_namespace import MemberAddress, resolve
from netdiag.deployment.prediction.listener_access import (
    is_host_address,
    is_on_internal_networks_only,
    listener_of,
    published_for,
    published_to_wrong_port,
)
from netdiag.deployment.prediction.sockets import Reach, binding
from netdiag.deployment.repairs import host_listener_name, split_listener
from netdiag.findings import Edit, Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry, is_wildcard, listener_in_words

ID = "advertised-internal-name-for-host"
SEVERITY = Severity.WARNING


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every published listener that advertises a container's name."""
    for broker in deployment.serving:
        if is_on_internal_networks_only(deployment, broker):
            continue
        published = [(e, ports) for e in broker.config.advertised_listeners if (ports := _ports(broker, e))]
        internal = [e for e, _ in published if _is_container_name(deployment, broker, e.endpoint.host)]
        meant = [entry for entry in broker.config.advertised_listeners if _serves_host(deployment, broker, entry)]
        spare = {} if meant else _spare(deployment, broker, internal)
        taken = [published_to_wrong_port(deployment, broker, e) for e in broker.config.advertised_listeners]
        for entry, ports in published:
            # A port that is meant for another listener is told by published-port-wrong-listener.
            if entry not in internal or ports[0] in taken:
                continue
            if entry in spare:
                yield _to_localhost(broker, entry, ports[0], spare[entry])
            else:
                alike = (one for one in spare if _way_in(broker, one) == _way_in(broker, entry))
                yield _finding(deployment, broker, entry, ports[0], (*meant, *alike))


def _ports(broker: Broker, advertised: ListenerEntry) -> tuple[PublishedPort, ...]:
    bound = listener_of(broker, advertised.endpoint.listener)
    return published_for(broker, bound) if bound else ()


def _serves_host(deployment: Deployment, broker: Broker, advertised: ListenerEntry) -> bool:
    """Whether a listener is meant for clients outside, published or not (which is a defect of its own)."""
    bound = listener_of(broker, advertised.endpoint.listener)
    if bound is None or not advertised.endpoint.host:
        return False
    if _is_container_name(deployment, broker, advertised.endpoint.host):
        return False
    return binding(deployment, broker, bound).reach is not Reach.LOOPBACK


def _is_container_name(deployment: Deployment, broker: Broker, host: str) -> bool:
    if not host:
        return False
    resolution = resolve(deployment, broker_vantage(broker), host)
    return (
        isinstance(resolution, tuple)
        and isinstance(resolution[0], MemberAddress)
        # OrbStack gives containers names that resolve on the user's machine, too.
        and resolve(deployment, docker_host(), host) != resolution
        and not any(host in a.addresses for m in deployment.members for a in m.attachments)
    )


def _spare(
    deployment: Deployment, broker: Broker, internal: Sequence[ListenerEntry]
) -> dict[ListenerEntry, ListenerEntry]:
    """The published listeners that containers do not need, each with the one of the same protocol that stays theirs."""
    advertised = broker.config.advertised_listeners
    named = [e for e in advertised if _is_container_name(deployment, broker, e.endpoint.host)]
    spare = [e for e in internal if e.endpoint.listener != broker.config.inter_broker_listener]
    spare = spare if len(spare) < len(named) else spare[1:]
    found = {}
    for entry in spare:
        stays = next((e for e in named if e not in spare and _way_in(broker, e) == _way_in(broker, entry)), None)
        if stays is not None:
            found[entry] = stays
    return found


def _way_in(broker: Broker, entry: ListenerEntry) -> tuple[str | None, str | None]:
    """The protocol of a listener, and the mechanisms by which clients log in, where it has its own."""
    name = entry.endpoint.listener
    logins = broker.config.value(f"listener.name.{name.lower()}.sasl.enabled.mechanisms")
    return broker.config.protocol_map.get(name), logins


def _to_localhost(broker: Broker, entry: ListenerEntry, port: PublishedPort, stays: ListenerEntry) -> Finding:
    """Of two listeners with a container's name, one can advertise localhost: which clients move is a decision."""
    name, inside = entry.endpoint.listener, stays.endpoint
    number = port.published or entry.endpoint.port
    containers = f"let containers use {inside.host}:{inside.port} of {inside.listener}"
    hint = f"advertise {name}://localhost:{number}, and {containers}"
    return _told(broker, entry, port, SEVERITY, hint, ())


def _finding(
    deployment: Deployment, broker: Broker, entry: ListenerEntry, port: PublishedPort, meant: Sequence[ListenerEntry]
) -> Finding:
    name = entry.endpoint.listener
    serving = [one for one in meant if any(p.published == one.endpoint.port for p in _ports(broker, one))]
    if serving:
        other = serving[0].endpoint
        condition = "" if _is_known(deployment, broker, other.host) else f', if they resolve "{other.host}"'
        hint = f"stop publishing the port of {name}: clients outside use listener {other.listener}{condition}"
    elif meant:
        hint = f"publish the port of listener {meant[0].endpoint.listener} instead, which is meant for clients outside"
    else:
        hint = (
            f"add a listener for the docker host, {host_listener_name(broker)}://localhost:PORT, on its own port, "
            f"publish that port, and keep {entry.endpoint} for containers"
        )
    edits = () if meant else split_listener(deployment, broker, entry)
    return _told(broker, entry, port, Severity.NOTE if meant else SEVERITY, hint, edits)


def _is_known(deployment: Deployment, broker: Broker, host: str) -> bool:
    """Whether it is known who resolves a host; nobody needs to resolve a wildcard, which is a defect of its own."""
    return is_wildcard(host) or is_host_address(deployment, host) or _is_container_name(deployment, broker, host)


def _told(
    broker: Broker, entry: ListenerEntry, port: PublishedPort, severity: Severity, hint: str, edits: tuple[Edit, ...]
) -> Finding:
    name, host = entry.endpoint.listener, entry.endpoint.host
    outside = "the docker host" if port.host_ip.startswith("127.") else "the docker host and the LAN"
    return Finding(
        rule=ID,
        severity=severity,
        message=f'{listener_in_words(entry)} of {broker.name} is published, but sends clients on {outside} to "{host}"',
        location=broker.place("advertised.listeners", entry.host_start, entry.host_end),
        related=(Related(location=port.where, message="clients connect here and are sent to a container's name"),),
        why=f'"{host}" resolves only inside the Docker network, unless the client\'s hosts file has it',
        hint=hint,
        service=broker.name,
        listener=name,
        edits=edits,
    )
