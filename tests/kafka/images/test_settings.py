"""Names of variables and of the properties that they become."""

import pytest

from netdiag.kafka.images.settings import property_name, settings_from


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("KAFKA_ADVERTISED_LISTENERS", "advertised.listeners"),
        (
            "KAFKA_LISTENER_NAME_PLAINTEXT__HOST_SASL_ENABLED_MECHANISMS",
            "listener.name.plaintext_host.sasl.enabled.mechanisms",
        ),
        ("KAFKA_A___B", "a-b"),
        ("KAFKA_CFG_LISTENERS", "cfg.listeners"),
    ],
)
def test_property_name(variable: str, name: str) -> None:
    assert property_name(variable, "KAFKA_") == name


def test_other_prefixes_and_excluded_names_are_left_out() -> None:
    made = settings_from({"KAFKA_A": "1", "B": "2", "KAFKA_C": "3"}, prefix="KAFKA_", excluded=frozenset({"KAFKA_C"}))
    assert {name: setting.variable for name, setting in made.items()} == {"a": "KAFKA_A"}
