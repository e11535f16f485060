"""apache/kafka and apache/kafka-native (3.7 and newer): KRaft only, environment or bundled file, never both.

Source: `docker/resources/common-scripts/{configure,configureDefaults}` and `KafkaDockerWrapper` of Apache Kafka.
"""

from netdiag.kafka.images.reference import ContainerUser, Environment, Family, ImageFamily
from netdiag.kafka.images.settings import (
    KRAFT_PROPERTIES,
    ImageSettings,
    Refusal,
    settings_from,
    with_defaults,
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
        "KAFKA_JMX_HOSTNAME",
    }
)
DEFAULT_CLUSTER_ID = "5L6g3nShT-eMCtK--X86sw"


def settings(environment: Environment) -> ImageSettings:
    """The properties the image starts Kafka with."""
    given = settings_from(environment, prefix="KAFKA_", excluded=EXCLUDED)
    if not given:
        return ImageSettings(settings=with_defaults({}, KRAFT_PROPERTIES))
    controller_only = environment.get("KAFKA_PROCESS_ROLES") == "controller"
    if controller_only:
        refusal = None
        if environment.get("KAFKA_ADVERTISED_LISTENERS"):
            refusal = Refusal(
                prints="KAFKA_ADVERTISED_LISTENERS is not supported on a KRaft controller.",
                variable="KAFKA_ADVERTISED_LISTENERS",
                missing=False,
            )
        return ImageSettings(settings=given, refusal=refusal)
    return ImageSettings(settings=with_derived_listeners(given, pattern=r"://[^:]*:"))


FAMILY = Family(
    id=ImageFamily.APACHE,
    repositories=("apache/kafka", "apache/kafka-native"),
    settings=lambda environment, image, launch: settings(environment),
    start_scripts=("/etc/kafka/docker/run",),
    default_cluster_id=lambda environment, image: DEFAULT_CLUSTER_ID,
    config_file=lambda environment: "/mnt/shared/config/server.properties",
    user=lambda image: ContainerUser(uid=1000, gid=1000),
    volumes=("/etc/kafka/secrets", "/var/lib/kafka/data", "/mnt/shared/config"),
)
