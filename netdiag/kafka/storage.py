"""What a broker keeps in its data directory, as far as it is text.

Source: MetaProperties, MetaPropertiesEnsemble and PropertiesUtils of Kafka 3.9 and 4.x, and directories that brokers of
3.9.1 and 4.3.1 wrote.
"""

from collections.abc import Mapping

from netdiag.values import dataclass

META_PROPERTIES = "meta.properties"
# Of a number, with its sign.
_DIGITS = 11
# Of what is shown; Kafka's own cluster IDs have 22 characters.
_LONGEST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaProperties:
    """Which node of which cluster a data directory belongs to; None where the file does not say.

    `version` 0 is written with ZooKeeper, 1 with KRaft.
    """

    version: int
    cluster_id: str | None
    node_id: int | None
    directory_id: str | None = None


class UnreadableMetaProperties(Exception):
    """The broker does not start with this file; the message is what it prints."""


def meta_properties(values: Mapping[str, str]) -> MetaProperties:
    """The identity in the properties of a `meta.properties`; UnreadableMetaProperties where the broker refuses them."""
    try:
        version = int(values.get("version", "0")[:_DIGITS])
    except ValueError:
        raise UnreadableMetaProperties(
            f"Invalid meta.properties version string '{values['version'][:_LONGEST]}'"
        ) from None
    if version not in (0, 1):
        raise UnreadableMetaProperties(f"Unknown meta.properties version number {version}")
    name = "node.id" if version else "broker.id"
    try:
        node_id = int(values[name][:_DIGITS]) if name in values else None
    except ValueError:
        raise UnreadableMetaProperties(f"Unable to read {name} as a base-10 number.") from None
    cluster_id = values["cluster.id"][:_LONGEST] if "cluster.id" in values else None
    if version and None in (cluster_id, node_id):
        raise UnreadableMetaProperties(f"{'cluster.id' if cluster_id is None else name} was not found.")
    return MetaProperties(
        version=version, cluster_id=cluster_id, node_id=node_id, directory_id=values.get("directory.id")
    )
