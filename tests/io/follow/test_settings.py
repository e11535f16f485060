"""What a checkpoint was begun for is found again."""

from pathlib import Path

import pytest

from netdiag.errors import NetdiagError
from netdiag.io.follow.settings import settings_of, work_of
from netdiag.io.follow.store import Store
from netdiag.traffic.native import ReadOptions


def test_settings_are_found_again(tmp_path: Path) -> None:
    store = Store(checkpoint=tmp_path / "checkpoint", out=tmp_path / "out")
    store.checkpoint.mkdir(mode=0o700)
    with pytest.raises(NetdiagError, match="no settings"):
        work_of(store)
    options = ReadOptions(ports=frozenset({9092}), clients=frozenset({"app"}), brokers=frozenset({"b"}))
    store.begin(settings_of("/caps", options, 3, 1.5, since_ns=None, until_ns=7))
    work, lateness = work_of(store)
    assert (work.folder, work.classes, work.since_ns, work.until_ns, lateness) == ("/caps", 3, None, 7, 1.5)
    assert work.options == options
