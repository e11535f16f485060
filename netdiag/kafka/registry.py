"""What brokers have registered with their cluster: read from ZooKeeper's nodes, the metadata log, or a broker's answer.

In ZooKeeper, each broker that is alive has a node below `/brokers/ids` (`BrokerIdZNode` of Kafka 3.9); it is gone when
the broker's session ends. In KRaft, a registration stays until it is unregistered, and a broker that is not alive is
fenced. A listener of a broker tells the endpoints of that listener only.
"""

import json
from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from netdiag.kafka.cluster_questions import DESCRIBE_QUORUM, ClusterTold
from netdiag.kafka.listeners import Endpoint, parse_listeners, well_formed
from netdiag.kafka.questions import Answered, NodeEndpoint
from netdiag.kafka.stored_state import Registration, StoredState
from netdiag.kafka.zookeeper import BROKER_IDS, CLUSTER_ID, CONTROLLER, ZookeeperRead
from netdiag.values import dataclass

# Of a listener whose name nobody tells; `Endpoint` prints such a one without its name.
UNNAMED = "(listener)"
MOST_ENDPOINTS = 100
_LONGEST = 255
_LARGEST = 64 * 1024


class RegistryKind(StrEnum):
    """Where a registry was read; the value is the word in JSON."""

    ZOOKEEPER = "zookeeper"
    METADATA_LOG = "metadata-log"
    LISTENER = "listener"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredNode:
    """A broker or controller that registered. `epoch`: of the broker, czxid in ZooKeeper; `since`: ms since 1970 UTC.

    `is_fenced` None: not told.
    """

    node_id: int
    endpoints: tuple[Endpoint, ...]
    rack: str | None = None
    epoch: int | None = None
    is_fenced: bool | None = None
    since: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """What one source says of a cluster.

    `source` is that in words. `controller_id` None: nobody is controller; `tells_controller` false: it is not told.
    `controller_lost` is why a broker gets no answer from a controller, "" where it does or does not tell.
    `problems` are what could not be read. Of a LISTENER, endpoints are those of that listener alone.
    """

    kind: RegistryKind
    source: str
    cluster_id: str | None = None
    controller_id: int | None = None
    tells_controller: bool = True
    controller_lost: str = ""
    brokers: tuple[RegisteredNode, ...] = ()
    controllers: tuple[RegisteredNode, ...] = ()
    problems: tuple[str, ...] = ()

    def broker(self, node_id: int | None) -> RegisteredNode | None:
        """The registration of that id."""
        return next((broker for broker in self.brokers if broker.node_id == node_id), None)


def from_zookeeper(read: ZookeeperRead, source: str) -> Registry:
    """The registry in ZooKeeper's nodes."""
    problems = [f"{path} may not be read without authentication" for path in read.refused]
    brokers: list[RegisteredNode] = []
    for path, node in read.nodes.items():
        number = path.removeprefix(f"{BROKER_IDS}/")
        if number == path:
            continue
        broker = _broker(int(number), node.data, node.czxid)
        if broker is None:
            problems.append(f"{path} cannot be read")
        else:
            brokers.append(broker)
    if read.has_more:
        problems.append(f"there are more brokers than the {len(brokers)} that netdiag reads")
    if not read.nodes and not read.refused:
        problems.append("no Kafka broker has ever registered there")
    cluster_id = _text(_document(read.data(CLUSTER_ID)).get("id"))
    controller_id = _number(_document(read.data(CONTROLLER)).get("brokerid"))
    return Registry(
        kind=RegistryKind.ZOOKEEPER,
        source=source,
        cluster_id=cluster_id,
        controller_id=controller_id if controller_id is not None and controller_id >= 0 else None,
        tells_controller=CONTROLLER not in read.refused,
        brokers=tuple(sorted(brokers, key=lambda broker: broker.node_id)),
        problems=tuple(problems),
    )


def from_stored_state(state: StoredState, source: str, cluster_id: str | None) -> Registry:
    """The registry in the metadata log of a node, as far as that node has got."""
    problems = [f"{state.unread} records cannot be decoded"] if state.unread else []
    if state.is_cut:
        problems.append("there are more records than netdiag reads")
    return Registry(
        kind=RegistryKind.METADATA_LOG,
        source=source,
        cluster_id=cluster_id,
        tells_controller=False,
        brokers=tuple(map(_registered, state.brokers)),
        controllers=tuple(map(_registered, state.controllers)),
        problems=tuple(problems),
    )


def from_listener(answered: Answered, told: ClusterTold | None, source: str) -> Registry:
    """What one listener tells: with KRaft, the quorum's leader is the controller, as far as that is told."""
    # Brokers with ZooKeeper do not offer DescribeQuorum.
    has_quorum = any(api.api_key == DESCRIBE_QUORUM for api in answered.api_versions)
    told = told or ClusterTold(cluster_refused="it was not asked", quorum_refused="it was not asked")
    name = _listener(answered)
    fenced = {one.endpoint.node_id: one.is_fenced for one in told.brokers}
    alive = {endpoint.node_id: endpoint for endpoint in answered.brokers}
    known = {**{one.endpoint.node_id: one.endpoint for one in told.brokers}, **alive}
    controller_id: int | None = answered.controller_id if answered.controller_id >= 0 else None
    if has_quorum:
        controller_id = told.quorum.leader_id if told.quorum else None
    return Registry(
        kind=RegistryKind.LISTENER,
        source=source,
        cluster_id=answered.cluster_id,
        controller_id=controller_id,
        tells_controller=not has_quorum or told.quorum is not None,
        controller_lost=_lost(told) if has_quorum else "",
        brokers=tuple(
            RegisteredNode(
                node_id=node_id,
                endpoints=(Endpoint(listener=name, host=end.host[:_LONGEST], port=end.port),),
                rack=_text(end.rack),
                is_fenced=fenced.get(node_id),
            )
            for node_id, end in sorted(known.items())
        ),
        controllers=tuple(
            RegisteredNode(node_id=node_id, endpoints=endpoints)
            for node_id, endpoints in sorted((told.quorum.endpoints if told.quorum else {}).items())
        ),
        problems=tuple(
            f"{question}: {because}"
            for question, because in (
                ("DescribeCluster", told.cluster_refused),
                ("DescribeQuorum", told.quorum_refused if has_quorum else ""),
            )
            if because
        ),
    )


def _lost(told: ClusterTold) -> str:
    if told.quorum is not None:
        return "" if told.quorum.leader_id is not None else "the quorum has no leader"
    return told.quorum_refused if told.quorum_is_silent else ""


def _listener(answered: Answered) -> str:
    """The name of the listener that answered, which the broker does not say: it is where it advertises itself."""
    own = next((one for one in answered.brokers if one.node_id == answered.node_id), None)
    advertised = answered.setting("advertised.listeners") or answered.setting("listeners") or ""
    return _name(own, advertised) if own is not None else UNNAMED


def _name(own: NodeEndpoint, advertised: str) -> str:
    ends = (entry.endpoint for entry in well_formed(parse_listeners(advertised)))
    names = {end.listener for end in ends if end.port == own.port and end.host in ("", own.host)}
    return names.pop() if len(names) == 1 else UNNAMED


def _registered(node: Registration) -> RegisteredNode:
    return RegisteredNode(
        node_id=node.node_id,
        endpoints=_endpoints(node.endpoints)[0],
        rack=node.rack,
        epoch=node.epoch,
        is_fenced=node.is_fenced,
    )


def _broker(node_id: int, data: bytes, czxid: int) -> RegisteredNode | None:
    """A registration of any version: from the second on with `endpoints`, before with a host and a port."""
    value = _document(data)
    texts = value.get("endpoints")
    if not isinstance(texts, list):
        host, port = value.get("host"), _number(value.get("port"))
        if not isinstance(host, str) or port is None or not 0 < port < 65536:
            return None
        texts = [f"PLAINTEXT://{host}:{port}"]
    endpoints, all_read = _endpoints(text for text in texts if isinstance(text, str))
    if not all_read or len(texts) != len(endpoints):
        return None
    since = value.get("timestamp")
    return RegisteredNode(
        node_id=node_id,
        endpoints=endpoints,
        rack=_text(value.get("rack")),
        epoch=czxid,
        since=int(since)
        if isinstance(since, str) and since.isascii() and since.isdigit() and len(since) < 19
        else None,
    )


def _endpoints(texts: Iterable[str]) -> tuple[tuple[Endpoint, ...], bool]:
    """The endpoints, and whether all of them could be read."""
    found: list[Endpoint] = []
    for text in texts:
        entries = well_formed(parse_listeners(text)) if len(text) <= 2 * _LONGEST else ()
        if len(entries) != 1 or len(found) >= MOST_ENDPOINTS:
            return tuple(found), False
        found.append(entries[0].endpoint)
    return tuple(found), True


def _document(data: bytes | None) -> dict[str, Any]:
    if data is None or len(data) > _LARGEST:
        return {}
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Any) -> str | None:
    return value[:_LONGEST] if isinstance(value, str) else None
