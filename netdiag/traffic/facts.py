"""What wire rules judge: small frozen values that say what a capture shows, client by client.

`traffic.insights` makes them from the tables of the engine, one DataFrame per kind of fact with the fields below as
its columns; `io.spark.analysis` collects them into a `WireView`; `rules.wire` judges it. Nothing here knows Spark, so
that rules are tested from literals. Every kind is bounded (`MOST` facts, `MOST_VALUES` values in a tuple): what there
is most of, or what is worst, is kept.

Times are nanoseconds since 1970 UTC; `time` is the first sighting, `last` the last one. `client` and `broker` are
address:port (of the first sighting: a client has many ports), `client_id` is the client.id. A fact is about one client,
which is the address and the client.id together: several applications share an address behind NAT, and several
instances share a client.id.
"""

from dataclasses import field

from netdiag.digits import number_of
from netdiag.values import dataclass

MOST = 2000
MOST_VALUES = 8
SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """Who, where and when; `times` counts. `packet` and `file` name the packet that shows it first."""

    time: int = 0
    last: int = 0
    times: int = 1
    client: str = ""
    broker: str = ""
    client_id: str | None = None
    packet: int | None = None
    file: str = ""

    @property
    def client_host(self) -> str:
        """The address of the client."""
        return host_of(self.client)

    @property
    def seconds(self) -> float:
        """From the first sighting to the last."""
        return max(0, self.last - self.time) / SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvertisedEndpoint(Sighting):
    """An address of a broker that `broker` told a client.

    `leads`: topics of which the client was told that this broker leads partitions, where it asked for few topics;
    `coordinates`: groups and transactional ids for which the client asked for the coordinator and was sent here.
    """

    node_id: int
    host: str
    port: int
    cluster_id: str | None = None
    leads: tuple[str, ...] = ()
    coordinates: tuple[str, ...] = ()

    @property
    def endpoint(self) -> str:
        """host:port as clients write it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts(Sighting):
    """Connections of one client address to one broker address that opened alike and spoke alike.

    `also`: other addresses of the same connections (published port, NAT). `opening` and `protocol` as in table
    connections. `hung_up`: how many ended without an answer to what the client sent. `alerts`: how many got seven bytes
    and the end, which is a TLS alert. `open`: how many were open when the capture ended. `lossy`: how many have bytes
    that the capture lacks.
    """

    opening: str
    protocol: str = "none"
    also: tuple[str, ...] = ()
    hung_up: int = 0
    alerts: int = 0
    open: int = 0
    requests: int = 0
    responses: int = 0
    lossy: int = 0
    server_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NameLookup(Sighting):
    """A name that a client address asked the name service for, with one kind of result; `broker` is the server."""

    name: str
    result: str
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestCounts(Sighting):
    """Requests of one client to one broker with one api key; `busiest`: the most within ten seconds.

    `lowest` and `highest` are versions, None where unknown. `unanswered` lack an answer that they should have.
    `throttled` answers told of throttling, `throttle_ms` is the sum and `longest_throttle_ms` the longest.
    """

    api_key: int
    lowest: int | None = None
    highest: int | None = None
    busiest: int = 0
    unanswered: int = 0
    throttled: int = 0
    throttle_ms: int = 0
    longest_throttle_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors(Sighting):
    """One error code in answers to one client, of an api key; `calls`: all its answers of that api key.

    `topic` and `partition` are set where the code is that of partitions (the first of them); `partitions` counts.
    `group` is the group of the requests. `mechanism` is that of SASL.
    """

    api_key: int
    error_code: int
    calls: int = 0
    topic: str | None = None
    partition: int | None = None
    partitions: int = 0
    group: str | None = None
    mechanism: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupStep(Sighting):
    """One exchange of a group protocol, or the heartbeats of a generation; of groups that rebalance often.

    The fields are those of table group_events; `answered` is when the answer was there, 0 where there is none.
    """

    group: str
    api_key: int
    answered: int = 0
    member_id: str | None = None
    instance_id: str | None = None
    generation: int | None = None
    leader: str | None = None
    members: tuple[str, ...] = ()
    reason: str | None = None
    error_code: int = 0
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves(Sighting):
    """How often something moved from broker to broker: the coordinator of `key`, or the leader of `key`.

    `kind`: coordinator or leader; the key of a leader is topic-partition. `times` counts the moves; `nodes` are the
    node ids it was at, `returns` how often it came back to an earlier one.
    """

    kind: str
    key: str
    nodes: tuple[int, ...] = ()
    returns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducedBatches(Sighting):
    """The record batches that one client produced to one topic; `times` counts them.

    `plain` batches (with `plain_bytes`) are not compressed. `resent` batches have a sequence that was sent before,
    `most_resent` is how often one was sent. `replicas`: of the topic's partitions, where the capture tells.
    """

    topic: str
    records: int = 0
    bytes: int = 0
    plain: int = 0
    plain_bytes: int = 0
    plain_records: int = 0
    resent: int = 0
    most_resent: int = 1
    replicas: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Acks(Sighting):
    """Produce requests of one client to one topic with one value of acks; `times` counts them."""

    topic: str
    acks: int
    replicas: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Skew(Sighting):
    """The partition of a topic that most is produced to; client and broker are those that do most of it.

    `batches`, `records` and `bytes` are those of the partition, `all_*` those of the topic, which has `partitions`.
    """

    topic: str
    partition: int
    partitions: int
    batches: int = 0
    records: int = 0
    bytes: int = 0
    all_records: int = 0
    all_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Oversized(Sighting):
    """Requests of one client that were refused for their size (`error_code`), or that no broker takes (0).

    `largest`: bytes of the largest of these requests.
    """

    error_code: int
    largest: int
    topic: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleConnections(Sighting):
    """Connections that ended after a silence. `idle_ms` is the shortest of these silences, `longest_ms` the longest.

    `used`: a request was sent into the silence, and no answer came; `ending` as in table connections.
    """

    ending: str
    used: bool
    idle_ms: int
    longest_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster(Sighting):
    """A cluster id that a broker address told; `client` is the first it was told to."""

    cluster_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What the capture holds: its time, connections, those that began before it, and the bytes it lacks."""

    time: int = 0
    last: int = 0
    connections: int = 0
    unseen: int = 0
    bytes: int = 0
    lost_bytes: int = 0

    @property
    def lossy(self) -> bool:
        """Whether more than one byte in a thousand is missing: what was not seen may have happened all the same."""
        return self.lost_bytes * 1000 > self.bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class WireView:
    """Everything that rules about the wire are told."""

    coverage: Coverage = field(default_factory=Coverage)
    advertised_endpoints: tuple[AdvertisedEndpoint, ...] = ()
    attempts: tuple[Attempts, ...] = ()
    name_lookups: tuple[NameLookup, ...] = ()
    request_counts: tuple[RequestCounts, ...] = ()
    errors: tuple[Errors, ...] = ()
    group_steps: tuple[GroupStep, ...] = ()
    moves: tuple[Moves, ...] = ()
    produced_batches: tuple[ProducedBatches, ...] = ()
    acks: tuple[Acks, ...] = ()
    skews: tuple[Skew, ...] = ()
    oversized: tuple[Oversized, ...] = ()
    idle_connections: tuple[IdleConnections, ...] = ()
    clusters: tuple[Cluster, ...] = ()


def host_of(address: str) -> str:
    """The address without its port and without brackets."""
    return address.rpartition(":")[0].strip("[]")


def port_of(address: str) -> int:
    """The port of address:port, 0 where there is none."""
    port = address.rpartition(":")[2]
    return number_of(port) or 0
