"""confluentinc/cp-kafka, cp-server and cp-enterprise-kafka: environment only, required variables checked first.

confluent-local is the same with defaults.

Source: `configure` of the images' start scripts, Confluent Platform 7.2 to 8.0.
"""

from netdiag.kafka.images.reference import (
    ContainerUser,
    Environment,
    Family,
    ImageFamily,
    ImageReference,
    KafkaVersion,
    version_of,
)
from netdiag.kafka.images.settings import (
    ImageSettings,
    Refusal,
    image_default,
    property_name,
    settings_from,
    with_derived_listeners,
)

EXCLUDED = frozenset(
    {
        "KAFKA_VERSION",
        "KAFKA_HEAP_OPTS",
        "KAFKA_LOG4J_OPTS",
        "KAFKA_OPTS",
        "KAFKA_JMX_OPTS",
        "KAFKA_JVM_PERFORMANCE_OPTS",
        "KAFKA_GC_LOG_OPTS",
        "KAFKA_LOG4J_ROOT_LOGLEVEL",
        "KAFKA_LOG4J_LOGGERS",
        "KAFKA_TOOLS_LOG4J_LOGLEVEL",
    }
)
_DEPRECATED = {
    "KAFKA_ADVERTISED_PORT": "advertised.port",
    "KAFKA_ADVERTISED_HOST": "advertised.host",
    "KAFKA_HOST": "host",
    "KAFKA_PORT": "port",
}

# What confluent-local sets itself where a variable is missing or empty: `configureDefaults` of its folder "local".
LOCAL_DEFAULTS = {
    "CLUSTER_ID": "4L6g3nShT-eMCtK--X86sw",
    "KAFKA_NODE_ID": "1",
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,PLAINTEXT_HOST:PLAINTEXT",
    "KAFKA_LISTENERS": "PLAINTEXT://localhost:29092,CONTROLLER://localhost:29093,PLAINTEXT_HOST://0.0.0.0:9092",
    "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://localhost:29092,PLAINTEXT_HOST://localhost:9092",
    "KAFKA_PROCESS_ROLES": "broker,controller",
    "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@localhost:29093",
    "KAFKA_INTER_BROKER_LISTENER_NAME": "PLAINTEXT",
    "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
}


def settings(environment: Environment, version: KafkaVersion | None) -> ImageSettings:
    """The properties the image starts Kafka with, or the variable it stops at."""
    given = settings_from(environment, prefix="KAFKA_", excluded=EXCLUDED)
    return ImageSettings(
        settings=with_derived_listeners(given, pattern=r"://(.*?):"), refusal=_refusal(environment, version)
    )


def _refusal(environment: Environment, version: KafkaVersion | None) -> Refusal | None:
    """The first check of the start script that fails, in the script's order."""
    generation_8 = version is not None and version.at_least(4)
    missing = [v for v in _required(environment, generation_8=generation_8) if environment.get(v, "") == ""]
    if missing:
        variable, *others = missing
        prints = f'environment variable "{variable}" is not set' if generation_8 else f"{variable} is required."
        return Refusal(prints=prints, variable=variable, missing=True, also_missing=tuple(others))
    for variable, name in _DEPRECATED.items():
        if environment.get(variable):
            prints = f"{name} is deprecated. Please use KAFKA_ADVERTISED_LISTENERS instead."
            return Refusal(prints=prints, variable=variable, missing=False)
    if environment.get("KAFKA_PROCESS_ROLES") == "controller" and environment.get("KAFKA_ADVERTISED_LISTENERS"):
        prints = "KAFKA_ADVERTISED_LISTENERS is not supported on a KRaft controller."
        return Refusal(prints=prints, variable="KAFKA_ADVERTISED_LISTENERS", missing=False)
    return None


def _required(environment: Environment, *, generation_8: bool) -> tuple[str, ...]:
    if generation_8 or environment.get("KAFKA_PROCESS_ROLES"):
        head = ("KAFKA_PROCESS_ROLES", "CLUSTER_ID") if generation_8 else ("CLUSTER_ID",)
        if environment.get("KAFKA_PROCESS_ROLES") == "controller":
            return head
        return (*head, "KAFKA_ADVERTISED_LISTENERS")
    return ("KAFKA_ZOOKEEPER_CONNECT", "KAFKA_ADVERTISED_LISTENERS")


def local_settings(environment: Environment, version: KafkaVersion | None) -> ImageSettings:
    """The properties confluent-local starts Kafka with: the same scripts, with defaults for every variable."""
    missing = {name: value for name, value in LOCAL_DEFAULTS.items() if environment.get(name, "") == ""}
    made = settings({**environment, **missing}, version)
    named = {property_name(variable, "KAFKA_"): value for variable, value in missing.items()}
    own = {name: image_default(name, value) for name, value in named.items() if name in made.settings}
    rest = {n: s for n, s in made.settings.items() if not n.startswith("rest.")}
    return ImageSettings(settings={**rest, **own}, refusal=made.refusal)


def _version(repository: str, tag: str) -> KafkaVersion | None:
    """Confluent Platform 7.n carries Apache Kafka 3.n, 8.n carries 4.n, 5.n and 6.n carry 2.n, 4.n carries 1.n."""
    own = version_of(tag)
    if own is None or own.major < 3:
        return None
    ancient = (0, 11 if own.minor >= 3 else 10)
    offset = {3: ancient, 4: (1, own.minor), 5: (2, own.minor), 6: (2, own.minor + 6)}
    return KafkaVersion(*offset.get(own.major, (own.major - 4, own.minor)), own.patch if own.major >= 7 else None)


def _user(image: ImageReference) -> ContainerUser | None:
    """Root up to Confluent Platform 5, `appuser` since 6."""
    release = version_of(image.tag or "")
    return ContainerUser(uid=1000, gid=1000) if image.is_newest or (release and release.major >= 6) else None


FAMILY = Family(
    id=ImageFamily.CONFLUENT,
    repositories=("confluentinc/cp-kafka", "confluentinc/cp-server", "confluentinc/cp-enterprise-kafka"),
    settings=lambda environment, image, launch: settings(environment, image.kafka_version),
    version=_version,
    start_scripts=("/etc/confluent/docker/run",),
    frozen=("confluentinc/cp-enterprise-kafka",),
    data_directory="/var/lib/kafka/data",
    volumes=("/var/lib/kafka/data", "/etc/kafka/secrets"),
    user=_user,
)
LOCAL = Family(
    id=ImageFamily.CONFLUENT_LOCAL,
    repositories=("confluentinc/confluent-local",),
    settings=lambda environment, image, launch: local_settings(environment, image.kafka_version),
    version=_version,
    default_cluster_id=lambda environment, image: LOCAL_DEFAULTS["CLUSTER_ID"],
    volumes=("/var/lib/kafka/data", "/etc/kafka/secrets"),
)
ZOOKEEPER = Family(
    id=ImageFamily.CONFLUENT_ZOOKEEPER,
    repositories=("confluentinc/cp-zookeeper",),
    settings=lambda environment, image, launch: ImageSettings(),
    version=lambda repository, tag: None,
    runs_broker=lambda environment, command: False,
    volumes=("/var/lib/zookeeper/data", "/var/lib/zookeeper/log", "/etc/zookeeper/secrets"),
)
