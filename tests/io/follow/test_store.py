"""What is on disk: exactly once through kills, one line for whatever is strange, nothing for others to read."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from netdiag.errors import NetdiagError, UsageError
from netdiag.io.follow import store
from netdiag.io.follow.batch import Catalogue, Known, Plan, catalogue_of, plan_of
from netdiag.io.follow.store import Joined, Parts, Store, compact, finish, joined_of, settings_of, work_of
from netdiag.traffic.arrow import record_batch
from netdiag.traffic.native import ReadOptions
from netdiag.traffic.tables import NAMES, table
from tests.examples import examples
from tests.io.follow.folders import Following, Tables, cut, expected, in_memory, stored
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


FILE = Known(number=3, name="a.pcap", first_time=5, inode=7, begin="d4c3", taken=100)


def test_json_gives_the_same_back() -> None:
    plan = Plan(batch=2, files=(FILE,), until=9, forgotten=(1,), notes=("a",), left=4)
    assert plan_of(plan.text()) == plan
    catalogue = Catalogue(batch=1, next_number=2, files=(Known(number=1, name="b", first_time=1, inode=1, begin=""),))
    after = catalogue.after(plan)
    assert after == Catalogue(batch=2, next_number=4, until=9, files=(FILE,))
    assert catalogue_of(after.text()) == after


@pytest.mark.parametrize("text", ["", "[]", "3", "{}", '{"files": [3]}', '{"files": [], "batch": 1, "odd": 2}'])
def test_what_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        plan_of(text)


LARGE = mixed()
SMALL = [packet for packet in LARGE if len(packet.data) < 1000]


@examples(40)
@given(seed=st.integers(0, 1 << 32))
# A look when only the first packet of a file is begun.
@example(seed=5871537)
def test_any_cut_looked_at_at_any_time_gives_the_rows_of_all_at_once(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    tmp_path = tmp_path_factory.mktemp("cut")
    chance = random.Random(seed)
    packets = LARGE if seed % 10 == 0 else SMALL
    size = len(pcap_file(packets))
    classes = chance.choice((1, 1, 2))
    work, memory = in_memory(tmp_path, classes)
    lateness, most = chance.choice((0.06, 0.1, 2.0)), chance.choice((size // 15, size // 3, 64 << 20))
    following = Following(work, lateness=lateness, most=most)
    for number, some in enumerate(cut(packets, chance.randint(1, 6), chance)):
        path, data = tmp_path / f"cut-{number:05}.pcap", pcap_file(some)
        written = 0
        while written < len(data):
            step = len(data) if chance.random() < 0.4 else chance.randint(1 + len(data) // 4, len(data))
            with path.open("ab") as stream:
                stream.write(data[written : written + step])
            written += step
            if chance.random() < 0.6:
                following.batch(twice=chance.random() < 0.2)
    following.all()
    assert memory.tables() == expected(tmp_path, classes)


class Killed(BaseException):
    """As if the process was gone."""


def filled(out: Path, batches: int, classes: int = 2) -> Tables:
    """A folder of tables with a row of names in every batch and class; the rows."""
    for name in NAMES:
        (out / name).mkdir(parents=True, exist_ok=True)
    for batch in range(1, batches + 1):
        for number in range(classes):
            text = f"{batch}-{number}"
            row = row_class("names")(
                time=batch, client=text, server="b", name="n", type="A", result="NOERROR", addresses=(), latency_ms=None
            )
            with Parts(
                lambda table, batch=batch, number=number: out / table / f"part-{batch:08}-{number:03}.parquet"  # type: ignore[misc]
            ) as parts:
                parts.add({"names": [record_batch(table("names"), [row], unit="us")]})
                parts.finish()
    return stored(out)


def names(out: Path) -> list[str]:
    return sorted(path.name for path in (out / "names").iterdir())


def test_many_become_few_and_the_last_batch_is_left_alone(tmp_path: Path) -> None:
    rows = filled(tmp_path, 9)
    assert compact(tmp_path, 9, lambda joined: None, many=17) == 0
    assert compact(tmp_path, 9, lambda joined: None, many=16) == 16
    assert names(tmp_path) == ["joined-01-00000008.parquet", "part-00000009-000.parquet", "part-00000009-001.parquet"]
    assert stored(tmp_path) == rows


def test_what_was_joined_is_joined_again_and_what_is_large_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for batch in range(1, 30):
        rows = filled(tmp_path, batch) if batch == 1 else {**stored(tmp_path)}
        more = filled(tmp_path / f"of-{batch}", batch, 1)
        last = f"part-{batch:08}-000.parquet"
        (tmp_path / f"of-{batch}" / "names" / last).rename(tmp_path / "names" / last)
        assert more
        rows = stored(tmp_path)
        compact(tmp_path, batch, lambda joined: None, many=3)
        assert stored(tmp_path) == rows
    assert len(names(tmp_path)) < 8
    assert any(name.startswith("joined-03-") for name in names(tmp_path))
    monkeypatch.setattr(store, "LARGEST", 10)
    assert compact(tmp_path, 99, lambda joined: None, many=2) == 0


@pytest.mark.parametrize("moment", ["before", "written", "some", "all", "renamed"])
def test_cut_short_at_any_moment_it_is_done_to_its_end(tmp_path: Path, moment: str) -> None:
    rows = filled(tmp_path, 4, 1)
    noted: list[Joined] = []

    def note(joined: Joined) -> None:
        if moment == "before":
            raise Killed
        noted.append(joined_of(joined.text()))
        raise Killed

    with pytest.raises(Killed):
        compact(tmp_path, 5, note, many=4)
    if moment == "before":
        (tmp_path / "names" / ".joined-01-00000004.parquet").unlink()
        assert stored(tmp_path) == rows
        return
    gone = {"written": 0, "some": 2, "all": 4, "renamed": 4}[moment]
    for name in noted[0].files[:gone]:
        (tmp_path / "names" / name).unlink()
    if moment == "renamed":
        (tmp_path / "names" / ".joined-01-00000004.parquet").rename(tmp_path / "names" / noted[0].name)
    for _ in range(2):
        finish(tmp_path, noted[0])
        assert stored(tmp_path) == rows
        assert names(tmp_path) == ["joined-01-00000004.parquet"]


@pytest.mark.parametrize("which", range(6))
def test_following_killed_while_it_joins_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: int) -> None:
    monkeypatch.setattr(compact, "__kwdefaults__", {"many": 2})
    calls = 0
    real: dict[str, Callable[..., None]] = {"unlink": Path.unlink, "replace": os.replace}

    def dying(kind: str) -> Callable[..., None]:
        def act(*arguments: object, **more: object) -> None:
            nonlocal calls
            if any(".parquet" in str(each) and "open" not in str(each) for each in arguments):
                calls += 1
                if calls == 5 * which + 3:
                    raise Killed
            real[kind](*arguments, **more)

        return act

    store, following, caps = begun(tmp_path)
    for number, packets in enumerate(cut(PACKETS, 8, random.Random(which)), 1):
        (caps / f"a-{number}.pcap").write_bytes(pcap_file(packets))
        with monkeypatch.context() as patched:
            patched.setattr(Path, "unlink", dying("unlink"))
            patched.setattr(os, "replace", dying("replace"))
            try:
                following.batch()
            except Killed:
                patched.undo()
                # Spark does a batch again that was not over.
                store.begin(_settings(store))
                following.batch()
        assert stored(store.out) == expected(caps)
    assert any("joined" in path.name for path in store.out.rglob("*.parquet"))
    assert not (store.checkpoint / "joining.json").exists()


def _settings(store: Store) -> dict[str, object]:
    known = store.settings()
    assert known is not None
    return {name: value for name, value in known.items() if name not in ("version", "id")}


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", '{"table": "names", "files": ["../x"], "name": "joined-01-00000001.parquet"}']
)
def test_a_damaged_note_is_one_line(tmp_path: Path, content: str) -> None:
    store, _, _ = begun(tmp_path)
    (store.checkpoint / "joining.json").write_text(content)
    with pytest.raises(NetdiagError, match=r"joining\.json"):
        store.begin(_settings(store))
