"""A broker is not running.

Why: A container that has exited, or that restarts repeatedly, serves no clients; the line of its log that ended it
gives the reason. If a configuration rule explains that line, the finding names the rule and the line of the Compose
file (or the variable of the container) that causes it.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      stopped: {kafka: "exited with 1: Timed out waiting for connection to Zookeeper"}  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      stopped: {}

Seen: requirement failed: ..., ConfigException: ..., Socket server failed to bind to ...

Sources: the container's state as the engine reports it, and the end of its log.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, State
from netdiag.deployment.observation.live_view import LiveView
from netdiag.deployment.prediction.shared_names import member_in_words
from netdiag.findings import ContainerLocation, Finding, Related, Severity
from netdiag.patterns import regex
from netdiag.rules.live_findings import predicting, setting_place
from netdiag.rules.startup_errors import explain

ID = "live-config-crash"
SEVERITY = Severity.ERROR

# What the engine says of a port that another container has, or another process.
_PORT_TAKEN = regex(r":(\d{1,5})(?: failed: port is already allocated|: bind: address already in use)")


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every broker that is not running, with the rule that explains the log and the line to blame."""
    for broker in view.deployment.brokers:
        reason = view.stopped.get(broker.name)
        if reason is None:
            continue
        why, hint, related = _explained(view, broker, reason)
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{broker.name} is not running: {reason}",
            location=ContainerLocation(container=broker.name, part="log"),
            why=why,
            hint=hint,
            related=related,
            service=broker.name,
        )


def _explained(view: LiveView, broker: Broker, reason: str) -> tuple[str, str, tuple[Related, ...]]:
    again = f"then start {broker.name} again"
    files = predicting(view, broker)
    if files:
        first = files[0]
        places = tuple(Related(location=one.where, message=f"{one.rule}: {one.message}") for one in files)
        return f"{first.rule}: {first.message}", f"{first.hint or 'fix it'}, {again}", places
    taken = _PORT_TAKEN.search(reason)
    if taken is not None:
        return _holder(view, broker, int(taken[1])), f"publish another port of the docker host for {broker.name}", ()
    found = explain((*view.logs.get(broker.name, ()), reason))
    if found is None:
        why = "nothing listens in a container that is not running, and its names do not resolve"
        return why, f"fix what the log reports, {again}", ()
    rules = " or ".join(found.rules)
    place = setting_place(view, broker, found.setting) if found.setting else ()
    about = found.setting or "its configuration"
    return (
        f"the broker refuses {about}: {rules}",
        f"follow `netdiag explain {found.rules[0]}`, {again}",
        place,
    )


def _holder(view: LiveView, broker: Broker, port: int) -> str:
    """Who has a port of the docker host that a broker was to publish."""
    holders = [
        member_in_words(view.deployment, member.name)
        for member, _ in view.deployment.publishers_by_port.get(port, ())
        if member.name != broker.name and member.state not in (State.STOPPED, State.DECLARED)
    ]
    owner = holders[0] if holders else "something that is no container"
    return f"{owner} has port {port} of the docker host"
