"""What a batch takes of a folder: whole files and parts of them, in order, each once; what is strange is told once."""

import gzip
import os
import time
from pathlib import Path

import pytest

from netdiag.io.follow.admission import Admission
from netdiag.io.follow.batch import Catalogue, Plan
from tests.io.follow.folders import Following, expected, in_memory
from tests.native.conversations import conversation
from tests.native.files import pcap_file
from tests.native.packets import Packet

SECOND = 1_000_000_000


def capture(number: int) -> list[Packet]:
    """A conversation; the next number begins ten seconds later."""
    return [packet._replace(time=packet.time + number * 10 * SECOND) for packet in conversation(number)]


def put(folder: Path, name: str, *numbers: int, age: float = 100.0) -> Path:
    """A capture that was written some seconds ago."""
    path = folder / name
    path.write_bytes(pcap_file([packet for number in numbers for packet in capture(number)]))
    os.utime(path, (time.time() - age, time.time() - age))
    return path


def planned(folder: Path, before: Catalogue | None = None, **admission: float) -> Plan:
    plan = Admission(str(folder), **admission).plan(before or Catalogue())  # type: ignore[arg-type]
    assert plan is not None
    return plan


def test_a_file_is_over_when_a_later_one_of_its_series_is_there(tmp_path: Path) -> None:
    put(tmp_path, "a-2.pcap", 2)
    put(tmp_path, "a-1.pcap", 1)
    put(tmp_path, "other.pcap", 3)
    plan = planned(tmp_path)
    assert [(file.number, file.name, file.ended) for file in plan.files] == [
        (0, "a-1.pcap", True),
        (1, "a-2.pcap", False),
        (2, "other.pcap", False),
    ]
    assert plan.files[1].quiet
    assert plan.until == capture(3)[-1].time - 2 * SECOND
    assert Admission(str(tmp_path)).plan(Catalogue().after(plan)) is None


def test_a_batch_takes_so_many_bytes_and_waits_for_what_it_has_no_room_for(tmp_path: Path) -> None:
    size = put(tmp_path, "a-1.pcap", 1).stat().st_size
    put(tmp_path, "a-2.pcap", 2)
    first = planned(tmp_path, most=size - 10)
    assert [(file.name, file.taken, file.ended) for file in first.files] == [("a-1.pcap", size - 10, False)]
    assert first.left == 10 + (tmp_path / "a-2.pcap").stat().st_size
    second = planned(tmp_path, Catalogue().after(first), most=10)
    assert [(file.name, file.taken, file.ended) for file in second.files] == [("a-1.pcap", size, True)]
    assert second.until <= capture(2)[0].time
    third = planned(tmp_path, Catalogue().after(first).after(second))
    assert [(file.number, file.name) for file in third.files] == [(1, "a-2.pcap")]


def test_what_is_no_capture_is_told_once_and_what_is_not_finished_waits(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x" * 100)
    (tmp_path / ".hidden.pcap").write_bytes(pcap_file(capture(1)))
    (tmp_path / "b.pcapng.7.part").write_bytes(pcap_file(capture(1)))
    (tmp_path / "folder.pcap").mkdir()
    put(tmp_path, "empty.pcap")
    admission = Admission(str(tmp_path))
    assert admission.plan(Catalogue()) is None
    put(tmp_path, "a.pcap", 1)
    again = Admission(str(tmp_path)).plan(Catalogue())
    assert again is not None
    assert again.notes == ("'notes.txt' is not a capture, and is left out",)
    assert [file.name for file in again.files] == ["a.pcap"]
    put(tmp_path, "c.pcap", 2)
    later = admission.plan(Catalogue().after(again))
    assert later is not None
    assert later.notes == ()


def test_a_late_file_is_taken_counted_and_told(tmp_path: Path) -> None:
    work, memory = in_memory(tmp_path)
    following = Following(work)
    put(tmp_path, "a-1.pcap", 1)
    put(tmp_path, "a-3.pcap", 3)
    following.all()
    put(tmp_path, "a-2.pcap", 2)
    following.all()
    assert "'a-2.pcap' begins 8.1 s before packets that were already analyzed" in str(following.plans[-1].notes)
    tables, whole = memory.tables(), expected(tmp_path)
    (late,) = (row for row in tables["losses"] if "'late'" in row)
    assert "began 8.1 s before what was taken by then" in late
    assert tables["exchanges"] == whole["exchanges"]


def test_a_ring_that_takes_files_away_is_told_where_they_were_not_read(tmp_path: Path) -> None:
    work, memory = in_memory(tmp_path)
    following = Following(work, at_once=True, most=500)
    first = put(tmp_path, "a-1.pcap", 1)
    following.batch()
    following.admission.most = 10_000
    put(tmp_path, "a-2.pcap", 2)
    first.unlink()
    following.all()
    (removed,) = (row for row in memory.tables()["losses"] if "'removed'" in row)
    assert "a-1.pcap" in removed
    (tmp_path / "a-2.pcap").unlink()
    put(tmp_path, "a-3.pcap", 3)
    following.all()
    put(tmp_path, "a-4.pcap", 4)
    following.all()
    assert [file.name for file in following.catalogue.files] == ["a-3.pcap", "a-4.pcap"]


def test_a_file_that_is_written_anew_under_its_name_is_another_one(tmp_path: Path) -> None:
    work, memory = in_memory(tmp_path)
    following = Following(work, at_once=True)
    put(tmp_path, "a.pcap", 1)
    following.all()
    put(tmp_path, "a.pcap", 2, 3)
    following.all()
    assert [file.number for file in following.plans[-1].files] == [0, 1]
    assert any("app-1" in row for row in memory.tables()["exchanges"])
    assert sum("'a.pcap'" in row or "/a.pcap'" in row for row in memory.tables()["exchanges"]) >= 6


@pytest.mark.parametrize("whole", [True, False])
def test_what_is_compressed_behind_us_goes_on_where_it_was(tmp_path: Path, whole: bool) -> None:
    work, memory = in_memory(tmp_path)
    following = Following(work, lateness=0.01)
    first = put(tmp_path, "a-1.pcap", 1)
    data = first.read_bytes()
    if not whole:
        first.write_bytes(data[: len(data) // 2])
    following.all()
    assert following.plans
    packed = tmp_path / "a-1.pcap.gz"
    packed.write_bytes(gzip.compress(data))
    os.utime(packed, (1, 1))
    first.unlink()
    put(tmp_path, "a-2.pcap", 2)
    following.all()
    whole_rows, rows = expected(tmp_path), memory.tables()
    assert [row.replace(".gz", "") for row in whole_rows["exchanges"]] == [
        row.replace(".gz", "") for row in rows["exchanges"]
    ]
    assert rows["losses"] == []
    assert not following.batch()


def test_what_is_compressed_is_taken_when_it_has_settled(tmp_path: Path) -> None:
    packed = tmp_path / "a.pcap.gz"
    packed.write_bytes(gzip.compress(pcap_file(capture(1))))
    assert Admission(str(tmp_path)).plan(Catalogue()) is None
    os.utime(packed, (1, 1))
    plan = planned(tmp_path)
    assert [(file.name, file.ended) for file in plan.files] == [("a.pcap.gz", True)]
    work, memory = in_memory(tmp_path)
    Following(work).all()
    assert memory.tables() == expected(tmp_path)


def test_two_series_side_by_side_wait_for_one_another_but_not_for_ever(tmp_path: Path) -> None:
    work, memory = in_memory(tmp_path)
    following = Following(work, lateness=0.01)
    left = put(tmp_path, "left-1.pcap", 1, age=1)
    put(tmp_path, "right-1.pcap", 2, 4, age=1)
    following.all()
    assert memory.tables() == expected(tmp_path)
    assert len(memory.shelves[1, 0].rows["exchanges"]) == 3
    os.utime(left, (1, 1))
    following.all()
    assert sum(len(shelf.rows["exchanges"]) for shelf in memory.shelves.values()) >= 5
    assert memory.tables() == expected(tmp_path)
