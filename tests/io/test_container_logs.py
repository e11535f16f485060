"""Logs are asked of an engine; without one it is said that none answers."""

from pathlib import Path

import pytest

from netdiag.errors import EngineError
from netdiag.io.container_logs import read_logs


def test_no_engine(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="no engine answers there"):
        read_logs(f"unix://{tmp_path}/no.sock")
