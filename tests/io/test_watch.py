"""Stamps tell what happened to a file; waiting ends when one changes."""

import itertools
import os
import threading
from pathlib import Path

from netdiag.io.watch import stamps, wait_for_change


def test_every_change_shows(tmp_path: Path) -> None:
    path = tmp_path / "f"
    seen = [stamps([str(path)])]
    path.write_bytes(b"one")
    seen.append(stamps([str(path)]))
    path.write_bytes(b"other")
    seen.append(stamps([str(path)]))
    (tmp_path / "g").write_bytes(b"third")
    os.utime(tmp_path / "g", ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    (tmp_path / "g").replace(path)
    seen.append(stamps([str(path)]))
    assert seen[0] == {str(path): None}
    assert all(earlier != later for earlier, later in itertools.pairwise(seen))
    assert stamps([str(path)]) == seen[-1]


def test_a_name_that_no_file_can_have_is_absent() -> None:
    assert stamps(["a\0b", "x" * 5000]) == {"a\0b": None, "x" * 5000: None}


def test_waiting_ends_with_a_change(tmp_path: Path) -> None:
    path = tmp_path / "f"
    before = stamps([str(path)])
    thread = threading.Thread(target=wait_for_change, args=(before,), kwargs={"every": 0.01}, daemon=True)
    thread.start()
    thread.join(0.1)
    assert thread.is_alive()
    path.touch()
    thread.join(10)
    assert not thread.is_alive()
