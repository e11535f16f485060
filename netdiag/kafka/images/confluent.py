"""confluentinc/cp-kafka, cp-server and cp-enterprise-kafka: environment only, required variables checked first.

Source: `configure` of the images' start scripts, Confluent Platform 7.2 to 8.0.
"""

from collections.abc import Mapping

from netdiag.kafka.images.reference import KafkaVersion
from netdiag.kafka.images.settings import ImageSettings, Refusal, settings_from, with_derived_listeners

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


def settings(environment: Mapping[str, str | None], version: KafkaVersion | None) -> ImageSettings:
    """The properties the image starts Kafka with, or the variable it stops at."""
    given = settings_from(environment, prefix="KAFKA_", excluded=EXCLUDED)
    return ImageSettings(
        settings=with_derived_listeners(given, pattern=r"://(.*?):"), refusal=_refusal(environment, version)
    )


def _refusal(environment: Mapping[str, str | None], version: KafkaVersion | None) -> Refusal | None:
    """The first check of the start script that fails, in the script's order."""
    generation_8 = version is not None and version.at_least(4)
    for variable in _required(environment, generation_8=generation_8):
        if environment.get(variable, "") == "":
            prints = f'environment variable "{variable}" is not set' if generation_8 else f"{variable} is required."
            return Refusal(prints=prints, variable=variable, missing=True)
    for variable, name in _DEPRECATED.items():
        if environment.get(variable):
            prints = f"{name} is deprecated. Please use KAFKA_ADVERTISED_LISTENERS instead."
            return Refusal(prints=prints, variable=variable, missing=False)
    if environment.get("KAFKA_PROCESS_ROLES") == "controller" and environment.get("KAFKA_ADVERTISED_LISTENERS"):
        prints = "KAFKA_ADVERTISED_LISTENERS is not supported on a KRaft controller."
        return Refusal(prints=prints, variable="KAFKA_ADVERTISED_LISTENERS", missing=False)
    return None


def _required(environment: Mapping[str, str | None], *, generation_8: bool) -> tuple[str, ...]:
    if generation_8 or environment.get("KAFKA_PROCESS_ROLES"):
        head = ("KAFKA_PROCESS_ROLES", "CLUSTER_ID") if generation_8 else ("CLUSTER_ID",)
        if environment.get("KAFKA_PROCESS_ROLES") == "controller":
            return head
        return (*head, "KAFKA_ADVERTISED_LISTENERS")
    return ("KAFKA_ZOOKEEPER_CONNECT", "KAFKA_ADVERTISED_LISTENERS")
