"""The steps of a CI job cannot use a broker of the job.

Why: Steps of a GitHub job without `container` run on the runner: they reach mapped ports on localhost, and resolve no
service id. Steps of a job with `container`, and those of a GitLab job, run in a container: they reach services by name,
and their localhost is that container, or with GitLab's Kubernetes executor the pod that all services share. One
advertised address serves one of these places. The finding is a note if only one of GitLab's executors is concerned and
the check was not told which one it is.

Bad:
    on: push
    jobs:
      test:
        runs-on: ubuntu-latest
        services:
          kafka:
            image: apache/kafka:3.9.1
            ports: ["9092:9092"]
            env:
              KAFKA_NODE_ID: 1
              KAFKA_PROCESS_ROLES: broker,controller
              KAFKA_CONTROLLER_QUORUM_VOTERS: 1@localhost:9093
              KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
              KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
              KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
              KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092  # <- here
            options: --health-cmd "/opt/kafka/bin/kafka-broker-api-versions.sh --bootstrap-server localhost:9092"
        steps:
          - run: make test

Good:
    on: push
    jobs:
      test:
        runs-on: ubuntu-latest
        services:
          kafka:
            image: apache/kafka:3.9.1
            ports: ["9092:9092"]
            env:
              KAFKA_NODE_ID: 1
              KAFKA_PROCESS_ROLES: broker,controller
              KAFKA_CONTROLLER_QUORUM_VOTERS: 1@localhost:9093
              KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
              KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
              KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
              KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:9092
            options: --health-cmd "/opt/kafka/bin/kafka-broker-api-versions.sh --bootstrap-server localhost:9092"
        steps:
          - run: make test

Seen: Failed to resolve 'kafka:9092': Temporary failure in name resolution, after a successful bootstrap

Sources: GitHub's documentation of service containers; GitLab's documentation of services; KIP-103.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import accepting_listener, clients_entering, second_hops, why_failing
from netdiag.deployment.model.deployment import Broker, NetworkMode, PublishedPort
from netdiag.deployment.prediction.listener_access import advertised_of, published_for
from netdiag.deployment.prediction.sockets import Accepted
from netdiag.deployment.repairs import advertise, free_port, host_listener_name, publish, split_listener
from netdiag.deployment.sources.ci.job import CiJob, Place
from netdiag.findings import Edit, Finding, Location, Related, Severity
from netdiag.kafka.listeners import ListenerEntry, is_loopback, listener_in_words
from netdiag.values import dataclass

ID = "ci-steps-cannot-connect"
SEVERITY = Severity.ERROR


def check(job: CiJob) -> Iterator[Finding]:
    """One finding for every broker of which no listener serves the steps of the job."""
    deployment = job.deployment
    for broker in deployment.serving:
        if broker.name in job.unknown or broker.name in deployment.down or not broker.config.is_broker:
            continue
        if broker.config.is_unknown("listeners") or broker.config.is_unknown("advertised.listeners"):
            continue
        ways = [_way(job, broker, entry) for entry in broker.config.broker_listeners]
        if not ways or any(way is None for way in ways):
            continue
        finding = _finding(job, broker, [way for way in ways if way is not None])
        if finding is not None:
            yield finding


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """Why a listener does not serve the steps: they do not get in (`told` is None), or what it tells them fails."""

    bound: ListenerEntry
    because: str
    told: ListenerEntry | None
    port: PublishedPort | None


def _way(job: CiJob, broker: Broker, bound: ListenerEntry) -> _Way | None:
    """Why a listener fails; None where it works, or nobody can tell."""
    deployment = job.deployment
    host, ports = _entrances(job, broker, bound)
    landed: Accepted | None = None
    because = ""
    for number in ports:
        landed = accepting_listener(deployment, job.steps, host, number)
        if landed is not None:
            break
        because = because or why_failing(deployment, job.steps, host, number) or "?"
    port = next(iter(published_for(broker, bound)), None)
    if landed is None:
        return None if because == "?" else _Way(bound=bound, because=because, told=None, port=port)
    hops = [hop for hop in second_hops(deployment, job.steps, landed) if hop.broker is broker]
    if not hops or any(hop.works or not hop.known for hop in hops):
        return None
    return _Way(bound=bound, because=hops[0].because, told=hops[0].entry, port=port)


def _entrances(job: CiJob, broker: Broker, bound: ListenerEntry) -> tuple[str, list[int]]:
    """The host by which steps know a broker, and the ports of it that lead to a listener."""
    if job.place is Place.POD or broker.member.mode is NetworkMode.HOST:
        return "localhost", [bound.endpoint.port]
    if job.place is Place.CONTAINER:
        return broker.member.service or broker.name, [bound.endpoint.port]
    return "localhost", [port.published for port in published_for(broker, bound) if port.published is not None]


def _finding(job: CiJob, broker: Broker, ways: list[_Way]) -> Finding | None:
    sent = [way for way in ways if way.told is not None]
    if job.followed and not any(clients_entering(job.deployment, broker, way.bound.endpoint.listener) for way in sent):
        return None
    if sent:
        # The listener that is published, or the one that the steps enter by its usual place, is the one meant.
        return _sent_astray(job, broker, sent[0])
    if job.followed or (job.place is Place.RUNNER and _serves_another(job, broker)):
        return None
    return _unreachable(job, broker, ways)


def _serves_another(job: CiJob, broker: Broker) -> bool:
    """Whether another service of the job is told to use the broker, which may be all that the job wants."""
    names = (way.endpoint.listener for way in broker.config.broker_listeners)
    return not broker.member.published and any(clients_entering(job.deployment, broker, name) for name in names)


def _sent_astray(job: CiJob, broker: Broker, way: _Way) -> Finding:
    told = way.told
    assert told is not None
    host = told.endpoint.host
    what = f"{listener_in_words(told)} of {broker.name} sends {job.place.value}"
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{what} to "{told.endpoint.host}:{told.endpoint.port}": {_in_words(job, host, way.because)}',
        location=broker.place("advertised.listeners", told.host_start, told.host_end),
        related=_related(job, broker, way),
        why=_WHY[job.place],
        hint=_hint(job, broker, way),
        service=broker.name,
        listener=told.endpoint.listener,
        edits=_edits(job, broker, way),
    )


_WHY = {
    Place.RUNNER: "a job without a container runs its steps on the runner, which reaches services only through mapped "
    "ports on localhost and does not resolve their names",
    Place.CONTAINER: "steps in a container reach services by their names, and localhost is the container itself",
    Place.POD: "the containers of a pod share one network namespace, in which every service is on localhost",
}


def _in_words(job: CiJob, host: str, because: str) -> str:
    if job.place is Place.CONTAINER and is_loopback(host):
        return "that is the job container itself"
    if job.place is Place.RUNNER and host in {name for m in job.deployment.members for name in m.all_names}:
        return "the runner does not resolve names of services"
    return because


def _related(job: CiJob, broker: Broker, way: _Way) -> tuple[Related, ...]:
    where: Location | None = way.port.where if way.port is not None and job.place is Place.RUNNER else None
    return (Related(location=where, message="steps connect here and are sent on"),) if where is not None else ()


def _hint(job: CiJob, broker: Broker, way: _Way) -> str:
    told = way.told
    assert told is not None
    name, bound = told.endpoint.listener, way.bound.endpoint.port
    if job.place is not Place.RUNNER:
        host = "localhost" if job.place is Place.POD else broker.member.service or broker.name
        return f"advertise {name}://{host}:{bound}"
    number = way.port.published if way.port is not None and way.port.published else bound
    if _is_used_by_services(job, broker, name):
        port = free_port(job.deployment, broker)
        return (
            f"add a listener for the steps, {host_listener_name(broker)}://localhost:{number}, on port {port}, map "
            f"{number}:{port}, and keep {told.endpoint} for services"
        )
    return f"advertise {name}://localhost:{number}"


def _is_used_by_services(job: CiJob, broker: Broker, listener: str) -> bool:
    entering = clients_entering(job.deployment, broker, listener)
    return any(client.member.name != job.steps.member for client in entering) or len(job.brokers) > 1


def _edits(job: CiJob, broker: Broker, way: _Way) -> tuple[Edit, ...]:
    told = way.told
    assert told is not None
    if job.place is Place.POD or job.variant:
        return ()
    if job.place is Place.CONTAINER:
        return advertise(broker, told, broker.member.service or broker.name, way.bound.endpoint.port)
    if _is_used_by_services(job, broker, told.endpoint.listener):
        return split_listener(job.deployment, broker, told)
    number = way.port.published if way.port is not None else None
    return advertise(broker, told, "localhost", number)


def _unreachable(job: CiJob, broker: Broker, ways: list[_Way]) -> Finding:
    first = ways[0]
    port = first.bound.endpoint.port
    related: tuple[Related, ...] = ()
    edits: tuple[Edit, ...] = ()
    if job.place is not Place.RUNNER:
        name = f"{broker.member.service or broker.name}:{port}"
        message, hint = (
            f"{job.place.value} cannot reach {broker.name} at {name}: {first.because}",
            "correct the listener",
        )
    elif first.port is not None and first.port.published is None:
        where = first.port.where
        message = f"port {port} of {broker.name} is mapped to any free port of the runner, which clients are not told"
        hint = f'map "{_told_port(broker, first.bound, port)}:{port}"'
        related = (Related(location=where, message="the runner chooses the port"),)
    else:
        message = f"{broker.name} maps no port of a listener, so {job.place.value} cannot reach it"
        number = _told_port(broker, first.bound, port)
        hint = f'add ports: ["{number}:{port}"] to the service, or run the job in a container'
        edits = publish(job.deployment, broker.member, number, port)
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=message,
        location=broker.member.where,
        related=related,
        why=_WHY[job.place],
        hint=hint,
        service=broker.name,
        listener=first.bound.endpoint.listener,
        edits=edits,
    )


def _told_port(broker: Broker, bound: ListenerEntry, port: int) -> int:
    """The port that clients of a listener are told, where that is an address of the runner."""
    advertised = advertised_of(broker, bound.endpoint.listener)
    return advertised.endpoint.port if advertised is not None and is_loopback(advertised.endpoint.host) else port
