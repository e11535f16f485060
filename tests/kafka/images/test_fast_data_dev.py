"""lensesio/fast-data-dev: environment to settings, as setup-and-run.sh makes them (branches fdd/1.0.1 to fdd/main)."""

import pytest

from netdiag.kafka.images.fast_data_dev import FAMILY, settings


@pytest.mark.parametrize(
    ("environment", "name", "value"),
    [
        ({}, "listeners", "PLAINTEXT://:9092"),
        ({}, "zookeeper.connect", "127.0.0.1:2181"),
        ({"BROKER_PORT": "19092"}, "listeners", "PLAINTEXT://:19092"),
        ({"ADV_HOST": "h"}, "advertised.listeners", "PLAINTEXT://h:9092"),
        ({"ADV_HOST": "h", "KAFKA_ADVERTISED_LISTENERS": "A://x:1"}, "advertised.listeners", "A://x:1"),
        ({"ADV_HOST": "h", "ENABLE_SSL": "1"}, "advertised.listeners", "PLAINTEXT://h:9092,SSL://h:9093"),
        ({"ENABLE_SSL": "true"}, "listeners", "PLAINTEXT://:9092,SSL://:9093"),
        ({"ADV_HOST": None}, "advertised.listeners", None),
        ({"KAFKA_LISTENERS": ""}, "listeners", "PLAINTEXT://:9092"),
        ({"KAFKA_LISTENER_NAME_A__B_X": "1"}, "listener.name.a_b.x", "1"),
    ],
)
def test_setting(environment: dict[str, str | None], name: str, value: str | None) -> None:
    assert settings(environment).settings[name].value == value


def test_other_services_variables_are_no_properties() -> None:
    made = settings({"KAFKA_REST_LISTENERS": "http://:8082", "KAFKA_PORT": "9092"}).settings
    assert not {"rest.listeners", "port"} & made.keys()


@pytest.mark.parametrize(
    ("environment", "starts"), [({}, True), ({"BROKER_PORT": "0"}, False), ({"WEB_ONLY": "true"}, False)]
)
def test_the_broker_can_be_switched_off(environment: dict[str, str | None], starts: bool) -> None:
    assert FAMILY.runs_broker(environment, "") is starts
