"""What a diagnosing client asks a Kafka endpoint, and what it can learn: steps, questions, answers, events, outcomes.

"Who are you?" has no request of its own. A broker answers DescribeConfigs for a BROKER resource only under its own id;
under another id it refuses with INVALID_REQUEST and "Unexpected broker id, expected 1 or empty string, but received 2"
(Kafka 3.9 and 4.x, ConfigHelper), so either answer tells who it is.

The release is a guess from the versions that a broker offers: the oldest release of the message table that knows all
of them. Releases before the table are told by the newest Fetch that they offer, which grew with almost every release
(`FetchRequest.json` of each release branch). Other brokers that speak the protocol offer what they like.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any

from netdiag.kafka.error_codes import INVALID_REQUEST, NONE, error_name
from netdiag.kafka.protocol import (
    UNKNOWN_TAGS,
    DecodeError,
    Direction,
    Response,
    api_keys,
    api_name,
    decode_response,
    encode_request,
    layout,
    release_versions,
    releases,
    stable_versions,
)
from netdiag.patterns import regex
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
    leaderless: tuple[str, ...] = ()


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

    `controller_id` -1 and `cluster_id` None are the broker's own "none". `brokers` is what Metadata advertised,
    `leaderless` the topics with a partition that has no leader, where topics were asked for.
    """

    cluster_id: str | None
    node_id: int | None
    controller_id: int
    brokers: tuple[NodeEndpoint, ...]
    api_versions: tuple[ApiVersion, ...]
    settings: tuple[Setting, ...]
    identity_unknown: str | None
    leaderless: tuple[str, ...] = ()

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


API_KEYS = {
    Step.API_VERSIONS: 18,
    Step.SASL_HANDSHAKE: 17,
    Step.METADATA: 3,
    Step.DESCRIBE_CLUSTER: 60,
    Step.IDENTITY: 32,
}
SETTINGS = (
    "node.id",
    "broker.id",
    "listeners",
    "advertised.listeners",
    "inter.broker.listener.name",
)
LONGEST_TEXT = 4096
CLIENT_SOFTWARE = "netdiag"
BROKER_RESOURCE = 4
VOTE = 52
QUORUM = "KRaft controller"
"""What a listener is called that only a controller's peers have business with."""

_EXPECTED_ID = regex(r"expected (\d{1,10})\b.{0,40}but received")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who answers: its node id, or why it is unknown."""

    node_id: int | None
    settings: tuple[Setting, ...]
    unknown_because: str | None


NOT_ASKED = Identity(node_id=None, settings=(), unknown_because="it was not asked")


def question(
    step: Step, api_version: int, *, client_version: str, node_id: int, topics: bool = False
) -> dict[str, object]:
    """The request body of a step; `node_id` is the id under which the broker is asked for its identity.

    With `topics`, Metadata is asked for all topics, otherwise for none.
    """
    bodies: dict[Step, dict[str, object]] = {
        Step.API_VERSIONS: {
            "client_software_name": CLIENT_SOFTWARE,
            "client_software_version": re.sub(r"[^A-Za-z0-9]+", ".", client_version).strip(".") or "0",
        },
        Step.SASL_HANDSHAKE: {"mechanism": ""},
        Step.METADATA: {"topics": None if topics else (), "allow_auto_topic_creation": False},
        Step.DESCRIBE_CLUSTER: {},
        Step.IDENTITY: {
            "resources": (
                {
                    "resource_type": BROKER_RESOURCE,
                    "resource_name": str(node_id),
                    "configuration_keys": SETTINGS,
                },
            )
        },
    }
    present = {field.name for field in layout(API_KEYS[step], api_version, Direction.REQUEST).fields}
    return {name: value for name, value in bodies[step].items() if name in present}


@lru_cache(maxsize=256)
def request(
    step: Step, api_version: int, correlation_id: int, client_id: str, client_version: str, node_id: int, topics: bool
) -> bytes:
    """The request of a step as it goes onto the wire; many conversations ask the same."""
    body = question(step, api_version, client_version=client_version, node_id=node_id, topics=topics)
    return encode_request(API_KEYS[step], api_version, correlation_id, client_id, body)


@cache
def large_request() -> bytes:
    """ApiVersions, size included, larger than two packets of 9,000 bytes.

    What makes it large is a tagged field that nobody knows, which receivers ignore (KIP-482): a broker neither looks
    anything up nor asks its authorizer.
    """
    body = {
        "client_software_name": CLIENT_SOFTWARE,
        "client_software_version": "0",
        UNKNOWN_TAGS: ((9999, bytes(20_000)),),
    }
    return encode_request(API_KEYS[Step.API_VERSIONS], 3, 1, CLIENT_SOFTWARE, body)


@cache
def first_version() -> int:
    """The version in which ApiVersions is asked first: the newest that every release of the table knows.

    A newer one would tell no more and cost a round trip with every older broker.
    """
    return min(versions[-1] for versions in release_versions(API_KEYS[Step.API_VERSIONS]).values())


def common_version(offered: tuple[ApiVersion, ...], step: Step) -> int | None:
    """The newest version that both sides speak. Not Metadata 0: there, no topics means all topics."""
    ours = stable_versions(API_KEYS[step])
    least = 1 if step is Step.METADATA else ours[0]
    for api in offered:
        if api.api_key == API_KEYS[step]:
            version = min(api.max_version, ours[-1])
            return version if version >= max(least, api.min_version) else None
    return None


def retry_version(frame: bytes, asked: int) -> int:
    """The version for asking ApiVersions again after UNSUPPORTED_VERSION: what the refusal names (KIP-511), or 0."""
    try:
        response = decode_response(frame, API_KEYS[Step.API_VERSIONS], asked, max_values=10_000)
    except DecodeError:
        return 0
    version = common_version(read_api_versions(response), Step.API_VERSIONS)
    return version if version is not None and version < asked else 0


def read_api_versions(response: Response) -> tuple[ApiVersion, ...]:
    """What the broker offers, in its own order."""
    return tuple(
        ApiVersion(api_key=api["api_key"], min_version=api["min_version"], max_version=api["max_version"])
        for api in response.body.value["api_keys"]
    )


def without_metadata(offered: tuple[ApiVersion, ...]) -> tuple[str, str | None]:
    """What an endpoint is that offers no Metadata which could be asked: words for it, and its name if it is no broker.

    A KRaft controller's listener offers the requests of the quorum (Vote) and no Metadata.
    """
    versions = {api.api_key: api for api in offered}
    metadata = versions.get(API_KEYS[Step.METADATA])
    if metadata is not None:
        return f"it offers Metadata {metadata.min_version} to {metadata.max_version}, too old or too new", None
    if VOTE in versions:
        return "it serves the KRaft quorum, not clients: a controller's listener", QUORUM
    names = ", ".join(api_name(api.api_key) for api in offered[:5]) or "nothing"
    return f"it offers no Metadata, only {names}", "no broker"


def read_cluster(response: Response) -> tuple[str | None, int, tuple[NodeEndpoint, ...]]:
    """Cluster id, controller id and brokers of a Metadata or DescribeCluster answer."""
    value = response.body.value
    brokers = tuple(
        NodeEndpoint(
            node_id=broker.get("node_id", broker.get("broker_id", -1)),
            host=_cut(broker["host"]) or "",
            port=broker["port"],
            rack=_cut(broker["rack"]),
        )
        for broker in value["brokers"]
    )
    return _cut(value.get("cluster_id")), value["controller_id"], brokers


def read_leaderless(response: Response) -> tuple[str, ...]:
    """The topics of a Metadata answer with a partition that has no leader, by name."""
    return tuple(
        sorted(
            _cut(topic["name"]) or str(topic.get("topic_id", ""))
            for topic in response.body.value["topics"]
            if any(partition["leader_id"] < 0 for partition in topic["partitions"])
        )
    )


def read_sasl_mechanisms(response: Response) -> tuple[int, tuple[str, ...]]:
    """Error code and enabled mechanisms of a SaslHandshake answer."""
    value = response.body.value
    return value["error_code"], tuple(_cut(name) or "" for name in value["mechanisms"][:32])


def read_identity(response: Response, asked: int) -> Identity:
    """Who answers DescribeConfigs that was asked under an id."""
    results = response.body.value["results"]
    if not results:
        return _unknown("it answers DescribeConfigs with nothing")
    result = results[0]
    error_code, message = result["error_code"], _cut(result["error_message"]) or ""
    if error_code == NONE:
        settings = tuple(
            Setting(name=_cut(entry["name"]) or "", value=_cut(entry["value"]))
            for entry in result["configs"]
            if entry["name"] in SETTINGS
        )
        return Identity(node_id=_own_id(settings, asked), settings=settings, unknown_because=None)
    if error_code == INVALID_REQUEST:
        found = _EXPECTED_ID.search(message)
        if found is not None and int(found[1]) != asked and int(found[1]) < 1 << 31:
            return Identity(node_id=int(found[1]), settings=(), unknown_because=None)
    return _unknown(f"it answers DescribeConfigs with {error_name(error_code)}")


def _own_id(settings: tuple[Setting, ...], asked: int) -> int:
    """A broker that answers under an id has it, unless its own configuration names another.

    A generated broker.id stays -1 in the configuration.
    """
    values = [setting.value or "" for setting in settings if setting.name in ("node.id", "broker.id")]
    named = [int(value) for value in values if re.fullmatch(r"[0-9]{1,10}", value)]
    return asked if asked in named or not named else named[0]


def _unknown(reason: str) -> Identity:
    return Identity(node_id=None, settings=(), unknown_because=reason)


def _cut(text: Any) -> str | None:
    """A text of the other side, kept as it is but not longer than anyone needs."""
    return None if text is None else str(text)[:LONGEST_TEXT]


_FETCH = 1
_OLDER = {
    5: "0.11",
    6: "1.0",
    7: "1.1",
    8: "2.0",
    10: "2.1 or 2.2",
    11: "2.3 to 2.6",
    12: "2.7 to 3.0",
    13: "3.1 to 3.4",
    15: "3.5 or 3.6",
    16: "3.7 or 3.8",
}


def release_guess(offered: Iterable[ApiVersion]) -> str | None:
    """In words, like "3.9" or "2.3 to 2.6"; None where the offer tells nothing."""
    newest = {api.api_key: api.max_version for api in offered}
    if _FETCH not in newest:
        return None
    first = releases()[0]
    if newest[_FETCH] < release_versions(_FETCH)[first].stop - 1:
        return _OLDER.get(newest[_FETCH], f"before {_short(first)}")
    fitting = (release for release in releases() if all(_knows(release, *api) for api in newest.items()))
    return next((_short(release) for release in fitting), f"after {_short(releases()[-1])}")


def _knows(release: str, api_key: int, version: int) -> bool:
    if api_key not in api_keys():
        return False
    declared = release_versions(api_key).get(release)
    return declared is not None and version < declared.stop


def _short(release: str) -> str:
    return ".".join(release.split(".")[:2])
