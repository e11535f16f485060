"""What the records of internal topics amount to: who registered with the controller, which group committed what.

Records are added in the order of their offsets; a later one takes the place of an earlier one of the same key.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from netdiag.values import dataclass

if TYPE_CHECKING:
    # Whoever only reads names and text files needs no layouts.
    from netdiag.kafka.stored_records import StoredRecord

_FENCE, _UNFENCE = 1, -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A node that registered with the controller. `endpoints`: LISTENER://host:port. `epoch`: of a broker."""

    node_id: int
    endpoints: tuple[str, ...]
    epoch: int | None = None
    is_fenced: bool | None = None
    rack: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """What a group committed last for a partition; `timestamp` in milliseconds since 1970 UTC."""

    group: str
    topic: str
    partition: int
    offset: int
    leader_epoch: int | None
    metadata: str | None
    timestamp: int | None
    topic_id: str | None
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group. `kind`: classic, consumer, share or streams. `generation`: of a classic group, else its epoch."""

    name: str
    kind: str
    generation: int | None = None
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredState:
    """What internal topics say at their end. `features`: their levels; `topics`: how many the cluster has.

    `metadata_offset`: of the last record of the cluster's metadata; None where there is none. `unread`: records that
    are none that netdiag knows. `is_cut`: there are more records than netdiag reads.
    """

    brokers: tuple[Registration, ...] = ()
    controllers: tuple[Registration, ...] = ()
    features: Mapping[str, int] = field(default_factory=dict)
    topics: int = 0
    metadata_offset: int | None = None
    groups: tuple[Group, ...] = ()
    commits: tuple[Commit, ...] = ()
    unread: int = 0
    is_cut: bool = False


NOTHING_STORED = StoredState()


class StateBuilder:
    """Adds up records."""

    def __init__(self) -> None:
        self._brokers: dict[int, Registration] = {}
        self._controllers: dict[int, Registration] = {}
        self._features: dict[str, int] = {}
        self._topics: set[str] = set()
        self._commits: dict[tuple[str, str, int], Commit] = {}
        self._groups: dict[str, Group] = {}
        self._members: dict[str, set[str]] = {}
        self._offset: int | None = None
        self._unread = 0

    def add_unread(self) -> None:
        """A record that could not be read."""
        self._unread += 1

    def add_metadata(self, record: "StoredRecord", offset: int | None) -> None:
        """A record of the cluster's metadata; `offset` is None in a snapshot."""
        self._offset = offset if offset is not None else self._offset
        value = record.value or {}
        match record.kind:
            case "RegisterBrokerRecord":
                self._brokers[value["broker_id"]] = Registration(
                    node_id=value["broker_id"],
                    endpoints=_endpoints(value),
                    epoch=value["broker_epoch"],
                    is_fenced=value["fenced"],
                    rack=value["rack"],
                )
            case "RegisterControllerRecord":
                self._controllers[value["controller_id"]] = Registration(
                    node_id=value["controller_id"], endpoints=_endpoints(value)
                )
            case "UnregisterBrokerRecord":
                self._brokers.pop(value["broker_id"], None)
            case "FenceBrokerRecord":
                self._fence(value["id"], True)
            case "UnfenceBrokerRecord":
                self._fence(value["id"], False)
            case "BrokerRegistrationChangeRecord" if value["fenced"] in (_FENCE, _UNFENCE):
                self._fence(value["broker_id"], value["fenced"] == _FENCE)
            case "FeatureLevelRecord":
                self._features[value["name"]] = value["feature_level"]
            case "TopicRecord":
                self._topics.add(value["topic_id"])
            case "RemoveTopicRecord":
                self._topics.discard(value["topic_id"])
            case _:
                pass

    def _fence(self, node_id: int, is_fenced: bool) -> None:
        if node_id in self._brokers:
            self._brokers[node_id] = replace(self._brokers[node_id], is_fenced=is_fenced)

    def add_group(self, record: "StoredRecord", file: str) -> None:
        """A record of `__consumer_offsets`."""
        key, value = record.key or {}, record.value
        if record.kind in ("OffsetCommit", "LegacyOffsetCommit"):
            place = key["group"], key["topic"], key["partition"]
            if value is None:
                self._commits.pop(place, None)
                return
            self._commits[place] = Commit(
                group=key["group"],
                topic=key["topic"],
                partition=key["partition"],
                offset=value["offset"],
                leader_epoch=value.get("leader_epoch"),
                metadata=value["metadata"],
                timestamp=value["commit_timestamp"],
                topic_id=value.get("topic_id"),
                file=file,
            )
            return
        name = key.get("group", key.get("group_id"))
        if not isinstance(name, str):
            return
        if record.kind == "GroupMetadata":
            if value is None:
                self._groups.pop(name, None)
                return
            members = tuple(member["member_id"] for member in value["members"])
            self._groups[name] = Group(name=name, kind="classic", generation=value["generation"], members=members)
        elif record.kind.endswith("GroupMetadata"):
            if value is None:
                self._groups.pop(name, None)
                self._members.pop(name, None)
                return
            kind = record.kind.removesuffix("GroupMetadata").lower()
            self._groups[name] = Group(name=name, kind=kind, generation=value["epoch"])
        elif record.kind.endswith("GroupMemberMetadata"):
            members_of = self._members.setdefault(name, set())
            (members_of.discard if value is None else members_of.add)(key["member_id"])

    def state(self) -> StoredState:
        """What all records so far amount to."""
        groups = (
            group
            if group.kind == "classic"
            else replace(group, members=tuple(sorted(self._members.get(group.name, ()))))
            for group in self._groups.values()
        )
        return StoredState(
            brokers=tuple(self._brokers[node_id] for node_id in sorted(self._brokers)),
            controllers=tuple(self._controllers[node_id] for node_id in sorted(self._controllers)),
            features=dict(sorted(self._features.items())),
            topics=len(self._topics),
            metadata_offset=self._offset,
            groups=tuple(sorted(groups, key=lambda group: group.name)),
            commits=tuple(self._commits[place] for place in sorted(self._commits)),
            unread=self._unread,
        )


def _endpoints(value: dict[str, Any]) -> tuple[str, ...]:
    return tuple(f"{each['name']}://{each['host']}:{each['port']}" for each in value["end_points"])
