"""A job of a CI system as a deployment: its services, and the place where its steps stand.

The services are those of a compose project in all that counts for Kafka, so they become one, and the deployment comes
from there. The steps are a member of it: on the docker host, or in a container beside the services.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from enum import Enum

from netdiag.compose.positions import Text
from netdiag.compose.project import EnvironmentVariable, ExtraHost, Link, Network, Project, Service, ServiceNetwork
from netdiag.compose.values import ReadFile, no_files
from netdiag.config import Facts
from netdiag.deployment.model.deployment import Broker, Deployment, Member, NetworkMode, Platform
from netdiag.deployment.model.vantage import Vantage, broker_vantage, container_vantage
from netdiag.deployment.sources.client_settings import bootstraps_in_variables
from netdiag.deployment.sources.compose import from_compose
from netdiag.findings import FileLocation
from netdiag.patterns import regex
from netdiag.values import dataclass

STEPS = "steps"
NETWORK = "job"
# A script that only waits, or waits for something before it goes on.
_WAITS = regex(
    r"(?i)\bwait|\bsleep\s+\d|\buntil\b|\bwhile\b|\bretry|--retries|\bnc\s+-\w*z|kafka-ready|/dev/tcp/|dockerize"
    r"|\btimeout\s+\d|healthy|health"
)
# A script with a client that gives up at once or after a few seconds; Kafka's own tools try for a minute.
_IMPATIENT = regex(r"(?<![\w./-])(?:kcat|kafkacat|rpk)\s")
_HOSTS_LINE = regex(
    r"(?<![\w.])(?:127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1)(?:\s|\\t)+"
    r"(?P<names>[A-Za-z][\w.-]*(?:[ \t]+[A-Za-z][\w.-]*){0,20})"
)
# What runs a command in another place than the steps.
_ELSEWHERE = regex(r"\bdocker(?:-compose|\s+compose)?\s+(?:exec|run)\b|\bpodman\s+(?:exec|run)\b|\bkubectl\b|\bssh\b")


class Place(Enum):
    """Where the steps of a job run; the value is what a report calls them.

    POD: in a pod of Kubernetes, whose containers share one network namespace.
    """

    RUNNER = "steps on the runner"
    CONTAINER = "steps in the job container"
    POD = "steps in the pod"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: its script where it has one, the action that it uses else; the variables of its own."""

    where: FileLocation
    run: Text | None = None
    uses: str = ""
    variables: Mapping[str, Text | None]

    @property
    def waits(self) -> bool:
        """Whether it may wait until a service is up."""
        return _WAITS.search(self.run.value if self.run else self.uses) is not None

    @property
    def is_impatient(self) -> bool:
        """Whether a client in it is seen to give up if the broker is not up yet."""
        return self.run is not None and _IMPATIENT.search(self.run.value) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unawaited:
    """A service that nothing waits for before `step` uses it; None where no step is seen to use it."""

    service: str
    where: FileLocation
    step: FileLocation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposeUp:
    """What `docker compose up` starts: its files, none where Compose finds them, and the folder that it runs in."""

    files: tuple[str, ...]
    folder: str
    profiles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredJob:
    """A job as its file declares it. `unknown` are the services whose ports or options cannot be known.

    `variant` is the combination of a matrix, `executor` what runs the job where the file leaves that open; `followed`
    tells that its services come from a command of a step, so that only what the steps are seen to do with them counts.
    `hosts` and `links` are what the container of the steps is given; `is_networked` is false where it is on the default
    bridge.
    """

    name: str
    where: FileLocation
    place: Place
    services: tuple[Service, ...]
    steps: tuple[Step, ...] = ()
    variables: Mapping[str, Text | None]
    hosts: tuple[ExtraHost, ...] = ()
    links: tuple[Link, ...] = ()
    is_networked: bool = True
    unknown: frozenset[str] = frozenset()
    healthy: frozenset[str] = frozenset()
    waits_by_itself: bool = False
    networks: Mapping[str, Network] | None = None
    variant: str = ""
    executor: str = ""
    followed: bool = False
    compose: ComposeUp | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CiJob:
    """A job as a deployment. `steps` is where its commands run, `vantages` all places that there are."""

    name: str
    where: FileLocation
    place: Place
    deployment: Deployment
    steps: Vantage
    vantages: tuple[Vantage, ...]
    unknown: frozenset[str] = frozenset()
    unawaited: tuple[Unawaited, ...] = ()
    variant: str = ""
    executor: str = ""
    followed: bool = False

    @property
    def brokers(self) -> tuple[Broker, ...]:
        """The brokers of the job."""
        return self.deployment.brokers


def as_deployment(
    job: DeclaredJob,
    *,
    project: Project | None = None,
    read: ReadFile = no_files,
    facts: Facts | None = None,
    platform: Platform | None = None,
) -> CiJob:
    """The deployment of a job, or of the project that a step of it starts. `read` gives a file of the repository."""
    span = job.where
    if project is None:
        networks = dict(job.networks or {NETWORK: Network(key=NETWORK, name=NETWORK, span=span, implicit=True)})
        services = {service.name: service for service in job.services}
        project = Project(name=None, path=span.path, services=services, networks=networks)
    steps = _steps_service(job, project.services)
    project = replace(project, services={**project.services, steps.name: steps})
    deployment = from_compose(project, read=read, facts=facts, platform=platform)
    return placed(job, deployment, steps.name)


def placed(job: DeclaredJob, deployment: Deployment, steps: str) -> CiJob:
    """The job with the places of its deployment; `steps` is the member that its commands run in."""
    member = deployment.by_name[steps]
    stands = replace(container_vantage(member), label=job.place.value)
    return CiJob(
        name=job.name,
        where=job.where,
        place=job.place,
        deployment=deployment,
        steps=stands,
        vantages=(stands, *_beside(deployment, member)),
        unknown=job.unknown,
        unawaited=tuple(_unawaited(job, deployment.brokers)),
        variant=job.variant,
        executor=job.executor,
        followed=job.followed,
    )


def _beside(deployment: Deployment, steps: Member) -> Iterable[Vantage]:
    """The brokers, and one of the other services for all of them."""
    yield from (broker_vantage(broker) for broker in deployment.brokers if broker.config.is_broker)
    others = [
        member
        for member in deployment.others
        if member is not steps and member.mode is NetworkMode.NETWORKS and "zookeeper" not in member.image
    ]
    yield from (container_vantage(member) for member in others[:1])


def _steps_service(job: DeclaredJob, names: Mapping[str, Service]) -> Service:
    """The steps as a service: where they stand, with their variables and scripts."""
    name = STEPS
    while name in names:
        name += "_"
    variables: dict[str, Text | None] = dict(job.variables)
    for step in job.steps:
        for variable, text in step.variables.items():
            variables.setdefault(variable, text)
    scripts = tuple(s.run for s in job.steps if s.run is not None and not _ELSEWHERE.search(s.run.value))
    service = Service(
        name=name,
        span=job.where,
        environment={
            key: EnvironmentVariable(name=key, value=text, key_span=text.span, entry_span=text.span, form="map")
            for key, text in variables.items()
            if text is not None and _may_tell_a_client(key, text.value)
        },
        command=scripts or None,
        extra_hosts=(*job.hosts, *_hosts(job)),
        links=job.links,
    )
    match job.place:
        case Place.RUNNER:
            return replace(service, network_mode=Text(value="host", span=job.where))
        case Place.CONTAINER if not job.is_networked:
            return replace(service, network_mode=Text(value="bridge", span=job.where))
        case Place.CONTAINER | Place.POD:
            return replace(service, networks=(ServiceNetwork(network=NETWORK, span=job.where),))


def _may_tell_a_client(name: str, value: str) -> bool:
    """Whether a variable may tell a client of Kafka something: steps have those of their brokers, too."""
    if any(bootstraps_in_variables({name: value})):
        return True
    return name.upper().endswith(("_HOST", "_PORT", "SECURITY_PROTOCOL")) and "LISTENER" not in name.upper()


def _hosts(job: DeclaredJob) -> Iterator[ExtraHost]:
    """What steps write into the hosts file of their place."""
    for step in job.steps:
        if step.run is None or "/etc/hosts" not in step.run.value:
            continue
        for line in step.run.value.splitlines():
            for match in _HOSTS_LINE.finditer(line):
                for name in match["names"].split():
                    yield ExtraHost(name=name, address="127.0.0.1", span=step.where)


def _unawaited(job: DeclaredJob, brokers: Iterable[Broker]) -> Iterable[Unawaited]:
    """The brokers that no health check and no step waits for."""
    if job.waits_by_itself or job.followed or any(step.waits for step in _before_use(job.steps)):
        return
    first = next((step for step in job.steps if not step.uses), None)
    early = not job.healthy and first is not None and first.is_impatient and _is_early(job.steps, first)
    user = first if early else None
    for broker in brokers:
        if (
            broker.name in job.healthy
            or broker.name in job.unknown
            or not isinstance(broker.member.where, FileLocation)
        ):
            continue
        if broker.config.broker_listeners:
            yield Unawaited(service=broker.name, where=broker.member.where, step=user.where if user else None)


def _before_use(steps: tuple[Step, ...]) -> Iterable[Step]:
    """The steps up to the first that is seen to use a broker, that one included."""
    for step in steps:
        yield step
        if step.is_impatient:
            return


def _is_early(steps: tuple[Step, ...], step: Step) -> bool:
    """Whether nothing that takes long comes before a step."""
    before = steps[: steps.index(step)]
    return all(one.uses.startswith("actions/checkout") for one in before)
