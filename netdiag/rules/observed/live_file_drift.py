"""A running container differs from its Compose file.

Why: `docker compose up` did not run after the file was changed, or the container was created in another way. A change
in the file has no effect until the container is recreated.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      files:
        services:
          kafka:
            image: confluentinc/cp-kafka:7.9.2
            ports: ["9092:9092"]  # <- here
            environment:
              KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
              KAFKA_BROKER_ID: 1
              KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:9092  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      files:
        services:
          kafka:
            image: confluentinc/cp-kafka:7.9.2
            environment:
              KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
              KAFKA_BROKER_ID: 1
              KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: a repair that changes nothing; a port that is in the file but not in `docker ps`

Sources: the container as the engine inspects it (image, environment, ports, networks), and the files given.
"""

from collections.abc import Iterator, Mapping

from netdiag.deployment.model.deployment import Broker, Member, NetworkMode
from netdiag.deployment.observation.live_view import LiveView
from netdiag.deployment.observation.recording import is_secret
from netdiag.deployment.sources.declared_services import DeclaredPort, DeclaredService
from netdiag.findings import ContainerLocation, FileLocation, Finding, Severity
from netdiag.rules.live_findings import listed, service_of

ID = "live-file-drift"
SEVERITY = Severity.WARNING

_LONGEST = 120


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every difference in a broker's variables, ports, networks or image, or a client's bootstrap."""
    declared = view.declared.services if view.declared else {}
    for broker in view.deployment.brokers:
        service = service_of(view, broker.member)
        if service is not None:
            yield from _broker(view, broker, service)
    for client in view.deployment.clients:
        service = service_of(view, client.member)
        if service is not None:
            yield from _variables(client.member, service, {client.declared.variable: client.declared.value})
    yield from _missing(view, declared)


def _broker(view: LiveView, broker: Broker, service: DeclaredService) -> Iterator[Finding]:
    member = broker.member
    yield from _image(member, service)
    running = {**member.variables, **{name: value.value for name, value in broker.declared.items()}}
    yield from _variables(member, service, {name: running.get(name) for name in service.environment})
    if member.mode is NetworkMode.NETWORKS and not service.network_mode:
        yield from _networks(view, member, service)
        if not all(_is_internal(view, a.network) for a in member.attachments):
            yield from _ports(member, service)
    is_host = service.network_mode == "host"
    if is_host != (member.mode is NetworkMode.HOST):
        is_now, is_then = ("network_mode host", "its own networks")
        if not is_host:
            is_now, is_then = is_then, is_now
        yield _finding(member, service.where, "network_mode", f"it runs with {is_then}, but the file has {is_now}")


def _image(member: Member, service: DeclaredService) -> Iterator[Finding]:
    image = service.image
    if image is None or service.is_built or _plain(image.value) == _plain(member.image):
        return
    # The engine shows a container whose tag has moved on under the image's ID.
    if member.image.startswith("sha256:"):
        return
    yield _finding(
        member, image.where, "image", f"it runs {_shown(member.image)}, but the file has {_shown(image.value)}"
    )


def _plain(image: str) -> str:
    name = image.removeprefix("docker.io/").removeprefix("library/")
    return name if "@" in name or ":" in name.rpartition("/")[2] else f"{name}:latest"


def _variables(member: Member, service: DeclaredService, running: Mapping[str, str | None]) -> Iterator[Finding]:
    for name, value in running.items():
        text = service.environment.get(name)
        if text is None or text.value == (value or ""):
            continue
        said = f"{name} is different in the file"
        if value is None:
            said = f"{name} is only in the file"
        elif not is_secret(name, value) and not is_secret(name, text.value):
            said = f"{name} is {_shown(value)}, but the file has {_shown(text.value)}"
        yield _finding(member, text.where, name, said)


def _ports(member: Member, service: DeclaredService) -> Iterator[Finding]:
    running = {_port(p.target, p.published, p.host_ip, p.protocol) for p in member.published}
    free = {(p.target, p.protocol) for p in member.published}
    wanted: set[tuple[int, int, str, str]] = set()
    for port in service.ports:
        if port.published is None:
            if (port.target, port.protocol) not in free:
                yield _finding(member, port.where, "ports", f"port {port.target} is in the file, but not published")
            free.discard((port.target, port.protocol))
            running = {one for one in running if (one[0], one[3]) != (port.target, port.protocol)}
            continue
        wanted.add(_port(port.target, port.published, port.host_ip, port.protocol))
        if _port(port.target, port.published, port.host_ip, port.protocol) not in running:
            yield _finding(member, port.where, "ports", f"{_port_text(port)} is in the file, but not published")
    extra = sorted(running - wanted)
    if extra:
        names = listed(f"{host + ':' if host else ''}{published}:{target}" for target, published, host, _ in extra)
        yield _finding(member, service.where, "ports", f"{names} is published, but not in the file")


def _port(target: int, published: int | None, host_ip: str, protocol: str) -> tuple[int, int, str, str]:
    return target, published or 0, "" if host_ip in ("0.0.0.0", "::") else host_ip, protocol


def _port_text(port: DeclaredPort) -> str:
    return f"{port.host_ip + ':' if port.host_ip else ''}{port.published}:{port.target}"


def _networks(view: LiveView, member: Member, service: DeclaredService) -> Iterator[Finding]:
    running = {_network(view, attachment.network) for attachment in member.attachments}
    # The engine may have removed the networks of a container that is not running.
    if not running:
        return
    for name, where in service.networks.items():
        if name not in running:
            yield _finding(member, where, "networks", f"it is not on {name}, which is in the file")
    extra = sorted(running - set(service.networks))
    if extra:
        yield _finding(member, service.where, "networks", f"it is on {listed(extra)}, which is not in the file")


def _network(view: LiveView, key: str) -> str:
    network = view.deployment.networks.get(key)
    return network.name if network else key


def _is_internal(view: LiveView, key: str) -> bool:
    network = view.deployment.networks.get(key)
    return network is not None and network.internal


def _missing(view: LiveView, declared: Mapping[str, DeclaredService]) -> Iterator[Finding]:
    have = {member.service or member.name for member in view.deployment.members}
    for service in declared.values():
        if service.is_broker and service.name not in have and service.where is not None:
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f"{service.name} is in the file, but has no container",
                location=service.where,
                why="the project was not started since the file was written, or the container was removed",
                hint=f"run `docker compose up -d {service.name}`",
                service=service.name,
            )


def _finding(member: Member, where: FileLocation | None, part: str, said: str) -> Finding:
    name = member.service or member.name
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{name} differs from its file: {said}",
        location=where or ContainerLocation(container=member.name, part=part),
        why="a container keeps the configuration it was created with until it is recreated",
        hint=f"run `docker compose up -d {name}`",
        service=member.name,
    )


def _shown(value: str) -> str:
    return repr(value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…")
