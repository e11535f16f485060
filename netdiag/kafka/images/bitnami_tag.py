"""Which generation of Bitnami's start scripts a tag stands for.

Source: the notable changes in the README of bitnami/kafka (bitnami/containers) with the tags at which the scripts
changed, and `kafka-env.sh` and `libkafka.sh` of the folders 2 to 4.3 there. A tag without a revision was moved with
every build, so it stands for the last one of its release.
"""

from enum import Enum

from netdiag.kafka.images.reference import KafkaVersion
from netdiag.patterns import regex


class Generation(Enum):
    """What the scripts assume where nothing is said.

    ZOOKEEPER has defaults for listeners and for a ZooKeeper on localhost, KRAFT for a single KRaft node unless
    KAFKA_ENABLE_KRAFT says no, EXPLICIT for nothing; UNKNOWN may be any of them.
    """

    ZOOKEEPER = "zookeeper"
    KRAFT = "kraft"
    EXPLICIT = "explicit"
    UNKNOWN = "unknown"


_REVISION = regex(r"-r(\d+)(?:-|$)")
# Release: first revision with KRaft as its default, first revision without defaults; None where there was none.
_CHANGED: dict[tuple[int, int, int], tuple[int | None, int | None]] = {
    (3, 2, 3): (73, 161),
    (3, 3, 2): (29, 176),
    (3, 4, 0): (23, None),
    (3, 4, 1): (0, 50),
    (3, 5, 0): (0, None),
    (3, 5, 1): (0, 4),
}
# The last patch release of the minor ones in which the scripts changed.
_LAST_PATCH = {(3, 2): 3, (3, 3): 2, (3, 4): 1, (3, 5): 2}


def generation(tag: str | None, version: KafkaVersion | None) -> Generation:
    """The generation of a tag; a missing or floating one is the newest."""
    if tag is None or tag == "latest":
        return Generation.EXPLICIT
    if version is None or not version.at_least(2):
        return Generation.UNKNOWN
    minor = (version.major, version.minor)
    if minor < (3, 2):
        return Generation.ZOOKEEPER
    if minor > (3, 5):
        return Generation.EXPLICIT
    patch = _LAST_PATCH[minor] if version.patch is None else version.patch
    release = (*minor, patch)
    if release not in _CHANGED:
        return Generation.EXPLICIT if minor == (3, 5) else Generation.ZOOKEEPER
    kraft, explicit = _CHANGED[release]
    revision = _REVISION.search(tag)
    if explicit is not None and (revision is None or int(revision[1]) >= explicit):
        return Generation.EXPLICIT
    if kraft is not None and (revision is None or int(revision[1]) >= kraft):
        return Generation.KRAFT
    return Generation.ZOOKEEPER
