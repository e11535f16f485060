"""Questions say of folded tables what they say of whole ones."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from netdiag.io.spark.analysis import Wanted, analysed, names_of, resolved
from netdiag.io.spark.extraction import Extract, extract
from netdiag.io.spark.folding import folded_tables, names_told, write_folds
from netdiag.io.spark.reading import Reading
from netdiag.traffic.aggregates.questions import answered
from netdiag.traffic.analysis import Seen
from netdiag.traffic.folds.all_folds import ALL, SETTLED
from netdiag.traffic.folds.parts import Selection, schema_of_folded
from netdiag.traffic.insights.all_insights import ALL as INSIGHTS
from netdiag.traffic.native import ReadOptions
from netdiag.traffic.tables import NAMES
from tests.figures import Report
from tests.traffic.folds.anything import anything

PARTS = 2


CAPTURES = sorted((Path(__file__).parents[2] / "fuzz/captures").glob("*.pcap*"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return put(tmp_path_factory.mktemp("tables"), seed=1)


def put(place: Path, seed: int) -> Path:
    for part in range(PARTS):
        for name, rows in anything(seed, part).items():
            (place / name).mkdir(exist_ok=True)
            pq.write_table(rows, place / name / f"part-{part:05}.parquet")
    return place


def same(made: Extract, wanted: Wanted) -> int:
    """Hold every answer of the folded tables against that of the whole ones; how many rows the answers have."""
    whole = analysed(replace(made, folder=None), wanted)
    folded = analysed(made, wanted)
    for name, answer in whole.answers.items():
        assert (name, folded.answers[name]) == (name, answer)
    assert folded.findings == whole.findings
    assert folded.protocols == whole.protocols
    return sum(answer.total for answer in whole.answers.values())


def none(name: str) -> pa.Table:
    return schema_of_folded(ALL[name]).empty_table()


def none_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave all folds in their files, as where there are many rows of them."""
    monkeypatch.setattr("netdiag.io.spark.folding.MOST", 0)
    monkeypatch.setattr("netdiag.io.spark.folding._SETTLED", 0)


def rows_of(frame: DataFrame) -> list[str]:
    return sorted(map(repr, frame.toArrow().to_pylist()))


def test_folded_tables_are_answered_as_whole_ones(spark: SparkSession, folder: Path) -> None:
    tables = {name: spark.read.parquet((folder / name).as_uri()) for name in NAMES}
    named = resolved(tables)
    chosen = Selection(names=names_told(spark, str(folder), PARTS, Selection()))
    assert chosen.names == names_of(tables)
    with folded_tables(spark, str(folder), PARTS, chosen) as (folds, _):
        for name in ("rates", "latency", "topics"):
            whole = rows_of(answered(name, named))
            assert whole, name
            assert rows_of(answered(name, {**named, **folds})) == whole, name
        for name in ("calls", "producing"):
            insight = INSIGHTS[name]
            assert rows_of(insight.ask(insight.no_more_than({**named, **folds}))) == rows_of(insight.ask(named)), name


@pytest.mark.bar("analysis-folded", long=True)
@pytest.mark.parametrize("seed", range(1, 6))
def test_every_answer_to_rows_by_chance(
    spark: SparkSession, tmp_path: Path, seed: int, figure: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed == 2:
        none_is_small(monkeypatch)
    place = put(tmp_path, seed)
    tables = {name: spark.read.parquet((place / name).as_uri()) for name in NAMES}
    rows = {name: pq.read_table(place / name, columns=[]).num_rows for name in NAMES}
    made = Extract(tables=tables, rows=rows, seen=Seen(), folder=str(place), parts=PARTS)
    figure(f"rows of answers to rows by chance, seed {seed}", same(made, Wanted(named=seed % 2 == 1)))


@pytest.mark.bar("analysis-folded", long=True)
@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.stem)
def test_every_answer_to_a_capture(spark: SparkSession, tmp_path: Path, path: Path, figure: Report) -> None:
    reading = Reading(paths=(str(path),), options=ReadOptions())
    made = extract(spark, reading, str(tmp_path), tasks=PARTS, size=path.stat().st_size)
    rows = same(replace(made, folder=str(tmp_path), parts=PARTS), Wanted())
    assert rows > 0
    figure(f"rows of answers to {path.stem}", rows)


@pytest.mark.parametrize("small", [True, False], ids=["in memory", "in files"])
def test_files_of_folds_go_at_the_end(
    spark: SparkSession, folder: Path, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not small:
        none_is_small(monkeypatch)
    with folded_tables(spark, str(folder), PARTS, Selection()) as (frames, rows):
        assert {name: frame.count() for name, frame in frames.items()} == rows
        assert set(frames) == set(ALL)
    assert sorted(each.name for each in folder.iterdir()) == sorted(NAMES)


def test_a_second_attempt_writes_the_same(folder: Path, tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).symlink_to(folder / name)
    for name in (*ALL, ".attempts"):
        (tmp_path / ".folds" / name).mkdir(parents=True)

    def written() -> dict[Path, bytes]:
        return {each: each.read_bytes() for each in (tmp_path / ".folds").rglob("*.parquet")}

    counts = write_folds(str(tmp_path), 0, Selection())
    first = written()
    assert write_folds(str(tmp_path), 0, Selection()) == counts
    assert written() == first
    assert set(first) == {tmp_path / ".folds" / name / "part-00000.parquet" for name, count in counts.items() if count}


def test_what_row_groups_took_goes_back_on_the_way(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES:
        (tmp_path / name).mkdir()
        rows = pq.read_table(folder / name / "part-00000.parquet")
        pq.write_table(rows, tmp_path / name / "part-00000.parquet", row_group_size=max(1, -(-rows.num_rows // 9)))
    for name in (*ALL, ".attempts"):
        (tmp_path / ".folds" / name).mkdir(parents=True)
    given: list[bool] = []
    monkeypatch.setattr("netdiag.io.spark.folding.give_memory_back", lambda *, collected: given.append(collected))
    write_folds(str(tmp_path), 0, Selection())
    views = {fold.of for fold in ALL.values()}
    assert len(given) >= 2 * len(views)
    assert not any(given)


def test_a_late_attempt_fails_and_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).symlink_to(folder / name)
    with pytest.raises(FileNotFoundError):
        write_folds(str(tmp_path), 0, Selection())
    assert not (tmp_path / ".folds").exists()


def test_what_is_written_has_the_declared_columns(spark: SparkSession, folder: Path) -> None:
    with folded_tables(
        spark, str(folder), PARTS, Selection(relays=frozenset({1}), names={"A" * 22: "orders"})
    ) as found:
        for name, frame in found[0].items():
            shape = SETTLED[name](ALL[name], none(name)).schema if name in SETTLED else schema_of_folded(ALL[name])
            assert frame.toArrow().schema.names == shape.names, name
            assert "times" in shape.names
            assert pa.types.is_int64(shape.field("times").type)
