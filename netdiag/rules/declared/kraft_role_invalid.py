"""process.roles contains something other than broker and controller.

Why: A KRaft node is a broker, a controller or both. Kafka accepts exactly these words, in lower case and each once.

Bad:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: brokers,controller  # <- here
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093

Good:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093

Seen: Invalid value brokers for configuration process.roles: String must be one of: broker, controller

Sources: KRaftConfigs (ConfigDef.ValidList, which comes before KafkaConfig.parseProcessRoles); KIP-500.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.repairs import replace_text
from netdiag.findings import Applicability, Edit, Finding, Severity
from netdiag.kafka.listeners import split_items

ID = "kraft-role-invalid"
SEVERITY = Severity.ERROR
_ROLES = "process.roles"
_KNOWN = ("broker", "controller")


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every word that is not a role or is repeated."""
    for broker in deployment.configured:
        seen: set[str] = set()
        for role, start in split_items(broker.config.value(_ROLES) or ""):
            if role not in ("broker", "controller"):
                prints = f"for configuration {_ROLES}: String must be one of: broker, controller"
                yield _finding(broker, f'"{role}" in {_ROLES} of {broker.name} is not a role', role, start, prints)
            elif role in seen:
                newer = broker.config.version is None or broker.config.version.at_least(4, 2)
                prints = "values must not be duplicated" if newer else f"Duplicate role names found in `{_ROLES}`"
                yield _finding(broker, f'"{role}" is repeated in {_ROLES} of {broker.name}', role, start, prints)
            seen.add(role)


def _finding(broker: Broker, message: str, role: str, start: int, prints: str) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=message,
        location=broker.place(_ROLES, start, start + len(role)),
        why="the roles are broker and controller, in lower case and each at most once",
        hint="write broker, controller or broker,controller",
        service=broker.name,
        edits=_edits(broker),
        broker_prints=prints,
    )


def _edits(broker: Broker) -> tuple[Edit, ...]:
    """The roles that the words stand for, each once; a word that only resembles one is a guess."""
    value = broker.config.value(_ROLES) or ""
    words = [word.lower() for word, _ in split_items(value)]
    import difflib  # whoever spells rightly does not pay for it

    meant = [next(iter(difflib.get_close_matches(word, _KNOWN, 1, 0.8)), None) for word in words]
    if not words or None in meant:
        return ()
    applicability = Applicability.SAFE if words == meant else Applicability.UNSAFE
    return replace_text(broker, _ROLES, 0, len(value), ",".join(dict.fromkeys(filter(None, meant))), applicability)
