"""What several files of this folder use."""

from pathlib import Path

import pytest

from tests.house.environments import build_wheel


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    return build_wheel(tmp_path_factory.mktemp("dist"))
