"""Which versions are asked in, and how an identity is read from what a broker says."""

import pytest

from netdiag.kafka import protocol as wire
from netdiag.kafka.conversation import Conversation
from netdiag.kafka.questions import (
    API_KEYS,
    EVERYTHING,
    Answered,
    ApiVersion,
    FailureKind,
    Setting,
    Step,
    common_version,
    first_version,
    question,
    read_identity,
    release_guess,
)
from tests.kafka.test_conversation import recorded


@pytest.mark.parametrize(
    ("step", "offered", "version"),
    [
        (Step.METADATA, (0, 13), 13),
        (Step.METADATA, (0, 99), 13),
        (Step.METADATA, (0, 1), 1),
        (Step.METADATA, (0, 0), None),
        (Step.METADATA, (14, 20), None),
        (Step.METADATA, (5, 3), None),
        (Step.METADATA, (-5, -1), None),
        (Step.IDENTITY, (0, 0), 0),
        (Step.IDENTITY, (1, 4), 4),
        (Step.DESCRIBE_CLUSTER, (0, 1), 1),
    ],
)
def test_the_newest_common_version(step: Step, offered: tuple[int, int], version: int | None) -> None:
    api = ApiVersion(api_key=API_KEYS[step], min_version=offered[0], max_version=offered[1])
    assert common_version((api,), step) == version


def test_the_first_question_is_one_that_3_9_knows() -> None:
    assert first_version() == 4


def test_nothing_in_common_with_nothing() -> None:
    assert common_version((), Step.METADATA) is None


@pytest.mark.parametrize("step", list(Step))
def test_every_question_can_be_asked_in_every_stable_version(step: Step) -> None:
    for version in wire.stable_versions(API_KEYS[step]):
        body = question(step, version, client_version="1", node_id=3)
        data = wire.encode(API_KEYS[step], version, wire.Direction.REQUEST, body)
        assert wire.decode(API_KEYS[step], version, wire.Direction.REQUEST, data).left_over == 0


def test_the_brokers_ask_only_for_brokers() -> None:
    """DescribeCluster v1 tells brokers and controllers apart: 1 is brokers, and the default."""
    data = wire.encode(60, 2, wire.Direction.REQUEST, question(Step.DESCRIBE_CLUSTER, 2, client_version="1", node_id=3))
    assert wire.decode(60, 2, wire.Direction.REQUEST, data).value["endpoint_type"] == 1


@pytest.mark.parametrize(
    ("message", "node_id"),
    [
        # ConfigHelper of Kafka 3.9 and 4.x, ConfigAdminManager, and 3.9's words for a logger
        ("Unexpected broker id, expected 1 or empty string, but received 2", 1),
        ("Unexpected broker id, expected 12, but received 2", 12),
        ("Unexpected broker id, expected 3 but received 2", 3),
        ("Unexpected broker id, expected 2 or empty string, but received 2", None),
        ("Unexpected broker id, expected 9999999999, but received 2", None),
        ("Broker id must be an integer, but it is: x", None),
        ("", None),
    ],
)
def test_the_refusal_tells_the_id(message: str, node_id: int | None) -> None:
    body = {"results": ({"error_code": 42, "error_message": message},)}
    data = wire.encode_response(32, 4, 1, body)
    assert read_identity(wire.decode_response(data[4:], 32, 4), asked=2).node_id == node_id


def test_words() -> None:
    assert {kind.value for kind in FailureKind} == {"closed", "tls", "sasl", "not-kafka", "error", "no-answer"}
    assert next(iter(Step)).value == "ApiVersions"
    assert Step.SASL_HANDSHAKE not in EVERYTHING


def test_a_setting_that_was_not_told_is_none() -> None:
    answered = Answered(
        cluster_id=None,
        node_id=None,
        controller_id=-1,
        brokers=(),
        api_versions=(),
        settings=(Setting(name="listeners", value="PLAINTEXT://:9092"),),
        identity_unknown="it was not asked",
    )
    assert answered.setting("listeners") == "PLAINTEXT://:9092"
    assert answered.setting("node.id") is None


_RECORDED = [recording for recording in recorded() if recording[1] == "PLAINTEXT"]


@pytest.mark.parametrize("recording", _RECORDED, ids=lambda recording: "-".join(recording[:3]))
def test_releases_of_recorded_brokers(recording: tuple[str, ...]) -> None:
    release, _, asked, *reads = recording
    conversation = Conversation(expected_node_id=int(asked))
    conversation.start()
    for read in reads:
        conversation.receive(bytes.fromhex(read))
        conversation.bytes_to_send()
    assert isinstance(conversation.outcome, Answered)
    assert release_guess(conversation.outcome.api_versions) == ".".join(release.split(".")[:2])


def offer(**newest: int) -> tuple[ApiVersion, ...]:
    keys = {"fetch": 1, "metadata": 3, "unheard_of": 999}
    return tuple(ApiVersion(api_key=keys[name], min_version=0, max_version=most) for name, most in newest.items())


@pytest.mark.parametrize(
    ("offered", "expected"),
    [
        (offer(fetch=11, metadata=9), "2.3 to 2.6"),
        (offer(fetch=14, metadata=12), "before 3.9"),
        (offer(fetch=17, metadata=12), "3.9"),
        (offer(fetch=17, metadata=13), "4.0"),
        (offer(fetch=99), "after 4.4"),
        (offer(fetch=17, unheard_of=0), "after 4.4"),
        (offer(metadata=12), None),
        ((), None),
    ],
)
def test_releases_by_what_is_offered(offered: tuple[ApiVersion, ...], expected: str | None) -> None:
    assert release_guess(offered) == expected
