"""Conversations as dialogues with brokers of several ages and minds."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netdiag.kafka import protocol as wire
from netdiag.kafka.conversation import (
    FIRST_CORRELATION_ID,
    Answered,
    ApiVersion,
    ApiVersionsReceived,
    ApiVersionsUnsupported,
    ClusterReceived,
    Conversation,
    IdentityReceived,
    MetadataReceived,
    Setting,
    Step,
    identity_conversation,
)
from tests.kafka.broker_answers import (
    BROKERS,
    ENDPOINTS,
    KAFKA_2_0,
    KAFKA_4,
    METADATA,
    UNTIL_CLUSTER,
    UNTIL_METADATA,
    answered,
    identity_asked,
    offers,
    refuses,
    settings_of,
    unexpected,
)
from tests.kafka.dialogue import Answers, Asks, Closes, FallsSilent, Line, Sends, play


@settings(deadline=None)
@given(st.lists(st.integers(1, 50), max_size=5))
def test_the_expected_broker_answers(sizes: list[int]) -> None:
    events = play(
        Conversation(expected_node_id=1),
        (*UNTIL_CLUSTER, Asks(api_key=32, api_version=4, body=identity_asked(1)), Answers(body=settings_of(1))),
        sizes,
    )
    told = (Setting(name="node.id", value="1"), Setting(name="advertised.listeners", value="PLAINTEXT://kafka-1:9092"))
    versions = tuple(ApiVersion(**api) for api in KAFKA_4["api_keys"])
    assert events == [
        ApiVersionsReceived(api_version=4, api_versions=versions),
        MetadataReceived(cluster_id="abc", controller_id=1, brokers=ENDPOINTS),
        ClusterReceived(error_code=0, cluster_id="abc", controller_id=1, brokers=ENDPOINTS),
        IdentityReceived(node_id=1, settings=told, unknown_because=None),
        Answered(
            cluster_id="abc",
            node_id=1,
            controller_id=1,
            brokers=ENDPOINTS,
            api_versions=versions,
            settings=told,
            identity_unknown=None,
        ),
    ]
    assert answered(events).setting("advertised.listeners") == "PLAINTEXT://kafka-1:9092"
    assert answered(events).setting("listeners") is None


def test_another_broker_answers_and_tells_who_it_is() -> None:
    events = play(
        identity_conversation(2),
        (
            *UNTIL_METADATA,
            Asks(api_key=32, api_version=4, body=identity_asked(2)),
            Answers(body=unexpected(own=1, asked=2)),
            Asks(api_key=32, api_version=4, body=identity_asked(1)),
            Answers(body=settings_of(1)),
        ),
    )
    assert answered(events).node_id == 1
    assert answered(events).setting("node.id") == "1"


def test_without_an_expected_id_the_first_of_the_metadata_is_asked_for() -> None:
    events = play(
        Conversation(),
        (*UNTIL_CLUSTER, Asks(api_key=32, api_version=4, body=identity_asked(1)), Answers(body=settings_of(1))),
    )
    assert answered(events).node_id == 1


def test_a_broker_without_metadata_still_tells_who_it_is() -> None:
    events = play(
        identity_conversation(3),
        (
            Asks(api_key=18, api_version=4),
            Answers(body=KAFKA_4),
            Asks(api_key=3, api_version=13),
            Answers(body={"brokers": (), "cluster_id": None, "controller_id": -1}),
            Asks(api_key=32, api_version=4, body=identity_asked(3)),
            Answers(body=settings_of(3)),
        ),
    )
    assert answered(events).brokers == ()
    assert answered(events).node_id == 3


def test_an_old_broker_is_asked_in_versions_that_it_knows() -> None:
    events = play(
        Conversation(expected_node_id=1),
        (
            Asks(api_key=18, api_version=4),
            Answers(body={"error_code": 35}, api_version=0),
            Asks(api_key=18, api_version=0),
            Answers(body=KAFKA_2_0),
            Asks(api_key=3, api_version=6, body={"topics": ()}),
            Answers(body=METADATA),
            Asks(api_key=32, api_version=1),
            Answers(body=settings_of(1)),
        ),
    )
    assert events[0] == ApiVersionsUnsupported(api_version=4, retry_version=0)
    assert answered(events).node_id == 1


def test_a_refusal_may_name_the_version_to_use() -> None:
    named = {"error_code": 35, "api_keys": ({"api_key": 18, "min_version": 0, "max_version": 3},)}
    events = play(
        identity_conversation(1),
        (
            Asks(api_key=18, api_version=4),
            Answers(body=named, api_version=0),
            Asks(api_key=18, api_version=3),
            Answers(body=offers(Metadata=(0, 12))),
            Asks(api_key=3, api_version=12),
            Answers(body=METADATA),
        ),
    )
    assert answered(events).identity_unknown == "it does not offer DescribeConfigs"


def test_a_refusal_in_the_version_that_was_asked_is_understood() -> None:
    events = play(
        Conversation(wants={Step.API_VERSIONS}),
        (
            Asks(api_key=18, api_version=4),
            Sends(data=wire.frame(FIRST_CORRELATION_ID.to_bytes(4, "big") + b"\x00\x23\x01")),
            Asks(api_key=18, api_version=0),
            Answers(body=KAFKA_2_0),
        ),
    )
    assert answered(events).brokers == ()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (refuses(31, None), "it answers DescribeConfigs with CLUSTER_AUTHORIZATION_FAILED"),
        (refuses(42, "something else"), "it answers DescribeConfigs with INVALID_REQUEST"),
        (refuses(42, "expected 99999999999 or so, but received 2"), "it answers DescribeConfigs with INVALID_REQUEST"),
        (refuses(999, "\x1b[2J"), "it answers DescribeConfigs with ERROR_CODE(999)"),
        ({"results": ()}, "it answers DescribeConfigs with nothing"),
    ],
)
def test_a_broker_may_keep_its_identity_to_itself(body: dict[str, Any], reason: str) -> None:
    events = play(identity_conversation(2), (*UNTIL_METADATA, Asks(api_key=32, api_version=4), Answers(body=body)))
    assert answered(events).node_id is None
    assert answered(events).identity_unknown == reason
    assert answered(events).brokers == ENDPOINTS


def test_an_id_that_was_told_stays_known_when_its_settings_are_refused() -> None:
    events = play(
        identity_conversation(2),
        (
            *UNTIL_METADATA,
            Asks(api_key=32, api_version=4),
            Answers(body=unexpected(own=7, asked=2)),
            Asks(api_key=32, api_version=4, body=identity_asked(7)),
            Answers(body=refuses(31, None)),
        ),
    )
    assert (answered(events).node_id, answered(events).settings) == (7, ())


def test_a_broker_with_a_generated_id_has_minus_one_in_its_settings() -> None:
    configs = ({"name": "broker.id", "value": "-1"}, {"name": "node.id", "value": "-1"})
    body = {"results": ({"error_code": 0, "configs": configs},)}
    events = play(identity_conversation(1001), (*UNTIL_METADATA, Asks(api_key=32, api_version=4), Answers(body=body)))
    assert answered(events).node_id == 1001


def test_a_server_that_answers_under_any_id_is_believed_by_its_settings() -> None:
    events = play(
        identity_conversation(2), (*UNTIL_METADATA, Asks(api_key=32, api_version=4), Answers(body=settings_of(5)))
    )
    assert answered(events).node_id == 5


@pytest.mark.parametrize("end", [Closes(), FallsSilent(), Sends(data=b"garbage!"), Sends(data=wire.frame(b"\x00" * 9))])
def test_what_is_known_after_metadata_is_not_lost(end: Line) -> None:
    events = play(identity_conversation(2), (*UNTIL_METADATA, Asks(api_key=32, api_version=4), end))
    assert answered(events).cluster_id == "abc"
    assert answered(events).node_id is None
    assert answered(events).identity_unknown not in (None, "it was not asked")


def test_describe_cluster_may_be_refused() -> None:
    events = play(
        Conversation(expected_node_id=1),
        (
            *UNTIL_METADATA,
            Asks(api_key=60, api_version=2),
            Answers(body={"error_code": 31}),
            Asks(api_key=32, api_version=4),
            Answers(body=settings_of(1)),
        ),
    )
    assert ClusterReceived(error_code=31, cluster_id="", controller_id=-1, brokers=()) in events
    assert answered(events).cluster_id == "abc"


def test_texts_are_kept_but_bounded() -> None:
    host = "\x1b[2J\r\n" + "h" * 20_000
    lines = (*UNTIL_METADATA[:3], Answers(body={**METADATA, "brokers": ({**BROKERS[0], "host": host},)}))
    events = play(Conversation(wants={Step.METADATA}), lines)
    assert answered(events).brokers[0].host == host[:4096]
