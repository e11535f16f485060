"""Which versions are asked in, and how an identity is read from what a broker says."""

import pytest

from netdiag.kafka import protocol as wire
from netdiag.kafka.outcomes import ApiVersion, Step
from netdiag.kafka.questions import API_KEYS, common_version, first_version, question, read_identity


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
