"""Stamps tell what happened to a file; waiting ends when one changes."""

import itertools
import os
import threading
from pathlib import Path

from netdiag.io.files import stamps, wait_for_change, wait_for_reader


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


def test_a_reader_that_goes_away_ends_the_wait() -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as stream:
        assert wait_for_reader(stream, 0)
        assert wait_for_reader(stream, -1)
        closing = threading.Timer(0.1, os.close, (reader,))
        closing.start()
        # Would it wait to the end, the test would not be worth its time.
        assert not wait_for_reader(stream, 3600)
        closing.join()
    assert wait_for_reader(None, 0)
    assert wait_for_reader(stream, 0)
