"""Many files become few, with the same rows, wherever it is cut short."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from netdiag.errors import NetdiagError
from netdiag.io.follow import store
from netdiag.io.follow.store import Joined, Parts, Store, compact, finish, joined_of
from netdiag.traffic.arrow import record_batch
from netdiag.traffic.tables import NAMES, table
from tests.io.follow.folders import Tables, cut, expected, stored
from tests.io.follow.test_store import PACKETS, begun
from tests.native.files import pcap_file
from tests.native.reading import row_class


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
