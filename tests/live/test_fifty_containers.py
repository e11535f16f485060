"""Fifty containers on twelve networks: every one of them looks at every endpoint, in time and in little memory."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.figures import Report
from tests.lab.lab import Lab
from tests.lab.stack import Stack
from tests.live.many_containers import ManyContainers
from tests.live.test_many_containers import listening, observed

pytestmark = [pytest.mark.alone, pytest.mark.bar("live-scale", long=True)]

MANY = ManyContainers(brokers=12, clients=38, first_port=21001)


@pytest.fixture(scope="module")
def many(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with lab.up(MANY.write(tmp_path_factory.mktemp("many")), wait="none", limit=400) as up:
        listening(up, MANY.brokers)
        yield up


def test_fifty_containers_on_twelve_networks(many: Stack, tmp_path: Path, figure: Report) -> None:
    seconds = observed(many, tmp_path, MANY, figure, runs=3)
    for taken in seconds:
        figure("50 containers on 12 networks, the whole process", taken, "s")
    assert sorted(seconds)[1] < 6
