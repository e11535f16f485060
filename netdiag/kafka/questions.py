"""The questions that a diagnosing client asks a Kafka endpoint, as message bodies, and how their answers are read.

"Who are you?" has no request of its own. A broker answers DescribeConfigs for a BROKER resource only under its own id;
under another id it refuses with INVALID_REQUEST and "Unexpected broker id, expected 1 or empty string, but received 2"
(Kafka 3.9 and 4.x, ConfigHelper), so either answer tells who it is.
"""

import re
from typing import Any

from netdiag.kafka.error_codes import INVALID_REQUEST, NONE, error_name
from netdiag.kafka.outcomes import ApiVersion, NodeEndpoint, Setting, Step
from netdiag.kafka.protocol import (
    DecodeError,
    Direction,
    Response,
    api_name,
    decode_response,
    layout,
    release_versions,
    stable_versions,
)
from netdiag.patterns import regex
from netdiag.values import dataclass

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


def question(step: Step, api_version: int, *, client_version: str, node_id: int) -> dict[str, object]:
    """The request body of a step; `node_id` is the id under which the broker is asked for its identity."""
    bodies: dict[Step, dict[str, object]] = {
        Step.API_VERSIONS: {
            "client_software_name": CLIENT_SOFTWARE,
            "client_software_version": re.sub(r"[^A-Za-z0-9]+", ".", client_version).strip(".") or "0",
        },
        Step.SASL_HANDSHAKE: {"mechanism": ""},
        Step.METADATA: {"topics": (), "allow_auto_topic_creation": False},
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
