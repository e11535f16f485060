"""The configuration that a broker runs with: the settings that the image passes on, and Kafka's defaults for the rest.

Every function takes a `BrokerConfig` and follows `KafkaConfig` of Apache Kafka 3.9 (4.x moved the same checks
to `AbstractKafkaConfig`). Absent properties get Kafka's default here and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from netdiag.kafka.images import redpanda
from netdiag.kafka.images.families import FAMILIES, cluster_id, image_settings
from netdiag.kafka.images.reference import ImageFamily, ImageReference, KafkaVersion
from netdiag.kafka.images.settings import Launch, Refusal, Setting
from netdiag.kafka.listeners import (
    SECURITY_PROTOCOLS,
    ListenerEntry,
    MalformedEntry,
    MalformedVoter,
    MapEntry,
    Voter,
    is_odd_name,
    parse_listeners,
    parse_names,
    parse_protocol_map,
    parse_voters,
    well_formed,
)
from netdiag.patterns import regex

DEFAULT_LISTENERS = "PLAINTEXT://:9092"
_NODE_ID = regex(r"[+-]?[0-9]{1,10}")


class Mode(Enum):
    """How the broker coordinates with others; UNDECIDED where neither KRaft nor ZooKeeper is configured.

    REDPANDA is no Apache Kafka: it speaks the protocol, and none of Kafka's own checks apply to it.
    """

    KRAFT = "kraft"
    ZOOKEEPER = "zookeeper"
    REDPANDA = "redpanda"
    UNDECIDED = "undecided"


# Without slots, so that what is parsed out of a setting is parsed once.
@dataclass(frozen=True, kw_only=True)
class BrokerConfig:
    """The settings of one broker, from its image and environment.

    `is_newest` tells that the tag stands for whatever release is the newest.
    """

    family: ImageFamily
    version: KafkaVersion | None
    settings: Mapping[str, Setting]
    refusal: Refusal | None = None
    cluster_id: str | None = None
    cluster_id_variables: tuple[str, ...] = ("CLUSTER_ID",)
    tag: str | None = None
    is_newest: bool = False

    def value(self, name: str) -> str | None:
        """The text of a property; None when it is absent or unknown."""
        setting = self.settings.get(name)
        return setting.value if setting else None

    def is_unknown(self, name: str) -> bool:
        """Whether the property is given with a value that cannot be known."""
        setting = self.settings.get(name)
        return setting is not None and setting.value is None

    @cached_property
    def roles(self) -> frozenset[str]:
        """The roles in `process.roles`."""
        return frozenset(role.strip() for role in (self.value("process.roles") or "").split(",") if role.strip())

    @cached_property
    def is_broker_only(self) -> bool:
        """Whether the node serves clients and leaves the quorum to others."""
        return self.roles == {"broker"}

    @cached_property
    def is_controller_only(self) -> bool:
        """Whether the node is an isolated controller."""
        return self.roles == {"controller"}

    @property
    def data_directories(self) -> tuple[str, ...]:
        """Where the broker keeps its data, as far as properties and the image say; nothing if this is not known."""
        if self.is_unknown("log.dirs") or self.is_unknown("log.dir"):
            return ()
        named = self.value("log.dirs") or self.value("log.dir") or FAMILIES[self.family].data_directory
        return tuple(text.strip() for text in named.split(",") if text.strip().startswith("/"))

    @cached_property
    def mode(self) -> Mode:
        """KRaft where roles are given, else ZooKeeper where it is named."""
        if self.family is ImageFamily.REDPANDA:
            return Mode.REDPANDA
        if self.roles:
            return Mode.KRAFT
        return Mode.ZOOKEEPER if self.value("zookeeper.connect") else Mode.UNDECIDED

    @cached_property
    def is_broker(self) -> bool:
        """Whether the node serves clients: every node except an isolated controller."""
        return self.mode is not Mode.KRAFT or "broker" in self.roles

    @cached_property
    def is_controller(self) -> bool:
        """Whether the node is a member of the KRaft quorum."""
        return "controller" in self.roles

    @cached_property
    def node_id(self) -> int | None:
        """`node.id`, or `broker.id` where only that is given."""
        for name in ("node.id", "broker.id"):
            value = (self.value(name) or "").strip()
            if _NODE_ID.fullmatch(value):
                return int(value)
        return None

    @cached_property
    def controller_names(self) -> tuple[str, ...]:
        """`controller.listener.names`, as case-sensitive as the broker takes it."""
        return parse_names(self.value("controller.listener.names") or "")

    @cached_property
    def listener_entries(self) -> tuple[ListenerEntry | MalformedEntry, ...]:
        """`listeners`, or Kafka's default where nothing is given; empty when unknown."""
        if self.is_unknown("listeners"):
            return ()
        if self.mode is Mode.REDPANDA:
            return redpanda.parse_addresses(self.value("listeners") or "")
        return parse_listeners(self.value("listeners") or DEFAULT_LISTENERS)

    @cached_property
    def listeners(self) -> tuple[ListenerEntry, ...]:
        """The well-formed entries of `listeners`."""
        return well_formed(self.listener_entries)

    @cached_property
    def is_readable(self) -> bool:
        """Whether the broker can parse both listener lists; otherwise nothing follows from them."""
        entries = (*self.listener_entries, *self.advertised_entries)
        return not any(isinstance(entry, MalformedEntry) or self._is_misread(entry) for entry in entries)

    def _is_misread(self, entry: ListenerEntry) -> bool:
        name = entry.endpoint.listener
        return is_odd_name(name) and name not in self.protocol_map

    @cached_property
    def broker_listeners(self) -> tuple[ListenerEntry, ...]:
        """The listeners that clients and brokers use: all except those of the controller."""
        return tuple(entry for entry in self.listeners if entry.endpoint.listener not in self.controller_names)

    @cached_property
    def advertised_entries(self) -> tuple[ListenerEntry | MalformedEntry, ...]:
        """`advertised.listeners`, or the broker listeners where it is not given; empty when unknown."""
        if self.is_unknown("advertised.listeners"):
            return ()
        value = self.value("advertised.listeners")
        if not value:
            return self.broker_listeners
        return redpanda.parse_addresses(value) if self.mode is Mode.REDPANDA else parse_listeners(value)

    @cached_property
    def advertised_listeners(self) -> tuple[ListenerEntry, ...]:
        """What clients get: the well-formed advertised entries, without the controller's."""
        entries = well_formed(self.advertised_entries)
        return tuple(entry for entry in entries if entry.endpoint.listener not in self.controller_names)

    @cached_property
    def listener_by_name(self) -> Mapping[str, ListenerEntry]:
        """The first well-formed entry of `listeners` with each name."""
        return {entry.endpoint.listener: entry for entry in reversed(self.listeners)}

    @cached_property
    def advertised_by_name(self) -> Mapping[str, ListenerEntry]:
        """The first advertised entry with each name."""
        return {entry.endpoint.listener: entry for entry in reversed(self.advertised_listeners)}

    @cached_property
    def protocol_map_entries(self) -> tuple[MapEntry | MalformedEntry, ...]:
        """`listener.security.protocol.map` as given; empty when absent."""
        return parse_protocol_map(self.value("listener.security.protocol.map") or "")

    @cached_property
    def protocol_map(self) -> dict[str, str]:
        """Listener name to security protocol, with the defaults that apply only while the property is absent.

        A KRaft node also maps its controller listeners to PLAINTEXT, unless a listener or controller is named
        after another protocol (KAFKA-13456, 3.1).
        """
        if self.mode is Mode.REDPANDA:
            return redpanda.protocols(self.value(redpanda.PROTOCOLS), self.listeners)
        if self.is_unknown("listener.security.protocol.map"):
            # Whatever the map says of other names, these keep their meaning in any sensible one.
            return {protocol: protocol for protocol in SECURITY_PROTOCOLS}
        if "listener.security.protocol.map" in self.settings:
            return {e.listener: e.protocol for e in self.protocol_map_entries if isinstance(e, MapEntry)}
        return self._default_map()

    @cached_property
    def dropped_defaults(self) -> dict[str, str]:
        """The names that the map leaves out and that have a protocol while no map is given, with that protocol."""
        return {name: protocol for name, protocol in self._default_map().items() if name not in self.protocol_map}

    def _default_map(self) -> dict[str, str]:
        mapping = {protocol: protocol for protocol in SECURITY_PROTOCOLS}
        names = {entry.endpoint.listener for entry in self.listeners} | set(self.controller_names)
        if self.mode is Mode.KRAFT and not names & {"SSL", "SASL_PLAINTEXT", "SASL_SSL"}:
            mapping |= {name: "PLAINTEXT" for name in self.controller_names if name not in mapping}
        return mapping

    @cached_property
    def inter_broker_listener(self) -> str:
        """The listener that brokers use for each other; PLAINTEXT by default, None for Redpanda."""
        if self.mode is Mode.REDPANDA:
            return ""
        name = self.value("inter.broker.listener.name")
        return name.upper() if name else (self.value("security.inter.broker.protocol") or "PLAINTEXT").upper()

    @cached_property
    def quorum(self) -> str:
        """What brokers of one cluster have in common: the voters or the ZooKeeper address, as one text."""
        if self.mode is Mode.KRAFT:
            voters = self.value("controller.quorum.voters") or self.value("controller.quorum.bootstrap.servers") or ""
            return ",".join(sorted(voter.strip() for voter in voters.split(",")))
        return (self.value("zookeeper.connect") or "").replace(" ", "")

    @cached_property
    def voter_entries(self) -> tuple[Voter | MalformedVoter, ...]:
        """`controller.quorum.voters` entry by entry; empty when absent or unknown."""
        return parse_voters(self.value("controller.quorum.voters") or "")

    @cached_property
    def well_formed_voters(self) -> tuple[Voter, ...]:
        """The voters that can be parsed, with their places."""
        return tuple(voter for voter in self.voter_entries if isinstance(voter, Voter))

    @cached_property
    def voters(self) -> tuple[tuple[int, str, int], ...]:
        """`controller.quorum.voters` as (node id, host, port); what cannot be parsed is left out."""
        return tuple((voter.node_id, voter.host, voter.port) for voter in self.well_formed_voters)

    @cached_property
    def controller_listeners(self) -> tuple[ListenerEntry, ...]:
        """The listeners that `controller.listener.names` names."""
        return tuple(entry for entry in self.listeners if entry.endpoint.listener in self.controller_names)

    @cached_property
    def advertised_controller_listeners(self) -> tuple[ListenerEntry, ...]:
        """The advertised entries that `controller.listener.names` names."""
        entries = well_formed(self.advertised_entries)
        return tuple(entry for entry in entries if entry.endpoint.listener in self.controller_names)

    def without_controller_names(self, prints: str) -> str:
        """What a release prints when nothing names controller listeners: `prints`, or what the newer ones say first."""
        if self.is_older_than(4, 2) or self.is_unknown("controller.listener.names") or self.controller_names:
            return prints
        if "controller.listener.names" in self.settings:
            return "Configuration 'controller.listener.names' must not be empty."
        return 'Missing required configuration "controller.listener.names" which has no default value.'

    def is_older_than(self, major: int, minor: int = 0) -> bool:
        """Whether the release is known, and older than `major.minor`; a floating tag stands for the newest."""
        return self.version is not None and not self.version.at_least(major, minor)


def broker_config(
    image: ImageReference, environment: Mapping[str, str | None], launch: Launch | None = None
) -> BrokerConfig:
    """The configuration of a container of this image; a family without known semantics yields no settings."""
    made = image_settings(image, environment, launch or Launch())
    return BrokerConfig(
        family=image.family,
        version=image.kafka_version,
        tag=image.tag,
        settings=made.settings,
        refusal=made.refusal,
        cluster_id=cluster_id(image, environment),
        cluster_id_variables=FAMILIES[image.family].cluster_id_variables,
        is_newest=image.is_newest,
    )
