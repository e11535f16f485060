"""What is on disk: exactly once through kills, one line for whatever is strange, nothing for others to read."""

import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from netdiag.errors import NetdiagError, UsageError
from netdiag.io.follow.batch import Catalogue
from netdiag.io.follow.store import Parts, Store, settings_of, work_of
from netdiag.traffic.arrow import record_batch
from netdiag.traffic.native import ReadOptions
from netdiag.traffic.tables import NAMES, table
from tests.io.follow.folders import Following, cut, expected, stored
from tests.io.follow.killed import CLASSES, killed_again_and_again
from tests.native.conversations import mixed
from tests.native.files import pcap_file
from tests.native.reading import row_class

PACKETS = [packet for packet in mixed() if len(packet.data) < 1000]


def begun(base: Path, classes: int = 1) -> tuple[Store, Following, Path]:
    """A store, following with it, and the folder that is followed."""
    caps = base / "caps"
    caps.mkdir(exist_ok=True)
    store = Store(checkpoint=base / "checkpoint", out=base / "out")
    store.checkpoint.mkdir(exist_ok=True, mode=0o700)
    store.begin(settings_of(str(caps), ReadOptions(), classes, 0.1, since_ns=None, until_ns=None))
    return store, Following(work_of(store)[0], lateness=0.1), caps


def test_tables_on_disk_grow_with_the_folder(tmp_path: Path) -> None:
    store, following, caps = begun(tmp_path, 2)
    for number, packets in enumerate(cut(PACKETS, 4, random.Random(4)), 1):
        (caps / f"a-{number}.pcap").write_bytes(pcap_file(packets))
        assert following.batch(twice=number == 2)
        assert stored(store.out) == expected(caps, 2)
        assert sorted(path.name for path in (store.checkpoint / "state").iterdir())[0] == f"{max(1, number - 1):08}"
    assert not following.batch()
    assert (store.checkpoint / "state").stat().st_mode & 0o77 == 0
    state = store.checkpoint / "state" / "00000004" / "class-000"
    assert state.stat().st_mode & 0o77 == 0


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_any_moment_nothing_is_lost_or_doubled(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    files = [pcap_file(packets) for packets in cut(PACKETS, 6, chance)]
    killed_again_and_again(tmp_path, files, chance, longest=0.5)
    assert stored(tmp_path / "out") == expected(tmp_path / "caps", CLASSES)
    leftovers = [path for path in (tmp_path / "out").rglob(".*") if path.name != ".netdiag-follow"]
    assert leftovers == []


def test_sparks_log_is_kept_once_a_batch_was_begun(tmp_path: Path) -> None:
    store, _, caps = begun(tmp_path)
    log = store.checkpoint / "spark" / "offsets"
    log.mkdir(parents=True)
    (log / "0").write_text("v1")
    (log / ".1.x.tmp").write_text("")
    settings = settings_of(str(caps), ReadOptions(), 1, 0.1, since_ns=None, until_ns=None)
    store.begin(settings)
    assert (log / "0").exists()
    (log / "0").unlink()
    store.begin(settings)
    assert not log.exists()


def test_one_process_at_a_time(tmp_path: Path) -> None:
    store = Store(checkpoint=tmp_path / "checkpoint", out=tmp_path / "out")
    with store.locked(), pytest.raises(NetdiagError, match="another netdiag"), store.locked():
        pass
    with store.locked():
        pass


def test_a_checkpoint_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    store = Store(checkpoint=tmp_path, out=tmp_path / "out")
    tmp_path.chmod(0o777)
    with pytest.raises(UsageError, match="by others"), store.locked():
        pass


def test_other_settings_other_folders_and_strange_ones_are_refused(tmp_path: Path) -> None:
    store, _, caps = begun(tmp_path)
    with pytest.raises(UsageError, match="another lateness"):
        store.begin(settings_of(str(caps), ReadOptions(), 1, 0.2, since_ns=None, until_ns=None))
    settings = settings_of(str(caps), ReadOptions(), 1, 0.1, since_ns=None, until_ns=None)
    store.begin(settings)
    with pytest.raises(UsageError, match="no tables of this checkpoint"):
        Store(checkpoint=store.checkpoint, out=tmp_path / "other").begin(settings)
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("dear")
    with pytest.raises(UsageError, match="not a checkpoint"):
        Store(checkpoint=tmp_path / "letters", out=tmp_path / "other").begin(settings)
    (tmp_path / "fresh").mkdir()
    with pytest.raises(UsageError, match="is not empty"):
        Store(checkpoint=tmp_path / "fresh", out=tmp_path / "letters").begin(settings)
    assert (tmp_path / "letters" / "dear.txt").read_text() == "dear"


@pytest.mark.parametrize("content", [b"", b"garbage", b"netdiag state 1\n" + bytes(200), None])
def test_a_damaged_state_is_one_line(tmp_path: Path, content: bytes | None) -> None:
    store, following, caps = begun(tmp_path)
    (caps / "a.pcap").write_bytes(pcap_file(PACKETS[:50]))
    following.all()
    state = store.checkpoint / "state" / "00000001" / "class-000"
    state.unlink()
    if content is not None:
        state.write_bytes(content)
    (caps / "b.pcap").write_bytes(pcap_file(PACKETS[50:]))
    with pytest.raises(NetdiagError) as raised:
        following.batch()
    assert "class-000" in raised.value.message
    assert raised.value.hint == "use new folders for --checkpoint and --out to start again"


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", "null", '{"version": 9, "id": "a"}', '{"version": 1, "id": 3}', "\0"]
)
def test_damaged_settings_are_one_line(tmp_path: Path, content: str) -> None:
    store, _, _ = begun(tmp_path)
    (store.checkpoint / "settings.json").write_text(content)
    with pytest.raises(NetdiagError, match=r"settings\.json"):
        store.settings()


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"files": [{}]}', '{"files": 3}', '{"files": [], "x": 1}'])
def test_a_damaged_catalogue_is_one_line(tmp_path: Path, content: str) -> None:
    store, _, _ = begun(tmp_path)
    store.keep_catalogue(Catalogue(batch=3))
    assert store.catalogue(3) == Catalogue(batch=3)
    (store.checkpoint / "state" / "00000003" / "catalogue.json").write_text(content)
    for batch in (3, 4):
        with pytest.raises(NetdiagError, match="catalogue"):
            store.catalogue(batch)
    (store.checkpoint / "done.json").write_text(content)
    with pytest.raises(NetdiagError, match="done"):
        store.committed()


ROW = row_class("names")(
    time=1, client="a", server="b", name="n", type="A", result="NOERROR", addresses=("1",), latency_ms=None
)
ROWS = [record_batch(table("names"), [ROW], unit="us")]


def parts(folder: Path, *, empty: bool = False) -> Parts:
    for name in NAMES:
        (folder / name).mkdir(exist_ok=True)
    return Parts(lambda name: folder / name / "part.parquet", empty=empty)


def test_only_tables_with_rows_have_a_file(tmp_path: Path) -> None:
    with parts(tmp_path) as written:
        written.add({"names": ROWS * 2, "losses": []})
        assert list(tmp_path.glob("*/part.parquet")) == []
        written.finish()
    assert [path.parent.name for path in tmp_path.glob("*/*")] == ["names"]
    assert pq.read_table(tmp_path / "names" / "part.parquet").num_rows == 2
    with parts(tmp_path) as written:
        written.finish()
    assert list(tmp_path.glob("*/*")) == []


def test_with_empty_every_table_has_one(tmp_path: Path) -> None:
    with parts(tmp_path, empty=True) as written:
        written.finish()
    assert sorted(path.parent.name for path in tmp_path.glob("*/part.parquet")) == sorted(NAMES)


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyError), parts(tmp_path, empty=True) as written:
        written.add({"names": ROWS, "strange": ROWS})
    assert list(tmp_path.glob("*/*")) == []


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
