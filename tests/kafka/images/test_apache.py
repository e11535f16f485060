"""apache/kafka: the refusals of its start script."""

from netdiag.kafka.images.apache import settings


def test_controller_with_advertised_listeners_is_refused() -> None:
    made = settings({"KAFKA_PROCESS_ROLES": "controller", "KAFKA_ADVERTISED_LISTENERS": "CONTROLLER://c:9093"})
    assert made.refusal is not None
    assert made.refusal.prints == "KAFKA_ADVERTISED_LISTENERS is not supported on a KRaft controller."


def test_nothing_is_derived_for_a_controller() -> None:
    made = settings({"KAFKA_PROCESS_ROLES": "controller", "KAFKA_NODE_ID": "1"})
    assert "listeners" not in made.settings
    assert made.refusal is None
