"""From what runs back to the lines of the files that it was started from."""

from collections.abc import Iterable

from netdiag.deployment.as_declared import DeclaredService, Foretold
from netdiag.deployment.live_view import LiveView
from netdiag.deployment.member import Broker, Member
from netdiag.findings import ContainerLocation, FileLocation, Finding, Related


def foretold(findings: Iterable[Finding]) -> tuple[Foretold, ...]:
    """What findings about files say that brokers print instead of starting."""
    return tuple(
        Foretold(
            rule=finding.rule,
            service=finding.service,
            prints=finding.broker_prints,
            message=finding.message,
            hint=finding.hint,
            where=finding.location,
        )
        for finding in findings
        if finding.broker_prints and finding.service and isinstance(finding.location, FileLocation)
    )


def service_of(view: LiveView, member: Member) -> DeclaredService | None:
    """What the files say of a member that runs, where they are known and have it.

    Of several containers with the name of one service, some belong to another project: nothing is said of them.
    """
    name = member.service or member.name
    if view.declared is None or sum((other.service or other.name) == name for other in view.deployment.members) > 1:
        return None
    return view.declared.services.get(name)


def written_variable(view: LiveView, member: Member, variable: str) -> tuple[Related, ...]:
    """Where the files give a member a variable; the service itself where they do not."""
    service = service_of(view, member)
    text = service.environment.get(variable) if service else None
    if text is not None and text.where is not None:
        return (Related(location=text.where, message=f"{variable} is written here"),)
    return ()


def written_for(view: LiveView, finding: Finding) -> tuple[Related, ...]:
    """Where the files hold what a finding about a running broker is about; nothing for one about files already."""
    broker = view.deployment.broker(finding.service or "")
    if broker is None or isinstance(finding.location, FileLocation):
        return ()
    for one in foretelling(view, broker):
        if one.rule == finding.rule:
            return (Related(location=one.where, message="and stands so in the file"),)
    part = finding.location.part if isinstance(finding.location, ContainerLocation) else ""
    return written_variable(view, broker.member, part)


def foretelling(view: LiveView, broker: Broker) -> tuple[Foretold, ...]:
    """What the files foretell of a broker that did not start, and its log holds."""
    name = broker.member.service or broker.name
    said = (view.stopped.get(broker.name, ""), *view.logs.get(broker.name, ()))
    return tuple(
        one
        for one in (view.declared.foretold if view.declared else ())
        if one.service == name and any(one.prints in line for line in said)
    )


def setting_place(view: LiveView, broker: Broker, setting: str) -> tuple[Related, ...]:
    """Where a property (or a variable, in capitals) of a broker is set: in the files, else in its container."""
    given = broker.config.settings.get(setting)
    variable = setting if setting.isupper() else (given.variable if given else None)
    service = service_of(view, broker.member)
    if variable is not None:
        found = written_variable(view, broker.member, variable)
        if found:
            return found
        if variable in broker.member.variables:
            location = ContainerLocation(container=broker.name, part=variable)
            return (Related(location=location, message=f"{variable} of the container"),)
    if service is not None and service.where is not None:
        return (Related(location=service.where, message=f"{variable or setting} is not set here"),)
    return ()
