"""A variable that the image requires is missing.

Why: The start scripts of most images check a few variables before they start Kafka, and exit if one is missing.

Bad:
    services:
      kafka:  # <- here
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: KAFKA_ADVERTISED_LISTENERS is required.

Sources: the images' start scripts: Confluent Platform 7.2 to 8.0, bitnami/containers, wurstmeister/kafka-docker.
"""

from collections.abc import Iterator

from netdiag.deployment.misread_settings import misspelled_variables
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.prediction.listener_access import zookeeper_port
from netdiag.deployment.repairs import BrokerChange, rename_variable, service_name
from netdiag.findings import Edit, Finding, Severity

ID = "image-required-env-missing"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker whose image requires a variable that is not set; a warning if another shell may."""
    for broker in deployment.brokers:
        refusal = broker.config.refusal
        if refusal is None or not refusal.missing or _is_told_elsewhere(broker, refusal.variable):
            continue
        declared = broker.declared.get(refusal.variable)
        unset = tuple(dict.fromkeys(name for _, name in declared.blanks)) if declared is not None else ()
        absent = tuple(v for v in refusal.also_missing if v not in broker.declared)
        needed = " and ".join((refusal.variable, *absent))
        without = f"{broker.name} does not set {needed}"
        if declared is not None:
            without = f"{broker.name} sets {refusal.variable} to nothing"
        if unset:
            without = f"{broker.name} takes {refusal.variable} from {' and '.join(unset)}, which nobody sets"
        misspelled = next((m.variable for m in misspelled_variables(broker) if m.right == refusal.variable), None)
        edits: tuple[Edit, ...] = ()
        if misspelled is not None:
            edits = rename_variable(broker.member, misspelled, refusal.variable)
        elif declared is None and not absent:
            edits = _edits(deployment, broker, refusal.variable)
        yield Finding(
            rule=ID,
            severity=Severity.WARNING if unset else SEVERITY,
            message=f"{without}, although {broker.member.image} requires it"
            if declared is not None
            else f"{without}, which {broker.member.image} requires",
            location=broker.member.where if declared is None else declared.at(),
            why="the image's start script exits before Kafka starts",
            hint=_hint(refusal.variable, unset, needed, misspelled),
            service=broker.name,
            edits=edits,
            broker_prints=refusal.prints,
        )


def _hint(variable: str, unset: tuple[str, ...], needed: str, misspelled: str | None) -> str:
    if misspelled is not None:
        return f"rename {misspelled} to {variable}"
    return f"set {' and '.join(unset)} in .env" if unset else f"set {needed}"


def _is_told_elsewhere(broker: Broker, variable: str) -> bool:
    """Whether another rule reports it: switches of Bitnami's and listeners of wurstmeister's images, and roles.

    Roles are missing where the broker is meant for a ZooKeeper.
    """
    if variable == "ALLOW_PLAINTEXT_LISTENER":
        return True
    if variable == "KAFKA_LISTENERS":
        return "KAFKA_ADVERTISED_LISTENERS" in broker.declared
    roles = ("KAFKA_PROCESS_ROLES", "KAFKA_CFG_PROCESS_ROLES")
    return variable in roles and bool(broker.config.value("zookeeper.connect"))


def _edits(deployment: Deployment, broker: Broker, variable: str) -> tuple[Edit, ...]:
    value = None
    if variable == "KAFKA_ADVERTISED_LISTENERS":
        entries = broker.config.broker_listeners
        value = ",".join(f"{e.endpoint.listener}://{service_name(broker)}:{e.endpoint.port}" for e in entries)
    elif variable == "KAFKA_ZOOKEEPER_CONNECT":
        ports = [(member.name, port) for member in deployment.members if (port := zookeeper_port(member))]
        value = f"{ports[0][0]}:{ports[0][1]}" if len(ports) == 1 else None
    elif variable == "CLUSTER_ID":
        known = {b.config.cluster_id for b in deployment.brokers if b is not broker and b.config.cluster_id}
        value = known.pop() if len(known) == 1 else None
    last = list(broker.declared)[-1] if broker.declared else None
    return BrokerChange(broker).add_variable(variable, value, last).edits() if value else ()
