"""What an image and its environment make: settings and cluster id, by the image's family."""

from collections.abc import Mapping

from netdiag.kafka.images import (
    apache,
    bitnami,
    confluent,
    debezium,
    fast_data_dev,
    strimzi,
    unknown,
    wurstmeister,
)
from netdiag.kafka.images.reference import ImageFamily, ImageReference
from netdiag.kafka.images.settings import ImageSettings, Launch


def image_settings(image: ImageReference, environment: Mapping[str, str | None], launch: Launch) -> ImageSettings:
    """The properties the image hands to Kafka; none where it is not known."""
    match image.family:
        case ImageFamily.APACHE:
            return apache.settings(environment)
        case ImageFamily.CONFLUENT:
            return confluent.settings(environment, image.kafka_version)
        case ImageFamily.CONFLUENT_LOCAL:
            return confluent.local_settings(environment, image.kafka_version)
        case ImageFamily.BITNAMI:
            return bitnami.settings(environment, image)
        case ImageFamily.WURSTMEISTER:
            return wurstmeister.settings(environment, image, launch)
        case ImageFamily.DEBEZIUM:
            return debezium.settings(environment, image)
        case ImageFamily.STRIMZI:
            return strimzi.settings(environment, image, launch)
        case ImageFamily.FAST_DATA_DEV:
            return fast_data_dev.settings(environment)
        case ImageFamily.OTHER:
            return unknown.settings(environment)
        case ImageFamily.CONFLUENT_ZOOKEEPER | ImageFamily.REDPANDA:
            return ImageSettings()


def cluster_id(image: ImageReference, environment: Mapping[str, str | None]) -> str | None:
    """The cluster id that a node formats its storage with; None where it generates one, or a shell passes it on."""
    default = _default_cluster_id(image, environment)
    names = cluster_id_variables(image)
    given = next((name for name in names if name in environment), None)
    if given is not None and environment[given] is None:
        return None
    return next((environment[name] for name in names if environment.get(name)), None) or default


def cluster_id_variables(image: ImageReference) -> tuple[str, ...]:
    """The variables that set the cluster id; the first that is set wins."""
    return ("KAFKA_CLUSTER_ID", "KAFKA_KRAFT_CLUSTER_ID") if image.family is ImageFamily.BITNAMI else ("CLUSTER_ID",)


def _default_cluster_id(image: ImageReference, environment: Mapping[str, str | None]) -> str | None:
    match image.family:
        case ImageFamily.APACHE:
            return apache.DEFAULT_CLUSTER_ID
        case ImageFamily.CONFLUENT_LOCAL:
            return confluent.LOCAL_DEFAULTS["CLUSTER_ID"]
        case ImageFamily.DEBEZIUM if debezium.is_kraft(environment, image):
            return debezium.DEFAULT_CLUSTER_ID
        case _:
            return None
