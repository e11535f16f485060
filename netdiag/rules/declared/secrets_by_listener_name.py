"""The image requires secrets because of a listener's name.

Why: The start scripts of Apache's and Confluent's images look for "SSL://" and "SASL_" in the advertised listeners,
whatever the protocol map contains, and exit without the variables that go with them. They do not check listeners with
other names.

Bad:
    services:
      kafka:  # <- here
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,SSL://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,SSL://kafka:9093
          KAFKA_SSL_KEY_CREDENTIALS: key_creds
          KAFKA_SSL_KEYSTORE_CREDENTIALS: keystore_creds

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,SSL://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,SSL://kafka:9093
          KAFKA_SSL_KEYSTORE_FILENAME: kafka.keystore.jks
          KAFKA_SSL_KEY_CREDENTIALS: key_creds
          KAFKA_SSL_KEYSTORE_CREDENTIALS: keystore_creds

Seen: KAFKA_SSL_KEYSTORE_FILENAME is required.

Sources: the images' configure scripts, Confluent Platform 7.2 to 8.0, Apache Kafka 3.7 to 4.x.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.images.reference import ImageFamily
from netdiag.kafka.images.settings import property_name

ID = "secrets-by-listener-name"
SEVERITY = Severity.ERROR
_FAMILIES = (ImageFamily.APACHE, ImageFamily.CONFLUENT, ImageFamily.CONFLUENT_LOCAL)
_ADVERTISED = "KAFKA_ADVERTISED_LISTENERS"
_TLS = ("KAFKA_SSL_KEYSTORE_FILENAME", "KAFKA_SSL_KEY_CREDENTIALS", "KAFKA_SSL_KEYSTORE_CREDENTIALS")
_CLIENT_TLS = ("KAFKA_SSL_TRUSTSTORE_FILENAME", "KAFKA_SSL_TRUSTSTORE_CREDENTIALS")


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker whose image requires a missing secret, at the first one."""
    for broker in deployment.configured:
        if broker.config.family not in _FAMILIES or _ADVERTISED not in broker.declared:
            continue
        advertised = broker.declared[_ADVERTISED]
        missing = next((name for name in _wanted(broker, advertised.value) if _is_missing(broker, name)), None)
        if missing is None:
            continue
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{broker.name} does not set {missing}, which {broker.member.image} requires because of the name "
            f"of an advertised listener",
            location=broker.member.where,
            related=(Related(location=advertised.at(), message="the name that the script finds"),),
            why="the image's start script exits before Kafka starts",
            hint=f"set {missing}, or rename the listener and set its secrets as listener.name.NAME properties",
            service=broker.name,
            broker_prints=_prints(broker, missing),
        )


def _wanted(broker: Broker, advertised: str) -> tuple[str, ...]:
    """The variables that the script requires, in its order."""
    wanted: tuple[str, ...] = ()
    if "SSL://" in advertised:
        asked = broker.member.variables.get("KAFKA_SSL_CLIENT_AUTH", "")
        wanted += _TLS + (_CLIENT_TLS if "required" in asked or "requested" in asked else ())
    if "SASL_" in advertised and "://" in advertised.partition("SASL_")[2]:
        wanted += ("KAFKA_OPTS",)
    return wanted


def _is_missing(broker: Broker, variable: str) -> bool:
    """Whether a variable is absent or empty; one that comes from the shell is neither."""
    name = property_name(variable, "KAFKA_")
    declared = broker.declared.get(variable)
    return not broker.config.is_unknown(name) and (declared is None or declared.value == "")


def _prints(broker: Broker, variable: str) -> str:
    if broker.config.family is ImageFamily.APACHE:
        return f"{variable} environment variable not set"
    version = broker.config.version
    newer = version is not None and version.at_least(4)
    return f'environment variable "{variable}" is not set' if newer else f"{variable} is required."
