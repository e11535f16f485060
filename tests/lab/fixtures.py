"""Pytest fixtures of the lab: `pytest_plugins = ["tests.lab.fixtures"]` in the top conftest.

Policy: without the rights or the kernel for it, tests that need the lab are skipped with the
reason; where it could run, a lab that does not start is a failure, never a skip.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.lab.errors import LabImpossible
from tests.lab.lab import Lab, start_lab
from tests.lab.prerequisites import install, missing


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """The running lab, one for the whole session, torn down at its end."""
    if os.geteuid() != 0:
        pytest.skip("; ".join(missing()))
    try:
        install()
    except LabImpossible as error:
        pytest.skip(str(error))
    reasons = missing()
    if reasons:
        pytest.skip("; ".join(reasons))
    with start_lab() as running:
        yield running
