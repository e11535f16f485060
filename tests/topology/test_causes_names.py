"""Names that mean nothing where they are asked for."""

import pytest

from netdiag.deployment.mechanism import Mechanism
from netdiag.topology.causes_names import suspect_of_name
from tests.topology.failing_cases import failing, shop


@pytest.mark.parametrize(
    ("source", "name", "mechanism"),
    [
        ("client", "kafak-1", Mechanism.NO_SUCH_NAME),
        ("client", "far", Mechanism.NAME_ON_OTHER_NETWORK),
        ("client", "gone", Mechanism.NAME_OF_STOPPED),
        ("client", "host.docker.internal", Mechanism.HOST_ALIAS_MISSING),
        ("host", "kafka-1", Mechanism.NO_EMBEDDED_DNS),
        ("alone", "kafka-1", Mechanism.NO_EMBEDDED_DNS),
    ],
)
def test_names(source: str, name: str, mechanism: Mechanism) -> None:
    suspect = suspect_of_name(failing(shop(), source, name, 9092))
    assert suspect.mechanism is mechanism
    assert f'"{name}"' in suspect.because
    assert suspect.remedies


def test_the_closest_name_is_offered() -> None:
    suspect = suspect_of_name(failing(shop(), "client", "kafak-1", 9092))
    assert suspect.remedies[0].text == 'dial "kafka-1", the name of kafka-1'
    assert suspect.remedies[0].destination == "172.20.0.2"
