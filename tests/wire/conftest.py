"""The recordings of real brokers that the tests here share: made once in a run."""

from pathlib import Path

import pytest

from tests.lab.image_set import APACHE_3, APACHE_4
from tests.lab.lab import Lab
from tests.wire.traffic.cluster import cluster
from tests.wire.traffic.facts import Recording
from tests.wire.traffic.scenarios import long, short

# What make test records is the newest release.
EARLIER = pytest.param(APACHE_3, marks=pytest.mark.bar("wire-oracle", long=True))


@pytest.fixture(scope="session", params=[EARLIER, APACHE_4])
def recording(lab: Lab, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """Less than a minute of everything at once, on brokers of each release."""
    folder = tmp_path_factory.mktemp("wire")
    with cluster(lab, request.param, folder) as running:
        return short(running, folder)


@pytest.fixture(scope="session", params=[APACHE_3, APACHE_4])
def recordings(lab: Lab, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Recording]:
    """A recording for each kind of traffic, for the long measurements."""
    folder: Path = tmp_path_factory.mktemp("wire-long")
    with cluster(lab, request.param, folder) as running:
        return long(running, folder)
