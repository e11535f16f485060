"""The SASL mechanism between brokers is not enabled.

Why: sasl.mechanism.inter.broker.protocol and sasl.enabled.mechanisms both default to GSSAPI. If only one of them is
set, a broker with a SASL inter-broker listener does not start.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INNER://:9092
          KAFKA_ADVERTISED_LISTENERS: INNER://kafka:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INNER:SASL_PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INNER
          KAFKA_SASL_ENABLED_MECHANISMS: PLAIN  # <- here
          KAFKA_OPTS: -Djava.security.auth.login.config=/etc/kafka/jaas.conf

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INNER://:9092
          KAFKA_ADVERTISED_LISTENERS: INNER://kafka:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INNER:SASL_PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INNER
          KAFKA_SASL_ENABLED_MECHANISMS: PLAIN
          KAFKA_SASL_MECHANISM_INTER_BROKER_PROTOCOL: PLAIN
          KAFKA_OPTS: -Djava.security.auth.login.config=/etc/kafka/jaas.conf

Seen: sasl.mechanism.inter.broker.protocol must be included in sasl.enabled.mechanisms when SASL is used for
    inter-broker communication

Sources: KafkaConfig.validateValues, KafkaConfig.saslEnabledMechanisms.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.images.reference import ImageFamily

ID = "sasl-config-incomplete"
SEVERITY = Severity.ERROR
_MECHANISM = "sasl.mechanism.inter.broker.protocol"
_ENABLED = "sasl.enabled.mechanisms"
_DEFAULT = "GSSAPI"
# Images that pass their variables to Kafka unchanged; Bitnami's scripts add mechanisms of their own.
_FAMILIES = (ImageFamily.APACHE, ImageFamily.CONFLUENT, ImageFamily.CONFLUENT_LOCAL, ImageFamily.WURSTMEISTER)


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker whose inter-broker mechanism is not enabled on its inter-broker listener."""
    for broker in deployment.configured:
        config = broker.config
        listener = config.inter_broker_listener
        if config.family not in _FAMILIES or broker.is_configured_by_file or not config.is_broker:
            continue
        if not config.protocol_map.get(listener, "").upper().startswith("SASL_"):
            continue
        own = f"listener.name.{listener.lower()}.{_ENABLED}"
        enabled_by = own if own in config.settings else _ENABLED
        if any(config.is_unknown(name) for name in (_MECHANISM, enabled_by)):
            continue
        mechanism = (config.value(_MECHANISM) or _DEFAULT).strip()
        enabled = [name.strip() for name in (config.value(enabled_by) or _DEFAULT).split(",")]
        if mechanism not in enabled:
            yield _finding(broker, mechanism, enabled, enabled_by)


def _finding(broker: Broker, mechanism: str, enabled: list[str], enabled_by: str) -> Finding:
    given = broker.config.settings
    at, beside = (_MECHANISM, enabled_by) if _MECHANISM in given else (enabled_by, _MECHANISM)
    unset = "" if _MECHANISM in given else " (the default)"
    related = (Related(location=broker.place(beside), message="the other setting"),) if beside in given else ()
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.name} connects to other brokers with {mechanism}{unset}, but enables only "
        f"{', '.join(enabled)}",
        location=broker.place(at),
        related=related,
        why="a broker must enable the mechanism with which it connects to other brokers",
        hint=f"set {_MECHANISM} to one of the mechanisms in {_ENABLED}",
        service=broker.name,
        listener=broker.config.inter_broker_listener,
        broker_prints="sasl.mechanism.inter.broker.protocol must be included in sasl.enabled.mechanisms when SASL is "
        "used for inter-broker communication",
    )
