"""The broker gets quotes or an unexpanded variable in its listeners.

Why: In the list form of environment, KEY="value" makes the quotes part of the value; Compose passes $${VAR} and
$(command) on unchanged and replaces an unset variable with an empty string. Kafka takes every character literally.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          - KAFKA_ZOOKEEPER_CONNECT=zookeeper:2181
          - KAFKA_ADVERTISED_LISTENERS="PLAINTEXT://kafka:9092"  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          - KAFKA_ZOOKEEPER_CONNECT=zookeeper:2181
          - KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://kafka:9092

Seen: Error creating broker listeners from '"PLAINTEXT://kafka:9092"': Unable to parse "PLAINTEXT://kafka:9092" to a
    broker endpoint

Sources: compose-spec, environment and interpolation; SocketServerConfigs.listenerListToEndPoints (3.9, 4.x).
"""

from collections.abc import Iterator

from netdiag.deployment.misread_settings import MisreadCause, MisreadValue, misread_values
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.repairs import service_name
from netdiag.findings import Edit, Finding, Severity

ID = "listener-unexpanded-or-quoted"
SEVERITY = Severity.ERROR
_LISTS = ("listeners", "advertised.listeners")


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every list in quotes and every entry with a variable; a warning if the variable is only unset."""
    for broker in deployment.configured:
        for name in _LISTS:
            told = set()
            for found in misread_values(broker, name):
                if found.cause is not MisreadCause.BLANK or found.text not in told:
                    yield _finding(broker, name, found)
                told.add(found.text)


def _finding(broker: Broker, name: str, found: MisreadValue) -> Finding:
    match found.cause:
        case MisreadCause.QUOTED:
            message = f"the quotes around {name} of {broker.name} are part of the value"
            why = "in the list form of environment, everything after the = is the value"
            hint = "remove the quotes, or put them around the whole entry"
        case MisreadCause.LITERAL:
            message = f'"{found.text}" in {name} of {broker.name} reaches the broker unchanged'
            why = "neither Compose nor Kafka expands it"
            hint = f"write the value instead of {found.text}, or ${{VARIABLE}} for Compose to replace"
        case MisreadCause.BLANK:
            message = f'variable "{found.text}" is not set, which leaves a gap in {name} of {broker.name}'
            why = "Compose replaces an unset variable with an empty string"
            default = f"${{{found.text}:-{_default(broker, found)}}}"
            hint = f"set {found.text} in .env or in the shell, or give it a default: {default}"
    return Finding(
        rule=ID,
        severity=Severity.WARNING if found.cause is MisreadCause.BLANK else SEVERITY,
        message=message,
        location=broker.place(name, found.start, found.end),
        why=why,
        hint=hint,
        service=broker.name,
        edits=_edits(broker, name, found),
        broker_prints="Error creating broker listeners from" if found.is_fatal else None,
    )


def _default(broker: Broker, found: MisreadValue) -> str:
    """An example of what can stand in a gap: the port where an entry ends without one, else the host."""
    port = broker.member.published[0].target if broker.member.published else 9092
    return str(port) if found.lacks_port else service_name(broker)


def _edits(broker: Broker, name: str, found: MisreadValue) -> tuple[Edit, ...]:
    """Remove the quotes, both or none."""
    if found.cause is not MisreadCause.QUOTED:
        return ()
    edits = (
        *broker.edit(name, found.start, found.start + 1, ""),
        *broker.edit(name, found.end - 1, found.end, ""),
    )
    return edits if len(edits) == 2 else ()
