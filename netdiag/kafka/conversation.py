"""The conversation of a diagnosing plaintext client with one Kafka endpoint, without any I/O.

    conversation = Conversation(expected_node_id=2)        # or sasl_conversation()
    send(conversation.start())
    while conversation.outcome is None:
        data = receive()                                   # any chunking; b"" or a reset: conversation.closed()
        for event in conversation.receive(data):           # the caller's timer fires: conversation.timed_out()
            ...
        send(conversation.bytes_to_send())
    conversation.outcome                                   # Answered | Failed

It asks, one question at a time: ApiVersions, Metadata (of no topic), DescribeCluster where it is offered, and "who are
you?" (see `questions`). With `topics`, it asks Metadata of all topics and nothing else, and reads an answer as large as
a cluster of 200,000 partitions gives. `waiting_for` says which answer is due. Whatever the endpoint sends
ends in an `Answered` or a `Failed`, never in an exception: what an endpoint does wrong is an observation. Once Metadata
is answered the outcome is `Answered`, and what could not be learned after it is unknown with a reason. Wrong use raises
`LocalProtocolError`. Memory is bounded by `LARGEST_ANSWER` and `MOST_VALUES` (for topics by `LARGEST_TOPICS` and
`MOST_TOPIC_VALUES`: 150 MB); texts are kept as they came, control characters too, but cut to `questions.LONGEST_TEXT`
characters.

`CoordinatorConversation` is driven in the same way. It asks which broker coordinates a consumer group, without creating
a topic: a broker that is asked by FindCoordinator creates the topic of group offsets if there is none yet. So Metadata
is asked first whether the topic is there (from version 4 on it can be asked without creating), then FindCoordinator.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, assert_never

from netdiag.kafka import questions
from netdiag.kafka.error_codes import ILLEGAL_SASL_STATE, NONE, UNSUPPORTED_VERSION, error_name
from netdiag.kafka.other_protocols import OtherProtocol, who_answers, who_answers_frame
from netdiag.kafka.protocol import (
    UNKNOWN_TAGS,
    DecodeError,
    Direction,
    FrameError,
    FrameSplitter,
    LocalProtocolError,
    RemoteProtocolError,
    Response,
    decode_response,
    encode_request,
    layout,
    stable_versions,
)
from netdiag.kafka.questions import (
    EVERYTHING,
    Answered,
    ApiVersion,
    ApiVersionsReceived,
    ApiVersionsUnsupported,
    ClusterReceived,
    Event,
    Failed,
    FailureKind,
    IdentityReceived,
    MetadataReceived,
    NodeEndpoint,
    Outcome,
    SaslMechanismsReceived,
    Step,
)
from netdiag.values import dataclass

LARGEST_ANSWER = 1 << 20
MOST_VALUES = 50_000
LARGEST_TOPICS = 1 << 24
MOST_TOPIC_VALUES = 2_100_000
_OMITTED = frozenset(
    {
        "is_internal",
        "topic_authorized_operations",
        "partition_index",
        "leader_epoch",
        "replica_nodes",
        "isr_nodes",
        "offline_replicas",
        UNKNOWN_TAGS,
    }
)
"""What nobody here reads of topics: it is most of their memory."""
# From every place a broker gives the same answers, to the byte; these are small, and so is what is kept of them.
_OFTEN_THE_SAME = 4096
_decode_once = lru_cache(maxsize=64)(decode_response)
ORDER = tuple(Step)
FIRST_CORRELATION_ID = 0x6E64_0001
"""High, so that neither zeros nor small numbers of another protocol pass for the answer."""


def sasl_conversation(*, client_id: str = "netdiag") -> "Conversation":
    """Ask a listener that requires authentication for its mechanisms; it closes the connection afterwards."""
    return Conversation(client_id=client_id, wants={Step.API_VERSIONS, Step.SASL_HANDSHAKE})


class Conversation:
    """One conversation on one connection; see the module for how it is driven."""

    def __init__(
        self,
        *,
        client_id: str = "netdiag",
        client_version: str = "0",
        wants: Iterable[Step] = EVERYTHING,
        expected_node_id: int | None = None,
        topics: bool = False,
    ) -> None:
        self._topics = topics
        self._client_id = client_id
        self._client_version = client_version
        self._wants = (frozenset({Step.METADATA}) if topics else frozenset(wants)) | {Step.API_VERSIONS}
        self._expected_node_id = expected_node_id
        self._frames = FrameSplitter(LARGEST_TOPICS if topics else LARGEST_ANSWER)
        self._correlation_id = FIRST_CORRELATION_ID - 1
        self._asked = b""
        self._asked_version = 0
        self._asked_node_id = 0
        self._to_send = bytearray()
        self._events: list[Event] = []
        self._waiting_for: Step | None = None
        self._outcome: Outcome | None = None
        self._first_bytes = b""
        self._api_versions: tuple[ApiVersion, ...] = ()
        self._metadata: MetadataReceived | None = None
        self._identity = questions.NOT_ASKED

    @property
    def waiting_for(self) -> Step | None:
        """The question whose answer is due; None before the start and after the end."""
        return None if self._outcome is not None else self._waiting_for

    @property
    def outcome(self) -> Outcome | None:
        """How it ended; None while it goes on."""
        return self._outcome

    def start(self) -> bytes:
        """The first bytes to send."""
        if self._waiting_for is not None:
            raise LocalProtocolError("the conversation has started already")
        self._ask(Step.API_VERSIONS, questions.first_version())
        return self.bytes_to_send()

    def bytes_to_send(self) -> bytes:
        """The bytes to send next; empty when there are none."""
        data = bytes(self._to_send)
        self._to_send.clear()
        return data

    def receive(self, data: bytes) -> list[Event]:
        """Take bytes from the endpoint, in any chunks, and return their events. Bytes after the end are ignored."""
        self._must_have_started()
        if self._outcome is not None:
            return []
        self._first_bytes = (self._first_bytes + data[:64])[:64]
        try:
            for frame in self._frames.feed(data):
                self._take_frame(frame)
                if self._outcome is not None:
                    break
        except FrameError as error:
            self._impossible_size(error)
        except DecodeError as error:
            self._break_off(f"its {self._waiting_for} answer cannot be read, {error}", FailureKind.NOT_KAFKA)
        return self._told()

    def closed(self) -> list[Event]:
        """The endpoint ended or reset the connection."""
        self._must_have_started()
        pending = len(self._frames.pending)
        step = self._waiting_for
        if self._outcome is None:
            if pending:
                self._break_off(f"closed after {pending} bytes of its {step} answer", FailureKind.CLOSED)
            elif step is Step.METADATA and self._api_versions:
                self._break_off("it closed at the first request after ApiVersions", FailureKind.SASL)
            else:
                self._break_off(f"closed without an answer to {step}", FailureKind.CLOSED)
        return self._told()

    def timed_out(self) -> list[Event]:
        """The time-out of the caller is over."""
        self._must_have_started()
        if self._outcome is None:
            pending = len(self._frames.pending)
            come = f", {pending} bytes of it arrived" if pending else ""
            self._break_off(f"no answer to {self._waiting_for} in time{come}", FailureKind.NO_ANSWER)
        return self._told()

    def _must_have_started(self) -> None:
        if self._waiting_for is None:
            raise LocalProtocolError("the conversation has not started")

    def _told(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def _ask(self, step: Step, api_version: int) -> None:
        """Send the question of a step."""
        self._waiting_for = step
        self._correlation_id += 1
        self._asked_version = api_version
        self._asked = questions.request(
            step,
            api_version,
            self._correlation_id,
            self._client_id,
            self._client_version,
            self._asked_node_id,
            self._topics,
        )
        self._to_send += self._asked

    def _take_frame(self, frame: bytes) -> None:
        step = self._waiting_for
        assert step is not None
        if frame[:4] != self._correlation_id.to_bytes(4, "big"):
            self._not_our_answer(frame)
            return
        if step is Step.API_VERSIONS and frame[4:6] == UNSUPPORTED_VERSION.to_bytes(2, "big"):
            self._versions_unsupported(frame)
            return
        api_key, most = questions.API_KEYS[step], MOST_TOPIC_VALUES if self._topics else MOST_VALUES
        decode = _decode_once if len(frame) <= _OFTEN_THE_SAME else decode_response
        response = decode(frame, api_key, self._asked_version, max_values=most, omitted=_OMITTED)
        match step:
            case Step.API_VERSIONS:
                self._take_api_versions(response)
            case Step.SASL_HANDSHAKE:
                self._take_sasl_mechanisms(response)
            case Step.METADATA:
                self._take_metadata(response)
            case Step.DESCRIBE_CLUSTER:
                self._take_cluster(response)
            case Step.IDENTITY:
                self._take_identity(response)
            case _:
                assert_never(step)

    def _versions_unsupported(self, frame: bytes) -> None:
        """KIP-511: the answer may name the versions of ApiVersions; version 0 is what every broker knows."""
        if self._asked_version == 0:
            self._break_off("it refuses ApiVersions in version 0", FailureKind.ERROR)
            return
        retry = questions.retry_version(frame, self._asked_version)
        self._events.append(ApiVersionsUnsupported(api_version=self._asked_version, retry_version=retry))
        self._ask(Step.API_VERSIONS, retry)

    def _take_api_versions(self, response: Response) -> None:
        error_code = response.body.value["error_code"]
        if error_code != NONE:
            kind = FailureKind.SASL if error_code == ILLEGAL_SASL_STATE else FailureKind.ERROR
            self._break_off(f"it answers ApiVersions with {error_name(error_code)}", kind)
            return
        self._api_versions = questions.read_api_versions(response)
        self._events.append(ApiVersionsReceived(api_version=response.api_version, api_versions=self._api_versions))
        self._go_on()

    def _take_sasl_mechanisms(self, response: Response) -> None:
        error_code, mechanisms = questions.read_sasl_mechanisms(response)
        self._events.append(SaslMechanismsReceived(error_code=error_code, mechanisms=mechanisms))
        if error_code == ILLEGAL_SASL_STATE:
            self._go_on()
        else:
            detail = f"it requires SASL, enabled: {', '.join(mechanisms) or 'no mechanism'}"
            self._break_off(detail, FailureKind.SASL, mechanisms=mechanisms)

    def _take_metadata(self, response: Response) -> None:
        error_code = response.body.value.get("error_code", NONE)
        if error_code != NONE:
            self._break_off(f"it answers Metadata with {error_name(error_code)}", FailureKind.ERROR)
            return
        cluster_id, controller_id, brokers = questions.read_cluster(response)
        self._metadata = MetadataReceived(
            cluster_id=cluster_id,
            controller_id=controller_id,
            brokers=brokers,
            leaderless=questions.read_leaderless(response),
        )
        self._events.append(self._metadata)
        self._go_on()

    def _take_cluster(self, response: Response) -> None:
        cluster_id, controller_id, brokers = questions.read_cluster(response)
        self._events.append(
            ClusterReceived(
                error_code=response.body.value["error_code"],
                cluster_id=cluster_id,
                controller_id=controller_id,
                brokers=brokers,
            )
        )
        self._go_on()

    def _take_identity(self, response: Response) -> None:
        """A broker that was asked by another's id tells its own; it is asked once more by that, for its settings."""
        known = self._identity.node_id
        answer = questions.read_identity(response, self._asked_node_id)
        if known is not None and answer.node_id is None:
            answer = questions.Identity(node_id=known, settings=(), unknown_because=None)
        self._identity = answer
        if known is None and answer.node_id not in (None, self._asked_node_id) and not answer.settings:
            self._asked_node_id = answer.node_id or 0
            self._ask(Step.IDENTITY, self._asked_version)
            return
        self._events.append(
            IdentityReceived(node_id=answer.node_id, settings=answer.settings, unknown_because=answer.unknown_because)
        )
        self._go_on()

    def _go_on(self) -> None:
        """Ask the next question that is wanted and that the broker offers, or end."""
        done = ORDER.index(self._waiting_for or Step.API_VERSIONS)
        for step in ORDER[done + 1 :]:
            if step not in self._wants:
                continue
            version = questions.common_version(self._api_versions, step)
            if version is not None:
                if step is Step.IDENTITY:
                    self._asked_node_id = self._whom_to_ask_for()
                self._ask(step, version)
                return
            if step is Step.METADATA:
                self._no_metadata()
                return
            if step is Step.IDENTITY:
                self._identity = questions.Identity(
                    node_id=None, settings=(), unknown_because="it does not offer DescribeConfigs"
                )
        self._answer(None)

    def _whom_to_ask_for(self) -> int:
        """The expected id; else any: a broker that is asked by a wrong id tells the right one."""
        if self._expected_node_id is not None:
            return self._expected_node_id
        brokers = self._metadata.brokers if self._metadata is not None else ()
        return brokers[0].node_id if brokers else 0

    def _no_metadata(self) -> None:
        detail, speaks = questions.without_metadata(self._api_versions)
        kind = FailureKind.ERROR if speaks is None else FailureKind.NOT_KAFKA
        self._break_off(detail, kind, speaks=speaks)

    def _not_our_answer(self, frame: bytes) -> None:
        got = int.from_bytes(frame[:4], "big", signed=True)
        if self._metadata is not None or self._api_versions:
            detail = f"it answers request {got}, asked was {self._correlation_id}"
            self._break_off(detail, FailureKind.NOT_KAFKA)
            return
        protocol = who_answers_frame(frame, self._asked[4:])
        detail = {
            OtherProtocol.ECHO: "it sends back what it is sent",
            OtherProtocol.ZOOKEEPER: "it answers as ZooKeeper does",
        }.get(protocol, "it sends data that looks like a frame, but answers no request")
        self._break_off(detail, FailureKind.NOT_KAFKA, speaks=protocol.value)

    def _impossible_size(self, error: FrameError) -> None:
        protocol, what = who_answers(self._frames.pending)
        kind = FailureKind.TLS if protocol is OtherProtocol.TLS else FailureKind.NOT_KAFKA
        speaks = what if protocol is OtherProtocol.TEXT else protocol.value
        why = f": {error}" if protocol is OtherProtocol.BINARY else ""
        self._break_off(f"it answers {self._waiting_for} with {what}{why}", kind, speaks=speaks)

    def _break_off(
        self, detail: str, kind: FailureKind, *, speaks: str | None = None, mechanisms: tuple[str, ...] = ()
    ) -> None:
        """End: with what is known once Metadata was answered, else as a failure."""
        if self._metadata is not None:
            self._answer(detail)
            return
        assert self._waiting_for is not None
        self._end(
            Failed(
                kind=kind,
                waiting_for=self._waiting_for,
                detail=detail,
                speaks=speaks,
                mechanisms=mechanisms,
                first_bytes=self._first_bytes,
            )
        )

    def _answer(self, broken_off: str | None) -> None:
        metadata = self._metadata or MetadataReceived(cluster_id=None, controller_id=-1, brokers=())
        known = self._identity.node_id is not None
        self._end(
            Answered(
                cluster_id=metadata.cluster_id,
                node_id=self._identity.node_id,
                controller_id=metadata.controller_id,
                brokers=metadata.brokers,
                api_versions=self._api_versions,
                settings=self._identity.settings,
                identity_unknown=None if known else broken_off or self._identity.unknown_because,
                leaderless=metadata.leaderless,
            )
        )

    def _end(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self._events.append(outcome)
        self._to_send.clear()


OFFSETS_TOPIC = "__consumer_offsets"
_METADATA = 3
_FIND_COORDINATOR = 10
_LARGEST = 1 << 18
_MOST_VALUES = 20_000
_FIRST_CORRELATION_ID = 0x6E64_4001
_UNKNOWN_TOPIC = 3
_LEAST = {_METADATA: 4, _FIND_COORDINATOR: 0}
_LONGEST_HOST = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinator:
    """The broker that coordinates the group, as the listener that was asked advertises it."""

    endpoint: NodeEndpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class NoCoordinator:
    """No coordinator, and why; `harmless` where no group has been used yet, or the broker cannot be asked."""

    because: str
    harmless: bool = False


class CoordinatorConversation:
    """One conversation on one connection; `offered` is what the broker answered to ApiVersions."""

    def __init__(self, group: str, offered: Sequence[ApiVersion], *, client_id: str = "netdiag") -> None:
        self._group = group
        self._versions = {key: _common(offered, key) for key in _LEAST}
        self._client_id = client_id
        self._frames = FrameSplitter(_LARGEST)
        self._asking = _METADATA
        self._correlation_id = _FIRST_CORRELATION_ID
        self._to_send = b""
        self.outcome: Coordinator | NoCoordinator | None = None

    def start(self) -> bytes:
        """The first bytes to send; empty, with an outcome, where the broker cannot be asked."""
        if None in self._versions.values():
            self.outcome = NoCoordinator(because="it does not offer the requests that are needed", harmless=True)
            return b""
        self._ask(_METADATA, {"topics": ({"name": OFFSETS_TOPIC},), "allow_auto_topic_creation": False})
        return self.bytes_to_send()

    def bytes_to_send(self) -> bytes:
        """The bytes to send next; empty when there are none."""
        data, self._to_send = self._to_send, b""
        return data

    def receive(self, data: bytes) -> None:
        """Take bytes from the broker, in any chunks."""
        if self.outcome is not None:
            return
        try:
            for frame in self._frames.feed(data):
                self._take(frame)
                if self.outcome is not None:
                    return
        except RemoteProtocolError as error:
            self.outcome = NoCoordinator(because=f"its answer cannot be read, {error}")

    def closed(self) -> None:
        """The broker ended the connection."""
        self.outcome = self.outcome or NoCoordinator(because="it closed without an answer")

    def timed_out(self) -> None:
        """The time-out of the caller is over."""
        self.outcome = self.outcome or NoCoordinator(because="no answer in time")

    def _ask(self, api_key: int, body: Mapping[str, object]) -> None:
        version = self._versions[api_key]
        assert version is not None
        present = {field.name for field in layout(api_key, version, Direction.REQUEST).fields}
        fitting = {name: value for name, value in body.items() if name in present}
        self._asking = api_key
        self._correlation_id += 1
        self._to_send = encode_request(api_key, version, self._correlation_id, self._client_id, fitting)

    def _take(self, frame: bytes) -> None:
        if frame[:4] != self._correlation_id.to_bytes(4, "big"):
            self.outcome = NoCoordinator(because="its answer is to another request")
            return
        version = self._versions[self._asking]
        assert version is not None
        value = decode_response(frame, self._asking, version, max_values=_MOST_VALUES).body.value
        if self._asking == _METADATA:
            self._take_topic(value)
        else:
            self.outcome = _read_coordinator(value)

    def _take_topic(self, value: Mapping[str, Any]) -> None:
        codes = [topic["error_code"] for topic in value["topics"][:1]]
        if not codes or codes[0] == _UNKNOWN_TOPIC:
            self.outcome = NoCoordinator(because="no consumer group has been used in this cluster yet", harmless=True)
            return
        self._ask(_FIND_COORDINATOR, {"key": self._group, "key_type": 0, "coordinator_keys": (self._group,)})


def _common(offered: Sequence[ApiVersion], api_key: int) -> int | None:
    newest = stable_versions(api_key)[-1]
    for api in offered:
        if api.api_key == api_key:
            version = min(api.max_version, newest)
            return version if version >= max(api.min_version, _LEAST[api_key]) else None
    return None


def _read_coordinator(value: Mapping[str, Any]) -> Coordinator | NoCoordinator:
    found = value if "coordinators" not in value else next(iter(value["coordinators"]), None)
    if found is None:
        return NoCoordinator(because="its FindCoordinator answer is empty")
    if found["error_code"] != NONE:
        return NoCoordinator(because=f"it answers FindCoordinator with {error_name(found['error_code'])}")
    return Coordinator(
        endpoint=NodeEndpoint(node_id=found["node_id"], host=str(found["host"])[:_LONGEST_HOST], port=found["port"])
    )
