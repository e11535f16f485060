"""Pytest fixtures of the lab: `pytest_plugins = ["tests.lab.fixtures"]` in the top conftest.

Policy: without the rights or the kernel for it, tests that need the lab are skipped with the
reason; where it could run, a lab that does not start is a failure, never a skip.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.cache import cache_root
from tests.lab.compose_v2 import compose_binary
from tests.lab.errors import LabImpossible
from tests.lab.lab import Lab, start_lab
from tests.lab.prerequisites import install, missing
from tests.lab.releases import PODMAN
from tests.lab.swarm import Swarm, start_swarm


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """The running lab, one for the whole session, torn down at its end."""
    _possible_or_skip()
    with start_lab() as running:
        yield running


@pytest.fixture(scope="session")
def swarm() -> Iterator[Swarm]:
    """A swarm of two engines, one for the whole session, torn down at its end."""
    _possible_or_skip()
    with start_swarm() as running:
        yield running


@pytest.fixture(scope="session")
def podman_lab() -> Iterator[Lab]:
    """The same with Podman in the place of Docker."""
    _possible_or_skip()
    with start_lab(release=PODMAN) as running:
        yield running


@pytest.fixture(scope="session")
def compose_v2() -> Path:
    """The `docker-compose` executable, the judge of our loader; built when it is not in the cache."""
    _possible_or_skip()
    return compose_binary(cache_root())


def _possible_or_skip() -> None:
    if os.geteuid() != 0:
        pytest.skip("; ".join(missing()))
    try:
        install()
    except LabImpossible as error:
        pytest.skip(str(error))
    reasons = missing()
    if reasons:
        pytest.skip("; ".join(reasons))
