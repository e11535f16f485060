"""The clients of Kafka that a compose service shows: in its variables, its command and its health check."""

from collections.abc import Iterator
from typing import Protocol

from netdiag.compose.positions import Text
from netdiag.compose.project import Command, Service
from netdiag.deployment.client_commands import Given, given_by_command
from netdiag.deployment.dependents import Told, told_by_variables
from netdiag.deployment.member import Declared, Dependent, Member
from netdiag.kafka.listeners import is_loopback


class Maker(Protocol):
    """Makes a value that can point at its place."""

    def __call__(self, *, variable: str, text: Text) -> Declared: ...


def clients_of(service: Service, member: Member, value: Maker, *, active: bool = True) -> Iterator[Dependent]:
    """Every list that a service's container starts from."""
    if _idles(service):
        return
    for told in _told(service):
        if not told.waits:
            yield _by_variable(service, member, told, value, active=active)
    for part, command in _commands(service):
        for given in _given(service, command):
            # Who asks itself whether it is healthy may be a broker in an image that nobody knows.
            itself = part == "healthcheck" and all(
                is_loopback(a.host) or a.host == service.name for a in given.addresses
            )
            if not given.waits and not itself:
                yield _by_command(member, part, command, given, value, active=active)


def waiting_of(service: Service, member: Member, value: Maker) -> Iterator[Dependent]:
    """Every address that a service's container waits for, and nothing more as far as can be seen."""
    for told in _told(service):
        if told.waits:
            yield _by_variable(service, member, told, value)
    for part, command in _commands(service):
        for given in _given(service, command):
            if given.waits:
                yield _by_command(member, part, command, given, value)


def reporters_of(service: Service, member: Member, value: Maker) -> Iterator[Dependent]:
    """The lists of a broker that reports its own metrics to a broker."""
    reporters = service.environment.get("KAFKA_METRIC_REPORTERS")
    if reporters is None or reporters.value is None or "ConfluentMetricsReporter" not in reporters.value.value:
        return
    for told in _told(service):
        if told.certain and told.source.removeprefix("KAFKA_").startswith("CONFLUENT_METRICS_REPORTER_BOOTSTRAP"):
            yield _by_variable(service, member, told, value)


def checked_by(service: Service, member: Member, value: Maker) -> Iterator[Dependent]:
    """The addresses that the health check of a broker asks."""
    if service.healthcheck is None or service.healthcheck_disabled:
        return
    for given in _given(service, service.healthcheck):
        yield _by_command(member, "healthcheck", service.healthcheck, given, value)


def _idles(service: Service) -> bool:
    """Whether a service only keeps its container alive, whatever its variables say."""
    words = " ".join(text.value for _, part in _commands(service, checks=False) for text in _words(part))
    return words.startswith("sleep ") or words == "tail -f /dev/null"


def _told(service: Service) -> Iterator[Told]:
    known = {name: v.value.value for name, v in service.environment.items() if v.value is not None}
    return told_by_variables(known)


def _commands(service: Service, *, checks: bool = True) -> Iterator[tuple[str, Command]]:
    yield "entrypoint", service.entrypoint
    yield "command", service.command
    if checks and not service.healthcheck_disabled:
        yield "healthcheck", service.healthcheck


def _words(command: Command) -> tuple[Text, ...]:
    if command is None:
        return ()
    return (command,) if isinstance(command, Text) else command


def _given(service: Service, command: Command) -> tuple[Given, ...]:
    image = service.image.value if service.image else ""
    return given_by_command([text.value for text in _words(command)], image=image)


def _by_variable(service: Service, member: Member, told: Told, value: Maker, *, active: bool = True) -> Dependent:
    text = service.environment[told.source].value
    assert text is not None
    return Dependent(
        member=member,
        declared=value(variable=told.source, text=text),
        setting=told.setting,
        bootstraps=told.addresses,
        active=active,
        certain=told.certain,
        waits=told.waits,
        protocol=told.protocol,
    )


def _by_command(
    member: Member, part: str, command: Command, given: Given, value: Maker, *, active: bool = True
) -> Dependent:
    return Dependent(
        member=member,
        declared=value(variable=part, text=_words(command)[given.word]),
        setting=f"{given.option} in {part}",
        bootstraps=given.addresses,
        active=active,
        waits=given.waits,
        protocol=given.protocol,
        tool=given.tool,
        configured=given.configured,
    )
