"""What a conversation with a Kafka endpoint can tell: its steps, its events, how it ends."""

from enum import StrEnum

from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiVersion:
    """The versions of one api key that a broker offers."""

    api_key: int
    min_version: int
    max_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEndpoint:
    """One broker as a listener advertises it. `rack` None: none was told."""

    node_id: int
    host: str
    port: int
    rack: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One effective configuration value of a broker; None where it keeps the value to itself."""

    name: str
    value: str | None


class Step(StrEnum):
    """The questions, in the order in which they are asked."""

    API_VERSIONS = "ApiVersions"
    SASL_HANDSHAKE = "SaslHandshake"
    METADATA = "Metadata"
    DESCRIBE_CLUSTER = "DescribeCluster"
    IDENTITY = "DescribeConfigs"


EVERYTHING = frozenset({Step.API_VERSIONS, Step.METADATA, Step.DESCRIBE_CLUSTER, Step.IDENTITY})


class FailureKind(StrEnum):
    """Why an endpoint gave no usable answer.

    CLOSED: ended or reset before an answer (a TLS listener may do that to a plaintext client, too). TLS: answered with
    TLS records. SASL: ApiVersions was answered and Metadata was not allowed without authentication. NOT_KAFKA: another
    protocol, or a Kafka port that serves no clients (a KRaft controller). ERROR: a Kafka error code, or versions, that
    leave no way on. NO_ANSWER: the caller's time was up.
    """

    CLOSED = "closed"
    TLS = "tls"
    SASL = "sasl"
    NOT_KAFKA = "not-kafka"
    ERROR = "error"
    NO_ANSWER = "no-answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiVersionsReceived:
    """The endpoint speaks Kafka; these requests, in these versions."""

    api_version: int
    api_versions: tuple[ApiVersion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiVersionsUnsupported:
    """The broker does not know our version of ApiVersions; it is asked again with `retry_version`."""

    api_version: int
    retry_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataReceived:
    """Where this listener sends clients: the advertised endpoint of every broker."""

    cluster_id: str | None
    controller_id: int
    brokers: tuple[NodeEndpoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterReceived:
    """DescribeCluster's view; with an error code other than 0 the rest is empty."""

    error_code: int
    cluster_id: str | None
    controller_id: int
    brokers: tuple[NodeEndpoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityReceived:
    """Which broker answers, or why that stays unknown; `settings` are its effective values."""

    node_id: int | None
    settings: tuple[Setting, ...]
    unknown_because: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaslMechanismsReceived:
    """The mechanisms that a SASL listener enables; empty where the listener wants no SASL."""

    error_code: int
    mechanisms: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A Kafka broker answered. `node_id` None: it would not say who it is, `identity_unknown` has the reason.

    `controller_id` -1 and `cluster_id` None are the broker's own "none". `brokers` is what Metadata advertised.
    """

    cluster_id: str | None
    node_id: int | None
    controller_id: int
    brokers: tuple[NodeEndpoint, ...]
    api_versions: tuple[ApiVersion, ...]
    settings: tuple[Setting, ...]
    identity_unknown: str | None

    def setting(self, name: str) -> str | None:
        """The effective value of a configuration key that was asked for; None where it was not told."""
        return next((setting.value for setting in self.settings if setting.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """No usable answer. `speaks` names what answered instead, as far as it can be told; `first_bytes` is a sample."""

    kind: FailureKind
    waiting_for: Step
    detail: str
    speaks: str | None = None
    mechanisms: tuple[str, ...] = ()
    first_bytes: bytes = b""


Outcome = Answered | Failed
Event = (
    ApiVersionsReceived
    | ApiVersionsUnsupported
    | MetadataReceived
    | ClusterReceived
    | IdentityReceived
    | SaslMechanismsReceived
    | Answered
    | Failed
)
